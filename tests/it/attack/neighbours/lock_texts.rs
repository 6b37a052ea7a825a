//! Texts of lock files that no tool writes, or that say less than before.

use super::Op::{Append, Replace, Write};
use super::{Row, judge};

const LOCK: &str = "app/.terraform.lock.hcl";
const LITERAL: &[&str] = &["lock-not-literal"];

#[rustfmt::skip] // One row a line.
const VALUES: &[Row] = &[
    Row("a comment", &[Append(LOCK, "# more\n")], 0, &[]),
    Row("a version that is a number", &[Replace(LOCK, "\"2.0.0\"", "2")], 3, LITERAL),
    Row("that is chosen", &[Replace(LOCK, "\"2.0.0\"", "true ? \"2.0.0\" : \"2.0.1\"")], 3, LITERAL),
    Row("in parentheses", &[Replace(LOCK, "\"2.0.0\"", "(\"2.0.0\")")], 3, LITERAL),
    Row("with an interpolation", &[Replace(LOCK, "\"2.0.0\"", "\"2.0.${0}\"")], 3, LITERAL),
    Row("with a directive", &[Replace(LOCK, "\"2.0.0\"", "\"2.0.%{if true}0%{endif}\"")], 3, LITERAL),
    Row("with an escape", &[Replace(LOCK, "\"2.0.0\"", "\"2.0.\\u0030\"")], 3, LITERAL),
    Row("that is a heredoc", &[Replace(LOCK, "\"2.0.0\"", "<<EOT\n2.0.0\nEOT")], 3, LITERAL),
    Row("that is a list", &[Replace(LOCK, "\"2.0.0\"", "[\"2.0.0\"]")], 3, LITERAL),
    Row("that is null", &[Replace(LOCK, "\"2.0.0\"", "null")], 3, LITERAL),
    Row("that is a call", &[Replace(LOCK, "\"2.0.0\"", "lower(\"2.0.0\")")], 3, LITERAL),
    Row("that is a reference", &[Replace(LOCK, "\"2.0.0\"", "local.version")], 3, LITERAL),
    Row("that is an index", &[Replace(LOCK, "\"2.0.0\"", "[\"2.0.0\"][0]")], 3, LITERAL),
    Row("constraints that are chosen", &[Replace(LOCK, "\"~> 1.4\"", "true ? \"~> 1.4\" : \"\"")], 3, LITERAL),
    Row("hashes that are chosen", &[Replace(LOCK, "hashes = [", "hashes = true ? [] : [")], 3, LITERAL),
    Row("hashes of a list of lists", &[Replace(LOCK, "hashes = [", "hashes = [[],")], 3, LITERAL),
    Row("hashes of a loop", &[Replace(LOCK, "hashes = [", "hashes = [for x in [] : x]\n  more = [")], 3, &["lock-not-literal", "lock-schema"]),
    Row("a hash with an interpolation", &[Replace(LOCK, "    \"zh:", "    \"${\"zh\"}:")], 3, LITERAL),
];

#[test]
fn values_that_no_tool_writes() {
    judge(VALUES);
}

#[rustfmt::skip] // One row a line.
const TEXTS: &[Row] = &[
    Row("nothing", &[Write(LOCK, "")], 1, &["entry-missing"]),
    Row("a header only", &[Write(LOCK, "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n")], 1, &["entry-missing"]),
    Row("the header of the other tool", &[Replace(LOCK, "terraform init", "tofu init")], 3, &["dialect-changed"]),
    Row("no header", &[Replace(LOCK, "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n", "")], 0, &[]),
    Row("carriage returns", &[Replace(LOCK, "\n", "\r\n")], 0, &[]),
    Row("a mark of byte order", &[Replace(LOCK, "# This file", "\u{feff}# This file")], 0, &[]),
    Row("a version with a v", &[Replace(LOCK, "\"2.0.0\"", "\"v2.0.0\"")], 1, &["lock-version"]),
    Row("a version with white space", &[Replace(LOCK, "\"2.0.0\"", "\" 2.0.0\"")], 1, &["lock-version"]),
    Row("a version of two numbers", &[Replace(LOCK, "\"2.0.0\"", "\"2.0\"")], 1, &["lock-version"]),
    Row("a wildcard", &[Replace(LOCK, "\"2.0.0\"", "\"2.0.*\"")], 1, &["lock-version"]),
    Row("no version", &[Replace(LOCK, "  version = \"2.0.0\"\n", "")], 1, &["lock-schema"]),
    Row("a banned version", &[Replace(LOCK, "\"1.4.0\"", "\"1.4.2\"")], 3, &["banned"]),
    Row("a banned version with metadata", &[Replace(LOCK, "\"1.4.0\"", "\"1.4.2+x\"")], 3, &["banned"]),
    Row("a version that is not allowed", &[Replace(LOCK, "\"1.4.0\"", "\"2.4.0\"")], 1, &["version-not-allowed"]),
    Row("other constraints", &[Replace(LOCK, "\"~> 1.4\"", "\">= 0\"")], 1, &["lock-constraints"]),
    Row("no constraints", &[Replace(LOCK, "  constraints = \"~> 1.4\"\n", "")], 1, &["constraints-stale"]),
    Row("an unknown argument", &[Replace(LOCK, "  hashes = [", "  more   = \"x\"\n  hashes = [")], 1, &["lock-schema"]),
    Row("an unknown block", &[Append(LOCK, "\nmore \"x\" {\n}\n")], 1, &["lock-schema"]),
    Row("two labels", &[Append(LOCK, "\nprovider \"x\" \"y\" {\n}\n")], 1, &["lock-schema"]),
    Row("no label", &[Append(LOCK, "\nprovider {\n}\n")], 1, &["lock-schema"]),
    Row("an address without host", &[Append(LOCK, "\nprovider \"acme/widget\" {\n  version = \"1.0.0\"\n}\n")], 1, &["lock-address"]),
    Row("an address in capitals", &[Replace(LOCK, "/acme/widget\"", "/ACME/widget\"")], 1, &["lock-address"]),
    Row("a legacy address", &[Append(LOCK, "\nprovider \"registry.terraform.io/-/x\" {\n  version = \"1.0.0\"\n}\n")], 1, &["lock-address"]),
    Row("a built-in provider", &[Append(LOCK, "\nprovider \"terraform.io/builtin/terraform\" {\n  version = \"1.0.0\"\n}\n")], 1, &["lock-address"]),
    Row("an entry that nothing requires and no host allows", &[Append(LOCK, "\nprovider \"evil.example.com/x/y\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\n  ]\n}\n")], 3, &["host-not-allowed"]),
    Row("hashes of unknown schemes", &[Replace(LOCK, "\"zh:", "\"h9:"), Replace(LOCK, "\"h1:", "\"h8:")], 3, &["hashes-dropped", "pins-nothing"]),
    Row("no h1", &[Replace(LOCK, "    \"h1:", "    # \"h1:")], 3, &["hashes-dropped"]),
    Row("hashes in capitals", &[Replace(LOCK, "\"zh:", "\"ZH:")], 3, &["hashes-dropped"]),
    Row("hashes that were cut", &[Replace(LOCK, "=\",\n    \"h1:", "\",\n    \"h1:")], 3, &["hashes-dropped"]),
    Row("an unfinished string", &[Append(LOCK, "provider \"x {\n")], 1, &["lock-syntax"]),
    Row("an unfinished block", &[Append(LOCK, "provider \"x\" {\n")], 1, &["lock-syntax"]),
    Row("marks of a conflict", &[Append(LOCK, "<<<<<<< ours\n=======\n>>>>>>> theirs\n")], 1, &["lock-syntax"]),
    Row("a zero byte", &[Append(LOCK, "# \0\n")], 0, &[]),
    Row("JSON", &[Write(LOCK, "{\"provider\": {}}\n")], 1, &["lock-syntax"]),
];

#[test]
#[ignore = "long"]
fn texts_of_lock_files() {
    judge(TEXTS);
}
