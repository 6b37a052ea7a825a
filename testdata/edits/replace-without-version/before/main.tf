terraform {
  required_providers {
    zebra = {
      # where it comes from
      source = "acme/zebra" # the animal
      # who may have one
      configuration_aliases = [zebra.west]
    }
  }
}
