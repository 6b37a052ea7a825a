terraform {
  required_providers {
    gadget = {
      source  = "{{registry}}/acme/gadget"
      version = "2.0.0"
    }
    widget = {
      source  = "{{registry}}/acme/widget"
      version = "~> 1.4"
    }
  }
}
