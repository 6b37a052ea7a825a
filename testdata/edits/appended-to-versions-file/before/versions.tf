# Versions.
locals {
  a = 1
}