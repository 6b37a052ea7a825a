//! The folder `testdata/edits`: each case has its files `before` and a `request`, and either the files `after` or the
//! `error` as it is told.

use std::process::Command;

use super::*;
use crate::error::Error;

/// What a user would read: the message with its place, then the hints.
fn rendered(error: EditError) -> String {
    let error = Error::from(error);
    let mut lines = Vec::new();
    for error in error.each() {
        let place = error.file.as_ref().map(|file| format!("{}: ", file.display())).unwrap_or_default();
        let position = error.position.map(|position| format!("{position}: ")).unwrap_or_default();
        lines.push(format!("{place}{position}{}\n", error.message));
        lines.extend(error.hints.iter().map(|hint| format!("hint: {hint}\n")));
    }
    lines.concat()
}

fn names() -> Vec<String> {
    let names = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap());
    let folders = names.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn request(name: &str) -> Request {
    Request::parse(&std::fs::read_to_string(folder().join(name).join("request")).unwrap())
}

#[test]
fn all_cases() {
    let mut wrong = Vec::new();
    for name in names() {
        let case = folder().join(&name);
        let before = read(&case.join("before"));
        let edits = request(&name).edits(&before);
        let (found, wanted) = match edits {
            Err(error) => (rendered(error), std::fs::read_to_string(case.join("error")).unwrap_or_default()),
            Ok(edits) => {
                let mut after = apply(&before, &edits);
                after.sort_by(|a, b| a.path.cmp(&b.path));
                let show = |files: &[SourceFile]| {
                    let show = |file: &SourceFile| format!("--- {}\n{}", file.path.display(), file.text);
                    files.iter().map(show).collect::<Vec<_>>().concat()
                };
                (show(&after), show(&read(&case.join("after"))))
            }
        };
        if found != wanted {
            wrong.push(format!("=== {name}\n{}", similar::TextDiff::from_lines(&wanted, &found).unified_diff()));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.concat());
}

/// White space apart, adding leaves each line as it was, and removing adds none.
#[test]
fn only_the_requirement_differs() {
    let words = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<String>()).filter(|line| !line.is_empty()).collect()
    };
    let within = |small: &[String], large: &[String]| {
        let mut large = large.iter();
        small.iter().all(|line| large.any(|other| other.trim_end_matches(',') == line.trim_end_matches(',')))
    };
    for name in names() {
        let request = request(&name);
        let case = folder().join(&name);
        if name.contains("one-line") || name.contains("json") || request.add.replace || !case.join("after").is_dir() {
            continue;
        }
        let after = read(&case.join("after"));
        for old in read(&case.join("before")) {
            let new = after.iter().find(|file| file.path == old.path).unwrap();
            let (old, new) = (words(&old.text), words(&new.text));
            let (small, large) = if request.verb == "add" { (old, new) } else { (new, old) };
            assert!(within(&small, &large), "{name}");
            assert!(large.len() - small.len() <= 8, "{name}");
        }
    }
}

/// What `terraform fmt` was content with before, it is content with afterwards.
#[test]
fn formatting_is_kept() {
    let run = Command::new("terraform")
        .args(["fmt", "-check", "-recursive", "-list=true"])
        .arg(folder())
        .env("CHECKPOINT_DISABLE", "1")
        .env_remove("TF_CLI_CONFIG_FILE")
        .output();
    let Ok(run) = run else {
        eprintln!("skipped: there is no terraform here");
        return;
    };
    let listed = String::from_utf8(run.stdout).unwrap();
    let is_listed = |name: &str, folder: &str, file: &Path| {
        listed.lines().any(|line| line.ends_with(&format!("{name}/{folder}/{}", file.display())))
    };
    let mut kept = 0;
    for name in names() {
        for file in read(&folder().join(&name).join("after")) {
            let native = file.path.extension().is_some_and(|extension| extension == "tf");
            if native && !is_listed(&name, "before", &file.path) {
                assert!(!is_listed(&name, "after", &file.path), "{name}: {} is not formatted", file.path.display());
                kept += 1;
            }
        }
    }
    assert!(kept > 40, "{kept} files");
}
