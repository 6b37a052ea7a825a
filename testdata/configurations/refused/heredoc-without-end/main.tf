locals {
  a = <<EOT
  }
}
