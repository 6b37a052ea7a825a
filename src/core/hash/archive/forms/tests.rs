//! Forms of an archive, and its programs.

use super::*;
use crate::goinfo::GoInfo;

fn entries(list: &[(&str, &str)]) -> Vec<ArchiveEntry> {
    list.iter()
        .map(|(name, content)| ArchiveEntry {
            name: name.as_bytes().into(),
            directory: name.ends_with('/'),
            mode: name.starts_with("terraform-").then_some(0o755),
            digest: Some(Sha256Digest::of(content.as_bytes())),
        })
        .collect()
}

fn installed(list: &[(&str, &str)]) -> Result<String, BadArchive> {
    directory_form(&entries(list)).map(|installed| installed.h1.to_string())
}

const BASE: (&str, &str) = ("terraform-provider-foo_v1.0.0", "#!bin\n");

#[test]
fn names_are_cleaned_and_none_comes_twice() {
    let plain = installed(&[("d/e", "2"), BASE]);
    for name in ["/d/e", "./d/e", "d//e", "d/./e", "d/e/."] {
        assert_eq!(installed(&[BASE, (name, "2")]), plain, "{name}");
        assert_eq!(installed(&[BASE, ("d/e", "2"), (name, "2")]), Err(Oddity::SameName.into()), "{name}");
    }
}

#[test]
fn a_file_cannot_be_a_directory() {
    for list in [
        [("a", ""), ("a/b", "")],
        [("a/b", ""), ("a", "")],
        [("a", ""), ("a/", "")],
        [("a/b/", ""), ("a", "")],
        [("a", ""), (".", "")],
    ] {
        assert!(matches!(installed(&list), Err(BadArchive::NotADirectory(_))), "{list:?}");
    }
    assert!(installed(&[("a/", ""), ("a/b", ""), ("a-b", ""), ("a.b/c", ""), ("/", "")]).is_ok());
    assert!(matches!(installed(&[("a", ""), ("a-b", ""), ("a/b", "")]), Err(BadArchive::NotADirectory(_))));
}

#[test]
fn names_that_cannot_be_unpacked() {
    for name in ["..", "a/../b", "..\\evil", "a\\..", "a/..\\b"] {
        assert_eq!(installed(&[(name, "")]), Err(BadArchive::ParentName(name.to_owned())));
    }
    assert!(matches!(installed(&[("a\0", "")]), Err(BadArchive::Name(_))));
    assert!(matches!(installed(&[(&"a".repeat(256), "")]), Err(BadArchive::Name(_))));
    assert!(installed(&[("...", ""), ("a..b", "")]).is_ok());
    assert_eq!(installed(&[]), Err(BadArchive::Empty));
}

#[test]
fn a_newline_counts_in_files_only() {
    assert!(matches!(installed(&[("a\nb", "")]), Err(BadArchive::H1(_))));
    assert!(installed(&[BASE, ("a\nb/", "")]).is_ok());
    assert_eq!(archive_form(&entries(&[BASE, ("a\nb/", "")])), None);
}

#[test]
fn programs_are_recognised_by_their_name() {
    for (name, is) in [
        ("terraform-provider-foo", true),
        ("terraform-provider-foo_v1", true),
        ("terraform-provider-foo.exe", true),
        ("terraform-provider-foobar", false),
        ("terraform-provider-fo", false),
    ] {
        assert_eq!(is_program_of(name.as_bytes(), "foo"), is, "{name}");
    }
    assert!(!is_program_of(b"terraform-provider-foo_v1/x", "foo"));
    let found = directory_form(&entries(&[("terraform-provider-a", ""), ("./x", "")])).unwrap();
    let file = |path: &str, executable| PackageFile { path: path.as_bytes().into(), executable };
    assert_eq!(found.files, [file("terraform-provider-a", true), file("x", false)]);
}

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
    assert_eq!(super::tests::package(&reversed), package);
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
    assert_eq!(with("terraform-provider-foo", vec![go("").remove(0), Err(Unknown::NoRecord)]), Some(Unknown::NoRecord));
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
