terraform {
  required_providers {
    gadget = {
      source = "{{registry}}/acme/gadget"
    }
    widget = {
      source  = "{{registry}}/acme/widget"
      version = ">= 1.0.0"
    }
  }
}
