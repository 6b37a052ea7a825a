terraform {
  required_providers { acorn = "~> 1.0" }
}
