//! The programs of a package: every file that is one by its first bytes, and which of them the tools start.

use super::forms::{PROGRAM, is_program_of};
use crate::goinfo::{BuiltFrom, LIMIT, Unknown};

/// So many programs of a package are kept; the others are counted.
pub const MOST_PROGRAMS: usize = 16;

/// A file of a package that is a program, or that has the name of the program of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// Its path in the installed package.
    pub path: String,
    pub built_from: BuiltFrom,
}

impl ProgramFile {
    /// True for a file that only has the name of a program.
    fn is_other(&self) -> bool {
        self.built_from == [Err(Unknown::NotAProgram)]
    }

    /// Why not everything is known of what it was built from.
    fn unknown(&self) -> Option<&Unknown> {
        self.built_from.iter().find_map(|info| info.as_ref().err())
    }
}

/// What is known of the programs of a package: a function of its files, in whichever order and wherever they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackagePrograms {
    /// First those with the name of the program of a provider, then the others, each by their paths.
    pub files: Vec<ProgramFile>,
    /// The number of further ones.
    pub unread: usize,
}

impl PackagePrograms {
    /// The program of a provider of this type that the tools start: of those that match the first one, by the bytes of
    /// its name. `None` if there is none, or too many.
    ///
    /// Source: `internal/providercache`, `CachedProvider.ExecutableFile`.
    pub fn started(&self, kind: &str) -> Option<&ProgramFile> {
        self.files.iter().find(|file| is_program_of(file.path.as_bytes(), kind))
    }

    /// Why it is not known what the program of a provider of this type was built from.
    pub fn unknown(&self, kind: &str) -> Option<Unknown> {
        let named = self.files.iter().filter(|file| is_named(&file.path));
        if self.unread > 0 && named.clone().count() == MOST_PROGRAMS {
            return Some(Unknown::NotRead);
        }
        let Some(started) = self.started(kind) else { return Some(Unknown::NoProgram) };
        let last = folded(&started.path);
        let mut rivals = named.filter(|file| is_program_of(folded(&file.path).as_bytes(), kind));
        let is_unread = |file: &ProgramFile| folded(&file.path) <= last && file.unknown().is_some();
        started.unknown().cloned().or_else(|| rivals.any(is_unread).then_some(Unknown::Ambiguous))
    }

    /// The other programs of the package of a provider of this type.
    pub fn others(&self, kind: &str) -> impl Iterator<Item = &ProgramFile> {
        let started = self.started(kind).map(|file| file.path.as_str());
        self.files.iter().filter(move |file| Some(file.path.as_str()) != started && !file.is_other())
    }

    /// True if more can be read of a program once the package is unpacked.
    pub fn has_old_layout(&self) -> bool {
        self.files.iter().flat_map(|file| &file.built_from).any(|info| *info == Err(Unknown::OldLayout))
    }

    /// True if something is known of one of them.
    pub fn is_any_known(&self) -> bool {
        self.files.iter().flat_map(|file| &file.built_from).any(Result::is_ok)
    }
}

/// Takes in the files of a package in any order, of which it keeps what matters.
#[derive(Debug, Default)]
pub struct ProgramFiles {
    kept: Vec<Kept>,
    unread: usize,
}

#[derive(Debug)]
struct Kept {
    /// False for those that come first: the tools may start them.
    is_unnamed: bool,
    path: Vec<u8>,
    number: usize,
    built_from: BuiltFrom,
}

impl ProgramFiles {
    /// Takes in the file of this number.
    pub fn add(&mut self, path: Vec<u8>, number: usize, built_from: BuiltFrom) {
        let is_unnamed = !is_named(&String::from_utf8_lossy(&path));
        if is_unnamed && built_from == [Err(Unknown::NotAProgram)] {
            return;
        }
        let at = self.kept.partition_point(|kept| (kept.is_unnamed, &kept.path) < (is_unnamed, &path));
        self.kept.insert(at, Kept { is_unnamed, path, number, built_from });
        if self.kept.len() > MOST_PROGRAMS {
            self.kept.pop();
            self.unread += 1;
        }
    }

    /// What is known of them. `is_file` is false for numbers that turned out to be none.
    pub fn finish(self, is_file: impl Fn(usize) -> bool) -> PackagePrograms {
        let mut size = 0;
        let mut bounded = |info: Result<crate::goinfo::GoInfo, Unknown>| {
            let info = info?;
            size += info.text().len();
            if size > LIMIT { Err(Unknown::TooLarge) } else { Ok(info) }
        };
        let kept = self.kept.into_iter().filter(|kept| is_file(kept.number));
        let files = kept.map(|Kept { path, built_from, .. }| ProgramFile {
            path: String::from_utf8_lossy(&path).into_owned(),
            built_from: built_from.into_iter().map(&mut bounded).collect(),
        });
        PackagePrograms { files: files.collect(), unread: self.unread }
    }
}

/// True for a file that on some system is at the top of the package under the name of the program of a provider.
fn is_named(path: &str) -> bool {
    let path = folded(path);
    !path.contains('/') && path.as_bytes().starts_with(PROGRAM)
}

/// A path without what makes no difference on some systems: which separator, case, dots and spaces at the end of a name.
fn folded(path: &str) -> String {
    let parts = path.split(['/', '\\']).map(|part| part.trim_end_matches(['.', ' '])).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("/").to_uppercase().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goinfo::GoInfo;

    fn go(text: &str) -> BuiltFrom {
        vec![GoInfo::new("go1.22.1", text)]
    }

    fn text() -> BuiltFrom {
        vec![Err(Unknown::NotAProgram)]
    }

    fn package(files: &[(&str, BuiltFrom)]) -> PackagePrograms {
        let mut read = ProgramFiles::default();
        files.iter().enumerate().for_each(|(at, (path, info))| read.add(path.as_bytes().to_vec(), at, info.clone()));
        read.finish(|_| true)
    }

    fn started(files: &[(&str, BuiltFrom)]) -> (Option<String>, Option<Unknown>) {
        let package = package(files);
        let mut reversed = files.to_vec();
        reversed.reverse();
        assert_eq!(self::package(&reversed), package);
        (package.started("foo").map(|file| file.path.clone()), package.unknown("foo"))
    }

    #[test]
    fn the_tools_start_the_first_name() {
        let known = |path: &str| (Some(path.to_owned()), None);
        let of = |names: &[&str]| started(&names.iter().map(|name| (*name, go(""))).collect::<Vec<_>>());
        let all = ["terraform-provider-foo_v1", "terraform-provider-foo_a", "terraform-provider-foo.exe"];
        assert_eq!(of(&all), known("terraform-provider-foo.exe"));
        assert_eq!(of(&all[..2]), known("terraform-provider-foo_a"));
        assert_eq!(of(&["terraform-provider-foobar", "terraform-provider-foo"]), known("terraform-provider-foo"));
        assert_eq!(of(&["bin/terraform-provider-foo", "terraform-provider-bar"]), (None, Some(Unknown::NoProgram)));
        assert_eq!(
            package(&[("terraform-provider-foo", go("")), ("x", text()), ("lib/x", go(""))]).others("foo").count(),
            1
        );
    }

    #[test]
    fn what_another_system_may_start_must_be_known() {
        let own = ("terraform-provider-foo_v1", go(""));
        let with = |path, info| started(&[own.clone(), (path, info)]).1;
        for path in [
            "terraform-provider-foo_v1.",
            "Terraform-Provider-Foo_v1.",
            r".\terraform-provider-foo_v1",
            r"\TERRAFORM-PROVIDER-FOO",
            "terraform-provider-foo_v1 ",
            ".../terraform-provider-foo",
        ] {
            assert_eq!(with(path, text()), Some(Unknown::Ambiguous), "{path}");
            // A program that was read is judged whether or not it is started.
            assert_eq!(with(path, go("path\tx\n")), None, "{path}");
        }
        for path in ["terraform-provider-foo_v2", "terraform-provider-bar", "TERRAFORM-PROVIDER-FOO-X", "lib/a", "a"] {
            assert_eq!(with(path, text()), None, "{path}");
        }
        assert_eq!(with("terraform-provider-foo", text()), Some(Unknown::NotAProgram));
        assert_eq!(
            with("terraform-provider-foo", vec![go("").remove(0), Err(Unknown::NoRecord)]),
            Some(Unknown::NoRecord)
        );
    }

    #[test]
    fn the_same_ones_are_kept_in_any_order() {
        let names: Vec<String> = (0..40).map(|number| format!("{:02}", number * 7 % 40)).collect();
        let mut files: Vec<(&str, BuiltFrom)> = names.iter().map(|name| (name.as_str(), go(""))).collect();
        files.push(("terraform-provider-foo", go("")));
        assert_eq!(started(&files), (Some("terraform-provider-foo".to_owned()), None));
        let package = package(&files);
        assert_eq!((package.files.len(), package.unread), (16, 25));
        assert!(package.files[1..].iter().map(|file| file.path.as_str()).eq(names_in_order(15)));
        // Too many of those that the tools may start.
        let names: Vec<String> = (0..17).map(|number| format!("terraform-provider-a{number}")).collect();
        let files: Vec<(&str, BuiltFrom)> = names.iter().map(|name| (name.as_str(), text())).collect();
        assert_eq!(started(&files), (None, Some(Unknown::NotRead)));
    }

    fn names_in_order(count: usize) -> impl Iterator<Item = String> {
        (0..count).map(|number| format!("{number:02}"))
    }

    #[test]
    fn what_they_say_is_bounded() {
        let long = "dep\texample.com/a\tv1.0.0\n".repeat(LIMIT / 40);
        let files = package(&[("a", go(&long)), ("b", go(&long)), ("c", go(""))]).files;
        assert_eq!(
            files.iter().map(|file| file.unknown().cloned()).collect::<Vec<_>>(),
            [None, Some(Unknown::TooLarge), Some(Unknown::TooLarge)]
        );
    }
}
