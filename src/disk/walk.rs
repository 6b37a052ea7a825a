//! The files below a directory, without those that gitignore leaves out. No symbolic link is followed.
//!
//! Ignore files are read by the one reader. A link, a pipe or a directory of that name is none, as in git itself; so is a file that
//! is larger than any real one. What a file does not leave out is found, so a change that spoils it hides nothing.
//!
//! Source: `git help gitignore`. Patterns are in the `.gitignore` of a directory and of those above it up to the top of the
//! working tree, the nearest first, and in `info/exclude` of the repository.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::files;
use crate::git;
use crate::path::worktree::WorkTree;

const FILE_NAME: &str = ".gitignore";

/// Where Linux shows the state of the machine. No repository is there, and a search would not end soon.
const OF_SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The most bytes of an ignore file. To look up a path takes time in proportion to the patterns.
const MOST: usize = 64 << 10;

pub struct WalkOptions<'w> {
    /// Directories that are not entered, by their names. The repository itself never is.
    pub skipped: &'w [&'w str],
    /// True if other repositories are named like files, and not entered.
    pub names_repositories: bool,
    /// A file with more patterns, which count last.
    pub excludes: Option<&'w Path>,
    /// True for files that are wanted, by their paths; only of these it is found out whether they are ignored.
    pub is_wanted: &'w dyn Fn(&Path) -> bool,
}

#[derive(Debug, Default)]
pub struct Walk {
    /// What was found, relative to the start.
    pub files: Vec<PathBuf>,
    pub unreadable: Vec<(PathBuf, io::Error)>,
}

impl Walk {
    pub fn below(start: &Path, options: &WalkOptions<'_>) -> Self {
        let place = WorkTree::of(start);
        let mut walk = Self::default();
        let mut ahead = vec![(PathBuf::new(), Patterns::above(&place, options.excludes))];
        while let Some((way, patterns)) = ahead.pop() {
            match list(&start.join(&way)) {
                Ok(entries) => {
                    let directory = WalkedDirectory { place: place.directory.join(&way), way, entries };
                    walk.enter(directory, patterns, options, &mut ahead);
                }
                Err(reason) => walk.unreadable.push((way, reason)),
            }
        }
        walk
    }

    fn enter(
        &mut self,
        directory: WalkedDirectory,
        mut patterns: Option<Rc<Patterns>>,
        options: &WalkOptions<'_>,
        ahead: &mut Vec<(PathBuf, Option<Rc<Patterns>>)>,
    ) {
        let WalkedDirectory { place, way, entries } = directory;
        if !way.as_os_str().is_empty() && has(&entries, ".git") {
            if options.names_repositories {
                return self.files.push(way);
            }
            patterns = Patterns::of_repository(&place, options.excludes);
        }
        if patterns.is_some() && has(&entries, FILE_NAME) {
            patterns = Patterns::read(&place, &place.join(FILE_NAME), patterns);
        }
        let is_ignored = |name: &Path, is_directory| {
            patterns.as_ref().is_some_and(|patterns| patterns.ignore(&place.join(name), is_directory))
        };
        for entry in entries {
            let name = PathBuf::from(entry.file_name());
            let path = way.join(&name);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    let is_skipped = name == Path::new(".git")
                        || options.skipped.iter().any(|skipped| name == **skipped)
                        || is_of_system(&place.join(&name));
                    if !is_skipped && !is_ignored(&name, true) {
                        ahead.push((path, patterns.clone()));
                    }
                }
                Ok(_) if (options.is_wanted)(&path) && !is_ignored(&name, false) => self.files.push(path),
                Ok(_) => {}
                Err(reason) => self.unreadable.push((path, reason)),
            }
        }
    }
}

fn is_of_system(directory: &Path) -> bool {
    OF_SYSTEM.iter().any(|of_system| directory == Path::new(of_system))
}

struct WalkedDirectory {
    /// Absolute and without links.
    place: PathBuf,
    /// From the start.
    way: PathBuf,
    entries: Vec<DirEntry>,
}

fn list(directory: &Path) -> io::Result<Vec<DirEntry>> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    fs::read_dir(directory)?.collect()
}

fn has(entries: &[DirEntry], name: &str) -> bool {
    entries.iter().any(|entry| entry.file_name() == name)
}

/// The patterns of one file, and those that count where they say nothing.
struct Patterns {
    own: Gitignore,
    above: Option<Rc<Patterns>>,
}

impl Patterns {
    /// Those of the directories above one, and of its repository; none outside of git.
    fn above(place: &WorkTree, excludes: Option<&Path>) -> Option<Rc<Self>> {
        let top = place.top.as_ref()?;
        let mut directories: Vec<&Path> = place.within().skip(1).collect();
        directories.reverse();
        let read = |above, directory: &Path| Self::read(directory, &directory.join(FILE_NAME), above);
        directories.into_iter().fold(Self::of_repository(top, excludes), read)
    }

    /// Those of a repository, which may have none.
    fn of_repository(top: &Path, excludes: Option<&Path>) -> Option<Rc<Self>> {
        let none = Rc::new(Self { own: Gitignore::empty(), above: None });
        let last =
            excludes.map_or_else(|| Some(Rc::clone(&none)), |file| Self::read(top, file, Some(Rc::clone(&none))));
        git::excludes(top).map_or(last.clone(), |file| Self::read(top, &file, last))
    }

    fn read(directory: &Path, file: &Path, above: Option<Rc<Self>>) -> Option<Rc<Self>> {
        match patterns(directory, file) {
            Some(own) => Some(Rc::new(Self { own, above })),
            None => above,
        }
    }

    fn ignore(&self, path: &Path, is_directory: bool) -> bool {
        let mut files = std::iter::successors(Some(self), |patterns| patterns.above.as_deref());
        let said = files.find_map(|patterns| Some(patterns.own.matched(path, is_directory)).filter(|it| !it.is_none()));
        said.is_some_and(|said| said.is_ignore())
    }
}

fn patterns(directory: &Path, file: &Path) -> Option<Gitignore> {
    file.symlink_metadata().ok().filter(fs::Metadata::is_file)?;
    let bytes = files::read(file).ok().flatten().filter(|bytes| bytes.len() <= MOST)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(directory);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A line that is no pattern matches nothing.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|patterns| !patterns.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(top: &Path, path: &str, text: &str) {
        fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
        fs::write(top.join(path), text).unwrap();
    }

    fn found(start: &Path, names_repositories: bool) -> Vec<String> {
        let is_wanted = |path: &Path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with(".git"));
        let options = WalkOptions { skipped: &["skipped"], names_repositories, excludes: None, is_wanted: &is_wanted };
        let walk = Walk::below(start, &options);
        assert!(walk.unreadable.is_empty(), "{:?}", walk.unreadable);
        let mut found: Vec<String> = walk.files.iter().map(|path| crate::path::shown(path)).collect();
        found.sort();
        found
    }

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git/info")).unwrap();
        for path in ["a/x", "a/b/x", "a/b/y", "skipped/x", "x"] {
            write(folder.path(), path, "");
        }
        folder
    }

    #[test]
    fn the_nearest_patterns_count() {
        let folder = tree();
        let top = folder.path();
        assert_eq!(found(top, false), ["a/b/x", "a/b/y", "a/x", "x"]);
        write(top, ".gitignore", "\u{feff}x\n");
        assert_eq!(found(top, false), ["a/b/y"]);
        write(top, "a/.gitignore", "!/x\nb/\n");
        assert_eq!(found(top, false), ["a/x"]);
        // From within it counts what is above.
        assert_eq!(found(&top.join("a"), false), ["x"]);
        assert_eq!(found(&top.join("a/b"), false), ["y"]);
        write(top, ".git/info/exclude", "/a\n");
        assert_eq!(found(top, false), [""; 0]);
        fs::remove_dir_all(top.join(".git")).unwrap();
        assert_eq!(found(top, false), ["a/b/x", "a/b/y", "a/x", "x"]);
    }

    #[test]
    fn another_repository_has_patterns_of_its_own() {
        let folder = tree();
        let top = folder.path();
        write(top, ".gitignore", "x\n");
        write(top, "a/b/.git/info/exclude", "y\n");
        assert_eq!(found(top, false), ["a/b/x"]);
        assert_eq!(found(top, true), ["a/b"]);
        assert_eq!(found(&top.join("a/b"), true), ["x"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_has_no_patterns() {
        use std::os::unix::fs::symlink;

        let all = ["a/b/x", "a/b/y", "a/x", "x"];
        let makes: [&dyn Fn(&Path); 7] = [
            &|place| symlink("/dev/zero", place).unwrap(),
            &|place| symlink("/dev/stdin", place).unwrap(),
            &|place| {
                write(place.parent().unwrap(), "patterns", "x\n");
                symlink("patterns", place).unwrap();
            },
            &|place| fs::create_dir(place).unwrap(),
            &|place| assert!(std::process::Command::new("mkfifo").arg(place).status().unwrap().success()),
            &|place| fs::File::create(place).unwrap().set_len(1 << 30).unwrap(),
            &|place| fs::write(place, "x\n".repeat(MOST)).unwrap(),
        ];
        for (at, make) in makes.into_iter().enumerate() {
            for place in [".gitignore", "a/.gitignore", ".git/info/exclude"] {
                let folder = tree();
                make(&folder.path().join(place));
                let found = found(folder.path(), false);
                let found: Vec<_> = found.iter().filter(|path| !path.ends_with("patterns")).collect();
                assert_eq!(found, all, "{at} {place}");
            }
        }
    }
}
