/* a block
   comment */
terraform {
  required_version = ">= 1.0" # at least
  required_providers {
    # who uses this
    aws = {
      source                = "hashicorp/aws"
      version               = ">= 4.0, < 6.0" // both
      configuration_aliases = [aws.east, aws.west]
    }
    widget = {
      source  = "acme/widget"
      version = "~> 1.4"
    }
    /* inside */
  }
}

locals {
  text = <<-EOT
    required_providers {
      widget = "no"
    }
  EOT
}
