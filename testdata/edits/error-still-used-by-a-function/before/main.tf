terraform {
  required_providers {
    acorn = {
      source  = "acme/acorn"
      version = "~> 1.0"
    }
    zebra = {
      source  = "acme/zebra"
      version = "~> 2.0"
    }
  }
}

locals {
  # provider::acorn::count() is not this one
  a = [provider::acorn::count(1), provider::acorns::count(2)]
}
