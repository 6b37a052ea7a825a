terraform {
  required_providers {
    a = { version = "" }
  }
}
