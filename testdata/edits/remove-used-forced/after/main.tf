terraform {
  required_providers {
    zebra = {
      source  = "acme/zebra"
      version = "~> 2.0"
    }
  }
}

provider "acorn" {
  alias = "west"
}

resource "acorn_tree" "a" {}

data "forest_view" "b" {
  provider = acorn.west
}

module "m" {
  source    = "./m"
  providers = { nut = acorn.west }
}

import {
  to = acorn_tree.a
  id = "x"
}
