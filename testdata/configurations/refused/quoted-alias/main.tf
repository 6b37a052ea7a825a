terraform {
  required_providers {
    foo = {
      source                = "acme/foo"
      configuration_aliases = ["foo.west"]
    }
  }
}
