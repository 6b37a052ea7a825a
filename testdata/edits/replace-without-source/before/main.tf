terraform {
  required_providers {
    zebra = {
      version = "~> 1.0"
    }
  }
}
