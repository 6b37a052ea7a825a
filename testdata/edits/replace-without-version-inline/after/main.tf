terraform {
  required_providers {
    acorn = { source = "acme/acorn" }
    zebra = { source = "acme/zebra", version = "~> 3.0", configuration_aliases = [zebra.west] }
  }
}
