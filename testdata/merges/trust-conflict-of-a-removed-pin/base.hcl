# Whom we trust, and why.

provider "registry.example.com/acme/dns" {
  signers = ["C874011F0AB405110D02105534365D9472D7468F"]
}

provider "registry.example.com/acme/web" {
  signers = ["C874011F0AB405110D02105534365D9472D7468F"]
}
