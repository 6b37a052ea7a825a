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
  version     = "1.5.2"
  constraints = "~> 1.5"
  hashes = [
    "h1:oZXyknRSLuo11XflvbsJo5UY2aPT6GsmOkW25h499DY=",
    "zh:228374ed1262f6ed11d705dddee2ffa34291a84f7e3a2b5a44482006e57e896a",
    "zh:48b5513b270491ec69fb00e9b23511ee91cada378585e0311d8c89eba9a68239",
    "zh:cb543c73457adc0acbef3a667c1ce6ecf8a46e6270004891061c0a633100e9be",
  ]
}
