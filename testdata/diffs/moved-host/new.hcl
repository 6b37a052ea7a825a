# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/gadget" {
  version     = "2.0.0"
  constraints = "~> 2.0"
  hashes = [
    "h1:GtCkG8H3LQd4FYwhThAsQvh2RQhw/oA/rRaRMjoge6o=",
    "zh:5f3149fb529fb9be0fdf1ee801a320d06bb6939bef293cf1038726ab221248b2",
    "zh:b03aaa8b99c6060af53f67af379b818ed0a14a30e7f884f705606f587fddbd5d",
    "zh:fe1a0d1c81331f9f8916c997fb7199f3a04c2f9beb814afa1c5f06ab2770ac6b",
  ]
}

provider "registry.opentofu.org/acme/widget" {
  version = "1.4.0"
  hashes = [
    "h1:uQ9ETonOfoIOvAZuN0oPh5Zof2Ybtb49P49tHh7bdc4=",
    "zh:7822a470cd6a97bad9d73e34cd4ada0357a55ad356822f5303336f3da162f9e3",
    "zh:f0a88027340f9c5c0a607e24f906d76495b1d635d10d44cc1be9dc7ac033c961",
    "zh:f18ab7d9c8842ffb34a787636e61ee7adad3e9b572ca9057c9c0c2456331558d",
  ]
}
