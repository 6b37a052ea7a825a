provider "example.com/a/b" { # behind an error of structure nothing more is told
  version: "1.0.0"           # expect: lock-syntax
  hashes = []
}
provider 'example.com/a/d' {
}
