terraform {
  required_providers {
    acorn = {
      source  = "acme/acorn"
      version = "~> 1.0"
    }
    # In the middle.
    middle = {
      source = "acme/middle"
    } # end
    # Stripes.
    zebra = {
      source  = "acme/zebra"
      version = "~> 2.0"
    }
  }
}
