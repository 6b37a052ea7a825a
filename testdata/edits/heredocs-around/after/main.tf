locals {
  text = <<-EOT
    terraform {
      required_providers {
        fake = "${join(",", ["}", "{"])}"
      }
    }
  EOT
  more = "terraform { required_providers { ${"$"}{ %%{ "
}

terraform {
  required_providers {
    acorn = {
      source = "acme/acorn"
    }
    widget = {
      source  = "acme/widget"
      version = "~> 1.4"
    }
  }
}

output "x" {
  value = <<EOT
required_providers {
EOT
}
