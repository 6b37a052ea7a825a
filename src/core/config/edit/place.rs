//! Which file an edit goes into.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Change, EditError, Entry, FileEdit, Meaning, apply, json, meaning, native};
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

fn syntax(file: &SourceFile) -> Syntax {
    Syntax::of(&name(file))
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

    /// Puts in a new entry.
    pub(super) fn insert(&self, entry: &Entry) -> Result<Vec<FileEdit>, EditError> {
        let in_block = self.primary.iter().find_map(|file| Some((*file, with_entry(file, entry)?)));
        let found = in_block.or_else(|| self.in_terraform(entry)).or_else(|| self.in_target(entry));
        if let Some((file, new)) = found {
            return Ok(vec![edit(file, new)]);
        }
        let (path, syntax) = self.target();
        if self.all().iter().any(|file| file.path == path) {
            return Err(EditError::Layout { file: path });
        }
        let new = match syntax {
            Syntax::Native => native::append("", entry),
            Syntax::Json => json::create(entry),
        };
        Ok(vec![FileEdit { path, old: None, new }])
    }

    /// Into the first `terraform` block with `required_version`, else the first one.
    fn in_terraform(&self, entry: &Entry) -> Option<(&'a SourceFile, String)> {
        let with = |wanted| self.primary.iter().find_map(|file| Some((*file, with_block(file, entry, wanted)?)));
        with(true).or_else(|| with(false))
    }

    /// Into the file that would be created, if it is there already.
    fn in_target(&self, entry: &Entry) -> Option<(&'a SourceFile, String)> {
        let (path, _) = self.target();
        let file = self.primary.iter().find(|file| file.path == path)?;
        let new = match syntax(file) {
            Syntax::Native => native::append(&file.text, entry),
            Syntax::Json => json::Document::read(&file.text)?.insert_block(entry)?,
        };
        Some((file, new))
    }

    /// `versions.tf`, or its like in the language that all files of the module are in.
    fn target(&self) -> (PathBuf, Syntax) {
        let all = self.all();
        let names: Vec<String> = all.iter().map(|file| name(file)).collect();
        let is_json = !names.is_empty() && names.iter().all(|name| Syntax::of(name) == Syntax::Json);
        let of_syntax = |name: &&String| (Syntax::of(name) == Syntax::Json) == is_json;
        let is_tofu = |name: &String| name.trim_end_matches(".json").rsplit('.').next() == Some("tofu");
        let suffix = if is_json { ".json" } else { "" };
        // A `versions.tf` beside `versions.tofu` would not be read.
        let shadowed = names.iter().any(|name| *name == format!("versions.tofu{suffix}"));
        let only_tofu = !names.is_empty() && names.iter().filter(of_syntax).all(is_tofu);
        let stem = if shadowed || only_tofu { "versions.tofu" } else { "versions.tf" };
        let directory = all.first().and_then(|file| file.path.parent()).unwrap_or(Path::new(""));
        (directory.join(format!("{stem}{suffix}")), if is_json { Syntax::Json } else { Syntax::Native })
    }

    /// Changes the entry with a name that counts: the last one.
    pub(super) fn replace(&self, name: &str, change: &Change) -> Result<Vec<FileEdit>, EditError> {
        let changed = self.all().into_iter().rev().find_map(|file| Some(edit(file, replaced(file, name, change)?)));
        changed.map(|edit| vec![edit]).ok_or_else(|| EditError::Layout { file: PathBuf::new() })
    }

    /// Takes out all entries with one of the names.
    pub(super) fn remove(&self, names: &BTreeSet<String>) -> Result<Vec<FileEdit>, EditError> {
        let mut edits = Vec::new();
        for file in self.all() {
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

fn edit(file: &SourceFile, new: String) -> FileEdit {
    FileEdit { path: file.path.clone(), old: Some(file.text.clone()), new }
}

/// The text with an entry in its `required_providers` block, if it has one.
fn with_entry(file: &SourceFile, entry: &Entry) -> Option<String> {
    match syntax(file) {
        Syntax::Native => native::sites(&file.text)
            .iter()
            .find_map(|site| Some(native::insert_entry(site, site.required.first()?, entry))),
        Syntax::Json => {
            let document = json::Document::read(&file.text)?;
            let required = document.required().into_iter().next()?;
            Some(document.insert_entry(required, entry))
        }
    }
}

/// The text with a block in its `terraform` block, if it has one; perhaps only one with `required_version`.
fn with_block(file: &SourceFile, entry: &Entry, with_version: bool) -> Option<String> {
    match syntax(file) {
        Syntax::Native => {
            let sites = native::sites(&file.text);
            let site = sites.iter().find(|site| site.has_version || !with_version)?;
            Some(native::insert_block(site, entry))
        }
        Syntax::Json => {
            let document = json::Document::read(&file.text)?;
            let (exists, has_version) = document.terraform();
            if exists && (has_version || !with_version) { document.insert_block(entry) } else { None }
        }
    }
}

/// The text with the last entry of a name changed, if it has one.
fn replaced(file: &SourceFile, name: &str, change: &Change) -> Option<String> {
    match syntax(file) {
        Syntax::Native => native::sites(&file.text).iter().rev().find_map(|site| {
            site.required.iter().rev().find_map(|required| {
                let index = required.entries.iter().position(|entry| entry.name == name)?;
                Some(native::replace_entry(site, required, index, change))
            })
        }),
        Syntax::Json => {
            let document = json::Document::read(&file.text)?;
            document.required().into_iter().rev().find_map(|required| {
                let index = required.entries().iter().position(|entry| entry == name)?;
                Some(document.replace_entry(required, index, change))
            })
        }
    }
}

/// The text without the first entry that has one of the names, if it has one.
fn removed(file: &SourceFile, names: &BTreeSet<String>) -> Option<String> {
    match syntax(file) {
        Syntax::Native => native::sites(&file.text).iter().find_map(|site| {
            site.required.iter().find_map(|required| {
                let index = required.entries.iter().position(|entry| names.contains(entry.name))?;
                Some(native::remove_entry(site, required, index))
            })
        }),
        Syntax::Json => {
            let document = json::Document::read(&file.text)?;
            document.required().into_iter().find_map(|required| {
                let index = required.entries().iter().position(|entry| names.contains(entry))?;
                Some(document.remove_entry(required, index))
            })
        }
    }
}
