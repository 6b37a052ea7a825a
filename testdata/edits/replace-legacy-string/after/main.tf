terraform {
  required_providers {
    aws    = "~> 5.31" # cloud
    random = "~> 3.1"  # dice
  }
}
