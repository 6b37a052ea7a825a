provider "example.com/a/missing" { # expect: lock-schema
  constraints = ">= 1.0.0"
}
provider "example.com/a/null" {
  version = null # expect: lock-not-literal
}
provider "example.com/a/version" {
  version     = "v1.2.3"     # expect: lock-version
  constraints = "~>1.2"      # expect: lock-constraints
  hashes      = []           # expect: lock-hashes
}
provider "example.com/a/number" {
  version     = 1.2          # expect: lock-not-literal
  constraints = null         # expect: lock-not-literal
  hashes      = "h1:a"       # expect: lock-hashes
}
provider "example.com/a/more" {
  version     = "1.2.${x}"  # expect: lock-not-literal
  constraints = f(1)         # expect: lock-not-literal
  hashes      = [            # expect: lock-hashes
    "h1:a",
    "nothing",
    null,                    # expect: lock-not-literal
    ["h1:a"],                # expect: lock-not-literal
    1 % 0,                   # expect: lock-not-literal
  ]
}
