/* a block
   comment */
terraform {
  required_version = ">= 1.0" # at least
  required_providers {
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
