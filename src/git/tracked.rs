//! What git tracks below a directory and in the working trees of a run: packages that the tools would install, and names
//! that differ by system; and the text of `.gitattributes`: our lines in it, every other byte unchanged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::changes::{ChangedFiles, ListedFiles};
use super::objects::escaped;
use super::{FileKind, Git, GitError, Running};
use crate::config::suffixes;
use crate::lockfile;
use crate::parallel::locked;
use crate::path::{PackageFolder, RepoPath, folded, worktree};
use crate::trust::pins;

#[derive(Debug, Default)]
pub struct TrackedFiles {
    /// By the top of a working tree; or why git does not say what it tracks there.
    known: Mutex<BTreeMap<PathBuf, Result<Arc<TrackedPaths>, GitError>>>,
}

#[derive(Debug, Default)]
struct TrackedPaths {
    paths: Vec<RepoPath>,
    /// The folders of packages by the folded directory that they are in.
    packages: BTreeMap<String, Vec<TrackedFolder>>,
    /// All paths by how file systems that fold names compare them; filled when they are first looked at.
    folded: OnceLock<BTreeMap<String, RepoPath>>,
}

/// A folder of packages of a root module that git tracks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedFolder {
    pub path: RepoPath,
    /// The first tracked path in it, or that of the link or submodule that it is.
    pub first: RepoPath,
    /// True if every system takes the folder for one of packages, and it is neither a link nor a submodule.
    pub is_plain: bool,
}

impl TrackedFiles {
    /// With what is known of one working tree already.
    pub fn of(changes: &ChangedFiles) -> Self {
        let listing = TrackedPaths::of(changes.top(), &changes.tracked);
        Self { known: Mutex::new([(changes.top().to_owned(), Ok(Arc::new(listing)))].into()) }
    }

    /// The folders of packages of a root module; empty without a working tree.
    pub fn packages(&self, root: &Path) -> Result<Vec<TrackedFolder>, GitError> {
        let place = worktree::absolute(root);
        let Some(top) = worktree::top(&place) else { return Ok(Vec::new()) };
        let Some(way) = RepoPath::below(&top, &place) else { return Ok(Vec::new()) };
        Ok(self.listing(&top)?.packages.get(&*folded(&way)).cloned().unwrap_or_default())
    }

    /// The first path that git tracks at or below a place or on the way to it, in any spelling, in the working trees that it is
    /// in. No link of these may be on the way.
    pub fn first_at(&self, place: &Path) -> Result<Option<TrackedFolder>, GitError> {
        let place = worktree::real_path(place);
        let mut in_each = worktree::tops(&place).into_iter().map(|top| self.first_in(&top, &place));
        in_each.find_map(Result::transpose).transpose()
    }

    fn first_in(&self, top: &Path, place: &Path) -> Result<Option<TrackedFolder>, GitError> {
        let Some(way) = RepoPath::below(top, place) else { return Ok(None) };
        let listing = self.listing(top)?;
        let (own, paths) = (folded(&way).into_owned(), listing.folded());
        let is_below =
            |path: &str| path.strip_prefix(&own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let on_the_way = own.match_indices('/').find_map(|(at, _)| paths.get(&own[..at]));
        let mut from_it = paths.range(own.clone()..).take_while(|(path, _)| path.starts_with(&own));
        let first = on_the_way.or_else(|| from_it.find(|(path, _)| is_below(path)).map(|(_, first)| first));
        Ok(first.map(|first| TrackedFolder { path: way, first: first.clone(), is_plain: true }))
    }

    /// Passes the paths of a working tree to a function, by its top.
    pub fn with_paths<T>(&self, top: &Path, read: impl FnOnce(&[RepoPath]) -> T) -> Result<T, GitError> {
        Ok(read(&self.listing(top)?.paths))
    }

    fn listing(&self, top: &Path) -> Result<Arc<TrackedPaths>, GitError> {
        let mut known = locked(&self.known);
        known.entry(top.to_owned()).or_insert_with(|| TrackedPaths::ask(top).map(Arc::new)).clone()
    }
}

impl TrackedPaths {
    fn ask(top: &Path) -> Result<Self, GitError> {
        let answer = Git::open(top)?.launcher.run(["ls-files", "-z", "-t", "--stage", "--cached"])?;
        let tracked = ListedFiles::of(&answer.checked("ls-files")?).tracked.into_iter();
        Ok(Self::of(top, &tracked.map(|(path, (kind, ..))| (path, kind)).collect()))
    }

    fn of(top: &Path, tracked: &BTreeMap<RepoPath, FileKind>) -> Self {
        let mut packages: BTreeMap<String, Vec<TrackedFolder>> = BTreeMap::new();
        for (path, kind) in tracked {
            let Some(folder) = PackageFolder::on_the_way(path).filter(|folder| is_installed_from(top, folder, *kind))
            else {
                continue;
            };
            let of_root = packages.entry(folded(folder.root).into_owned()).or_default();
            if of_root.iter().all(|known| *known.path != *folder.path) {
                let is_plain = folder.is_exact() && folder.path != &**path;
                of_root.push(TrackedFolder { path: RepoPath::from_git(folder.path), first: path.clone(), is_plain });
            }
        }
        Self { paths: tracked.keys().cloned().collect(), packages, folded: OnceLock::new() }
    }

    fn folded(&self) -> &BTreeMap<String, RepoPath> {
        let all = || self.paths.iter().map(|path| (folded(path).into_owned(), path.clone())).collect();
        self.folded.get_or_init(all)
    }
}

/// True if the tools install from a folder: what else is in `terraform.d` does not count, unless that leads elsewhere.
fn is_installed_from(top: &Path, folder: &PackageFolder<'_>, kind: FileKind) -> bool {
    match folder.name {
        ".terragrunt-cache" => false,
        "terraform.d" => kind != FileKind::File && top.join(folder.path).join("plugins").exists(),
        _ => true,
    }
}

#[derive(Debug)]
pub struct TrackedQuestion {
    running: Option<Running>,
    prefix: String,
    known: Vec<PathBuf>,
}

impl TrackedQuestion {
    /// Lists lock files, trust files and configuration, if the directory is in a working tree.
    pub fn send(start: &Path) -> Self {
        let Ok(git) = Git::open(start) else { return Self::answered(Vec::new()) };
        let names = lockfile::NAME_PATTERNS.into_iter().chain([pins::FILE_NAME]).map(str::to_owned);
        let names = names.chain(suffixes().map(|suffix| format!("*{suffix}")));
        let patterns = names.map(|name| format!(":(top,glob){}**/{name}", escaped(&git.directory.prefix())));
        let args = ["ls-files", "-z", "--cached", "--"].map(str::to_owned);
        let running = git.launcher.start(args.into_iter().chain(patterns), Vec::new()).ok();
        Self { running, prefix: git.directory.prefix(), known: Vec::new() }
    }

    /// With an answer that is known already.
    pub fn answered(known: Vec<PathBuf>) -> Self {
        Self { running: None, prefix: String::new(), known }
    }

    /// The files, relative to the directory. Where git does not answer, gitignore alone decides.
    pub fn answer(self) -> Vec<PathBuf> {
        let answer = self.running.and_then(|running| running.answer().ok());
        let Some(answer) = answer.filter(super::GitOutput::succeeded) else { return self.known };
        let paths = answer.stdout.split(|byte| *byte == 0);
        let below = paths.filter_map(|path| path.strip_prefix(self.prefix.as_bytes()));
        below.filter(|path| !path.is_empty()).filter_map(path_of).collect()
    }
}

impl Git {
    /// True if git tracks something at or below a directory of the working tree, or a submodule that it is in; or if that is
    /// unknown.
    pub fn has_at(&self, place: &Path) -> bool {
        let Some(way) = RepoPath::below(&self.top, place) else { return false };
        let ways = || way.match_indices('/').map(|(at, _)| &way[..at]).chain([&*way]);
        let patterns = ways().map(|way| format!(":(top,literal){way}"));
        let args = ["ls-files", "-z", "--cached", "--"].map(str::to_owned).into_iter().chain(patterns);
        let Some(answer) = self.launcher.run(args).ok().filter(super::GitOutput::succeeded) else { return true };
        // What has the name of a directory is a submodule.
        let is_there = |path: String| path.starts_with(&way.prefix()) || ways().any(|way| way == path);
        answer.texts().any(is_there)
    }
}

/// The path that git names, UTF-8 or not.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not every path can be had")]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

/// The path that git names, if it is UTF-8.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The name of the file, at the top of the working tree.
pub const ATTRIBUTES_FILE: &str = ".gitattributes";

/// The lines that we put there. Code hosts fold generated files away, which a lock file must not be.
pub const LINES: [&str; 3] = [
    ".terraform.lock.hcl merge=tflock diff=tflock linguist-generated=false",
    ".tflock.trust.hcl merge=tflock diff=tflock linguist-generated=false",
    ".tflock.modules.hcl merge=tflock linguist-generated=false",
];

/// The line for lock files of Atmos instances, where there are any.
const OF_INSTANCES: &str = ".*.terraform.lock.hcl merge=tflock diff=tflock linguist-generated=false";

/// The lines for a working tree.
fn lines_for(has_instances: bool) -> impl Iterator<Item = &'static str> {
    LINES.into_iter().chain(has_instances.then_some(OF_INSTANCES))
}

/// The files that our lines are about, each with the attributes that its line sets, and their values.
pub fn wanted(has_instances: bool) -> impl Iterator<Item = (&'static str, Vec<(&'static str, &'static str)>)> {
    lines_for(has_instances).filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?, words.filter_map(|word| word.split_once('=')).collect()))
    })
}

/// The text with our lines; those that are there stay where they are.
///
/// New ones go to the end, since the last line about an attribute decides. They get the line ends of the text, and a
/// text whose last line has no end still has none.
pub fn with_lines(text: &[u8], has_instances: bool) -> Vec<u8> {
    let is_missing = |line: &&str| !lines(text).any(|there| is(there, line));
    let missing: Vec<&str> = lines_for(has_instances).filter(is_missing).collect();
    let end = if text.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
    let mut text = text.to_owned();
    let ended = text.is_empty() || text.ends_with(b"\n");
    for line in missing {
        let line = if ended { format!("{line}{end}") } else { format!("{end}{line}") };
        text.extend_from_slice(line.as_bytes());
    }
    text
}

/// The text without our lines: what it was before [`with_lines`].
pub fn without_lines(text: &[u8]) -> Vec<u8> {
    let ours = |line: &&[u8]| lines_for(true).any(|ours| is(line, ours));
    let mut kept: Vec<u8> = lines(text).filter(|line| !ours(line)).collect::<Vec<_>>().concat();
    if !text.ends_with(b"\n") && lines(text).last().as_ref().is_some_and(ours) {
        let end = [&b"\r\n"[..], b"\n"].into_iter().find(|end| kept.ends_with(end)).map_or(0, <[u8]>::len);
        kept.truncate(kept.len() - end);
    }
    kept
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

fn is(line: &[u8], ours: &str) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line) == ours.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_git_tracks_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let write = |path: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        let git = |args: &[&str]| {
            let output = std::process::Command::new("git").arg("-C").arg(root).args(args).output().unwrap();
            assert!(output.status.success());
        };
        let packages = |files: &TrackedFiles, directory: &str| -> Vec<(String, String, bool)> {
            let found = files.packages(&root.join(directory)).unwrap().into_iter();
            found.map(|it| (it.path.to_string(), it.first.to_string(), it.is_plain)).collect()
        };
        let row = |path: &str, first: &str, is_plain| (path.to_owned(), first.to_owned(), is_plain);
        write("terraform.d/plugins/x/y");
        write(".terraform/z");
        git(&["init", "--quiet"]);
        assert_eq!(packages(&TrackedFiles::default(), ""), []);
        git(&["add", "terraform.d"]);
        let expected = row("terraform.d/plugins", "terraform.d/plugins/x/y", true);
        assert_eq!(packages(&TrackedFiles::default(), ""), [expected]);
        // Each root module has its own, by whatever spelling.
        for path in
            ["a/terraform.d/plugins/x/y", "a-b/.terraform/y", "c/terraform.d/y", "d/Terraform.D/Plugins/y", "e/y"]
        {
            write(path);
        }
        git(&["add", "--force", "."]);
        let all = TrackedFiles::default();
        assert_eq!(packages(&all, "a"), [row("a/terraform.d/plugins", "a/terraform.d/plugins/x/y", true)]);
        assert_eq!(packages(&all, "a-b"), [row("a-b/.terraform", "a-b/.terraform/y", true)]);
        assert_eq!(packages(&all, "c"), []);
        assert_eq!(packages(&all, "d"), [row("d/Terraform.D/Plugins", "d/Terraform.D/Plugins/y", false)]);
        assert_eq!((packages(&all, "").len(), packages(&all, "e").len()), (2, 0));
        let first = |place: &str| all.first_at(&root.join(place)).unwrap().map(|it| it.first.to_string());
        for (place, expected) in [
            ("e", Some("e/y")),
            ("E", Some("e/y")),
            ("e/y/z", Some("e/y")),
            ("c/terraform.d", Some("c/terraform.d/y")),
            ("d/terraform.d/plugins/", Some("d/Terraform.D/Plugins/y")),
            ("a-", None),
            ("e/yy", None),
            ("e/z", None),
            ("new/e", None),
        ] {
            assert_eq!(first(place).as_deref(), expected, "{place}");
        }
        // Where git gives no answer, that is none.
        std::fs::write(root.join(".git/index"), "no index").unwrap();
        let unknown = TrackedFiles::default();
        assert!(unknown.packages(&root.join("a")).is_err() && unknown.first_at(&root.join("a")).is_err());
        assert!(unknown.with_paths(root, <[RepoPath]>::len).is_err());
    }
}

#[cfg(test)]
mod attributes_tests {
    use proptest::prelude::*;

    use super::*;

    fn installed(text: &str) -> String {
        String::from_utf8(with_lines(text.as_bytes(), false)).unwrap()
    }

    #[test]
    fn lines_go_to_the_end_in_the_line_ends_of_the_text() {
        let [lock, trust, modules] = LINES;
        assert_eq!(installed(""), format!("{lock}\n{trust}\n{modules}\n"));
        assert_eq!(installed("* text\n"), format!("* text\n{lock}\n{trust}\n{modules}\n"));
        assert_eq!(installed("* text"), format!("* text\n{lock}\n{trust}\n{modules}"));
        assert_eq!(installed("* text\r\n"), format!("* text\r\n{lock}\r\n{trust}\r\n{modules}\r\n"));
        assert_eq!(installed("a b\r\n* text"), format!("a b\r\n* text\r\n{lock}\r\n{trust}\r\n{modules}"));
        assert_eq!(installed(&format!("{trust}\nx y\n")), format!("{trust}\nx y\n{lock}\n{modules}\n"));
        assert_eq!(installed(&format!("#{lock}\n")), format!("#{lock}\n{lock}\n{trust}\n{modules}\n"));
    }

    #[test]
    fn only_our_lines_are_taken_out() {
        let [lock, trust, _] = LINES;
        let other = ".terraform.lock.hcl merge=tflock\n";
        assert_eq!(
            without_lines(format!("{other}{lock}\r\nx y\n{trust}").as_bytes()),
            format!("{other}x y").as_bytes()
        );
        assert_eq!(without_lines(lock.as_bytes()), b"");
    }

    proptest! {
        #[test]
        fn there_and_back(text in "[a*# ]{0,3}(\r?\n[a*# \u{e9}]{0,3}){0,4}", has_instances: bool) {
            let once = with_lines(text.as_bytes(), has_instances);
            prop_assert_eq!(&with_lines(&once, has_instances), &once);
            prop_assert!(once.starts_with(text.as_bytes()));
            prop_assert_eq!(without_lines(&once), text.as_bytes());
        }
    }
}
