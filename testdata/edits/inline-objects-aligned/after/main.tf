terraform {
  required_version = ">= 1.5"

  required_providers {
    aws    = { source = "hashicorp/aws", version = "~> 5.0" }
    random = { source = "hashicorp/random", version = "~> 3.0" } # for names
    widget = { source = "acme/widget", version = "~> 1.4" }
    xyzzyx = { source = "acme/xyzzyx" } # the other one
  }
}
