//! How to restore a lock file that must not be used.

use std::path::Path;

use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule, shell_word};
use crate::git::Git;
use crate::lockfile::{self, FILE_NAME};

/// The error for a refused lock file; `path` opens it. If it has values that no tool writes, the hint is the command
/// that restores this file.
pub fn refused(findings: Vec<Finding>, path: &Path, shown: &Path) -> Error {
    let not_literal = findings.iter().any(|finding| finding.rule == Rule::LockNotLiteral);
    let mut error = Error::of_lock_file(findings, shown);
    if not_literal {
        let hint = advice(path);
        let advise = |error: &mut Error| {
            if error.kind == ErrorKind::Trust {
                error.message = format!("{} ({})", error.message, Rule::LockNotLiteral.id());
                error.hints = vec![hint.clone()];
            }
        };
        advise(&mut error);
        error.others.iter_mut().for_each(advise);
    }
    error
}

/// The next step for a lock file with values that no tool writes.
fn advice(path: &Path) -> String {
    let name = path.file_name().map_or(FILE_NAME.into(), |name| name.to_string_lossy());
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let git = git_in(directory);
    let name = shell_word(&name);
    match recorded(directory, path) {
        Some(text) if is_plain(&text) => {
            format!("`{git} checkout HEAD -- {name}` restores the committed file")
        }
        Some(_) => format!(
            "HEAD has such values too: `{git} log --oneline -- {name}` lists the revisions of the file, and \
             `{git} checkout REV -- {name}` restores it from one without them"
        ),
        None => "no tool writes such values: restore the file from a copy that you trust".to_owned(),
    }
}

/// The beginning of a git command for a directory, given relative to the directory of the run.
pub fn git_in(directory: &Path) -> String {
    match crate::path::shown(directory).trim_end_matches('/') {
        "" | "." => "git".to_owned(),
        directory => format!("git -C {}", shell_word(directory)),
    }
}

/// The file in HEAD; `None` outside of git, or if git does not track it.
fn recorded(directory: &Path, path: &Path) -> Option<Vec<u8>> {
    let git = Git::open(directory).ok()?;
    let head = git.commit("HEAD").ok()??;
    let name = path.file_name()?.to_str()?;
    git.files(&head, &[git.directory().join(name).to_string()]).ok()?.pop()?
}

fn is_plain(text: &[u8]) -> bool {
    let dialect = lockfile::detect_dialect(text).unwrap_or(Dialect::Terraform);
    let has = |findings: Vec<Finding>| findings.iter().any(|finding| finding.rule == Rule::LockNotLiteral);
    lockfile::decode(text, dialect).map_or_else(|findings| !has(findings), |_| true)
}
