//! The root modules that a run is about: those that were named, or those found below.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::Session;
use crate::cli::args::Below;
use crate::cli::settings;
use crate::commands::RunSettings;
use crate::commands::below::below;
use crate::dialect::Dialect;
use crate::disk::worktree;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::lockfile;
use crate::outcome::{Body, Changes, RootOutcome};

/// The root modules of a run, in the order of the results.
pub(super) struct Targets<'a> {
    session: &'a Session<'a>,
    /// As reports name them.
    pub(super) paths: Vec<PathBuf>,
    /// The same, to be opened.
    places: Vec<Place>,
    /// True if they were found, not named.
    pub(super) found: bool,
    /// Results that stand before anything is asked.
    pub(super) outcomes: Vec<RootOutcome>,
    /// The tools of those that were opened.
    dialects: Mutex<Vec<Dialect>>,
}

enum Place {
    /// Named: its settings are read before anything begins.
    Named(Box<RunSettings>),
    /// Found: its settings are read when its turn comes.
    Found(PathBuf),
}

impl<'a> Targets<'a> {
    /// Those of `-C`, or with `-r` those below.
    ///
    /// # Errors
    ///
    /// All that is wrong with directories and with the settings of those that were named.
    pub(super) fn of(session: &'a Session<'a>, asked: &Below, create: bool) -> Result<Self, Error> {
        let mut targets = Self {
            session,
            paths: Vec::new(),
            places: Vec::new(),
            found: asked.recursive,
            outcomes: Vec::new(),
            dialects: Mutex::default(),
        };
        if asked.recursive {
            for directory in session.directories() {
                targets.search(&directory, create)?;
            }
        } else {
            for root in session.roots()? {
                targets.paths.push(root.path.clone());
                targets.places.push(Place::Named(Box::new(root)));
            }
        }
        Ok(targets)
    }

    fn search(&mut self, directory: &Path, create: bool) -> Result<(), Error> {
        let start = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let found = below(start, create)?;
        let prefix = worktree::above(start).map(|(_, prefix)| prefix).unwrap_or_default();
        if found.roots.is_empty() && found.without_lock.is_empty() && found.errors.is_empty() {
            let lacks =
                if create { "no directory has a lock file or configuration" } else { "no directory has a lock file" };
            let message = format!("there is no root module in or below {}: {lacks}", start.display());
            let error = Error::new(ErrorKind::NotFound, message);
            return Err(if create {
                error.hint("name the directory to look in with -C")
            } else {
                error.hint("`tflock lock -r --create` writes lock files where there is configuration that nobody calls")
            });
        }
        for path in found.roots {
            let shown = prefix.join(&path);
            // Of two searches one may lie in the other.
            if !self.paths.contains(&shown) {
                self.places.push(Place::Found(start.join(path)));
                self.paths.push(shown);
            }
        }
        self.outcomes.extend(found.without_lock.iter().map(|path| without_lock(prefix.join(path))));
        self.outcomes.extend(found.errors.into_iter().map(|error| RootOutcome {
            path: error.file.clone().unwrap_or_default(),
            body: Err(error),
            findings: Vec::new(),
        }));
        Ok(())
    }

    /// The settings of one, by its number.
    ///
    /// # Errors
    ///
    /// All that is wrong with its settings files.
    pub(super) fn settings(&self, at: usize) -> Result<RunSettings, Error> {
        let settings = match &self.places[at] {
            Place::Named(settings) => (**settings).clone(),
            Place::Found(root) => {
                settings::of_found(root, &self.paths[at], self.session.arguments, self.session.environment)?
            }
        };
        if let Ok(mut dialects) = self.dialects.lock()
            && !dialects.contains(&settings.dialect)
        {
            dialects.push(settings.dialect);
        }
        Ok(settings)
    }

    /// The directories, to be opened.
    pub(super) fn directories(&self) -> Vec<PathBuf> {
        let directory = |place: &Place| match place {
            Place::Named(settings) => settings.root.clone(),
            Place::Found(root) => root.clone(),
        };
        self.places.iter().map(directory).collect()
    }

    /// The tool of all root modules that were opened, if there is one.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        if let Some(Place::Named(first)) = self.places.first() {
            let same = |place: &Place| matches!(place, Place::Named(settings) if settings.dialect == first.dialect);
            return self.places.iter().all(same).then_some(first.dialect);
        }
        match self.dialects.lock().ok()?[..] {
            [dialect] => Some(dialect),
            _ => None,
        }
    }

    /// True if results stand beside each other, even if there is only one.
    pub(super) fn many(&self) -> bool {
        self.found || self.session.many()
    }
}

fn without_lock(path: PathBuf) -> RootOutcome {
    let file = path.join(lockfile::FILE_NAME);
    let message = "there is a backend, but no dependency lock file";
    let findings = vec![Finding::new(Rule::LockFileMissing, message).in_file(&file)];
    let changes = Changes { path: file, ..Changes::default() };
    RootOutcome { path, body: Ok(Body::Changes(changes)), findings }
}
