# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/widget" {
  version     = "1.10.0"
  constraints = "~> 1.2"
  hashes = [
    "h1:2ADzNNH1Yx9ZlVzA3C4Q8p0FLlvJYMr7QdoT4zY0lXg=",
    "h1:t1QyXhOBWhtRhQXeCcCbOGV6b7u3Q+FZqHc5n0bK1V8=",
    "zh:0d1c7b2a9f8e6d5c4b3a29180f7e6d5c4b3a29180f7e6d5c4b3a29180f7e6d5c",
  ]
}
