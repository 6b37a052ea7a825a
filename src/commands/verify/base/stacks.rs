//! Stacks of Terragrunt that a change adds or edits. What they generate is not read, and may take the place of what is judged.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{Base, directory_of, name_of};
use crate::disk::files;
use crate::error::Error;
use crate::finding::{Finding, Location, Position, Rule};
use crate::path::{RepoPath, folded, lexical};
use crate::terragrunt::{Beside, STACK_FILES, generated_beside};

impl Base {
    /// A finding for each new or changed file of a stack, and one if it may generate over files of the repository.
    pub(super) fn changed_stacks(&self) -> Result<Vec<Finding>, Error> {
        let changes = self.changes_beside_comments()?;
        let exclusions = self.exclusions().unwrap_or_default();
        // A link is as new as what it leads to.
        let is_changed = |path: &&str| {
            let place = self.top.join(path);
            changes.is_present(path) && changes.touch(&place) && !exclusions.cover(&self.top.join(directory_of(path)))
        };
        let named = changes.tracked().map(|(path, _)| path).chain(changes.paths());
        let stacks: BTreeSet<&str> = named.filter(|path| STACK_FILES.contains(&name_of(path))).collect();
        let stacks: Vec<&str> = stacks.into_iter().filter(is_changed).collect();
        if stacks.is_empty() {
            return Ok(Vec::new());
        }
        let tracked: BTreeMap<String, &str> =
            changes.tracked().map(|(path, _)| (folded(path).into_owned(), path)).collect();
        let mut findings = Vec::new();
        for path in stacks {
            let unread = || Location { file: Path::new(path).into(), position: Position::default() };
            let beside = match files::read(&self.top.join(path)) {
                Ok(Some(text)) => generated_beside(Path::new(path), &String::from_utf8_lossy(&text)),
                _ => vec![Beside { path: None, place: unread() }],
            };
            findings.extend(beside.iter().find_map(|beside| generated_over(path, beside, &tracked)));
            let message = "the stack is new or changed, and the units that it generates are not read";
            let finding = Finding::new(Rule::RequirementsUnread, message);
            findings.push(finding.in_file(path).at(Position::default()));
        }
        Ok(findings)
    }
}

/// The finding for what is generated in a place that has files of the repository, or may have. `tracked` are these by their folded paths.
fn generated_over(stack: &str, beside: &Beside, tracked: &BTreeMap<String, &str>) -> Option<Finding> {
    let message = match &beside.path {
        Some(path) => {
            let place = RepoPath::of(&lexical(Path::new(directory_of(stack)), Path::new(path)));
            let (own, below) = (folded(&place), RepoPath::from_git(folded(&place).into_owned()).prefix());
            let first = tracked.range(below.clone()..).next().filter(|(path, _)| path.starts_with(&below));
            let over = tracked.get(&*own).or(first.map(|(_, path)| path))?;
            format!("the stack generates over {over}: what is judged there may not be what is used")
        }
        None => "the stack may generate over what git tracks, since a part of it is not read".to_owned(),
    };
    let remedy = step!(
        "Generate below .terragrunt-stack, or where git tracks nothing; else the owner of the trust file approves the change \
         (`--allow-trust-change`)."
    );
    let finding = Finding::new(Rule::CoverageLost, message).in_file(stack).at(beside.place.position);
    Some(finding.remedied_by(remedy))
}
