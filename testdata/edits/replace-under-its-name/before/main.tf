terraform {
  required_providers {
    amazon = { source = "registry.terraform.io/hashicorp/aws", version = "~> 3.0" }
  }
}
