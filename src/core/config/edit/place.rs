//! Which file an edit goes into.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Change, EditError, Entry, FileEdit, Meaning, apply, meaning, native};
use crate::config::{ConfigFiles, Module, SourceFile, Syntax};
use crate::dialect::Dialect;

/// The files of a module that count, in the order of loading.
#[derive(Debug)]
pub(super) struct Files<'a> {
    pub(super) dialect: Dialect,
    primary: Vec<&'a SourceFile>,
    overrides: Vec<&'a SourceFile>,
}

fn name(file: &SourceFile) -> String {
    file.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl<'a> Files<'a> {
    pub(super) fn select(files: &'a [SourceFile], dialect: Dialect) -> Self {
        let selected = ConfigFiles::select(files.iter().map(name), dialect);
        let find = |names: Vec<String>| {
            names.iter().filter_map(|wanted| files.iter().find(|file| name(file) == *wanted)).collect()
        };
        Self { dialect, primary: find(selected.primary), overrides: find(selected.overrides) }
    }

    pub(super) fn all(&self) -> Vec<&'a SourceFile> {
        self.primary.iter().chain(&self.overrides).copied().collect()
    }

    pub(super) fn decode(&self) -> Result<Module, EditError> {
        let owned = |files: &[&SourceFile]| files.iter().map(|file| (*file).clone()).collect::<Vec<_>>();
        Module::decode(&owned(&self.primary), &owned(&self.overrides), self.dialect).map_err(EditError::Configuration)
    }

    /// Hands edits out, if the edited texts mean what they should. Edits that change nothing are dropped.
    pub(super) fn checked(&self, edits: Vec<FileEdit>, wanted: &Meaning) -> Result<Vec<FileEdit>, EditError> {
        let edits: Vec<_> = edits.into_iter().filter(|edit| edit.old.as_ref() != Some(&edit.new)).collect();
        let before: Vec<SourceFile> = self.all().into_iter().cloned().collect();
        let after = apply(&before, &edits);
        let decoded = Files::select(&after, self.dialect).decode();
        if decoded.is_ok_and(|module| meaning(&module) == *wanted) {
            return Ok(edits);
        }
        let file = edits.first().map(|edit| edit.path.clone());
        Err(EditError::Layout { file: file.or(before.first().map(|file| file.path.clone())).unwrap_or_default() })
    }

    pub(super) fn insert(&self, entry: &Entry) -> Result<Vec<FileEdit>, EditError> {
        if let Some(file) = self.json_for_new() {
            let what = format!("write {} into terraform.required_providers there", entry.json());
            return Err(EditError::Json { file: file.path.clone(), what });
        }
        let in_block = self.primary.iter().find_map(|file| Some((*file, with_entry(file, entry)?)));
        let found = in_block.or_else(|| self.in_terraform(entry));
        if let Some((file, new)) = found {
            return Ok(vec![edit(file, new)]);
        }
        let path = self.target();
        match self.primary.iter().find(|file| file.path == path) {
            Some(file) => Ok(vec![edit(file, native::append(&file.text, entry))]),
            None if self.overrides.iter().any(|file| file.path == path) => Err(EditError::Layout { file: path }),
            None => Ok(vec![FileEdit { path, old: None, new: native::append("", entry) }]),
        }
    }

    /// The JSON file that a new entry belongs into: one with entries, or the first where all files are JSON.
    fn json_for_new(&self) -> Option<&'a SourceFile> {
        let with_entries = self.primary.iter().find(|file| self.has_json_entry(file, |_| true));
        let all_are_json = self.all().into_iter().all(is_json);
        with_entries.or_else(|| self.primary.first().filter(|_| all_are_json)).copied()
    }

    /// True if this is a JSON file with an entry whose name is meant.
    fn has_json_entry(&self, file: &SourceFile, is_meant: impl Fn(&str) -> bool) -> bool {
        let decoded = is_json(file).then(|| Module::decode(std::slice::from_ref(file), &[], self.dialect));
        decoded.and_then(Result::ok).is_some_and(|module| module.required.keys().any(|name| is_meant(name)))
    }

    /// Into the first `terraform` block with `required_version`, else the first one.
    fn in_terraform(&self, entry: &Entry) -> Option<(&'a SourceFile, String)> {
        let with = |wanted| self.primary.iter().find_map(|file| Some((*file, with_block(file, entry, wanted)?)));
        with(true).or_else(|| with(false))
    }

    /// `versions.tf`, or `versions.tofu` where all native files are OpenTofu's own.
    fn target(&self) -> PathBuf {
        let all = self.all();
        let names: Vec<String> = all.iter().filter(|file| !is_json(file)).map(|file| name(file)).collect();
        // A `versions.tf` next to `versions.tofu` would not be read.
        let shadowed = names.iter().any(|name| name == "versions.tofu");
        let only_tofu = !names.is_empty() && names.iter().all(|name| name.rsplit('.').next() == Some("tofu"));
        let directory = all.first().and_then(|file| file.path.parent()).unwrap_or(Path::new(""));
        directory.join(if shadowed || only_tofu { "versions.tofu" } else { "versions.tf" })
    }

    /// Changes the entry with a name that counts: the last one.
    pub(super) fn replace(&self, name: &str, change: &Change) -> Result<Vec<FileEdit>, EditError> {
        for file in self.all().into_iter().rev() {
            if self.has_json_entry(file, |entry| entry == name) {
                let values = [("source", &change.source), ("version", &change.constraint)];
                let changes: Vec<String> = values
                    .iter()
                    .filter_map(|(key, value)| Some(format!("{key:?} of {name:?} to {:?}", value.as_ref()?)))
                    .collect();
                let what = format!("change {} there", changes.join(" and "));
                return Err(EditError::Json { file: file.path.clone(), what });
            }
            if let Some(new) = replaced(file, name, change) {
                return Ok(vec![edit(file, new)]);
            }
        }
        Err(EditError::Layout { file: PathBuf::new() })
    }

    /// Takes out all entries with one of the names.
    pub(super) fn remove(&self, names: &BTreeSet<String>) -> Result<Vec<FileEdit>, EditError> {
        let mut edits = Vec::new();
        for file in self.all() {
            if self.has_json_entry(file, |name| names.contains(name)) {
                let listed: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
                let what = format!("remove {} from terraform.required_providers there", listed.join(" and "));
                return Err(EditError::Json { file: file.path.clone(), what });
            }
            let mut now = file.clone();
            while let Some(text) = removed(&now, names) {
                if text == now.text {
                    return Err(EditError::Layout { file: file.path.clone() });
                }
                now.text = text;
            }
            edits.push(edit(file, now.text));
        }
        Ok(edits)
    }
}

fn is_json(file: &SourceFile) -> bool {
    Syntax::of(&name(file)) == Syntax::Json
}

fn edit(file: &SourceFile, new: String) -> FileEdit {
    FileEdit { path: file.path.clone(), old: Some(file.text.clone()), new }
}

/// The places of a native file; a JSON file has none.
fn sites(file: &SourceFile) -> Vec<native::Site<'_>> {
    if is_json(file) { Vec::new() } else { native::sites(&file.text) }
}

/// The text with an entry in its `required_providers` block, if it has one.
fn with_entry(file: &SourceFile, entry: &Entry) -> Option<String> {
    sites(file).iter().find_map(|site| Some(native::insert_entry(site, site.required.first()?, entry)))
}

/// The text with a block in its `terraform` block, if it has one; perhaps only one with `required_version`.
fn with_block(file: &SourceFile, entry: &Entry, with_version: bool) -> Option<String> {
    let sites = sites(file);
    let site = sites.iter().find(|site| site.has_version || !with_version)?;
    Some(native::insert_block(site, entry))
}

/// The text with the last entry of a name changed, if it has one.
fn replaced(file: &SourceFile, name: &str, change: &Change) -> Option<String> {
    sites(file).iter().rev().find_map(|site| {
        site.required.iter().rev().find_map(|required| {
            let index = required.entries.iter().position(|entry| entry.name == name)?;
            Some(native::replace_entry(site, required, index, change))
        })
    })
}

/// The text without the first entry that has one of the names, if it has one.
fn removed(file: &SourceFile, names: &BTreeSet<String>) -> Option<String> {
    sites(file).iter().find_map(|site| {
        site.required.iter().find_map(|required| {
            let index = required.entries.iter().position(|entry| names.contains(entry.name))?;
            Some(native::remove_entry(site, required, index))
        })
    })
}
