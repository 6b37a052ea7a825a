//! `testdata/lockfiles`: what is expected is in the files.
//!
//! Findings are announced on their own line by `expect: RULE-ID`, several by several; in `valid` there is nothing to
//! announce and the text is the one that would be written.

use super::*;
use crate::finding::Rule;

const MARK: &str = "expect: ";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/lockfiles").join(name)
}

/// Line and rule of each announced finding, sorted.
fn announced(text: &str) -> Vec<(usize, Rule)> {
    let mut all = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for id in line.split(MARK).skip(1) {
            let id: String = id.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            let rule = Rule::ALL.iter().find(|rule| rule.id() == id).unwrap_or_else(|| panic!("no rule {id:?}"));
            all.push((number, *rule));
        }
    }
    all.sort();
    all
}

fn found(findings: &[Finding]) -> Vec<(usize, Rule)> {
    let mut all: Vec<_> = findings.iter().map(|found| (found.position.unwrap().line, found.rule)).collect();
    all.sort();
    all
}

fn dialect_of(text: &str) -> Dialect {
    detect_dialect(text.as_bytes()).unwrap_or(Dialect::Terraform)
}

#[test]
fn valid_files_are_written_as_they_are() {
    for path in files(&folder("valid"), "hcl") {
        let text = read_text(&path).unwrap();
        let decoded = decode(text.as_bytes(), dialect_of(&text)).unwrap();
        assert!(decoded.canonical, "{}", path.display());
        assert_eq!(decoded.warnings, [], "{}", path.display());
        assert_eq!(decoded.lock.encode(decoded.header.unwrap()), text, "{}", path.display());
    }
}

#[test]
fn invalid_files_have_the_findings_they_announce() {
    for path in files(&folder("invalid"), "hcl") {
        let text = read_text(&path).unwrap();
        let findings = decode(text.as_bytes(), dialect_of(&text)).unwrap_err();
        assert_eq!(found(&findings), announced(&text), "{}: {findings:#?}", path.display());
    }
}

#[test]
fn other_files_have_the_warnings_they_announce() {
    for path in files(&folder("noncanonical"), "hcl") {
        let text = read_text(&path).unwrap();
        let decoded = decode(text.as_bytes(), dialect_of(&text)).unwrap();
        assert!(!decoded.canonical, "{}", path.display());
        // The announcements are comments themselves, and only worth one where they are the first.
        let own = |finding: &&Finding| !finding.message().contains("comments");
        let warnings: Vec<Finding> = decoded.warnings.iter().filter(own).cloned().collect();
        assert_eq!(found(&warnings), announced(&text), "{}: {warnings:#?}", path.display());
        assert!(decoded.warnings.len() > warnings.len(), "{}", path.display());
    }
}
