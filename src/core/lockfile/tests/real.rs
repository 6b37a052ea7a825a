//! Lock files of public repositories.

use std::collections::BTreeSet;

use super::*;

fn column(header: &[&str], name: &str) -> usize {
    header.iter().position(|is| *is == name).unwrap()
}

#[test]
fn public_lock_files_are_judged_as_by_terraform() {
    let Some(folder) = shared("realworld/locks") else { return };
    let index = read_text(&folder.join("INDEX.tsv")).unwrap();
    let mut rows = index.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let (verdict, selections) = (column(&header, "terraform_1_11_4"), column(&header, "terraform_selections"));
    let mut failures = Vec::new();
    let mut files = 0;
    for row in rows {
        files += 1;
        let text = read(&folder.join(row[0])).unwrap();
        let decoded = match (decode(&text, Dialect::Terraform), row[verdict]) {
            (Ok(decoded), "accepts") => decoded,
            (Err(_), "rejects") => continue,
            (judged, verdict) => {
                failures.push(format!("{} {verdict}: {:?}", row[0], judged.map(|decoded| decoded.lock.len())));
                continue;
            }
        };
        // Where Terraform warns, the table knows no selections.
        let wanted: BTreeSet<String> = row[selections].split(',').map(str::to_owned).collect();
        let selected: BTreeSet<String> =
            decoded.lock.iter().map(|(addr, entry)| format!("{addr}={}", entry.version)).collect();
        if selected != wanted && !row[selections].is_empty() {
            failures.push(format!("{}: selects {selected:?}, not {wanted:?}", row[0]));
        }
        check_text(row[0], &text, &decoded, &mut failures);
    }
    assert!(files > 500);
    assert!(failures.is_empty(), "{} of {files} files fail:\n{}", failures.len(), failures.join("\n"));
}

/// Canonical texts are written again as they are, by both ways; the others are warned about.
fn check_text(name: &str, text: &[u8], decoded: &Decoded, failures: &mut Vec<String>) {
    let again = decoded.header.map(|header| decoded.lock.encode(header));
    let same = again.as_deref().map(str::as_bytes) == Some(text);
    if same != decoded.canonical || same == decoded.warnings.iter().any(|found| found.rule.id() == "not-canonical") {
        failures.push(format!("{name}: canonical {}, warnings {:?}", decoded.canonical, decoded.warnings));
    }
    let long = crate::lockfile::decode_any(text, Dialect::Terraform).unwrap();
    if long.lock != decoded.lock || long.spans != decoded.spans || long.canonical != decoded.canonical {
        failures.push(format!("{name}: the two ways of decoding disagree"));
    }
}
