# A web shop: a database, and names that lead to it.

terraform {
  required_providers {
    dns = {
      source  = "registry.example.com/acme/dns"
      version = "~> 2.1"
    }
    postgres = {
      source  = "registry.example.com/acme/postgres"
      version = ">= 1.4, < 2.0"
    }
  }
}

resource "postgres_database" "shop" {
  name = "shop"
}

module "site" {
  source = "./modules/site"

  name    = "shop.example.com"
  address = "192.0.2.10"
}
