terraform {
  required_providers {
    zebra = {
      source  = "forks/zebra"
      version = "~> 3.0"
    }
  }
}
