terraform {
  required_providers {
    one = {
      source = "acme/one"
    }
    three = "3.0"
  }
}

provider "foo" {
  version = "~> 2.1"
}

provider "new" {
}

resource "foo_a" "x" {
  provider = bar
}

module "child" {
  source = "./second"
}
