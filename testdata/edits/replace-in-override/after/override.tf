terraform {
  required_providers {
    acorn = {
      source  = "acme/acorn"
      version = "~> 9.0"
    }
    zebra = {
      source  = "acme/zebra"
      version = "~> 2.0"
    }
  }
}
