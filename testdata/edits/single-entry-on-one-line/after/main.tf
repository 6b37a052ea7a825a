terraform {
  required_providers {
    acorn = "~> 1.0"
    widget = {
      source  = "acme/widget"
      version = "~> 1.4"
    }
  }
}
