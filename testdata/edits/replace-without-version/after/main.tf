terraform {
  required_providers {
    zebra = {
      # where it comes from
      source  = "acme/zebra" # the animal
      version = "~> 3.0"
      # who may have one
      configuration_aliases = [zebra.west]
    }
  }
}
