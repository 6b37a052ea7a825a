terraform {
  required_providers {
    aa = {
      source  = "acme/aa"
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
