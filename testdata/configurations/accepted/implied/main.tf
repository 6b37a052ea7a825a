resource "foo_bar" "x" {
}

data "baz_q" "x" {
  provider = other.west
}

resource "terraform_data" "x" {
}

resource "nounderscore" "x" {
}

resource "UPPER_case" "x" {
  provider = "quoted.alias"
}

resource "FOLDED_case" "x" {
}

resource "with-dash_x" "x" {
}

ephemeral "eph_x" "y" {
}

check "health" {
  data "http_x" "y" {
    url = "https://example.invalid"
  }

  assert {
    condition     = data.http_x.y.status_code == 200
    error_message = "unwell"
  }
}

provider "configured" {
  version = "~> 1.0"
}

provider "configured" {
  alias   = "b"
  version = 1.5
}

import {
  to = imp_a.x
  id = "1"
}

import {
  to       = imp_b.x
  id       = "1"
  provider = zed.a
}

import {
  to = foo_bar.x
  id = "1"
}

removed {
  from = gone_x.y

  lifecycle {
    destroy = false
  }
}

moved {
  from = was_x.y
  to   = foo_bar.x
}
