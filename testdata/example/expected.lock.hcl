# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.example.com/acme/dns" {
  version     = "2.3.1"
  constraints = ">= 2.0.0, ~> 2.1"
  hashes = [
    "h1:RPav9Ea5jnq0CVknpNlVswmob/HnVPP4oAvzHtKroqE=",
    "h1:w4w5/ZxlduyU0qy6PCpe8fUq+ECAlT6aEYjwoNNPmgw=",
  ]
}

provider "registry.example.com/acme/postgres" {
  version     = "1.4.2"
  constraints = ">= 1.4.0, < 2.0.0"
  hashes = [
    "h1:+pQoVcooTT15G72wjLrUhA9jkoztlHnpaSOEqyXU6gA=",
    "h1:23jfNAQOTqeZt0Yp7pcOktwNjILz4pHb06Y+ZhBcj6A=",
  ]
}
