terraform {
  required_providers {
    aws = {
      source  = "acme/aws"
      version = "~> 5.31"
    }                 # cloud
    random = "~> 3.1" # dice
  }
}
