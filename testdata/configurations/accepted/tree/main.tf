module "a" {
  source = "./a"
}

module "again" {
  source = ".//a/../a/"
  count  = 2
}

terraform {
  required_providers {
    shared = {
      source  = "acme/shared"
      version = ">= 1.0.0"
    }
  }
}
