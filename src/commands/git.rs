//! `git`: registers tflock as git's merge driver and diff filter for its files, or removes it.

use std::path::Path;

use clap::Subcommand;

use super::Services;
use super::options::Within;
use crate::disk::atomic::Stored;
use crate::disk::root_files;
use crate::error::Error;
use crate::git::tracked::{wanted, with_lines, without_lines};
use crate::git::{Git, GitError};
use crate::interrupt::{Interrupt, What};
use crate::outcome::{Body, GitReport, GitSetting, Outcome};

/// Let git merge and compare lock files through tflock.
#[derive(Debug, Clone, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct GitArgs {
    #[command(subcommand)]
    pub(crate) command: GitCommand,
    #[command(flatten)]
    pub(crate) within: Within,
}

/// The commands below `git`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum GitCommand {
    /// Write .gitattributes and the repository's configuration.
    ///
    /// Adds a line for each kind of file to the .gitattributes at the top of the working tree, which you commit, and the
    /// commands to the configuration of this clone, which git does not share: everyone who merges runs this once. Code
    /// hosts do not run merge drivers.
    Install,
    /// Remove these settings again.
    Uninstall,
    /// Show what is installed; exit 1 if something is missing.
    Status,
}

pub fn git(args: &GitArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let (mut reports, mut notes, mut differs) = (Vec::new(), Vec::new(), false);
    for directory in services.scope.directories() {
        let repository = Git::open(&directory)?;
        reports.push(match args.command {
            GitCommand::Install => {
                let stored = install(&repository, &services.interrupt)?;
                let others = status(&repository)?.into_iter().filter(|setting| !setting.is_set());
                notes.extend(others.map(|setting| format!("another line decides: {setting}")));
                if !on_path(services) {
                    notes.push("git will not find tflock, which is not on PATH".to_owned());
                }
                GitReport::Installed(stored == Stored::Written)
            }
            GitCommand::Uninstall => uninstall(&repository, &services.interrupt)?,
            GitCommand::Status => {
                let settings = status(&repository)?;
                differs |= settings.iter().any(|setting| !setting.is_set());
                if settings.iter().any(|setting| setting.found.is_none()) {
                    notes.push("`tflock git install` sets what is missing".to_owned());
                }
                GitReport::Status(settings)
            }
        });
    }
    Ok(Outcome { notes, ..Outcome::of_body("git", Body::Git(reports)) }.exit_1_if(differs))
}

/// Git passes the commands to a shell, the second one with the file as its argument. Where tflock is not on PATH, as in an
/// IDE, Git merges and compares the plain text: without a fallback, it leaves out theirs, or compares nothing at all.
const CONFIG: [(&str, &str); 3] = [
    ("merge.tflock.name", "merges dependency lock files and trust files by provider"),
    (
        "merge.tflock.driver",
        "if command -v tflock >/dev/null; then tflock merge -- %O %A %B %L %P; else git merge-file --marker-size=%L %A %O %B; fi",
    ),
    (
        "diff.tflock.textconv",
        "convert() { if command -v tflock >/dev/null; then tflock textconv \"$1\"; else cat \"$1\"; fi; }; convert",
    ),
];

fn install(repository: &Git, interrupt: &Interrupt) -> Result<Stored, Error> {
    let stored = root_files::update_attributes(repository.top(), interrupt, with_lines)?;
    for (key, value) in CONFIG {
        let writing = interrupt.writing()?;
        repository.set_config(key, value)?;
        writing.wrote(What::File, Path::new("config"));
    }
    Ok(stored)
}

/// Removes what [`install`] wrote, and the attributes file if nothing else is in it.
fn uninstall(repository: &Git, interrupt: &Interrupt) -> Result<GitReport, Error> {
    let stored = root_files::update_attributes(repository.top(), interrupt, without_lines)?;
    let mut clone = false;
    for (key, _) in CONFIG {
        let writing = interrupt.writing()?;
        if repository.unset_config(key)? {
            writing.wrote(What::File, Path::new("config"));
            clone = true;
        }
    }
    Ok(GitReport::Uninstalled { attributes: stored == Stored::Written, clone })
}

fn status(repository: &Git) -> Result<Vec<GitSetting>, GitError> {
    let mut settings = Vec::new();
    for (key, wanted) in CONFIG {
        settings.push(GitSetting { name: key.to_owned(), found: repository.config(key)?, wanted });
    }
    for (file, attributes) in wanted() {
        for (name, wanted) in attributes {
            let found = repository.attribute(name, file)?;
            let found = (found != "unspecified").then_some(found);
            settings.push(GitSetting { name: format!("{name} of {file}"), found, wanted });
        }
    }
    Ok(settings)
}

fn on_path(services: &Services<'_>) -> bool {
    let name = format!("tflock{}", std::env::consts::EXE_SUFFIX);
    let path = services.variables().get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| folder.join(&name).is_file())
}
