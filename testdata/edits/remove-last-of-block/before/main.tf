terraform {
  required_providers {
    # Oaks.
    acorn = {
      source = "acme/acorn"
    }
  }
}
