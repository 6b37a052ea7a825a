terraform {
  required_providers {
    bare = {
      source                = "acme/bare"
      configuration_aliases = [bare, bare.west]
    }
    deep = {
      source                = "acme/deep"
      configuration_aliases = [deep.west.one, deep.west[0]]
    }
  }
}
