# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/widget" {
  version     = "2.0.0"
  constraints = ">= 1.4.0, < 3.0.0"
  hashes = [
    "h1:xiHc/GoNqSCF0oEt2kmmwgMKY0O6jzvsxZlMWoljSjs=",
    "zh:0840eaa09fdd1f28748378099cd36917c830c50063868444a236478b9e6adb4a",
    "zh:903ec67192cee44bba0bab72e0214bd0371fad94a80f7c3546239813b0786a2f",
    "zh:ffde5a9ca3bf39c00efa1acb5aa753fbe8c02a6155f7a91ec4d82ce1a89a4452",
  ]
}
