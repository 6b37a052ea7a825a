//! The canonical text of a lock file.
//!
//! Source: `internal/depsfile/locks_file.go`, `SaveLocksToBytes`.

use std::fmt::Write as _;

use super::header::header;
use super::{LockEntry, LockFile};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::hcl::push_escaped;

impl LockFile {
    /// The text as `dialect` writes it, byte for byte.
    pub fn encode(&self, dialect: Dialect) -> String {
        let mut text = String::with_capacity(self.encoded_size());
        text.push_str(header(dialect));
        for (addr, entry) in self.iter() {
            push_entry(&mut text, addr, entry);
        }
        text
    }

    fn encoded_size(&self) -> usize {
        let hashes = |entry: &LockEntry| entry.hashes.iter().map(|hash| hash.as_str().len() + 8).sum::<usize>();
        256 + self.iter().map(|(_, entry)| 256 + hashes(entry)).sum::<usize>()
    }
}

fn push_entry(text: &mut String, addr: &ProviderAddr, entry: &LockEntry) {
    text.push_str("\nprovider \"");
    push_escaped(text, &addr.to_string());
    text.push_str("\" {\n");
    // Versions and constraints contain nothing that needs an escape; writing to a string does not fail.
    if entry.constraints.is_empty() {
        let _ = writeln!(text, "  version = \"{}\"", entry.version);
    } else {
        let _ = writeln!(text, "  version     = \"{}\"", entry.version);
        let _ = writeln!(text, "  constraints = \"{}\"", entry.constraints);
    }
    if !entry.hashes.is_empty() {
        text.push_str("  hashes = [\n");
        for hash in &entry.hashes {
            text.push_str("    \"");
            push_escaped(text, hash.as_str());
            text.push_str("\",\n");
        }
        text.push_str("  ]\n");
    }
    text.push_str("}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(entries: &[(&str, &str, &str, &[&str])]) -> LockFile {
        let mut lock = LockFile::new();
        for (addr, version, constraints, hashes) in entries {
            let entry = LockEntry {
                version: version.parse().unwrap(),
                constraints: constraints.parse().unwrap(),
                hashes: hashes.iter().map(|hash| hash.parse().unwrap()).collect(),
            };
            lock.insert(ProviderAddr::parse(addr, Dialect::Terraform).unwrap(), entry);
        }
        lock
    }

    #[test]
    fn without_entries_only_the_header_is_written() {
        let text = LockFile::new().encode(Dialect::OpenTofu);
        assert_eq!(text.lines().count(), 2);
        assert!(text.starts_with("# This file is maintained automatically by \"tofu init\".\n"));
        assert!(text.ends_with(".\n"));
    }

    #[test]
    fn attributes_are_aligned_without_hashes() {
        let text = lock(&[
            ("zz.example/a/b", "1.0.0", "", &[]),
            ("registry.terraform.io/acme/foo", "1.10.0", "~> 1.2", &["zh:b", "h1:a", "zh:b"]),
        ])
        .encode(Dialect::Terraform);
        let expected = concat!(
            "# This file is maintained automatically by \"terraform init\".\n",
            "# Manual edits may be lost in future updates.\n",
            "\nprovider \"registry.terraform.io/acme/foo\" {\n",
            "  version     = \"1.10.0\"\n  constraints = \"~> 1.2\"\n",
            "  hashes = [\n    \"h1:a\",\n    \"zh:b\",\n  ]\n}\n",
            "\nprovider \"zz.example/a/b\" {\n  version = \"1.0.0\"\n}\n",
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn entries_are_ordered_by_component_of_the_comparison_form() {
        let order = [
            "example.com/a/c",
            "example.com/a/c-d",
            "example.com/a/cd",
            "example.com/a-b/c",
            "example.com/ab/c",
            "example.com/é/a",
            "xm.example/a/b",
            "éa.example/a/b",
            "xo.example/a/b",
            "zz.example/a/b",
            "zz.example:10/a/b",
        ];
        let entries: Vec<_> = order.iter().rev().map(|addr| (*addr, "1.0.0", "", &[] as &[&str])).collect();
        let text = lock(&entries).encode(Dialect::Terraform);
        let labels: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("provider \"")?.strip_suffix("\" {")).collect();
        assert_eq!(labels, order);
    }
}
