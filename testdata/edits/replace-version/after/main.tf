terraform {
  required_providers {
    acorn = {
      source  = "acme/acorn"
      version = "~> 1.0"
    }
    zebra = {
      source  = "acme/zebra"
      version = "~> 3.0" # since March

      configuration_aliases = [zebra.west, zebra.east]
    }
  }
}
