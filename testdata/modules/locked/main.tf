terraform {
  required_providers {
    widget = {
      source  = "{{registry}}/acme/widget"
      version = "~> 1.4"
    }
  }
}
