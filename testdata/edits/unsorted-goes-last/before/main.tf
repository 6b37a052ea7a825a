terraform {
  required_providers {
    zz = {
      source  = "acme/zz"
      version = "~> 1.0"
    }
    aa = {
      source  = "acme/aa"
      version = "~> 2.0"
    }
  }
}
