# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.example.com/acme/dns" {
  version     = "2.0.0"
  constraints = ">= 1.0.0"
  hashes = [
    "zh:2.0.0-darwin",
    "zh:2.0.0-linux",
  ]
}
