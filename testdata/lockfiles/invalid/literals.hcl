# What no tool writes is refused, though the tools evaluate it; everything else that is wrong is told beside it.
provider "example.com/a/a" {
  version     = 0.1 + 0.2 == 0.3 ? "1.4.1" : "1.4.0" # expect: lock-not-literal
  constraints = ">= ${1}.0.0"                        # expect: lock-not-literal
  hashes = [
    "h1:a",
    "h1:$${b}",          # expect: lock-not-literal
    "h1:\u0061",         # expect: lock-not-literal
    1 == 1 ? "h1:c" : 1, # expect: lock-not-literal
  ]
}
provider "example.com/a/b" {
  version = "v1.0.0" # expect: lock-version
  hashes  = concat(["h1:a"], []) # expect: lock-not-literal
}
provider "example.com/a/c" {
  version = 1.0 1 # expect: lock-syntax
}
provider "Example.com/a/e" { # expect: lock-address
  version = "1.0.0"
}
module "m" { # expect: lock-modules
  hashes = ["h1:a"]
  nested {
    version = var.x # expect: lock-not-literal
  }
}
