//! `vectors/lockfmt`: what the tools accept, refuse and make of many texts.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::finding::Rule;

/// The texts with values that are expressions, escapes or heredocs.
const NOT_LITERAL: [&str; 34] = [
    "049", "050", "051", "052", "053", "054", "055", "056", "057", "058", "059", "060", "061", "062", "064", "065",
    "066", "067", "096", "097", "098", "099", "101", "114", "115", "119", "120", "121", "122", "123", "124", "125",
    "169", "202",
];

/// The diagnostics in a file: line, and column where it is given.
fn expected(path: &Path) -> Option<Vec<(usize, Option<usize>)>> {
    let text = read_text(path)?;
    let row = |line: &str| {
        let mut cells = line.split('\t');
        let line = cells.next().unwrap().parse().unwrap();
        (line, cells.next().and_then(|cell| cell.parse().ok()))
    };
    Some(text.lines().map(row).collect())
}

struct Case<'a> {
    folder: &'a Path,
    name: &'a str,
    note: &'a str,
    dialect: Dialect,
}

impl Case<'_> {
    fn file(&self, suffix: &str) -> std::path::PathBuf {
        self.folder.join(format!("{}.{suffix}", self.name))
    }

    /// What the tool of this case writes, if the vectors know.
    fn output(&self) -> Option<String> {
        let tofu = read_text(&self.file("out.hcl"));
        if self.dialect == Dialect::OpenTofu {
            return tofu;
        }
        let own = read_text(&self.file("terraform.hcl"));
        own.or_else(|| tofu.map(|text| text.replacen("\"tofu init\"", "\"terraform init\"", 1)))
    }

    fn check(&self, accepts: bool, failures: &mut Vec<String>, not_literals: &mut BTreeSet<String>) {
        let text = read(&self.file("in.hcl")).unwrap();
        let mut fail = |what: String| failures.push(format!("{} {}: {what}", self.name, self.dialect));
        match (decode(&text, self.dialect), accepts) {
            (Ok(_), false) if self.note != "crash" => fail("accepted".to_owned()),
            // The tools evaluate what is refused here.
            (Err(findings), _) if findings.iter().any(|found| found.rule == Rule::LockNotLiteral) => {
                not_literals.insert(self.name.to_owned());
            }
            (Err(findings), true) => fail(format!("refused: {findings:?}")),
            (Ok(decoded), true) => {
                if let Some(output) = self.output()
                    && decoded.lock.encode(self.dialect) != output
                {
                    fail(format!("written as\n{}", decoded.lock.encode(self.dialect)));
                }
                let own: Vec<_> =
                    decoded.warnings.iter().filter(|found| found.rule.id() == "lock-modules").cloned().collect();
                let wanted = expected(&self.file("warn")).unwrap_or_default();
                let wanted: Vec<_> = wanted.into_iter().map(|(line, column)| (line, column.unwrap())).collect();
                if places(&own) != wanted {
                    fail(format!("warns at {:?}, not at {wanted:?}", places(&own)));
                }
            }
            (Err(findings), false) => {
                let wanted = expected(&self.file("err")).or_else(|| expected(&self.file("terraform.err")));
                let wanted: BTreeSet<_> =
                    wanted.unwrap_or_default().into_iter().map(|(line, column)| (line, column.unwrap())).collect();
                let is: BTreeSet<_> = places(&findings).into_iter().collect();
                // Behind an error of syntax nothing more is told, and it may be told of another column.
                let line = |place: &(usize, usize)| place.0;
                let syntax = findings.iter().any(|found| found.rule == Rule::LockSyntax);
                let lines = || is.iter().all(|place| wanted.iter().any(|there| line(there) == line(place)));
                // The tools tell of each further entry of a provider, which one finding counts here.
                let repeated = findings.iter().any(|found| found.rule == Rule::DuplicateProvider);
                let agrees = is == wanted || syntax && lines() || repeated && is.is_subset(&wanted);
                if !agrees && self.note != "crash" {
                    fail(format!("finds {is:?}, not {wanted:?}: {findings:?}"));
                }
            }
            (Ok(_), false) => {}
        }
    }
}

#[test]
fn every_text_is_judged_written_and_complained_about_as_by_the_tools() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/vectors/lockfmt");
    let index = read_text(&folder.join("index.tsv")).unwrap();
    let mut failures = Vec::new();
    let mut cases = 0;
    let mut not_literals = BTreeSet::new();
    for row in index.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        for (dialect, verdict) in [(Dialect::Terraform, cells[1]), (Dialect::OpenTofu, cells[2])] {
            let case =
                Case { folder: &folder, name: cells[0], note: cells.get(4).copied().unwrap_or_default(), dialect };
            case.check(verdict == "ok", &mut failures, &mut not_literals);
            cases += 1;
        }
    }
    assert!(cases > 100);
    let named: Vec<&str> = not_literals.iter().map(String::as_str).collect();
    assert_eq!(named, NOT_LITERAL);
    assert!(failures.is_empty(), "{} of {cases} cases fail:\n{}", failures.len(), failures.join("\n"));
}
