#![expect(clippy::disallowed_methods, reason = "cases are files, and terraform is asked")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod cases;
mod properties;

use std::path::{Path, PathBuf};

use super::*;

/// The folder of the cases.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/edits")
}

/// What a case asks for: `add SOURCE[@CONSTRAINT]` or `remove SOURCE`, then flags.
#[derive(Debug)]
struct Request {
    verb: String,
    add: AddRequest,
    force: bool,
    dialect: Dialect,
}

impl Request {
    fn parse(line: &str) -> Self {
        let (verb, rest) = line.trim().split_once(' ').unwrap();
        let mut words = rest.split(" --");
        let (source, constraint) = match words.next().unwrap().split_once('@') {
            Some((source, constraint)) => (source.to_owned(), Some(constraint.to_owned())),
            None => (rest.split(' ').next().unwrap().to_owned(), None),
        };
        let mut add = AddRequest { name: None, source, constraint, replace: false };
        let (mut force, mut dialect) = (false, Dialect::Terraform);
        for flag in words {
            match flag.split_once(' ').unwrap_or((flag, "")) {
                ("name", name) => add.name = Some(name.to_owned()),
                ("replace", "") => add.replace = true,
                ("force", "") => force = true,
                ("tofu", "") => dialect = Dialect::OpenTofu,
                other => panic!("unknown flag {other:?}"),
            }
        }
        Self { verb: verb.to_owned(), add, force, dialect }
    }

    fn edits(&self, files: &[SourceFile]) -> Result<Vec<FileEdit>, EditError> {
        match &*self.verb {
            "add" => add(files, self.dialect, &self.add),
            "remove" => {
                let addr = ProviderAddr::parse(&self.add.source, self.dialect).unwrap();
                remove(files, self.dialect, &addr, self.force)
            }
            other => panic!("unknown verb {other:?}"),
        }
    }
}

/// The files of a directory, by name.
fn read(directory: &Path) -> Vec<SourceFile> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<SourceFile> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            SourceFile { path: PathBuf::from(path.file_name().unwrap()), text }
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
