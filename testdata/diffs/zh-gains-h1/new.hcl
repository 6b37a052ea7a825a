# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/widget" {
  version = "1.4.0"
  hashes = [
    "h1:q3c1uL664JZgQJuvmKvFatmVbXZlK8KblbI3CaJdo4Y=",
    "zh:5b0c02cba310073f491878aaba424c15f01f26ebdc82529f31ec313cc566e8ee",
    "zh:9bc70f969ba2fa090b36abe8c6e4ad27a7650ac83508cdf9fea29627e3974565",
    "zh:efba992be8194c5a30483059a7579728f620b464a30d98937b00a9f8c2b692f4",
  ]
}
