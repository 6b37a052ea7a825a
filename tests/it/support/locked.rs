//! A root module that is locked as an honest registry has it, and `verify` of it.

use std::collections::BTreeSet;

use super::keys;
use super::registry::Registry;
use super::run::Run;
use super::workspace::Workspace;
use super::worlds::{PLATFORMS, widget_and_gadget};

/// The name of the lock file.
pub const LOCK: &str = ".terraform.lock.hcl";
/// Configuration that requires both.
pub const MAIN: &str = r#"terraform {
  required_providers {
    widget = {
      source  = "{{registry}}/acme/widget"
      version = "~> 1.4"
    }
    gadget = {
      source = "{{registry}}/acme/gadget"
    }
  }
}
"#;

/// A registry with `acme/widget` 1.4.0 and `acme/gadget` 2.0.0.
pub fn honest() -> Registry {
    widget_and_gadget()
}

/// The hashes of a release as they are recorded: each `h1:`, each `zh:`.
pub fn hashes(registry: &Registry, provider: &str, version: &str) -> Vec<String> {
    let packages = PLATFORMS.iter().map(|platform| registry.package(provider, version, platform));
    let mut hashes: Vec<String> = packages.flat_map(|package| [package.zh(), package.h1]).collect();
    hashes.sort();
    hashes
}

/// An entry of a lock file.
pub fn block(registry: &Registry, provider: &str, head: &str, hashes: &[String]) -> String {
    let lines = hashes.join("\",\n    \"");
    format!("\nprovider \"{}/{provider}\" {{\n{head}  hashes = [\n    \"{lines}\",\n  ]\n}}\n", registry.host())
}

/// A root module and its lock file, as the honest world has them.
pub fn locked(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    let gadget = hashes(registry, "acme/gadget", "2.0.0");
    let widget = hashes(registry, "acme/widget", "1.4.0");
    let text = [
        "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n"
            .to_owned(),
        block(registry, "acme/gadget", "  version = \"2.0.0\"\n", &gadget),
        block(registry, "acme/widget", "  version     = \"1.4.0\"\n  constraints = \"~> 1.4\"\n", &widget),
    ];
    workspace.write(LOCK, &text.concat());
    workspace
}

/// Verifies at the top, which writes nothing.
pub fn verify(workspace: &Workspace, registry: &Registry, args: &[&str]) -> Run {
    let args = ["verify", "--format", "json"].iter().chain(args);
    let run = workspace.tflock(registry, args);
    assert!(run.touched().is_empty(), "{run}");
    run
}

/// The rules at one level, with the lines of their findings.
pub fn rules(run: &Run, level: &str) -> BTreeSet<String> {
    let findings = run.json()["findings"].as_array().cloned().unwrap_or_default();
    let at = findings.iter().filter(|finding| finding["level"] == level);
    at.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

/// The number of the first line that holds a text.
pub fn line_of(text: &str, part: &str) -> u64 {
    text.lines().position(|line| line.contains(part)).unwrap() as u64 + 1
}

/// The text with one more hash in its last entry.
pub fn planted(text: &str, hash: &str) -> String {
    let at = text.rfind("  hashes = [\n").unwrap() + "  hashes = [\n".len();
    format!("{}    \"{hash}\",\n{}", &text[..at], &text[at..])
}

/// A trust file that remembers [`keys::GOOD`] as the signer of both.
pub fn pinned(registry: &Registry) -> String {
    let pin = |provider| {
        let key = keys::GOOD.fingerprint();
        format!("provider \"{}/{provider}\" {{\n  signers = [\"{key}\"]\n}}\n", registry.host())
    };
    ["acme/gadget", "acme/widget"].map(pin).join("\n")
}
