terraform {
  required_providers { acorn = "1", zebra = "2" }
}
