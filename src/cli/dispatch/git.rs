//! `git install|uninstall|status`.

use std::fmt::Write;

use super::{Done, Session};
use crate::cli::ExitCode;
use crate::cli::args::{GitArgs, GitCommand};
use crate::commands::git::{install, status, uninstall};
use crate::disk::atomic::Stored;
use crate::disk::git_config::Repository;
use crate::disk::git_config::attributes::FILE_NAME;
use crate::error::Error;

pub(super) fn git(session: &Session<'_>, arguments: &GitArgs) -> Result<Done, Error> {
    let (mut text, mut notes, mut code) = (String::new(), Vec::new(), ExitCode::Done);
    for directory in session.directories() {
        let repository = Repository::find(&directory)?;
        match arguments.command {
            GitCommand::Install => {
                text.push_str(&told(install(&repository)?, "set"));
                let others = status(&repository)?.into_iter().filter(|setting| !setting.is_set());
                notes.extend(others.map(|setting| format!("another line decides: {setting}")));
                if !on_path(session) {
                    notes.push("git will not find tflock, which is not on PATH".to_owned());
                }
            }
            GitCommand::Uninstall => text.push_str(&told(uninstall(&repository)?, "removed")),
            GitCommand::Status => {
                for setting in status(&repository)? {
                    code = code.and(if setting.is_set() { ExitCode::Done } else { ExitCode::Findings });
                    // Writing to a string cannot fail.
                    let _ = writeln!(text, "{setting}");
                }
            }
        }
    }
    let mut done = Done::text("git", text);
    done.outcome.notes = notes;
    Ok(Done { code, ..done })
}

/// What was done to the attributes file and to the configuration.
fn told(stored: Stored, done: &str) -> String {
    let attributes = match stored {
        Stored::Written => done,
        Stored::Unchanged => "unchanged",
    };
    format!("{FILE_NAME}: {attributes}\ngit configuration of this clone: {done}\n")
}

/// Whether git finds the program by its name.
fn on_path(session: &Session<'_>) -> bool {
    let name = format!("tflock{}", std::env::consts::EXE_SUFFIX);
    let path = session.environment.variables.get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| folder.join(&name).is_file())
}
