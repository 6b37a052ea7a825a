//! Stacks of Terragrunt that a change adds or edits. What they generate is not read, and may take the place of what is judged.

use std::path::Path;

use super::{Base, directory_of, name_of};
use crate::disk::files;
use crate::error::Error;
use crate::finding::{Finding, Position, Rule};
use crate::path::{RepoPath, lexical};
use crate::terragrunt::{Beside, STACK_FILES, generated_beside};

impl Base {
    /// A finding for each new or changed file of a stack, and for each part that may be generated over files of the repository.
    pub(super) fn changed_stacks(&self) -> Result<Vec<Finding>, Error> {
        let changes = self.changes_beside_comments()?;
        let is_there = |path: &&str| STACK_FILES.contains(&name_of(path)) && changes.is_present(path);
        let mut findings = Vec::new();
        for path in changes.paths().filter(is_there) {
            let text = files::read(&self.top.join(path)).ok().flatten().unwrap_or_default();
            let over = generated_beside(Path::new(path), &String::from_utf8_lossy(&text)).into_iter();
            findings.extend(over.filter_map(|beside| self.generated_over(path, &beside)));
            let message = "the stack is new or changed, and the units that it generates are not read";
            let finding = Finding::new(Rule::RequirementsUnread, message);
            findings.push(finding.in_file(path).at(Position::default()));
        }
        Ok(findings)
    }

    /// The finding for what is generated in a place that has files of the repository, or may have.
    fn generated_over(&self, stack: &str, beside: &Beside) -> Option<Finding> {
        let message = match &beside.path {
            Some(path) => {
                let place = RepoPath::of(&lexical(Path::new(directory_of(stack)), Path::new(path)));
                let prefix = place.prefix();
                let is_tracked = |path: &str| path == &*place || path.starts_with(&prefix);
                let (over, _) = self.changes.tracked().find(|(path, _)| is_tracked(path))?;
                format!(
                    "the stack generates over {over}, so the lock file and the files that are judged are not those that are used"
                )
            }
            None => "the stack may generate over what the repository has, since not all of it is a literal".to_owned(),
        };
        Some(Finding::new(Rule::CoverageLost, message).in_file(stack).at(beside.place.position))
    }
}
