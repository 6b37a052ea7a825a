# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/anvil" {
  version = "1.0.1"
  hashes = [
    "h1:dP2GcL3hWRQebjN2fGy99YvvOZmP8kCZd2kVrQBixKU=",
    "zh:4c8cd65e1205ccb10d36d9104b2f2c20f32cf1be0911a03f07d729a4bf9e091c",
    "zh:612b8c9afe0b762a791abc19277e760faa27764d477816ecf48a7a511d7e5e3b",
    "zh:f48a795ebce8cbcc2de0e36e9ea2f4e528c9ad4bcdfe9d1f4505f102867ae15f",
  ]
}

provider "registry.terraform.io/acme/bolt" {
  version = "0.9.0"
  hashes = [
    "h1:MbSne5qLWmFwbOw9mzasC+CGxMbGEss1/E23GBLbx0w=",
    "zh:92412d897ef0e6ba3d6e1ca900181b1812597c03f4cc2045158b82c637c369db",
    "zh:cfd5f8eee402c9b5b88bafb5fc810514cbd446a6cd6a9b58278a2ab1d2f956bc",
    "zh:f02ef3e1e71b21b2ad6786134f7f0887baa347c47803c9c6e85547ef78bdc686",
  ]
}

provider "registry.terraform.io/acme/crane" {
  version = "1.0.0"
  hashes = [
    "h1:jK915lxOL8RneCyusmtHseQDs+ytZjfLmDhj6Eq/WqU=",
    "zh:08e63769cf5605b06420b3ae891ecd79d5a5dbe19e757299c6fae74db0a173a4",
    "zh:66734e41e69bd40705effef09179d24bca8abfeed8084224f0732059e8c09f76",
    "zh:f912af7eb3463a3a792978fa027fb57014857e61397f9e4252bfd6f085deeb15",
  ]
}

provider "registry.terraform.io/acme/envy" {
  version = "3.0.0-rc.1"
  hashes = [
    "h1:XL7mIZBoU+rMXi3rlCS3f5FQk9DpiDShau+OAJoDgM4=",
    "zh:372a3c6f22db48c701b8081d1ccbe761a73922236d737ec34d063b108a4086b9",
    "zh:449ece2cee08f73b996c3a044e19b537bbb16e79b44e9f101c7bff4bbe30bc3c",
    "zh:8a22694acb3fa3b72d9fcb51ae30b01c954712d86a95b6b97127649b99854864",
  ]
}

provider "registry.terraform.io/example-with-a-long-name/provider-with-a-very-long-name" {
  version     = "11.0.0"
  constraints = "~> 11.0"
  hashes = [
    "h1:ysV+VvCt9D9qTFawYs0CmvT5cq/O2WMnZf7hBs5PXL0=",
    "zh:ac19f9701e06067e98fd6f72a80e986fee83dabb35eb94dd647d40caebc8af68",
    "zh:c2bd95facf600e58aace24341dcd1fc63c9b318fc2bbbc85afdc0818237a3a39",
    "zh:fa634af4675301d4b279667bf4535e2054153ab0f8f6911b577600980a267de9",
  ]
}
