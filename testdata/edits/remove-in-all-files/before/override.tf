terraform {
  required_providers {
    acorn = {
      source  = "acme/acorn"
      version = "~> 1.5"
    }
    zebra = {
      source  = "acme/zebra"
      version = "~> 2.0"
    }
  }
}
