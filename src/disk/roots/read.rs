//! Directories and files of modules: names and texts.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::TreeError;
use crate::config::{ConfigFiles, Manifest, SourceFile, decode_variables};
use crate::dialect::Dialect;
use crate::disk::files::{self, Refusal};
use crate::git::worktree::lexical;

/// The configuration files in a directory.
pub(super) fn list(dir: &Path, dialect: Dialect) -> io::Result<ConfigFiles> {
    let mut names = Vec::new();
    for entry in fs::read_dir(files::resolve(dir)?)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        // A broken link stays in, to fail when it is read.
        let is_dir = kind.is_dir() || (kind.is_symlink() && fs::metadata(entry.path()).is_ok_and(|meta| meta.is_dir()));
        if !is_dir {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(ConfigFiles::select(names, dialect))
}

/// Reads files of a directory; bytes that are not UTF-8 are replaced.
pub(super) fn texts(root: &Path, dir: &Path, names: &[String]) -> Result<Vec<SourceFile>, Box<TreeError>> {
    names.iter().map(|name| text(root, dir.join(name))).collect()
}

pub(super) fn text(root: &Path, path: PathBuf) -> Result<SourceFile, Box<TreeError>> {
    match files::read(&root.join(&path)) {
        Ok(Some(bytes)) => {
            let text =
                String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
            Ok(SourceFile { path, text })
        }
        Ok(None) => Err(Box::new(TreeError::Read { path, kind: io::ErrorKind::NotFound })),
        Err(error) => Err(Box::new(unreadable(path, &error))),
    }
}

/// A file or directory that is there but is not read.
pub(super) fn unreadable(path: PathBuf, error: &io::Error) -> TreeError {
    match Refusal::of(error) {
        Some(reason) => TreeError::Refused { path, reason },
        None => TreeError::Read { path, kind: error.kind() },
    }
}

/// The list of installed modules; empty if there is none.
pub(super) fn manifest(root: &Path, data_dir: Option<&Path>) -> Result<Manifest, Box<TreeError>> {
    let path = data_dir.unwrap_or(Path::new(".terraform")).join("modules/modules.json");
    match text(root, path) {
        Ok(file) => {
            Manifest::decode(&file.text).map_err(|reason| Box::new(TreeError::Manifest { path: file.path, reason }))
        }
        Err(error) => match *error {
            TreeError::Read { kind: io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, .. } => {
                Ok(Manifest::default())
            }
            _ => Err(error),
        },
    }
}

/// The values that files of variables in the root module set, over those of the environment.
///
/// What cannot be read sets nothing: whoever needs a value learns that it is unknown.
pub(super) fn variables(root: &Path, environment: &BTreeMap<String, String>) -> BTreeMap<String, Option<String>> {
    let mut values: BTreeMap<_, _> =
        environment.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    for name in variable_files(root) {
        if let Ok(file) = text(root, PathBuf::from(name)) {
            values.extend(decode_variables(&file.path, &file.text));
        }
    }
    values
}

/// The names of the files of variables in the root module, in the order of reading.
pub(super) fn variable_files(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| {
            let auto = name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json");
            auto || name == "terraform.tfvars" || name == "terraform.tfvars.json"
        })
        .collect();
    names.sort_by_key(|name| (!name.starts_with("terraform.tfvars"), name.clone()));
    names
}

/// A path relative to another, by their text: without `.` and inner `..`.
pub fn join(base: &Path, path: &str) -> PathBuf {
    lexical(base, Path::new(path))
}
