terraform {
  required_providers {}
}
