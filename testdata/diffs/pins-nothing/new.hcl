# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/widget" {
  version = "1.4.0"
}
