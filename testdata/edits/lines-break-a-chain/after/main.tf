terraform {
  required_providers {
    a = "~> 1.0" # one
    bird = {
      source  = "acme/bird"
      version = "~> 1.4"
    }
    longer = "~> 2.0" # two
    zebra = {
      source = "acme/zebra"
    }
  }
}
