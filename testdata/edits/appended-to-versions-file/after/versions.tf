# Versions.
locals {
  a = 1
}

terraform {
  required_providers {
    widget = {
      source  = "acme/widget"
      version = "~> 1.4"
    }
  }
}
