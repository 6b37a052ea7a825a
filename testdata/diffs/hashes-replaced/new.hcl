# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/gadget" {
  version     = "2.1.0"
  constraints = "~> 2.0"
  hashes = [
    "h1:X3mrRxVRs61aTP/5f5izv2anSQQeFhFNMfa/fQcoDHc=",
    "zh:0377769fbe90f7186e3b9c3602a3bb09c6728cd845c8bd0c6c00162993a5858b",
    "zh:8794dc3430e046830a8409f2e172fedcbc787e63964167fa609d8fe49feea941",
    "zh:b78c5356839f396dda8e4e8f2c4665000bab8276e35f02ae05a29c18dbb7da55",
  ]
}

provider "registry.terraform.io/acme/widget" {
  version = "1.4.0"
  hashes = [
    "h1:T6eKw8DzAH1TQOq/mKMXHO6pEMrWG1t/0+QJV7bTzh8=",
    "h1:batGTaSNNPNuzTnpDe7mHZZWTwm4hzubhX5v55ee+/I=",
    "h1:kWM7ccLmoVBoq0NjiZaHf40QfmAEtD+2slQ5AW7mmNg=",
    "zh:316b7c55e2669ce3115306b4d7ece3dbd85f13b05d2d643a9d7191eff70a412a",
    "zh:5251379f8747aedb8c3f2790cdbb90212b39d031267e83ec7713c3fa2dd7404f",
    "zh:d426553e7491518e17415efa6995347138eaae122118e8328ed07937f7ddfd72",
  ]
}
