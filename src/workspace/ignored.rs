//! Lock files that Git ignores: a clone does not have them, so they count as missing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::git::{Git, IgnoreRule};
use crate::lockfile;
use crate::path::shown;
use crate::step::{Step, shell_word};
use crate::words::counted;

use super::discover::{Search, discover};

/// A lock file that Git ignores, or would ignore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredLockFile {
    pub rule: IgnoreRule,
    pub exists: bool,
}

/// By their directories.
pub type IgnoredLockFiles = BTreeMap<PathBuf, IgnoredLockFile>;

/// True if a directory has a lock file, ignored or not.
pub fn exists(directory: &Path) -> bool {
    directory.join(lockfile::FILE_NAME).is_file()
}

/// Those of some directories whose lock file Git ignores and does not track; relative to the start.
pub fn of<'a>(start: &Path, directories: impl Iterator<Item = &'a Path>) -> IgnoredLockFiles {
    let files: Vec<PathBuf> = directories.map(|path| path.join(lockfile::FILE_NAME)).collect();
    if files.is_empty() {
        return IgnoredLockFiles::new();
    }
    let rules = Git::open(start).map(|git| git.ignored(&files)).unwrap_or_default();
    let of_directory = |(file, rule): (PathBuf, IgnoreRule)| {
        let directory = file.parent()?.to_owned();
        let exists = exists(&start.join(&directory));
        Some((directory, IgnoredLockFile { rule, exists }))
    };
    rules.into_iter().filter_map(of_directory).collect()
}

/// `Git ignores 2 lock files, such as a/.terraform.lock.hcl (.gitignore:3)`, of those that exist, else of those that it would ignore;
/// `None` without any.
pub fn sentence(ignored: &IgnoredLockFiles) -> Option<String> {
    let exist = ignored.values().any(|file| file.exists);
    let of_kind: Vec<_> = ignored.iter().filter(|(_, file)| file.exists == exist).collect();
    let (first, file) = of_kind.first()?;
    let path = shown(&first.join(lockfile::FILE_NAME));
    let verb = if exist { "ignores" } else { "would ignore" };
    Some(match of_kind.len() {
        1 => format!("Git {verb} {path} ({})", file.rule),
        count => format!("Git {verb} {}, such as {path} ({})", counted(count, "lock file"), file.rule),
    })
}

/// Why there is no root module where Git ignores files.
pub struct IgnoredReason {
    /// What Git ignores, with the file and the line of the rule.
    pub what: String,
    pub ways_on: Step,
}

/// What to do about ignored lock files.
pub const WAYS_ON: &str =
    "take that line out and commit the lock files; or keep it: a reusable module needs no lock file";

/// The same for a search below a directory that found no root module; `known` are ignored lock files that it found.
pub fn reason(start: &Path, known: &IgnoredLockFiles) -> Option<IgnoredReason> {
    let of_files = |files: &IgnoredLockFiles| Some(IgnoredReason { what: sentence(files)?, ways_on: WAYS_ON.into() });
    of_files(known).or_else(|| {
        let git = Git::open(start).ok()?;
        let files = git.ignored_configuration();
        let is_lock = |file: &&PathBuf| file.file_name().is_some_and(|name| name == lockfile::FILE_NAME);
        let parents = |files: &mut dyn Iterator<Item = &PathBuf>| -> BTreeSet<PathBuf> {
            files.filter_map(|file| Some(file.parent()?.to_owned())).collect()
        };
        let locked = parents(&mut files.iter().filter(is_lock));
        let directories = if locked.is_empty() { parents(&mut files.iter()) } else { locked };
        let asked: Vec<PathBuf> = directories.iter().filter(|path| !path.as_os_str().is_empty()).cloned().collect();
        let generated = git.ignored(&asked);
        let Some((first, rule)) = generated.first_key_value() else {
            return of_files(&of(start, directories.iter().map(PathBuf::as_path)));
        };
        let name = shown(first);
        let what = match generated.len() {
            1 => format!("Git ignores the directory {name}, which has a root module ({rule})"),
            count => format!("Git ignores {count} directories with root modules, such as {name} ({rule})"),
        };
        Some(IgnoredReason {
            what,
            ways_on: format!("name one of them to work in it: -C {}", shell_word(&name)).into(),
        })
    })
}

/// A hint for a directory that is no root module, where Git ignores lock files or root modules below it.
pub fn below(start: &Path) -> Option<Step> {
    let found = discover(start, true, Search::default()).ok()?;
    let IgnoredReason { what, ways_on } = reason(start, &found.beside.ignored)?;
    Some(format!("{what}: {ways_on}").into())
}
