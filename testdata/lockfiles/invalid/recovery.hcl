provider "example.com/a/b" { # expect: lock-schema
  version: "1.0.0"           # expect: lock-syntax
  hashes = [] # expect: lock-hashes
}
provider "example.com/a/c" { version = "1.0.0", hashes = [] } # expect: lock-syntax
provider 'example.com/a/d' { # expect: lock-syntax expect: lock-syntax
}
