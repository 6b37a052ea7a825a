terraform {
  required_providers {
    acorn = {
      source  = "acme/acorn"
      version = "~> 1.0"
    }
    widget = {
      source  = "registry.example.com/acme/widget"
      version = ">= 1.0, < 2.0"
    }
    zebra = {
      source  = "acme/zebra"
      version = "~> 2.0"
    }
  }
}
