terraform {
  required_providers {
    dns = {
      source  = "registry.example.com/acme/dns"
      version = ">= 2.0"
    }
  }
}

variable "name" {
  type = string
}

variable "address" {
  type = string
}

resource "dns_record" "site" {
  name    = var.name
  type    = "A"
  content = var.address
}
