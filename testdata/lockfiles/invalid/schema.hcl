provider {                                # expect: lock-schema
}
provider "example.com/a/b" "c" {          # expect: lock-schema
}
module {                                  # expect: lock-schema
}
provder "example.com/a/b" {               # expect: lock-schema
}
version = "1.0.0"                         # expect: lock-schema
provider "example.com/a/b" {
  version = "1.0.0"
  hash    = "h1:a"                        # expect: lock-schema
  hashes {                                # expect: lock-schema
  }
}
provider "example.com/a/c" {
  version = "1.0.0"
  version = "1.0.0"                       # expect: lock-syntax
}
module "x" {                              # expect: lock-modules
}
module "y" {
}
