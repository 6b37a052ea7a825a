# Whom we trust, and why.

provider "registry.example.com/acme/dns" {
  signers = ["C874011F0AB405110D02105534365D9472D7468F"]
}

provider "registry.example.com/acme/web" {
  signers = ["C874011F0AB405110D02105534365D9472D7468F"]
}

provider "registry.example.com/acme/xml" {
  signers = ["C874011F0AB405110D02105534365D9472D7468F"]
}

denied_signer "0123456789ABCDEF0123456789ABCDEF01234567" {
  reason = "lost"
}

republished "registry.example.com/acme/dns" {
  version = "1.0.0"
  date    = "2026-01-02"
  reason  = "agreed"
}
