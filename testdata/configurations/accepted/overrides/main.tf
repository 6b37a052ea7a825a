terraform {
  required_providers {
    one = {
      source  = "acme/one"
      version = "1.0"
    }
    two = {
      source  = "acme/two"
      version = "1.0"
    }
  }
}

provider "foo" {
  version = "~> 1.1"
}

resource "foo_a" "x" {
}

resource "foo_a" "y" {
}

module "child" {
  source = "./first"
}
