module "b" {
  source = "../b"
}

terraform {
  required_providers {
    other = {
      source  = "acme/shared"
      version = "~> 1.2, != 1.3.0"
    }
  }
}
