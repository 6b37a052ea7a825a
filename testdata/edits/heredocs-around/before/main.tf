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
  }
}

output "x" {
  value = <<EOT
required_providers {
EOT
}
