terraform {
  required_providers {
    a = {
      version = "1.0" # é
    }
  }
}
locals {
  text = <<EOT
}
EOT
}
data "b_c" "d" {}
