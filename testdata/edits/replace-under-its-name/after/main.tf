terraform {
  required_providers {
    amazon = { source = "registry.terraform.io/hashicorp/aws", version = "~> 5.31" }
  }
}
