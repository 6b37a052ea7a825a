terraform {
  required_providers {
    acorn = {
      source  = "acme/acorn"
      version = "~> 1.0"
    }
  }
}
