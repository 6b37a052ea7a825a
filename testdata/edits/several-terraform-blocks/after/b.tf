terraform {
  experiments = []
}

terraform {
  required_providers {
    acorn = {
      source = "acme/acorn"
    }
    widget = {
      source  = "acme/widget"
      version = "~> 1.4"
    }
  }
}
