terraform {
  required_providers {
    aws = { source = "hashicorp/aws", version = "~> 5.0" }
    longestname = { source = "acme/longestname", version = "~> 1.4" }
    random = { source="hashicorp/random" }
  }
}
