//! Workflow commands of GitHub Actions: annotations on lines of a pull request. A step may create ten annotations of
//! each level; the rest is counted. The step summary is Markdown, which the command line layer writes. Source:
//! docs.github.com, "Workflow commands for GitHub Actions"; the limits are in `actions/toolkit`.

use std::fmt::Write;

use crate::error::Error;
use crate::finding::Level;
use crate::outcome::Outcome;
use crate::report::annotation::{Annotation, Findings, items, of_failure};
use crate::report::groups::Changed;
use crate::report::{Style, opening, printable, summary};
use crate::topics::more_about_rule;

const MOST: usize = 10;

const LEVELS: [(Level, &str, &str); 3] =
    [(Level::Deny, "error", "errors"), (Level::Warn, "warning", "warnings"), (Level::Note, "notice", "notices")];

pub(super) fn render(outcome: &Outcome) -> String {
    let mut text = annotations(&items(outcome, Findings::Grouped));
    // The last line of a log is read first.
    for line in summary::lines(outcome).into_iter().chain(opening::last_lines(
        outcome,
        &Changed::of(&outcome.roots),
        Style::default(),
    )) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{}", printable(&line));
    }
    text
}

pub(super) fn failure(error: &Error) -> String {
    annotations(&of_failure(error))
}

/// The first ten annotations of each level, worst level first, and the number of the others.
fn annotations(items: &[Annotation]) -> String {
    let mut text = String::new();
    let mut more = Vec::new();
    for (level, command, word) in LEVELS {
        let of_level: Vec<&Annotation> = items.iter().filter(|item| item.level == level).collect();
        for item in of_level.iter().take(MOST) {
            let _ = writeln!(text, "{}", annotation(command, item));
        }
        if of_level.len() > MOST {
            more.push(format!("{} more {word}", of_level.len() - MOST));
        }
    }
    if !more.is_empty() {
        let _ = writeln!(text, "not annotated: {}", more.join(", "));
    }
    text
}

fn annotation(command: &str, item: &Annotation) -> String {
    let mut properties = Vec::new();
    if let Some(file) = &item.file {
        properties.push(format!("file={}", property(file)));
        if let Some(position) = item.position {
            properties.push(format!("line={}", position.line));
            properties.push(format!("col={}", position.column));
        }
    }
    properties.push(format!("title={}", property(&format!("tflock {}", item.rule.id))));
    let url = more_about_rule(item.rule.id).map(|more| format!("%0A{more}")).unwrap_or_default();
    format!("::{command} {}::{}{url}", properties.join(","), data(&item.message))
}

fn data(text: &str) -> String {
    printable(text).replace('%', "%25")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::finding::Position;

    #[test]
    fn what_has_a_meaning_is_escaped() {
        let error = Error::new(ErrorKind::LockFile, "50% of\r\n::error::it").in_file("a,b:c.hcl");
        let item = of_failure(&Error { position: Some(Position { line: 3, column: 7 }), ..error }).remove(0);
        let line = annotations(&[item]);
        let wanted = "::error file=a%2Cb%3Ac.hcl,line=3,col=7,title=tflock lock-file::50%25 of\\r\\n::error::it\n";
        assert_eq!(line, wanted);
    }

    #[test]
    fn ten_of_a_level_and_no_more() {
        let error = |count| of_failure(&Error::new(ErrorKind::Disk, format!("e{count}"))).remove(0);
        let mut all: Vec<Annotation> = (0..12).map(error).collect();
        all.push(Annotation { level: Level::Note, ..error(99) });
        let text = annotations(&all);
        assert_eq!(text.matches("::error ").count(), 10);
        assert!(text.contains("::notice ") && text.ends_with("not annotated: 2 more errors\n"), "{text}");
    }
}
