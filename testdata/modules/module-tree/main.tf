terraform {
  required_providers {
    widget = {
      source  = "{{registry}}/acme/widget"
      version = ">= 1.2.0"
    }
  }
}

module "site" {
  source = "./modules/site"
}
