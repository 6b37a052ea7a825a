terraform {
  required_providers {
    aws     = "~> 3.0" # the cloud
    azurerm = ">= 2"
    bird = {
      source  = "acme/bird"
      version = "~> 1.4"
    }
    cloudflarex = "~> 2.0" # two
  }
}
