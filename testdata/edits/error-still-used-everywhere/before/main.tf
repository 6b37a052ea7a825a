terraform {
  required_providers {
    null = {
      source = "hashicorp/null"
    }
  }
  provider_meta "null" {
    module = "mine"
  }
}

module "child" {
  source = "./child"
  providers = {
    null.main = null.other
  }
}

check "health" {
  data "null_data_source" "inner" {}
}

ephemeral "thing" "a" {
  provider = null.other
}

import {
  to = null_resource.b
  id = "1"
}

moved {
  from = null_resource.c
  to   = null_resource.d
}

removed {
  from = null_resource.e
}

resource "terraform_data" "f" {
  input = "null_resource.g" # provider::null::no
}

output "g" {
  value = "${provider::null::yes(1)}"
}
