terraform {
  required_providers {
    widget = {
      source  = "acme/widget"
      version = "~> 1.4"
    }
  }
}
