terraform {
  required_providers {
    acorn = { source = "acme/acorn" }
    zebra = { source = "acme/zebra", configuration_aliases = [zebra.west] }
  }
}
