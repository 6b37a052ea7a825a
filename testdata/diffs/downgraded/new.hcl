# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/widget" {
  version     = "1.3.9"
  constraints = "< 1.4.0"
  hashes = [
    "h1:O7Jw/gk8IoHa8KCJvtBRrkmIjK+G1tN/hRMuYbI0RDQ=",
    "zh:068e65cc92618fea47f349e2194b3c36a16d9a66fd67f6006f15f3415e8adbef",
    "zh:762c9116929953828fc52b9ab378778a3f3d0eca3e3cffbad2e70a5e8676c470",
    "zh:ca3cbca64a33c974a323ada5bbe33a58c95f9d25d7110c7c82452cf744a449f0",
  ]
}
