//! Directories and files of modules: names and texts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::TreeError;
use crate::config::{ConfigFiles, Manifest, SourceFile};
use crate::dialect::Dialect;
use crate::disk::files;
use crate::path::links::{self, Refusal};
use crate::path::{lexical, worktree};

pub(super) fn list(dir: &Path, dialect: Dialect) -> io::Result<ConfigFiles> {
    let mut names = Vec::new();
    for entry in fs::read_dir(links::resolve(dir)?)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        // A broken link stays in, to fail when it is read.
        let is_dir = kind.is_dir() || (kind.is_symlink() && fs::metadata(entry.path()).is_ok_and(|meta| meta.is_dir()));
        if is_dir {
            continue;
        }
        let counts = |shown: String| ConfigFiles::select([shown], dialect) != ConfigFiles::default();
        match entry.file_name().into_string() {
            Ok(name) => names.push(name),
            // By its name as it can be shown, another file would be read.
            Err(name) if counts(name.to_string_lossy().into_owned()) => return Err(io::Error::other(Refusal::Name)),
            Err(_) => {}
        }
    }
    Ok(ConfigFiles::select(names, dialect))
}

/// True if a directory has configuration, and only `OpenTofu` reads it: to Terraform the directory is empty.
pub fn is_only_for_tofu(dir: &Path) -> bool {
    let of_tofu = list(dir, Dialect::OpenTofu).unwrap_or_default();
    of_tofu.differs_by_tool
        && !of_tofu.is_empty()
        && list(dir, Dialect::Terraform).is_ok_and(|of_terraform| of_terraform.is_empty())
}

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

pub(super) fn unreadable(path: PathBuf, error: &io::Error) -> TreeError {
    match Refusal::of(error) {
        Some(reason) => TreeError::Refused { path, reason },
        None => TreeError::Read { path, kind: error.kind() },
    }
}

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

/// The submodule of git in which a directory from a root module would be, by the list at the top of the working tree.
pub(super) fn submodule_of(root: &Path, dir: &Path) -> Option<String> {
    let top = worktree::absolute(&worktree::boundary(root));
    let list = files::read(&top.join(".gitmodules")).ok().flatten()?;
    let place = lexical(&worktree::absolute(root), dir);
    let within = place.strip_prefix(&top).ok()?;
    let list = String::from_utf8_lossy(&list);
    let mut paths = list.lines().filter_map(|line| line.trim().strip_prefix("path")?.trim().strip_prefix('='));
    paths.find(|path| within.starts_with(path.trim())).map(|path| path.trim().to_owned())
}

/// A path relative to another, by their text: without `.` and inner `..`.
pub fn join(base: &Path, path: &str) -> PathBuf {
    lexical(base, Path::new(path))
}
