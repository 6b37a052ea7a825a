# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/gadget" {
  version     = "2.0.0"
  constraints = "~> 2.0"
  hashes = [
    "h1:GtCkG8H3LQd4FYwhThAsQvh2RQhw/oA/rRaRMjoge6o=",
    "zh:5f3149fb529fb9be0fdf1ee801a320d06bb6939bef293cf1038726ab221248b2",
    "zh:b03aaa8b99c6060af53f67af379b818ed0a14a30e7f884f705606f587fddbd5d",
    "zh:fe1a0d1c81331f9f8916c997fb7199f3a04c2f9beb814afa1c5f06ab2770ac6b",
  ]
}
