# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.example.com/acme/dns" {
  version     = "1.0.0"
  constraints = ">= 0.9.0, ~> 1.0, < 3.0.0"
  hashes = [
    "zh:1.0.0-darwin",
    "zh:1.0.0-linux",
  ]
}
