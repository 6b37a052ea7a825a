terraform {
  required_providers {
    zebra = {
      source  = "acme/zebra"
      version = "~> 2.0"
    }
  }
}
