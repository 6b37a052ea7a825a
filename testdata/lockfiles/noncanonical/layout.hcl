provider "example.com/b/b" { version = "1.0.0" } // expect: not-canonical (it has no header)
provider "example.com/a/a" { # expect: not-canonical (it comes too late)
  hashes      = ["h1:b", "h1:a", # expect: not-canonical
    "h1:b",                      # expect: duplicate-hash
    "h1:é",
  ]
  constraints = ">= 1.0.0" /* kept */
  version     = "1.2.3"
}
