//! Errors of several root modules: equal ones are printed once, with the root modules.

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::outcome::advice::with_recursion;
use crate::outcome::{AuditReport, Body, MirrorReport, Outcome, RootOutcome};
use crate::report::groups::{RootSummary, Same};
use crate::report::{Style, failure};

pub(in crate::report) struct Failure<'a> {
    /// The first error, whose place is shown; its next steps fit all of them.
    pub(in crate::report) error: Error,
    pub(in crate::report) paths: Vec<&'a Path>,
}

/// Groups equal errors of root modules, independent of their places, in order of first appearance.
pub(in crate::report) fn together<'a>(
    errors: impl IntoIterator<Item = (&'a Path, &'a Error)>,
    recursive: bool,
) -> Vec<Failure<'a>> {
    let each = errors.into_iter().flat_map(|(path, error)| error.each().map(move |error| (path, error)));
    let keyed =
        each.map(|(path, error)| (path, (error.kind, &error.message, &error.url, error.general_hints()), error));
    let failure = |(_, first, paths): (_, &Error, Vec<&'a Path>)| {
        let mut error = Error { others: Vec::new(), ..first.clone() };
        if paths.len() > 1 {
            let general = error.general_hints().iter();
            error.hints = general.map(|hint| if recursive { with_recursion(hint) } else { hint.clone() }).collect();
        }
        Failure { error, paths }
    };
    Same::firsts(keyed).into_iter().map(failure).collect()
}

/// The errors of one root module: sources without an answer, and failed work.
pub(in crate::report) fn unanswered(root: &RootOutcome) -> impl Iterator<Item = (&Path, &Error)> {
    let errors: Vec<&Error> = match &root.body {
        Err(error) => vec![error],
        Ok(Body::Verified(verified)) => verified.inconclusive.iter().map(|it| &it.error).collect(),
        Ok(Body::Install(report)) => report.failed.iter().collect(),
        Ok(Body::Mirror(MirrorReport { failed, .. }) | Body::Audit(AuditReport { failed, .. })) => {
            failed.iter().collect()
        }
        Ok(_) => Vec::new(),
    };
    errors.into_iter().map(|error| (root.path.as_path(), error))
}

/// For users: each error, with its root modules if its place does not show them.
pub(in crate::report::human) fn failures(outcome: &Outcome, naming: RootSummary, style: Style) -> String {
    let blocks = together(outcome.roots.iter().flat_map(unanswered), naming.recursive).into_iter().map(
        |Failure { error, paths }| {
            // The place of an interruption does not matter to the user.
            let is_general = error.kind != ErrorKind::Interrupted && (error.file.is_none() || paths.len() > 1);
            let naming = is_general.then(|| naming.table_cell(&paths));
            failure::of(&error, naming.as_deref(), style)
        },
    );
    blocks.collect()
}
