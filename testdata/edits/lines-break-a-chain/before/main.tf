terraform {
  required_providers {
    a      = "~> 1.0" # one
    longer = "~> 2.0" # two
    zebra = {
      source = "acme/zebra"
    }
  }
}
