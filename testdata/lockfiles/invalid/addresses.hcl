# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "acme/foo" { # expect: lock-address
  version = "what is in it does not matter"
}
provider foo {                                   # expect: lock-address
}
provider "registry.opentofu.org/Acme/foo" {      # expect: lock-address
}
provider "registry.opentofu.org:443/acme/foo" {  # expect: lock-address
}
provider "opentofu.org/builtin/x" {              # expect: lock-address
}
provider "registry.opentofu.org/-/null" {        # expect: lock-address
}
provider "example.com/a/opentofu-x" {            # expect: lock-address
}
provider "xn--caf-dma.example/a/b" {             # expect: lock-address
}
provider "a/b/c/d" {                             # expect: lock-address
}
