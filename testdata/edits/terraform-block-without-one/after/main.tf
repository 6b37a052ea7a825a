terraform {
  required_version = ">= 1.5"

  backend "s3" {
    bucket = "b"
  }

  required_providers {
    widget = {
      source  = "acme/widget"
      version = "~> 1.4"
    }
  }
}
