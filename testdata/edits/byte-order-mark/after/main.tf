terraform {
  required_providers {
    acorn = {
      source  = "acme/acorn"
      version = "~> 1.0"
    }
    widget = {
      source  = "acme/widget"
      version = "~> 1.4"
    }
    zebra = {
      source  = "acme/zebra"
      version = "~> 2.0"
    }
  }
}
