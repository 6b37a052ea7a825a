terraform {
  required_providers {
    aws         = { source = "hashicorp/aws", version = "~> 5.0" }
    longestname = { source = "acme/longestname" }
    random      = { source = "hashicorp/random" }
  }
}
