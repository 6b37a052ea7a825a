//! Configuration that requires a provider in ways that are easy to overlook.

use super::Op::{Append, Link, Move, Replace, Write};
use super::{Row, judge};

const MISSING: &[&str] = &["entry-missing"];

/// A second block of that name is an error of its own, so only modules and overrides get this one.
const EVIL: &str =
    "terraform {\n  required_providers {\n    evil = {\n      source = \"{registry}/evil/gadget\"\n    }\n  }\n}\n";

#[rustfmt::skip] // One row a line.
const BLOCKS: &[Row] = &[
    Row("a second block of requirements", &[Write("app/x.tf", EVIL)], 2, &[]),
    Row("the same in JSON", &[Write("app/x.tf.json", r#"{"terraform": {"required_providers": {"evil": {"source": "{registry}/evil/gadget"}}}}"#)], 2, &[]),
    Row("lists of blocks in JSON", &[Write("app/x.tf.json", r#"{"terraform": [{}, {"required_providers": [{"evil": {"source": "{registry}/evil/gadget"}}]}]}"#)], 2, &[]),
    Row("an override", &[Write("app/override.tf", EVIL)], 1, MISSING),
    Row("a named override", &[Write("app/x_override.tf", EVIL)], 1, MISSING),
    Row("a mere constraint", &[Write("app/x.tf", "terraform {\n  required_providers {\n    evil = \"1.0\"\n  }\n}\n")], 2, &[]),
    Row("on one line", &[Write("app/x.tf", "terraform { required_providers { evil = { source = \"{registry}/evil/gadget\" } } }\n")], 2, &[]),
    Row("a resource", &[Write("app/x.tf", "resource \"evil_thing\" \"x\" {}\n")], 1, MISSING),
    Row("a data source", &[Write("app/x.tf", "data \"evil_thing\" \"x\" {}\n")], 1, MISSING),
    Row("an ephemeral resource", &[Write("app/x.tf", "ephemeral \"evil_thing\" \"x\" {}\n")], 1, MISSING),
    Row("a provider block", &[Write("app/x.tf", "provider \"evil\" {}\n")], 1, MISSING),
    Row("labels without quotes", &[Write("app/x.tf", "resource evil_thing x {}\n")], 1, MISSING),
    Row("a provider of an alias", &[Write("app/x.tf", "resource \"widget_x\" \"x\" {\n  provider = evil.two\n}\n")], 1, MISSING),
    Row("a data source in a check", &[Write("app/x.tf", "check \"x\" {\n  data \"evil_thing\" \"x\" {}\n  assert {\n    condition     = true\n    error_message = \"x\"\n  }\n}\n")], 1, MISSING),
    Row("a resource in JSON", &[Write("app/x.tf.json", r#"{"resource": {"evil_thing": {"x": {}}}}"#)], 1, MISSING),
    Row("behind a comment in JSON", &[Write("app/x.tf.json", r#"{"//": "none", "resource": {"evil_thing": {"x": {}}}}"#)], 1, MISSING),
    Row("behind a comment", &[Write("app/x.tf", "/* # */ resource \"evil_thing\" \"x\" {} // */\n")], 1, MISSING),
    Row("in a comment only", &[Write("app/x.tf", "/*\nresource \"evil_thing\" \"x\" {}\n*/\n")], 0, &[]),
    Row("with carriage returns", &[Write("app/x.tf", "resource \"evil_thing\" \"x\" {\r\n}\r\n")], 1, MISSING),
    Row("behind a mark of byte order", &[Write("app/x.tf", "\u{feff}resource \"evil_thing\" \"x\" {}\n")], 1, MISSING),
    Row("in a hidden file, which the tools pass over", &[Write("app/.x.tf", "resource \"evil_thing\" \"x\" {}\n")], 0, &[]),
    Row("in the file of an editor", &[Write("app/x.tf~", "resource \"evil_thing\" \"x\" {}\n")], 0, &[]),
    Row("in a directory called like a file", &[Write("app/x.tf/main.tf", "resource \"evil_thing\" \"x\" {}\n")], 0, &[]),
    Row("by a link to a file of the tree", &[Write("shared/evil.txt", "resource \"evil_thing\" \"x\" {}\n"), Link("app/x.tf", "../shared/evil.txt")], 1, MISSING),
    Row("in what a link led to before", &[Append("shared/common.tf", "resource \"evil_thing\" \"x\" {}\n")], 1, MISSING),
    Row("a constraint that the locked version does not meet", &[Replace("app/main.tf", "~> 1.4", "~> 2.0")], 1, &["version-not-allowed"]),
    Row("a constraint that it meets as well", &[Replace("app/main.tf", "~> 1.4", "~> 1.0")], 1, &["constraints-stale"]),
    Row("a resource in JSON, named twice", &[Write("app/x.tf.json", r#"{"resource": {"evil_thing": {"x": {}}}, "resource": {"widget_thing": {"x": {}}}}"#)], 1, MISSING),
    Row("a provider of a resource in JSON", &[Write("app/x.tf.json", r#"{"resource": {"widget_x": {"x": {"provider": "evil.two"}}}}"#)], 1, MISSING),
    Row("an import", &[Write("app/x.tf", "import {\n  to = evil_thing.x\n  id = \"x\"\n}\n")], 1, MISSING),
    Row("what was removed, which asks for nothing", &[Write("app/x.tf", "removed {\n  from = evil_thing.x\n  lifecycle {\n    destroy = false\n  }\n}\n")], 0, &[]),
    Row("a provider in quotes", &[Write("app/x.tf", "resource \"widget_x\" \"x\" {\n  provider = \"evil.two\"\n}\n")], 1, MISSING),
    Row("another source by the same name", &[Replace("app/main.tf", "acme/widget", "evil/widget")], 1, MISSING),
];

#[test]
#[ignore = "long"]
fn blocks_that_require_a_provider() {
    judge(BLOCKS);
}

#[rustfmt::skip] // One row a line.
const HEREDOCS: &[Row] = &[
    Row("an end behind a no-break space", &[Write("app/x.tf", "locals {\n  a = <<-EOT\nx\n\u{a0}EOT\n}\nresource \"evil_thing\" \"x\" {}\nlocals {\n  b = <<-EOT\ny\nEOT\n}\n")], 1, MISSING),
    Row("an end behind a vertical tab", &[Write("app/x.tf", "locals {\n  a = <<EOT\nx\n\u{b}EOT\n}\nresource \"evil_thing\" \"x\" {}\nlocals {\n  b = <<EOT\ny\nEOT\n}\n")], 1, MISSING),
    Row("an end before an ideographic space", &[Write("app/x.tf", "locals {\n  a = <<EOT\nx\nEOT\u{3000}\n}\nresource \"evil_thing\" \"x\" {}\nlocals {\n  b = <<EOT\ny\nEOT\n}\n")], 1, MISSING),
    Row("an end before a line separator", &[Write("app/x.tf", "locals {\n  a = <<EOT\nx\nEOT\u{2028}\n}\nresource \"evil_thing\" \"x\" {}\nlocals {\n  b = <<EOT\ny\nEOT\n}\n")], 1, MISSING),
    Row("what stands in a heredoc", &[Write("app/x.tf", "locals {\n  a = <<EOT\nresource \"evil_thing\" \"x\" {}\nEOT\n}\n")], 0, &[]),
    Row("a heredoc in an interpolation", &[Write("app/x.tf", "locals {\n  a = \"${<<EOT\nx\nEOT\n}\"\n}\nresource \"evil_thing\" \"x\" {}\n")], 1, MISSING),
    Row("a brace in a string", &[Write("app/x.tf", "locals {\n  a = \"}}{{\"\n}\nresource \"evil_thing\" \"x\" {}\n")], 1, MISSING),
    Row("an escaped interpolation", &[Write("app/x.tf", "locals {\n  a = \"$${\"\n}\nresource \"evil_thing\" \"x\" {}\n")], 1, MISSING),
    Row("a directive", &[Write("app/x.tf", "locals {\n  a = \"%{if true}}%{endif}\"\n}\nresource \"evil_thing\" \"x\" {}\n")], 1, MISSING),
    Row("quotes in an interpolation", &[Write("app/x.tf", "locals {\n  a = \"${\"}\"}\"\n}\nresource \"evil_thing\" \"x\" {}\n")], 1, MISSING),
];

#[test]
fn texts_that_two_scanners_could_read_differently() {
    judge(HEREDOCS);
}

#[rustfmt::skip] // One row a line.
const MODULES: &[Row] = &[
    Row("a module", &[Write("app/m/main.tf", EVIL), Write("app/x.tf", "module \"m\" {\n  source = \"./m\"\n}\n")], 1, MISSING),
    Row("a module of a module", &[Write("modules/evil/main.tf", EVIL), Append("modules/net/main.tf", "module \"m\" {\n  source = \"../evil\"\n}\n")], 1, MISSING),
    Row("a module that is there already", &[Append("modules/net/main.tf", EVIL)], 1, MISSING),
    Row("a trailing slash", &[Write("app/m/main.tf", EVIL), Write("app/x.tf", "module \"m\" {\n  source = \"./m/\"\n}\n")], 1, MISSING),
    Row("a detour", &[Write("app/m/main.tf", EVIL), Write("app/x.tf", "module \"m\" {\n  source = \"./none/../m/.\"\n}\n")], 1, MISSING),
    Row("an escape in the source", &[Write("app/m/main.tf", EVIL), Write("app/x.tf", "module \"m\" {\n  source = \"./\\u006d\"\n}\n")], 1, MISSING),
    Row("a label without quotes", &[Write("app/m/main.tf", EVIL), Write("app/x.tf", "module m {\n  source = \"./m\"\n}\n")], 1, MISSING),
    Row("parentheses around the source", &[Write("app/m/main.tf", EVIL), Write("app/x.tf", "module \"m\" {\n  source = (\"./m\")\n}\n")], 1, MISSING),
    Row("an interpolated source", &[Write("app/m/main.tf", EVIL), Write("app/x.tf", "module \"m\" {\n  source = \"./${\"m\"}\"\n}\n")], 1, MISSING),
    Row("a chosen source", &[Write("app/m/main.tf", EVIL), Write("app/x.tf", "module \"m\" {\n  source = true ? \"./m\" : \"./n\"\n}\n")], 1, MISSING),
    Row("another source by an override", &[Write("app/m/main.tf", EVIL), Write("app/x_override.tf", "module \"net\" {\n  source = \"./m\"\n}\n")], 1, MISSING),
    Row("a module in JSON", &[Write("app/m/main.tf", EVIL), Write("app/x.tf.json", r#"{"module": {"m": {"source": "./m"}}}"#)], 1, MISSING),
    Row("a module of a test", &[Write("app/m/main.tf", EVIL), Write("app/t.tftest.hcl", "run \"x\" {\n  module {\n    source = \"./m\"\n  }\n}\n")], 1, MISSING),
    Row("a module of a test below", &[Write("app/m/main.tf", EVIL), Write("app/tests/t.tftest.hcl", "run \"x\" {\n  module {\n    source = \"./m\"\n  }\n}\n")], 1, MISSING),
    Row("a module of a test in JSON", &[Write("app/m/main.tf", EVIL), Write("app/tests/t.tftest.json", r#"{"run": {"x": {"module": {"source": "./m"}}}}"#)], 1, MISSING),
    Row("a test of the other tool", &[Write("app/m/main.tf", EVIL), Write("app/t.tofutest.hcl", "run \"x\" {\n  module {\n    source = \"./m\"\n  }\n}\n")], 0, &[]),
    Row("a module that is not there", &[Write("app/x.tf", "module \"m\" {\n  source = \"./none\"\n}\n")], 2, &[]),
    Row("a module that calls itself", &[Append("modules/net/main.tf", "module \"m\" {\n  source = \"../net\"\n}\n")], 2, &[]),
    Row("a module outside of the tree", &[Write("app/x.tf", "module \"m\" {\n  source = \"../../outside\"\n}\n")], 2, &[]),
    Row("a module of a host that policy forbids, unknown", &[Write("app/x.tf", "module \"m\" {\n  source = \"git::https://evil.example.com/m.git\"\n}\n")], 3, &[]),
    Row("a module moved with its caller", &[Move("modules/net", "modules/web"), Replace("app/main.tf", "modules/net", "modules/web")], 0, &[]),
    Row("a module beside where a link leads", &[Write("modules/evil/main.tf", EVIL), Write("app/evil/main.tf", "locals {}\n"), Append("modules/net/main.tf", "module \"e\" {\n  source = \"../evil\"\n}\n"), Replace("app/main.tf", "../modules/net", "./m"), Link("app/m", "../modules/net")], 1, MISSING),
    Row("a module beside a link, which nothing calls", &[Write("modules/evil/main.tf", "locals {}\n"), Write("app/evil/main.tf", EVIL), Append("modules/net/main.tf", "module \"e\" {\n  source = \"../evil\"\n}\n"), Replace("app/main.tf", "../modules/net", "./m"), Link("app/m", "../modules/net")], 0, &[]),
    Row("a module by a link", &[Write("modules/evil/main.tf", EVIL), Link("app/m", "../modules/evil"), Write("app/x.tf", "module \"m\" {\n  source = \"./m\"\n}\n")], 1, MISSING),
];

#[test]
#[ignore = "long"]
fn modules_that_require_a_provider() {
    judge(MODULES);
}
