terraform {
  required_providers {
    aardvark = {
      source  = "acme/aardvark"
      version = "~> 1.4"
    }
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
