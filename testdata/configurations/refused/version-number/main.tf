terraform {
  required_providers {
    a = { version = 1.0 }
  }
}
