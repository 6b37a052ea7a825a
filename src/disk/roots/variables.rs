//! What the surroundings of a root module say: the values of its variables, its directory and its workspace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{TreeError, TreeOptions, read};
use crate::config::{Surroundings, VariableFile, VariableValues, automatic_variable_files};
use crate::disk::files;
use crate::path::links::Refusal;
use crate::path::worktree;

/// What the command line sets.
#[derive(Debug, Clone)]
pub enum Assignment {
    Value(String, String),
    File(Result<VariableFile, Vec<TreeError>>),
}

/// The files of variables of a root module that the tools read without being told.
#[derive(Debug, Default)]
pub(super) struct AutomaticFiles {
    pub(super) names: Vec<String>,
    files: Vec<VariableFile>,
    errors: Vec<TreeError>,
}

impl AutomaticFiles {
    pub(super) fn read(root: &Path) -> Self {
        let names = match file_names(root) {
            Ok(names) => automatic_variable_files(names),
            Err(error) => return Self { errors: vec![read::unreadable(root.to_owned(), &error)], ..Self::default() },
        };
        let mut automatic = Self::default();
        for name in &names {
            let text = read::text(root, PathBuf::from(name)).map_err(|error| vec![*error]);
            match text.and_then(|file| decode(&file.path, &file.text, false)) {
                Ok(file) => automatic.files.push(file),
                Err(errors) => automatic.errors.extend(errors),
            }
        }
        Self { names, ..automatic }
    }

    /// What is wrong with files of variables, those of the command line among them.
    pub(super) fn errors(&self, options: &TreeOptions) -> Vec<TreeError> {
        let named = options.assigned.iter().filter_map(|assigned| match assigned {
            Assignment::File(Err(errors)) => Some(errors),
            _ => None,
        });
        self.errors.iter().chain(named.flatten()).cloned().collect()
    }

    /// What the configuration of a root module sees. The values of later sources go before those of earlier ones.
    pub(super) fn surroundings(&self, root: &Path, options: &TreeOptions) -> Surroundings {
        let mut values = VariableValues::default();
        for (name, text) in &options.variables {
            values.set(name, text);
        }
        for file in &self.files {
            values.set_all(file);
        }
        for assigned in &options.assigned {
            match assigned {
                Assignment::Value(name, text) => values.set(name, text),
                Assignment::File(Ok(file)) => values.set_all(file),
                Assignment::File(Err(_)) => {}
            }
        }
        Surroundings {
            dialect: options.dialect,
            variables: self.errors(options).is_empty().then_some(values),
            directory: worktree::absolute(root).to_string_lossy().replace('\\', "/"),
            workspace: workspace(root, options),
        }
    }
}

/// Reads a file of variables that the command line names, by its path from the directory of the process.
pub(super) fn named(path: &Path) -> Result<Assignment, TreeError> {
    let bytes = files::read_named(path).map_err(|error| read::unreadable(path.to_owned(), &error))?;
    Ok(Assignment::File(decode(path, &String::from_utf8_lossy(&bytes), true)))
}

fn decode(path: &Path, text: &str, named: bool) -> Result<VariableFile, Vec<TreeError>> {
    VariableFile::decode(path, text).map_err(|errors| {
        let errors = errors.into_iter();
        errors.map(|error| TreeError::Variables { error, named }).collect()
    })
}

fn file_names(root: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root)? {
        match entry?.file_name().into_string() {
            Ok(name) => names.push(name),
            // By its name as it can be shown, another file would be read.
            Err(name) if !automatic_variable_files([name.to_string_lossy().into_owned()]).is_empty() => {
                return Err(io::Error::other(Refusal::Name));
            }
            Err(_) => {}
        }
    }
    Ok(names)
}

/// The workspace that is selected: by the environment, else by the tool's own file.
///
/// Source: opentofu `internal/command/meta.go`, `WorkspaceOverridden`; `validWorkspaceName`.
fn workspace(root: &Path, options: &TreeOptions) -> Result<String, &'static str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+=:@".contains(&byte);
    match &options.workspace {
        Some(name) if name.bytes().all(is_plain) => return Ok(name.clone()),
        Some(_) => return Err("TF_WORKSPACE is not a valid name of a workspace"),
        None => {}
    }
    let file = options.data_dir.as_deref().unwrap_or(Path::new(".terraform")).join("environment");
    let text = read::text(root, file).map(|file| file.text).unwrap_or_default();
    let name = text.trim();
    Ok(if name.is_empty() { "default" } else { name }.to_owned())
}
