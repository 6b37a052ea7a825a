//! Errors of git in the gate.

use crate::error::{Error, ErrorKind};
use crate::git::GitError;

/// An error of git, with next steps for the gate.
pub(super) fn git_error(error: GitError, revision: &str) -> Error {
    let deepen = "fetch the whole history: `fetch-depth: 0` in actions/checkout, `GIT_DEPTH: 0` in GitLab CI";
    let said = Error::new(ErrorKind::Usage, error.to_string());
    match error {
        GitError::NoWorkTree { ref reason, .. } if reason.contains("dubious ownership") => error.into(),
        GitError::NoWorkTree { .. } => said.hint("--base compares with a revision of git: run in a clone"),
        GitError::Start(_) => said.hint("install git: --base needs it"),
        GitError::NoMergeBase { .. } => said.hint(format!("if they have one elsewhere, {deepen}")),
        GitError::UnknownName { shallow, ref remote, .. } => {
            let is_reported = shallow || remote.is_some();
            let message = format!("--base: {revision:?} is not a revision in this clone");
            let said = Error { message, ..Error::from(error) };
            if is_reported { said } else { said.hint(format!("a clone may lack other branches; {deepen}")) }
        }
        GitError::AmbiguousName { .. } => {
            let refused = Error::from(error);
            Error {
                message: format!("--base: {}, and anyone who may push a tag or a branch could choose", refused.message),
                ..refused
            }
        }
        GitError::TooShallow { .. }
        | GitError::OtherRepository { .. }
        | GitError::Partial
        | GitError::Interrupted(_)
        | GitError::TooSlow { .. }
        | GitError::TooLarge { .. }
        | GitError::Failed { .. } => error.into(),
    }
}
