# Who needs what.
terraform {
  # Providers, in order.
  required_providers { # keep sorted
    # Oaks.
    acorn = { # from the forest
      source  = "acme/acorn"
      version = "~> 1.0"
    } # end of acorn
    middle = {
      source  = "acme/middle"
      version = "~> 1.4"
    }
    # Stripes.
    // Two lines of them.
    zebra = {
      source  = "acme/zebra" /* the animal */
      version = "~> 2.0"
    }
    # The end.
  }
}
