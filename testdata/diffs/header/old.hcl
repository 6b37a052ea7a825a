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

provider "registry.terraform.io/acme/widget" {
  version = "1.4.0"
  hashes = [
    "h1:QK3ycgUhA+Ofz7hai8x4jxuOFwjjDeLC+AvB9w2Ldsg=",
    "zh:5b0c02cba310073f491878aaba424c15f01f26ebdc82529f31ec313cc566e8ee",
    "zh:9bc70f969ba2fa090b36abe8c6e4ad27a7650ac83508cdf9fea29627e3974565",
    "zh:efba992be8194c5a30483059a7579728f620b464a30d98937b00a9f8c2b692f4",
  ]
}
