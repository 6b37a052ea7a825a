//! The gate of pull requests: what is believed, and what the change is, when the work tree must not vouch for itself.
//!
//! Two commits count. Settings and trust file are believed as the *revision* has them. What the change did is told from
//! the *merge base* of the revision and HEAD, so that what others did to the revision meanwhile is not held against it.

mod age;
mod gone;
mod pins;
mod policy;
mod sight;
mod snapshot;
mod went_on;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use gone::Gone;

use super::{Change, Root};
use crate::config;
use crate::disk::lock_file;
use crate::disk::roots::TEST_DIRECTORY;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level};
use crate::git::{Changes, Commit, Git, GitError, Kind};
use crate::lockfile::{self, LockFile};
use crate::modulelock;
use crate::path::{RepoPath, lexical, links, worktree};
use crate::settings::Settings;
use crate::trust::pins::FILE_NAME as TRUST_FILE;
use crate::verify::Compared;
use snapshot::Snapshot;

/// What was asked about the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedBase {
    /// The name of the revision, as typed.
    pub revision: String,
    /// True if the owner approved what the change does to settings and trust file.
    pub trust_change_allowed: bool,
}

/// The two commits by which the change in one work tree is judged, and what it changed.
#[derive(Debug)]
pub struct Base {
    asked: AskedBase,
    git: Git,
    /// The top of the work tree, without symbolic links.
    top: PathBuf,
    /// Where what is believed stands.
    revision: Commit,
    /// What the work tree is compared with.
    parted: Commit,
    changes: Changes,
    believed: Snapshot,
    before: Snapshot,
    /// The texts of the lock files of the merge base that changed since, or that are links, by their paths.
    locks: BTreeMap<String, Vec<u8>>,
}

impl Base {
    /// Asks git about a work tree: the commits, what differs, and the settings of both.
    ///
    /// # Errors
    ///
    /// Outside of git; if the revision means nothing; if the history is too short to tell where the change began; if
    /// the settings of the revision are wrong.
    pub fn open(directory: &Path, asked: &AskedBase) -> Result<Self, Error> {
        let name = &asked.revision;
        let failed = |error| told(error, name);
        let git = Git::open(directory).map_err(failed)?;
        let revision = git.certain_commit(name).map_err(failed)?;
        let head = git.commit("HEAD").map_err(failed)?.ok_or_else(|| {
            Error::new(
                ErrorKind::Usage,
                format!("HEAD has no commit yet, so that there is nothing to compare with {name:?}"),
            )
        })?;
        let parted = git.merge_base(&revision, &head).map_err(failed)?;
        let believed = Snapshot::load(&git, &revision).map_err(failed)?;
        let before =
            if parted.id == revision.id { believed.clone() } else { Snapshot::load(&git, &parted).map_err(failed)? };
        let changes = git.changes_since(before.tree()).map_err(failed)?;
        let top = git.top().to_owned();
        // What did not change is read where it stands; what a link leads to may have changed.
        let is_link = |path: &str| before.tree().kind(path) == Some(Kind::Link);
        let paths: Vec<&str> =
            before.paths(lockfile::FILE_NAME).filter(|path| changes.holds(path) || is_link(path)).collect();
        let texts = git.files_of(before.tree(), &paths).map_err(failed)?;
        let locks = paths.into_iter().zip(texts).filter_map(|(path, text)| Some((path.to_owned(), text?))).collect();
        Ok(Self { asked: asked.clone(), git, top, revision, parted, changes, believed, before, locks })
    }

    /// True if a directory of the work tree is not as it was: it held files at the base, or what leads there changed.
    pub fn tells_of(&self, directory: &Path) -> bool {
        let way = slashed(&self.way_to(directory));
        self.before.tree().is_directory(&way) || self.changes.crossing(&way).is_some()
    }

    /// The top of the work tree, without symbolic links.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The commits, for reports.
    pub fn compared(&self) -> Compared {
        Compared {
            revision: self.asked.revision.clone(),
            commit: self.revision.id.clone(),
            merge_base: self.parted.id.clone(),
            trust_change_allowed: self.asked.trust_change_allowed,
        }
    }

    /// What the run tells of it, for people.
    pub fn note(&self) -> String {
        let short = |id: &str| id.get(..10).unwrap_or(id).to_owned();
        let (revision, base) = (short(&self.revision.id), short(&self.parted.id));
        let name = self.revision.reference.as_ref().unwrap_or(&self.asked.revision);
        if self.asked.trust_change_allowed {
            return format!(
                "lock files are compared with {base}, the merge base with {name}; settings and trust file are those of \
                 the work tree, since --allow-trust-change says that their changes were approved"
            );
        }
        if revision == base {
            return format!(
                "settings and trust file are those of {name} ({revision}), with which lock files are compared"
            );
        }
        format!(
            "settings and trust file are those of {name} ({revision}); lock files are compared with {base}, the merge \
             base with it"
        )
    }

    /// The settings that are believed for a root module, by its place without symbolic links; none if those of the work tree are.
    ///
    /// # Errors
    ///
    /// All that is wrong with those of the revision; and if the path of the root module is not UTF-8.
    pub fn settings(&self, root: &Path) -> Result<Option<Settings>, Error> {
        let way = self.way_to(root);
        if way.to_str().is_none() {
            let message = "the path of this root module is not UTF-8, so that what git says of it cannot be told from what \
                           it says of others";
            return Err(Error::new(ErrorKind::Usage, message).in_file(way).hint("rename the directory"));
        }
        if self.asked.trust_change_allowed {
            return Ok(None);
        }
        let own = self.believed.effective(&self.way_to(root))?;
        match self.came_from(root)? {
            Some(old) => Ok(Some(own.and_stricter(&self.believed.effective(Path::new(&old))?))),
            None => Ok(Some(own)),
        }
    }

    /// What a root module is judged by as a change of what its lock file said before.
    ///
    /// # Errors
    ///
    /// What git says of the history.
    pub fn change(&self, root: &Root, before: LockFile) -> Result<Change, Error> {
        let first_seen = self.first_seen(root, &before)?;
        Ok(Change { base: self.compared(), before, first_seen, unseen: self.unseen(root) })
    }

    /// What was read for a root module by way of a link of the tools, which git does not track: it may lead elsewhere
    /// where the change is used.
    fn unseen(&self, root: &Root) -> Option<Error> {
        let (files, _) = root.read();
        let of_tools = |file: &&PathBuf| file.iter().any(|part| part == links::DATA);
        let leads = |file: &PathBuf| links::resolve(file).is_ok_and(|place| place != lexical(&self.top, file));
        let file = files.iter().filter(of_tools).find(|file| leads(file))?;
        let shown = file.strip_prefix(&self.top).unwrap_or(file);
        let message = format!(
            "{} was read by way of a symbolic link that git does not track: what it leads to is not known where the change \
             is used",
            shown.display()
        );
        Some(
            Error::new(ErrorKind::NotInstalled, message)
                .in_file(shown)
                .hint("install the module again, as a directory"),
        )
    }

    /// True if a settings or trust file changed, or what one led to that is a link.
    fn settings_changed(&self) -> bool {
        let is_settings = |path: &str| {
            let name = name_of(path);
            let is_ours = name.strip_prefix(".tflock").is_some_and(|rest| rest.strip_suffix(".hcl").is_some());
            is_ours && name != modulelock::FILE_NAME
        };
        let tree = self.before.tree();
        let links = tree.paths().filter(|path| is_settings(path) && tree.kind(path) == Some(Kind::Link));
        let mut targets = links.filter_map(|path| tree.resolve(path));
        self.changes.paths().any(is_settings) || targets.any(|target| self.changes.paths().any(|path| *path == *target))
    }

    /// True if a file that is read for a root module changed, or any settings or trust file.
    pub fn concerns(&self, root: &Root) -> bool {
        if self.settings_changed() || root.unread().is_some() {
            return true;
        }
        let (files, mut directories) = root.read();
        let place = &root.settings().place;
        // Where a test file was, none may be left.
        directories.push(place.join(TEST_DIRECTORY));
        let packages = [".terraform", "terraform.d"].map(|name| place.join(name));
        files.iter().any(|file| self.changes.touch(file))
            || directories.iter().any(|directory| self.changes.touch_within(directory, counts))
            || packages.iter().any(|directory| self.changes.touch_below(directory))
    }

    /// What each of some lock files said at the merge base. One that was not there yet is compared with the one that
    /// was moved away, if there is one.
    pub fn before(&self, roots: &[&Root]) -> Vec<LockFile> {
        let mut left = None;
        let mut locks = Vec::new();
        for root in roots {
            if let Some(lock) = self.lock_before(root) {
                locks.push(lock);
                continue;
            }
            let left = match &left {
                Some(left) => left,
                None => left.insert(self.moved_away()),
            };
            let old = gone::predecessor(root.lock(), left);
            let mut before = LockFile::new();
            // What else was recorded there need not be needed here.
            for (addr, _) in root.lock().iter() {
                old.and_then(|old| old.get(addr)).map(|entry| before.insert(addr.clone(), entry.clone()));
            }
            locks.push(before);
        }
        locks
    }

    /// What the lock file of a root module said at the merge base; none if it was not there.
    fn lock_before(&self, root: &Root) -> Option<LockFile> {
        let path = self.lock_path(root);
        let salvaged = |text: &[u8]| lockfile::salvage(text, root.settings().dialect).lock;
        if let Some(text) = self.locks.get(&path) {
            return Some(salvaged(text));
        }
        if self.before.tree().kind(&path) != Some(Kind::File) {
            return None;
        }
        // Then it is as it was.
        let refused = || lock_file::read(&self.top.join(&path)).ok().flatten().map(|text| salvaged(&text));
        if root.spans().is_some() { Some(root.lock().clone()) } else { refused() }
    }

    /// The text of the module lock file of a root module at the merge base.
    ///
    /// # Errors
    ///
    /// What git says.
    pub fn module_lock_before(&self, root: &Root) -> Result<Option<Vec<u8>>, Error> {
        let path = self.lock_path(root).replace(lockfile::FILE_NAME, modulelock::FILE_NAME);
        if !self.before.paths(modulelock::FILE_NAME).any(|known| known == path) {
            return Ok(None);
        }
        Ok(self.texts(&self.before, &[path])?.pop().flatten())
    }

    /// Files of one of the commits; none for those that are not there.
    fn texts(&self, of: &Snapshot, paths: &[String]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        self.git.files_of(of.tree(), &paths).map_err(|error| told(error, &self.asked.revision))
    }

    fn lock_path(&self, root: &Root) -> String {
        let directory = self.way_to(&root.settings().place);
        slashed(&directory.join(lockfile::FILE_NAME))
    }

    /// The findings about the work tree as a whole: its settings and its trust file.
    ///
    /// # Errors
    ///
    /// All that is wrong with the files of the work tree: what cannot be read cannot be compared.
    pub fn policy(&self) -> Result<Vec<Finding>, Error> {
        Ok(self.lifted(policy::findings(self)?))
    }

    /// Findings that the owner's approval lifts.
    fn lifted(&self, findings: Vec<Finding>) -> Vec<Finding> {
        if !self.asked.trust_change_allowed {
            return findings;
        }
        let lift = |finding: Finding| {
            let message = format!("{} (allowed by --allow-trust-change)", finding.message);
            Finding { level: Level::Note, message, ..finding }
        };
        findings.into_iter().map(lift).collect()
    }

    /// The settings by which findings about the work tree as a whole are judged.
    ///
    /// # Errors
    ///
    /// All that is wrong with those of the revision.
    pub fn top_settings(&self) -> Result<Settings, Error> {
        self.believed.effective(Path::new(""))
    }

    /// A directory from the top, with slashes between its parts.
    pub fn way(&self, directory: &Path) -> String {
        slashed(&self.way_to(&worktree::absolute(directory)))
    }

    fn way_to(&self, place: &Path) -> PathBuf {
        place.strip_prefix(&self.top).unwrap_or(Path::new("")).to_owned()
    }

    /// The paths of files with a name that are in the work tree now, from the top.
    fn now(&self, name: &str) -> Vec<String> {
        let of_name = |path: &&str| name_of(path) == name;
        let mut paths: Vec<String> = self.before.paths(name).map(str::to_owned).collect();
        paths.extend(self.changes.paths().filter(of_name).map(str::to_owned));
        paths.sort_unstable();
        paths.dedup();
        paths.retain(|path| crate::disk::text::is_there(&self.top.join(path)));
        paths
    }

    /// A second trust file is an error wherever it stands.
    ///
    /// # Errors
    ///
    /// If there is one.
    pub fn one_trust_file(&self) -> Result<(), Error> {
        let places = self.now(TRUST_FILE).into_iter().map(|path| self.top.join(path));
        Ok(crate::disk::trust_file::only_at_tops(places)?)
    }
}

/// True for the names of files that are read for a module.
fn counts(name: &str) -> bool {
    [lockfile::FILE_NAME, modulelock::FILE_NAME].contains(&name) || config::is_read(name)
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn slashed(path: &Path) -> String {
    RepoPath::of(path).to_string()
}

/// What git refused, with next steps that fit the gate.
fn told(error: GitError, revision: &str) -> Error {
    let deepen = "fetch the whole history: `fetch-depth: 0` in actions/checkout, `GIT_DEPTH: 0` in GitLab CI";
    let said = Error::new(ErrorKind::Usage, error.to_string());
    match error {
        GitError::NoWorkTree { ref reason, .. } if reason.contains("dubious ownership") => error.into(),
        GitError::NoWorkTree { .. } => said.hint("--base compares with a revision of git: run in a clone"),
        GitError::Start(_) => said.hint("install git; --base asks it"),
        GitError::NoMergeBase { .. } => said.hint(format!("if they have one elsewhere, {deepen}")),
        GitError::UnknownName { shallow, ref remote, .. } => {
            let is_told = shallow || remote.is_some();
            let message = format!("--base: {revision:?} is not a revision in this clone");
            let told = Error::from(error);
            let said = Error { message, ..told };
            if is_told { said } else { said.hint(format!("a clone may lack other branches; {deepen}")) }
        }
        GitError::AmbiguousName { .. } => {
            let told = Error::from(error);
            Error {
                message: format!("--base: {}, and whoever may push a tag or a branch could choose", told.message),
                ..told
            }
        }
        GitError::TooShallow { .. }
        | GitError::OtherRepository { .. }
        | GitError::Partial
        | GitError::TooSlow { .. }
        | GitError::TooLarge { .. }
        | GitError::Failed { .. } => error.into(),
    }
}
