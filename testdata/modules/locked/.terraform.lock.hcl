# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "{{registry}}/acme/widget" {
  version     = "1.4.0"
  constraints = "~> 1.4"
  hashes = [
    "h1:gdZw4jDXOHsw7nEr/ENLEej+DvEJ4ooMz6aadHVMSdA=",
    "zh:b14f992be8525422aa78bbf456aa94f2a956c6aeb8cf5c8199ec58fb6c4beb26",
    "zh:e19c8a1cdca2c056578ec60e4b7fee6f1b15f3c48710c66211b2baad2d1e6cd1",
  ]
}
