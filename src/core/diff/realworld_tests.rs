//! The changes of real commits, told in the words of the index that lists them.

use std::path::PathBuf;

use super::changes;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::diff::{Change, ChangeKind, Formatting};
use crate::hash::HashScheme;
use crate::lockfile::{LockEntry, detect_dialect, salvage};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/realworld/diffs"))
}

/// One change as the index tells it.
fn described(change: &Change) -> String {
    let short = |addr: &ProviderAddr| addr.short(Dialect::Terraform);
    let version = |entry: &Option<LockEntry>| entry.as_ref().map(|entry| entry.version.to_string()).unwrap_or_default();
    let [old, new] = [version(&change.old), version(&change.new)];
    let name = short(&change.address);
    match change.kind {
        ChangeKind::Added => format!("added {name} {new}"),
        ChangeKind::Removed => format!("removed {name} {old}"),
        ChangeKind::Moved => {
            let from = change.moved_from.as_ref().unwrap();
            if from.host() == change.address.host() {
                format!("{from} {old} -> {} {new}", change.address)
            } else {
                format!("{from} -> {} ({old} -> {new})", change.address)
            }
        }
        ChangeKind::Upgraded | ChangeKind::Downgraded => {
            let mut parts = vec![format!("{name}: version {old} -> {new}")];
            parts.extend(other_version(change));
            parts.extend(constraints(change));
            parts.join(", ")
        }
        ChangeKind::HashesChanged | ChangeKind::HashesReplaced | ChangeKind::ConstraintsChanged => {
            let mut parts = Vec::new();
            let of = |scheme, hashes: &[&crate::hash::PackageHash]| {
                hashes.iter().filter(|hash| hash.scheme() == scheme).count()
            };
            let came: Vec<_> = change.hashes_added.iter().map(|added| &added.hash).collect();
            let went: Vec<_> = change.hashes_removed.iter().collect();
            for (sign, hashes) in [('+', came), ('-', went)] {
                if !hashes.is_empty() {
                    let [h1, zh] = [HashScheme::H1, HashScheme::Zh].map(|scheme| of(scheme, &hashes));
                    parts.push(format!("{new}: {sign}{h1} h1 {sign}{zh} zh"));
                }
            }
            parts.extend(constraints(change));
            format!("{name}: {}", parts.join(", "))
        }
    }
}

fn other_version(change: &Change) -> Vec<String> {
    let (old, new) = change.old.as_ref().zip(change.new.as_ref()).unwrap();
    let [before, now] = [old, new].map(|entry| entry.hashes.of(HashScheme::H1).count());
    let same = new.hashes.len() - change.hashes_added.len();
    let mut parts = Vec::new();
    if before != now {
        parts.push(format!("h1 count {before} -> {now}"));
    }
    if same > 0 {
        parts.push(format!("{same} hash(es) stay the same"));
    }
    parts
}

fn constraints(change: &Change) -> Option<String> {
    let (old, new) = change.old.as_ref().zip(change.new.as_ref()).unwrap();
    let shown = |entry: &LockEntry| {
        if entry.constraints.is_empty() { "(none)".to_owned() } else { entry.constraints.to_string() }
    };
    (old.constraints != new.constraints).then(|| format!("constraints {} -> {}", shown(old), shown(new)))
}

fn sorted(facts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut facts: Vec<String> = facts.into_iter().collect();
    facts.sort_unstable();
    facts
}

#[test]
#[expect(clippy::print_stderr, clippy::disallowed_methods, reason = "a skipped test says so; files are read")]
fn changes_agree_with_the_index_of_the_corpus() {
    let Ok(index) = std::fs::read_to_string(folder().join("INDEX.tsv")) else {
        eprintln!("skipped: ../shared is not here");
        return;
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in index.lines().skip(1) {
        count += 1;
        let cells: Vec<&str> = row.split('\t').collect();
        let [old, new] = ["before", "after"].map(|side| {
            let text = std::fs::read(folder().join(cells[0]).join(format!("{side}.lock.hcl"))).unwrap();
            let dialect = detect_dialect(&text).unwrap_or(Dialect::Terraform);
            (salvage(&text, dialect).lock, text)
        });
        let found = changes(&old.0, &new.0);
        assert_eq!(found.is_empty(), old.0 == new.0);
        let text = super::text_change(&old.1, &new.1, old.0 == new.0, false);
        let found = if found.is_empty() && (text.formatting == Formatting::Changed || text.header.is_some()) {
            vec!["text".to_owned()]
        } else {
            sorted(found.iter().map(described))
        };
        let facts = sorted(cells[8].split("; ").filter_map(|fact| {
            // Some of these pairs are equal byte for byte: their commits changed the mode of the file only.
            let equal = fact.starts_with("providers, versions, constraints and hashes equal");
            let fact = if equal { "text" } else { fact };
            let beside =
                fact.starts_with("before: ") || fact.starts_with("after: ") || fact.starts_with("the text differs");
            let counts = if equal { old.1 != new.1 } else { !beside };
            counts.then(|| fact.to_owned())
        }));
        if facts != found {
            wrong.push(format!("{}\n  index {facts:?}\n  here  {found:?}", cells[0]));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 262, "{count} pairs only");
}
