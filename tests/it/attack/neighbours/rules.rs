//! Settings and trust files that allow more than before.

use super::Op::{Append, Move, Remove, Replace, Write};
use super::{Row, judge};

const WEAKENED: &[&str] = &["policy-weakened"];
const SETTINGS: &str = ".tflock.hcl";
const TRUST: &str = ".tflock.trust.hcl";

#[rustfmt::skip] // One row a line.
const POLICIES: &[Row] = &[
    Row("nothing but a comment", &[Append(SETTINGS, "# more\n")], 0, &[]),
    Row("a stricter age", &[Replace(SETTINGS, "\"1d\"", "\"2d\"")], 0, &[]),
    Row("a shorter age", &[Replace(SETTINGS, "\"1d\"", "\"1h\"")], 3, WEAKENED),
    Row("no age", &[Replace(SETTINGS, "  minimum_age  = \"1d\"\n", "")], 3, WEAKENED),
    Row("one host more", &[Replace(SETTINGS, "[\"{registry}\"]", "[\"{registry}\", \"evil.example.com\"]")], 3, WEAKENED),
    Row("all hosts", &[Replace(SETTINGS, "  hosts        = [\"{registry}\"]\n", "")], 3, WEAKENED),
    Row("all hosts of modules", &[Replace(SETTINGS, "  module_hosts = [\"git.example.com\"]\n", "")], 3, WEAKENED),
    Row("one host of modules more", &[Replace(SETTINGS, "[\"git.example.com\"]", "[\"git.example.com\", \"evil.example.com\"]")], 3, WEAKENED),
    Row("no signature", &[Replace(SETTINGS, "\"always\"", "\"never\"")], 3, WEAKENED),
    Row("a signature if there are keys", &[Replace(SETTINGS, "\"always\"", "\"if_keys_known\"")], 3, WEAKENED),
    Row("expired keys", &[Replace(SETTINGS, "\"deny\"\n  h1", "\"allow\"\n  h1")], 3, WEAKENED),
    Row("reported hashes", &[Replace(SETTINGS, "\"verified\"", "\"registry\"")], 3, WEAKENED),
    Row("reported hashes of a host", &[Append(SETTINGS, "host \"{registry}\" {\n  h1 = \"registry\"\n}\n")], 3, WEAKENED),
    Row("the ban of another version", &[Replace(SETTINGS, "= 1.4.2", "= 1.4.3")], 3, WEAKENED),
    Row("the ban of a part", &[Replace(SETTINGS, "= 1.4.2", "= 1.4.2, > 1.4.2")], 3, WEAKENED),
    Row("a wider ban", &[Replace(SETTINGS, "= 1.4.2", ">= 1.4.2")], 0, &[]),
    Row("the ban of another provider", &[Replace(SETTINGS, "ban \"{registry}/acme/widget\"", "ban \"{registry}/acme/other\"")], 3, WEAKENED),
    Row("a lower level", &[Replace(SETTINGS, "is = \"deny\"", "is = \"note\"")], 3, WEAKENED),
    Row("a level of another rule", &[Append(SETTINGS, "level \"hash-replaced\" {\n  is = \"note\"\n}\n")], 3, WEAKENED),
    Row("an exemption", &[Append(SETTINGS, "exempt \"hash-replaced\" {\n}\n")], 3, WEAKENED),
    Row("an exemption below", &[Write("app/.tflock.hcl", "exempt \"hash-replaced\" {\n}\n")], 3, WEAKENED),
    Row("an exemption that ended long ago", &[Append(SETTINGS, "exempt \"hash-replaced\" {\n  until = \"2001-01-01\"\n}\n")], 3, WEAKENED),
    Row("a lower level below", &[Write("other/.tflock.hcl", "level \"entry-missing\" {\n  is = \"note\"\n}\n")], 3, WEAKENED),
    Row("a lower level below of what is stated above", &[Write("other/.tflock.hcl", "level \"constraints-stale\" {\n  is = \"note\"\n}\n")], 0, &[]),
    Row("rules where no root module is", &[Write("docs/.tflock.hcl", "exempt \"hash-replaced\" {\n}\n")], 3, WEAKENED),
    Row("a stricter file below", &[Write("app/.tflock.hcl", "policy {\n  minimum_age = \"3d\"\n}\n")], 0, &[]),
    Row("other platforms", &[Append(SETTINGS, "platforms = [\"linux_amd64\"]\n")], 0, &[]),
    Row("the other tool", &[Append(SETTINGS, "tool = \"tofu\"\n")], 3, &["dialect-changed"]),
    Row("the other tool below", &[Write("app/.tflock.hcl", "tool = \"tofu\"\n")], 3, &["dialect-changed"]),
    Row("no settings", &[Remove(SETTINGS)], 3, WEAKENED),
    Row("empty settings", &[Write(SETTINGS, "")], 3, WEAKENED),
    Row("settings by another name", &[Move(SETTINGS, ".TFLOCK.hcl")], 3, &["ambiguous-name", "policy-weakened"]),
    Row("settings moved down", &[Move(SETTINGS, "app/.tflock.hcl")], 3, WEAKENED),
    Row("settings that cannot be read", &[Append(SETTINGS, "policy {\n")], 2, &[]),
    Row("settings that are misspelt", &[Append(SETTINGS, "polcy {\n}\n")], 2, &[]),
    Row("a directory in their place", &[Remove(SETTINGS), Write(".tflock.hcl/x", "")], 2, &[]),
];

#[test]
#[ignore = "long"]
fn settings_that_allow_more() {
    judge(POLICIES);
}

const PIN: &str = "provider \"{registry}/acme/widget\" {\n  signers = [\"";
const OTHER: &str = "1234567890123456789012345678901234567890";

#[rustfmt::skip] // One row a line.
const PINS: &[Row] = &[
    Row("a comment", &[Append(TRUST, "# more\n")], 0, &[]),
    Row("a signer more", &[Replace(TRUST, PIN, "provider \"{registry}/acme/widget\" {\n  signers = [\"1234567890123456789012345678901234567890\", \"")], 3, &["pin-changed"]),
    Row("a pin of all its namespace", &[Append(TRUST, "provider \"{registry}/acme/*\" {\n  signers = [\"1234567890123456789012345678901234567890\"]\n}\n")], 0, &[]),
    Row("unsigned as well", &[Append(TRUST, "provider \"{registry}/acme/*\" {\n  unsigned = true\n}\n")], 0, &[]),
    Row("a pin of a new provider", &[Append(TRUST, "provider \"{registry}/evil/gadget\" {\n  signers = [\"1234567890123456789012345678901234567890\"]\n}\n")], 0, &[]),
    Row("a release published again", &[Append(TRUST, "republished \"{registry}/acme/widget\" {\n  version = \"1.4.0\"\n  date    = \"2026-01-01\"\n  reason  = \"x\"\n}\n")], 3, &["republication-accepted"]),
    Row("a denied signer more", &[Append(TRUST, "denied_signer \"1234567890123456789012345678901234567890\" {\n  reason = \"x\"\n}\n")], 0, &[]),
    Row("no trust file", &[Remove(TRUST)], 3, &["pin-removed"]),
    Row("an empty one", &[Write(TRUST, "")], 3, &["pin-removed"]),
    Row("a second one", &[Write("app/.tflock.trust.hcl", "")], 2, &[]),
    Row("moved down", &[Move(TRUST, "app/.tflock.trust.hcl")], 2, &[]),
    Row("by another name", &[Move(TRUST, ".TFLOCK.trust.hcl")], 3, &["ambiguous-name", "pin-removed"]),
    Row("one that cannot be read", &[Append(TRUST, "provider {\n")], 2, &[]),
    Row("a directory in its place", &[Remove(TRUST), Write(".tflock.trust.hcl/x", "")], 2, &[]),
];

#[test]
fn trust_files_that_remember_others() {
    assert_eq!(OTHER.len(), 40);
    judge(PINS);
}
