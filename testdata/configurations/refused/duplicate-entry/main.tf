terraform {
  required_providers {
    a = "1.0"
    a = "1.0"
  }
}
