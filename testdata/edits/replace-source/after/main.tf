terraform {
  required_providers {
    acorn = {
      source  = "acme/acorn"
      version = "~> 1.0"
    }
    zebra = {
      source  = "forks/zebra"
      version = "~> 3.0"
    }
  }
}
