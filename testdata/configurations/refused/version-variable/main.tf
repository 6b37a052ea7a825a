variable "v" {
  default = "1.0"
}
terraform {
  required_providers {
    a = { version = var.v }
  }
}
