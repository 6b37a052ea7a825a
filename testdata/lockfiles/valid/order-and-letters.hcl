# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "example.com/a/c" {
  version = "0.0.0"
}

provider "example.com/a-b/c" {
  version     = "1.2.3-rc.1+b.5"
  constraints = "1.2.3-9, 1.2.3-10, ~> 2.0.0, ~> 2.0"
}

provider "éa.example/a/b" {
  version = "1.0.0"
  hashes = [
    "x:",
  ]
}

provider "zz.example:8443/a/b" {
  version = "18446744073709551615.0.0"
  hashes = [
    "h1:aé$ %",
  ]
}
