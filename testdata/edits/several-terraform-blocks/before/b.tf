terraform {
  experiments = []
}

terraform {
  required_providers {
    acorn = {
      source = "acme/acorn"
    }
  }
}
