terraform {
  required_providers {
    # nothing yet
  }
}
