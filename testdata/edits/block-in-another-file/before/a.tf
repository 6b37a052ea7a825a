terraform {
  required_version = ">= 1"
}
