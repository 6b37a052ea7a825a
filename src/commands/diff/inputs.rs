//! Selects the texts to compare, by the typed names: files, or commits and perhaps a path, and the working tree.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::DiffArgs;
use super::history::{History, history};
use super::pairs::{DiffSide, Pair, SideRequirements};
use super::signers::{Trust, TrustTexts, trust_sides, trust_text};

use crate::dialect::Dialect;
use crate::disk::files;
use crate::disk::roots::{MissingModules, TreeError, TreeOptions, load_tree};
use crate::error::{Error, ErrorKind};
use crate::git::{Git, GitError};
use crate::lockfile::FILE_NAME;
use crate::path::{shown, worktree};
use crate::step::Step;
use crate::workspace::Scope;

#[derive(Debug)]
pub struct Comparison {
    pub pairs: Vec<Pair>,
    /// The remembered signers of both sides.
    pub trust: Trust,
    pub notes: Vec<String>,
    /// The directory of the run.
    directory: PathBuf,
    /// The source of the configuration of both sides; `None` for files.
    history: Option<History>,
    /// The revision that the working tree, or `HEAD`, is compared with.
    base: Option<String>,
}

/// Reads the two sides to compare.
pub fn compare(args: &DiffArgs, directory: &Path, scope: &Scope) -> Result<Comparison, Error> {
    let (dialect, trust_file) = (scope.dialect(), scope.trust_file.as_deref());
    match form(&args.names, args.files(), directory)? {
        InputForm::Files(old, new) => {
            if args.tip || args.recursive {
                let option = if args.tip { "--tip" } else { "--recursive" };
                return Err(usage(format!("{option} is for revisions, not for two files")));
            }
            let [before, after] = [file(directory, &old)?, file(directory, &new)?];
            let pair = Pair { path: new, old: before, new: after, dialect, ..Pair::default() };
            let pair = if is_module_lock(&pair.path) { Pair::of_modules(pair) } else { pair };
            let pins = || trust_text(directory, trust_file);
            Ok(Comparison::new(vec![pair], [pins(), pins()], directory, None))
        }
        InputForm::Revision { name, path } => {
            let git = Git::open(directory).map_err(without_git)?;
            let history = history(git, name.as_deref(), args.tip)?;
            let base = base(name.as_deref()).filter(|_| history.old.is_some());
            let (pairs, mut pins) = history.pairs(path.as_deref(), args.recursive, dialect)?;
            if let Some(named) = trust_file {
                pins = [(); 2].map(|()| trust_text(directory, Some(named)));
            }
            Ok(Comparison { base: base.map(str::to_owned), ..Comparison::new(pairs, pins, directory, Some(history)) })
        }
    }
}

fn is_module_lock(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".modules.hcl"))
}

/// Adds a hint that files can be compared without git.
fn without_git(error: GitError) -> Error {
    let is_none = matches!(error, GitError::Start(_) | GitError::NoWorkTree { .. });
    let mapped = Error::from(error);
    if is_none { mapped.hint(step!("outside of git name two files: `tflock diff OLD NEW`")) } else { mapped }
}

pub(super) fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message).hint(step!("run `tflock diff --help`"))
}

fn file(directory: &Path, path: &Path) -> Result<DiffSide, Error> {
    if is_nothing(path) {
        return Ok(DiffSide { name: shown(path), text: None });
    }
    let place = directory.join(path);
    let place = if place.is_dir() { place.join(FILE_NAME) } else { place };
    let absent = || Error::new(ErrorKind::Disk, format!("there is no file {}", shown(path))).in_file(path);
    let text = files::read_named_file(&place)?.ok_or_else(absent)?;
    Ok(DiffSide { name: shown(path), text: Some(text) })
}

/// True for the path that git passes in place of a missing file.
fn is_nothing(path: &Path) -> bool {
    path == Path::new("/dev/null") || (cfg!(windows) && path.as_os_str().eq_ignore_ascii_case("nul"))
}

impl Comparison {
    fn new(pairs: Vec<Pair>, pins: TrustTexts, directory: &Path, history: Option<History>) -> Self {
        let (trust, notes) = trust_sides(pins);
        Self { pairs, trust, notes, directory: directory.to_owned(), history, base: None }
    }

    /// The check of the same change, which `diff` only explains.
    pub fn gate(&self) -> Option<Step> {
        self.base.as_ref().map(|base| step!("`tflock verify -r --base {}`", base))
    }

    pub fn top(&self) -> Option<&Path> {
        self.history.as_ref().map(|history| history.git.top())
    }

    /// The texts of all lock files of the old commit, whichever are compared.
    pub fn lock_files_before(&self) -> Result<Vec<Vec<u8>>, Error> {
        self.history.as_ref().map_or_else(|| Ok(Vec::new()), History::lock_files_before)
    }

    /// The directory whose settings apply to a lock file: its own, or the nearest existing one above it.
    pub fn directory(&self, pair: &Pair) -> PathBuf {
        let Some(history) = &self.history else { return self.directory.clone() };
        let own = history.git.top().join(&pair.path);
        let there = own.ancestors().skip(1).find(|place| place.is_dir());
        there.map_or_else(|| history.git.top().to_owned(), Path::to_owned)
    }

    /// The requirements of the root module of a lock file, before and now; `None` without configuration to look at.
    pub fn requirements(&self, pair: &Pair) -> Option<[SideRequirements; 2]> {
        let history = self.history.as_ref()?;
        let root = pair.path.parent()?;
        let dialect = pair.dialect.or_else(|| crate::lockfile::detect_dialect(pair.new.text.as_deref()?));
        let dialect = dialect.unwrap_or(Dialect::Terraform);
        let [old, new] = history.configuration()?;
        Some([old, new].map(|top| SideRequirements::read(top, root, dialect)))
    }
}

impl SideRequirements {
    fn read(top: &Path, root: &Path, dialect: Dialect) -> Self {
        // Installed modules are known for the working tree only; both sides are read without them, to be comparable.
        let data_dir = Some(PathBuf::from(".terraform/none"));
        let options = TreeOptions { data_dir, missing: MissingModules::Skip, ..TreeOptions::new(dialect) };
        let directory = top.join(root);
        match load_tree(&directory, &options) {
            Ok(tree) => {
                let unread = tree.unread();
                Self { known: tree.known_requirements().cloned(), unread }
            }
            Err(errors) => {
                let is_unread = |error: &TreeError| !matches!(error, TreeError::NoConfiguration(_));
                let first = errors.into_iter().find(is_unread).map(|error| error.shown_below(&directory, root));
                Self { known: None, unread: first.map(|error| error.located()) }
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TypedNames {
    /// An existing file or directory.
    File(PathBuf),
    /// A revision, or two with dots between them.
    Revision(String),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputForm {
    /// Two files.
    Files(PathBuf, PathBuf),
    /// A revision, with the lock file at a path or of the root module.
    Revision { name: Option<String>, path: Option<PathBuf> },
}

/// `typed` are the names before `--`, `files` those after it, if there is one.
pub(crate) fn form(typed: &[OsString], files: Option<&[OsString]>, directory: &Path) -> Result<InputForm, Error> {
    if typed.iter().chain(files.unwrap_or_default()).any(|name| name == "-") {
        return Err(usage("diff does not read standard input").hint("save the text to a file, and name the file"));
    }
    let mut names = match files {
        // Arguments after `--` are files, so those before it are revisions.
        Some(_) => typed.iter().map(|name| Ok(TypedNames::Revision(utf8(name)?))).collect::<Result<_, Error>>()?,
        None => named(typed, directory)?,
    };
    names.extend(files.unwrap_or_default().iter().map(|file| TypedNames::File(PathBuf::from(file))));
    let (mut revisions, mut paths) = (Vec::new(), Vec::new());
    for name in names {
        match name {
            TypedNames::File(path) => paths.push(path),
            TypedNames::Revision(name) if paths.is_empty() => revisions.push(name),
            TypedNames::Revision(_) => return Err(unfit()),
        }
    }
    match (revisions.as_slice(), paths.as_slice()) {
        ([], [old, new]) => Ok(InputForm::Files(old.clone(), new.clone())),
        (_, [_, _, ..]) => Err(unfit()),
        ([], path) => Ok(InputForm::Revision { name: None, path: path.first().cloned() }),
        ([name], path) => Ok(InputForm::Revision { name: Some(name.clone()), path: path.first().cloned() }),
        ([old, new], path) if !old.contains("..") && !new.contains("..") => {
            Ok(InputForm::Revision { name: Some(format!("{old}..{new}")), path: path.first().cloned() })
        }
        _ => Err(unfit()),
    }
}

fn unfit() -> Error {
    usage("expected a revision, two revisions or two files")
}

fn utf8(name: &OsStr) -> Result<String, Error> {
    let text = name.to_str().map(str::to_owned);
    text.ok_or_else(|| usage(format!("{:?} is not the name of a revision", name.to_string_lossy())))
}

/// Classifies names that may be revisions or files.
fn named(names: &[OsString], directory: &Path) -> Result<Vec<TypedNames>, Error> {
    if names.iter().all(|name| is_only_file(name, directory)) {
        return Ok(names.iter().map(|name| TypedNames::File(PathBuf::from(name))).collect());
    }
    let git = Git::open(directory);
    let is_file = |name: &OsStr| is_nothing(Path::new(name)) || directory.join(name).exists();
    if git.is_ok() && names.iter().all(|name| !is_file(name) && name.to_str().is_some_and(|text| !is_path(text))) {
        // What reads them asks git for them, and says what is wrong if they are no revisions.
        return names.iter().map(|name| Ok(TypedNames::Revision(utf8(name)?))).collect();
    }
    let is_revision = |name: &OsStr| -> Result<bool, Error> {
        match (&git, name.to_str()) {
            (Ok(git), Some(name)) => Ok(ends(name)
                .into_iter()
                .try_fold(true, |all, end| -> Result<bool, Error> { Ok(all && git.commit(end)?.is_some()) })?),
            _ => Ok(false),
        }
    };
    let mut meant = Vec::new();
    for name in names {
        meant.push(match (is_file(name), is_revision(name)?) {
            (true, true) => {
                let shown = name.to_string_lossy();
                return Err(usage(format!("{shown:?} is both a revision and a file")).hint(step!(
                    "`tflock diff {} --` means the revision, `tflock diff -- {}` the file",
                    shown,
                    shown
                )));
            }
            (true, false) => TypedNames::File(PathBuf::from(name)),
            (false, true) => TypedNames::Revision(utf8(name)?),
            (false, false) => return Err(unknown(name, git)),
        });
    }
    Ok(meant)
}

/// True if git refuses the name as a revision, or outside of git; then git need not be started.
///
/// Source: `git help check-ref-format`, `git help revisions`.
fn is_only_file(name: &OsStr, directory: &Path) -> bool {
    if is_nothing(Path::new(name)) {
        return true;
    }
    let Some(text) = name.to_str() else { return directory.join(name).exists() };
    let refused = |end: &str| {
        let syntax = end.contains([':', '@', '^', '~', '{']);
        !syntax && (end.starts_with('/') || end.split('/').any(|part| part.starts_with('.') || part.is_empty()))
    };
    let cannot = ends(text).into_iter().any(refused) || worktree::top(directory).is_none();
    cannot && directory.join(name).exists()
}

fn is_path(text: &str) -> bool {
    text.starts_with("./") || text.starts_with("../") || text.starts_with('/')
}

fn unknown(name: &OsStr, git: Result<Git, GitError>) -> Error {
    let neither = || usage(format!("{:?} is neither a revision nor a file", name.to_string_lossy()));
    let Some(text) = name.to_str() else { return neither() };
    match git {
        // A revision cannot have such a name, whatever dots it contains.
        Ok(_) if is_path(text) => Error::new(ErrorKind::Disk, format!("there is no file {text:?}")).in_file(text),
        Ok(git) => ends(text).into_iter().find_map(|end| git.known_commit(end).err()).map_or_else(neither, Error::from),
        // Outside of git only files are possible.
        Err(reason) => {
            let hint = match reason {
                GitError::Start(_) => "revisions are compared by git, which cannot be started: install it",
                _ => "revisions need a git working tree: run in a clone, or name two files",
            };
            Error::new(ErrorKind::Disk, format!("there is no file {text:?}")).in_file(text).hint(hint)
        }
    }
}

/// The old side of a comparison with the working tree or `HEAD`; `None` for other ones, which no command checks.
fn base(name: Option<&str>) -> Option<&str> {
    let Some(name) = name else { return Some("HEAD") };
    match ends(name)[..] {
        [base] | [base, "HEAD"] => Some(base),
        _ => None,
    }
}

/// The revisions in a name: one, or two around dots, where an empty one means HEAD.
pub(crate) fn ends(name: &str) -> Vec<&str> {
    match name.split_once("...").or_else(|| name.split_once("..")) {
        Some((old, new)) => [old, new].map(|end| if end.is_empty() { "HEAD" } else { end }).to_vec(),
        None => vec![name],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(ends("main"), ["main"]);
        assert_eq!(ends("a..b"), ["a", "b"]);
        assert_eq!(ends("a...b"), ["a", "b"]);
        assert_eq!(ends("..b"), ["HEAD", "b"]);
        assert_eq!(ends("a..."), ["a", "HEAD"]);
        assert_eq!(ends("../x"), ["HEAD", "/x"]);
    }

    #[test]
    fn names_that_can_only_be_files() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let only = |name: &str| is_only_file(OsStr::new(name), here);
        assert!(only(".gitignore") && only("./src/lib.rs") && only("src/../Cargo.toml"));
        assert!(!only("./no/such/file") && !only("HEAD") && !only("..main") && !only("HEAD:.gitignore"));
        if worktree::top(here).is_some() {
            assert!(!only("src") && !only("src/lib.rs"));
        }
    }

    #[test]
    fn behind_dashes_there_are_files() {
        let given = |names: &[&str], files: &[&str]| {
            let own = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
            form(&own(names), Some(&own(files)), Path::new("."))
        };
        let revision = |name: Option<&str>, path: Option<&str>| InputForm::Revision {
            name: name.map(str::to_owned),
            path: path.map(PathBuf::from),
        };
        assert_eq!(given(&["main"], &[]), Ok(revision(Some("main"), None)));
        assert_eq!(given(&["main"], &["main"]), Ok(revision(Some("main"), Some("main"))));
        assert_eq!(given(&[], &["main"]), Ok(revision(None, Some("main"))));
        assert_eq!(given(&["a", "b"], &["x"]), Ok(revision(Some("a..b"), Some("x"))));
        assert_eq!(given(&[], &["a", "b"]), Ok(InputForm::Files("a".into(), "b".into())));
        for (names, files) in [(&[][..], &["-"][..]), (&["a"], &["-"]), (&["a", "b", "c"], &[]), (&["a..b", "c"], &[])]
        {
            assert!(given(names, files).is_err(), "{names:?} {files:?}");
        }
    }
}
