terraform {
  required_providers {
    acorn = {
      source  = "acme/acorn"
      version = "~> 1.0"
    }

    middle = {
      source  = "acme/middle"
      version = "~> 1.4"
    }

    zebra = {
      source  = "acme/zebra"
      version = "~> 2.0"
    }
  }
}
