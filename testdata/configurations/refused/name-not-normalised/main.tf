terraform {
  required_providers {
    Big = {}
  }
}
