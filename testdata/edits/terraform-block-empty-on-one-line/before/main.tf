# Nothing.
terraform {}
