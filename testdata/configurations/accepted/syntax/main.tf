# A tour of what can stand around the parts that matter.
/* terraform {
  required_providers { */

locals {
  braces   = "}\" ${upper("{")} $${ %%{ \\"
  heredoc  = <<-EOT
    resource "fake_thing" "x" {
      ${join("}", [for key, value in { a = "{" } : "${key}=${value}"])}
      %{if true}}}%{else}{{%{endif}
    EOTX
  EOT
  nested   = { a = [1, 2, { b = "]" }], "c d" = (1 + 2) * 3 } // }
  quotient = 4 / 2 # /* not a comment
}

terraform { # trailing
  required_version = ">= 1.0"

  required_providers {
    plain  = "~> 1.0"
    number = 2.0
    Folded = ">= 1.0, < 3.0.0"
    full = {
      "source" = "example.com/Acme/Full", version : "1.2.3" /* in line */
    }
    template = { source = "${"acme"}/template", version = "~> ${1}.${2}" }
    aliased = {
      source                = "acme/aliased"
      configuration_aliases = [aliased.west, aliased.east]
    }
    empty = {}
  }
}

resource plain_thing one { count = 0 }

resource "full_thing" "deep" {
  list = [
    <<-ONE
      provider = no
    ONE
    , "x",
  ]

  nested {
    provider = "no"
  }

  object = {
    provider = "no"
  }

  /* provider = no */ provider = template.alias // yes
}
