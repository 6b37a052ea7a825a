//! How an accepted text differs from the one that the tools would write.

use std::collections::BTreeSet;
use std::ops::Range;

use super::header::header;
use super::{LockFile, Spans};
use crate::dialect::Dialect;
use crate::finding::{Finding, LineIndex, Position, Rule};

const MOST_FINDINGS: usize = 1000;

pub(super) struct Layout<'a> {
    pub(super) text: &'a str,
    pub(super) index: &'a LineIndex<'a>,
    pub(super) comments: &'a [Range<usize>],
}

impl<'a> Layout<'a> {
    fn lines(&self) -> std::str::Lines<'a> {
        self.text.trim_start_matches('\u{feff}').lines()
    }
}

/// Says why a text is not canonical; at least one reason for each that is not.
pub(super) fn warnings(of: &Layout<'_>, lock: &LockFile, spans: &Spans, tool: Option<Dialect>) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(of_header(of, tool));
    findings.extend(of_line_ends(of));
    findings.extend(of_comments(of, tool));
    findings.extend(of_order(spans));
    of_hashes(spans, &mut findings);
    if findings.is_empty() {
        let wanted = lock.encode(tool.unwrap_or(Dialect::Terraform));
        let line = 1 + of.lines().zip(wanted.lines()).take_while(|(is, wanted)| is == wanted).count();
        let message = "the file is not formatted as the tools do, here and perhaps below";
        findings.push(not_canonical(message).at(Position { line, column: 1 }));
    }
    findings
}

fn not_canonical(message: impl Into<String>) -> Finding {
    Finding::new(Rule::NotCanonical, message)
}

fn of_header(of: &Layout<'_>, tool: Option<Dialect>) -> Option<Finding> {
    let message = match tool {
        None => "the file has no header of Terraform or OpenTofu".to_owned(),
        Some(tool) => {
            let begins = header(tool).lines().zip(of.lines()).all(|(wanted, line)| wanted == line.trim_end());
            if begins {
                return None;
            }
            format!("the file does not begin with the header of {tool}")
        }
    };
    Some(not_canonical(message).at(Position::default()))
}

fn of_line_ends(of: &Layout<'_>) -> Option<Finding> {
    let at = of.text.find("\r\n")?;
    Some(not_canonical("the file has CRLF line ends").at(of.index.position(at)))
}

/// Comments other than the two of the header.
fn of_comments(of: &Layout<'_>, tool: Option<Dialect>) -> Option<Finding> {
    let of_header = |at: &Range<usize>| {
        tool.is_some_and(|tool| header(tool).lines().any(|line| of.text[at.start..].starts_with(line)))
    };
    let mut others = of.comments.iter().filter(|at| !of_header(at));
    let first = others.next()?;
    let count = 1 + others.count();
    let message = format!("the file has comments ({count}), which the tools drop when they write it");
    Some(not_canonical(message).at(of.index.position(first.start)))
}

fn of_order(spans: &Spans) -> Option<Finding> {
    let mut blocks: Vec<_> = spans.entries.iter().map(|(addr, entry)| (entry.block, addr)).collect();
    blocks.sort();
    let pair = blocks.windows(2).find(|pair| pair[0].1 > pair[1].1)?;
    let (block, addr) = pair[1];
    let message = format!("the entries are not in order: {addr} belongs before {}", pair[0].1);
    Some(not_canonical(message).about(addr).at(block))
}

fn of_hashes(spans: &Spans, findings: &mut Vec<Finding>) {
    for (addr, entry) in &spans.entries {
        let mut seen = BTreeSet::new();
        for (hash, position) in &entry.each_hash {
            if !seen.insert(hash) && findings.len() < MOST_FINDINGS {
                let message = format!("{hash} is recorded twice for {addr}");
                findings.push(Finding::new(Rule::DuplicateHash, message).about(addr).at(*position));
            }
        }
        let unsorted = entry.each_hash.windows(2).find(|pair| pair[0].0 > pair[1].0);
        if let Some(pair) = unsorted {
            let message = format!("the hashes of {addr} are not sorted; the next run of init rewrites the file");
            findings.push(not_canonical(message).about(addr).at(pair[1].1));
        }
    }
}
