# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/widgets-inc/widget" {
  version = "1.4.1"
  hashes = [
    "h1:Xf05tAgE/c2ZMktB/lnbCN8B46qQYeV0Z8B05ha++2s=",
    "zh:7e3d3972c2e94d4d8582f40c999a1f3a431156f265eb1a4fcf8ca36429b9f080",
    "zh:9741621158e2f2cb179d5f96643ce3a41fcd1fc19b309494c09bfbdbb5e84f87",
    "zh:f95a2bec8a064bd65815c8078d94134510af781d90b23e508779b27132d18b46",
  ]
}
