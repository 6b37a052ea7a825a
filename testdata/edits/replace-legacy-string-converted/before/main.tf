terraform {
  required_providers {
    aws    = "~> 3.0" # cloud
    random = "~> 3.1" # dice
  }
}
