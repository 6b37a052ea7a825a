# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/foo" {
  version = "1.2.3"
  hashes = [
<<<<<<< HEAD # expect: lock-syntax
    "h1:a",
=======
    "h1:b",
>>>>>>> other
  ]
}

provider "registry.terraform.io/acme/bar" {
  version = "1" # expect: lock-version
}
