# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/dns" {
  version = "1.0.0"
  hashes = [
    "zh:1.0.0-darwin",
    "zh:1.0.0-linux",
  ]
}

provider "registry.terraform.io/acme/ftp" {
  version = "1.0.0"
  hashes = [
    "zh:1.0.0-darwin",
    "zh:1.0.0-linux",
  ]
}
