//! Which texts `diff` compares: files, commits, the work tree.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use crate::commands::diff::{Pair, Side};
use crate::dialect::Dialect;
use crate::disk::git::{Commit, Git};
use crate::disk::roots::{MissingModules, TreeOptions, load_tree};
use crate::disk::{text, worktree};
use crate::error::{Error, ErrorKind};
use crate::lockfile::FILE_NAME;
use crate::requirements::Requirements;

/// What was typed.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Names of revisions and files.
    pub names: Vec<OsString>,
    /// What stands behind `--`, where that was typed: files and nothing else.
    pub files: Option<Vec<OsString>>,
    /// Compare with the revision itself instead of the merge base.
    pub tip: bool,
    /// Every lock file below.
    pub recursive: bool,
}

/// What is compared.
#[derive(Debug)]
pub struct Comparison {
    /// The texts, by path.
    pub pairs: Vec<Pair>,
    /// Where the configuration of both sides is, if there is one.
    history: Option<History>,
}

/// Two points of a history.
#[derive(Debug)]
struct History {
    git: Git,
    /// None where there is no commit yet.
    old: Option<Commit>,
    /// None for the work tree.
    new: Option<Commit>,
}

/// A name by what it can mean.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    /// A file or directory that is there, or standard input.
    File(PathBuf),
    /// A revision, or two with dots between them.
    Revision(String),
}

/// What the names ask for together.
#[derive(Debug, PartialEq, Eq)]
enum Form {
    /// Two files.
    Files(PathBuf, PathBuf),
    /// A revision with what stands at a path, or at the root module.
    Revision { name: Option<String>, path: Option<PathBuf> },
}

/// Reads the two sides of what was asked for in a directory. `stdin` reads standard input to its end.
///
/// # Errors
///
/// Names that mean nothing, or two things; whatever git or the disk refuses.
pub fn compare(
    asked: &Asked,
    directory: &Path,
    dialect: Option<Dialect>,
    stdin: &mut dyn FnMut() -> Result<Vec<u8>, Error>,
) -> Result<Comparison, Error> {
    match form(asked, directory)? {
        Form::Files(old, new) => {
            if asked.tip || asked.recursive {
                let option = if asked.tip { "--tip" } else { "--recursive" };
                return Err(usage(format!("{option} is for revisions, not for two files")));
            }
            let shown = if new == Path::new("-") { old.clone() } else { new.clone() };
            let [old, new] = [file(directory, &old, stdin)?, file(directory, &new, stdin)?];
            let pair = Pair { path: shown, old, new, dialect };
            Ok(Comparison { pairs: vec![pair], history: None })
        }
        Form::Revision { name, path } => {
            let git = Git::open(directory)?;
            let history = history(git, name.as_deref(), asked.tip)?;
            let pairs = history.pairs(path.as_deref(), asked.recursive, dialect)?;
            Ok(Comparison { pairs, history: Some(history) })
        }
    }
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message).hint("run `tflock diff --help`")
}

fn form(asked: &Asked, directory: &Path) -> Result<Form, Error> {
    let files: Option<Vec<PathBuf>> = asked.files.as_ref().map(|files| files.iter().map(PathBuf::from).collect());
    let names = match &files {
        // Behind `--` there are files only, so before it there are revisions only.
        Some(_) => asked.names.iter().map(|name| Ok(Named::Revision(utf8(name)?))).collect::<Result<_, Error>>()?,
        None => named(&asked.names, directory)?,
    };
    let names: Vec<Named> = names.into_iter().chain(files.into_iter().flatten().map(Named::File)).collect();
    let names: [Option<Named>; 4] = {
        let mut names = names.into_iter();
        std::array::from_fn(|_| names.next())
    };
    match names {
        [None, ..] => Ok(Form::Revision { name: None, path: None }),
        [Some(Named::Revision(name)), None, ..] => Ok(Form::Revision { name: Some(name), path: None }),
        [Some(Named::File(path)), None, ..] if path != Path::new("-") => {
            Ok(Form::Revision { name: None, path: Some(path) })
        }
        [Some(Named::File(old)), Some(Named::File(new)), None, _] if old != Path::new("-") || new != old => {
            Ok(Form::Files(old, new))
        }
        [Some(Named::Revision(name)), Some(Named::File(path)), None, _] if path != Path::new("-") => {
            Ok(Form::Revision { name: Some(name), path: Some(path) })
        }
        [Some(Named::Revision(old)), Some(Named::Revision(new)), path, None]
            if !old.contains("..") && !new.contains("..") =>
        {
            let path = match path {
                Some(Named::File(path)) => Some(path),
                _ => None,
            };
            Ok(Form::Revision { name: Some(format!("{old}..{new}")), path })
        }
        _ => Err(usage("a revision, two revisions or two files are wanted; standard input is one side of two files")),
    }
}

fn utf8(name: &OsStr) -> Result<String, Error> {
    let text = name.to_str().map(str::to_owned);
    text.ok_or_else(|| usage(format!("{:?} is not the name of a revision", name.to_string_lossy())))
}

/// What names mean that may be revisions or files.
fn named(names: &[OsString], directory: &Path) -> Result<Vec<Named>, Error> {
    if names.iter().all(|name| is_only_file(name, directory)) {
        return Ok(names.iter().map(|name| Named::File(PathBuf::from(name))).collect());
    }
    let git = Git::open(directory);
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
        let path = Path::new(name);
        let is_file = name == "-" || directory.join(path).exists();
        meant.push(match (is_file, is_revision(name)?) {
            (true, true) => {
                let shown = name.to_string_lossy();
                return Err(usage(format!("{shown:?} is both a revision and a file"))
                    .hint(format!("`tflock diff {shown} --` means the revision, `tflock diff -- {shown}` the file")));
            }
            (true, false) => Named::File(path.to_owned()),
            (false, true) => Named::Revision(utf8(name)?),
            (false, false) => return Err(unknown(name, git)),
        });
    }
    Ok(meant)
}

/// True for a file whose name git refuses as that of a revision, or outside of git: then git need not be asked.
///
/// Source: `git help check-ref-format`, `git help revisions`.
fn is_only_file(name: &OsStr, directory: &Path) -> bool {
    if name == "-" {
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

fn unknown(name: &OsStr, git: Result<Git, crate::disk::git::GitError>) -> Error {
    let neither = || usage(format!("{:?} is neither a revision nor a file", name.to_string_lossy()));
    let Some(text) = name.to_str() else { return neither() };
    match git {
        Ok(git) => ends(text).into_iter().find_map(|end| git.known_commit(end).err()).map_or_else(neither, Error::from),
        // Outside of git only files can be meant.
        Err(_) => Error::new(ErrorKind::Disk, format!("there is no file {text:?}")).in_file(text),
    }
}

/// The revisions that a name holds: two around dots, where nothing stands for HEAD.
fn ends(name: &str) -> Vec<&str> {
    match name.split_once("...").or_else(|| name.split_once("..")) {
        Some((old, new)) => [old, new].map(|end| if end.is_empty() { "HEAD" } else { end }).to_vec(),
        None => vec![name],
    }
}

fn file(directory: &Path, path: &Path, stdin: &mut dyn FnMut() -> Result<Vec<u8>, Error>) -> Result<Side, Error> {
    if path == Path::new("-") {
        return Ok(Side { name: "standard input".to_owned(), text: Some(stdin()?) });
    }
    let place = directory.join(path);
    let place = if place.is_dir() { place.join(FILE_NAME) } else { place };
    let absent = || Error::new(ErrorKind::Disk, format!("there is no file {}", path.display())).in_file(path);
    let text = text::read(&place)?.ok_or_else(absent)?;
    Ok(Side { name: path.display().to_string(), text: Some(text) })
}

/// The two points that a name asks to compare.
fn history(git: Git, name: Option<&str>, tip: bool) -> Result<History, Error> {
    let Some(name) = name else {
        // Before the first commit there is nothing to compare with.
        let old = git.commit("HEAD")?;
        return Ok(History { git, old, new: None });
    };
    let (old, new) = match (name.split_once("..."), name.split_once("..")) {
        (Some(_), _) | (_, Some(_)) if tip => return Err(usage("--tip is for one revision, not for two")),
        (Some(_), _) => {
            let [old, new] = two(&git, name)?;
            (git.merge_base(&old, &new)?, Some(new))
        }
        (None, Some(_)) => {
            let [old, new] = two(&git, name)?;
            (old, Some(new))
        }
        (None, None) => {
            let old = git.known_commit(name)?;
            let head = git.commit("HEAD")?.filter(|head| head.id != old.id);
            match head.filter(|_| !tip) {
                Some(head) => (git.merge_base(&old, &head)?, None),
                None => (old, None),
            }
        }
    };
    Ok(History { git, old: Some(old), new })
}

fn two(git: &Git, name: &str) -> Result<[Commit; 2], Error> {
    match ends(name)[..] {
        [old, new] => Ok([git.known_commit(old)?, git.known_commit(new)?]),
        _ => Err(usage(format!("{name:?} is not a pair of revisions"))),
    }
}

impl History {
    fn pairs(&self, path: Option<&Path>, recursive: bool, dialect: Option<Dialect>) -> Result<Vec<Pair>, Error> {
        let wanted = self.wanted(path)?;
        let paths = if recursive { self.below(&wanted)? } else { vec![wanted] };
        let old = match &self.old {
            Some(commit) => self.git.files(commit, &paths)?,
            None => vec![None; paths.len()],
        };
        let new = match &self.new {
            Some(commit) => self.git.files(commit, &paths)?,
            None => {
                paths.iter().map(|path| Ok(text::read(&self.git.top().join(path))?)).collect::<Result<_, Error>>()?
            }
        };
        let name = |commit: &Option<Commit>, none: &str| commit.as_ref().map_or(none.to_owned(), Commit::shown);
        let pair = |((path, old), new): ((&String, Option<Vec<u8>>), Option<Vec<u8>>)| Pair {
            path: PathBuf::from(path),
            old: Side { name: name(&self.old, "nothing"), text: old },
            new: Side { name: name(&self.new, "the work tree"), text: new },
            dialect,
        };
        Ok(paths.iter().zip(old).zip(new).map(pair).collect())
    }

    /// The lock file that a path means, from the top: the path itself, or the one in that directory.
    fn wanted(&self, path: Option<&Path>) -> Result<String, Error> {
        let typed = path.unwrap_or(Path::new(""));
        let outside = || usage(format!("{} is outside of the work tree", typed.display()));
        let from_top = match typed.strip_prefix(self.git.top()) {
            Ok(within) => within.to_owned(),
            Err(_) if typed.is_absolute() => return Err(outside()),
            Err(_) => Path::new(self.git.prefix()).join(typed),
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in from_top.components() {
            match part {
                Component::Normal(part) => parts.push(part.to_str().ok_or_else(outside)?),
                Component::ParentDir => {
                    parts.pop().ok_or_else(outside)?;
                }
                _ => {}
            }
        }
        let is_directory = parts.is_empty() || self.git.top().join(parts.join("/")).is_dir();
        if is_directory || !parts.last().is_some_and(|name| Path::new(name).extension().is_some_and(|end| end == "hcl"))
        {
            parts.push(FILE_NAME);
        }
        Ok(parts.join("/"))
    }

    /// Every lock file of either side in the directory of one, or below it.
    fn below(&self, lock_file: &str) -> Result<Vec<String>, Error> {
        let directory = lock_file.rsplit_once('/').map_or(String::new(), |(directory, _)| format!("{directory}/"));
        let mut paths = match &self.old {
            Some(commit) => self.git.lock_files(commit)?,
            None => Vec::new(),
        };
        paths.extend(match &self.new {
            Some(commit) => self.git.lock_files(commit)?,
            None => self.git.lock_files_now()?,
        });
        paths.retain(|path| path.starts_with(&directory));
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }
}

impl Comparison {
    /// What the configuration of the root module of a lock file asks for, before and now, as far as it stands in the
    /// work tree; none unless both sides can be read whole.
    pub fn requirements(&self, pair: &Pair) -> Option<[Requirements; 2]> {
        let history = self.history.as_ref()?;
        let root = pair.path.parent()?;
        let dialect = pair.dialect.or_else(|| crate::lockfile::detect_dialect(pair.new.text.as_deref()?));
        let dialect = dialect.unwrap_or(Dialect::Terraform);
        let old = history.git.configuration(history.old.as_ref()?).ok()??;
        let before = needs(&old.path().join(root), dialect)?;
        let now = match &history.new {
            Some(commit) => {
                let new = history.git.configuration(commit).ok()??;
                needs(&new.path().join(root), dialect)?
            }
            None => needs(&history.git.top().join(root), dialect)?,
        };
        Some([before, now])
    }
}

fn needs(root: &Path, dialect: Dialect) -> Option<Requirements> {
    // Installed modules are known for the work tree only; without them both sides are read alike.
    let data_dir = Some(PathBuf::from(".terraform/none"));
    let options = TreeOptions { data_dir, missing: MissingModules::Skip, ..TreeOptions::new(dialect) };
    Some(load_tree(root, &options).ok()?.requirements)
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
        assert!(only("-") && only(".gitignore") && only("./src/lib.rs") && only("src/../Cargo.toml"));
        assert!(!only("./no/such/file") && !only("HEAD") && !only("..main") && !only("HEAD:.gitignore"));
        if worktree::top(here).is_some() {
            assert!(!only("src") && !only("src/lib.rs"));
        }
    }

    #[test]
    fn behind_dashes_there_are_files() {
        let asked = |names: &[&str], files: &[&str]| {
            let own = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
            form(&Asked { names: own(names), files: Some(own(files)), ..Asked::default() }, Path::new("."))
        };
        let revision = |name: Option<&str>, path: Option<&str>| Form::Revision {
            name: name.map(str::to_owned),
            path: path.map(PathBuf::from),
        };
        assert_eq!(asked(&["main"], &[]), Ok(revision(Some("main"), None)));
        assert_eq!(asked(&["main"], &["main"]), Ok(revision(Some("main"), Some("main"))));
        assert_eq!(asked(&[], &["main"]), Ok(revision(None, Some("main"))));
        assert_eq!(asked(&["a", "b"], &["x"]), Ok(revision(Some("a..b"), Some("x"))));
        assert_eq!(asked(&[], &["a", "-"]), Ok(Form::Files("a".into(), "-".into())));
        for (names, files) in
            [(&[][..], &["-"][..]), (&[], &["-", "-"]), (&["a", "b", "c"], &[]), (&["a..b", "c"], &[])]
        {
            assert!(asked(names, files).is_err(), "{names:?} {files:?}");
        }
    }
}
