terraform {
  required_version = ">= 1.5"

  required_providers {
    widget = {
      source  = "acme/widget"
      version = "~> 1.4"
    }
  }
}
