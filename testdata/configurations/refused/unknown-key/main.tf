terraform {
  required_providers {
    a = { source = "x/a", region = "y" }
  }
}
