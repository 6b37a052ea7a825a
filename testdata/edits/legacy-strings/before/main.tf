terraform {
  required_providers {
    aws         = "~> 3.0" # the cloud
    azurerm     = ">= 2"
    cloudflarex = "~> 2.0" # two
  }
}
