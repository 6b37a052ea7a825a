provider "example.com/a/b" {
  version = "1.0"          # expect: lock-version
}
provider "example.com/a/b" { # expect: duplicate-provider
  version = "2.0"          # expect: lock-version
}
provider "example.com/a/b" {
  version = "1.0.0"
}
