//! The files of a module: which one an edit goes into, what in them uses a local name of a provider, and source addresses
//! that name a registry, pointed at a different one.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{EditError, Entry, FileEdit, Meaning, SourceChange, apply, edits_between, meaning, native};
use crate::addr::{Hostname, ProviderSource};
use crate::config::body::BodyContents;
use crate::config::decode::{Reader, Role, read_file};
use crate::config::module::implied_local_name;
use crate::config::{ConfigFiles, Location, Module, RootKind, SourceFile, Syntax, is_of_old_stack};
use crate::dialect::Dialect;
use crate::evaluate::syntax::{Node, NodeKind};
use crate::finding::LineIndex;
use crate::hcl::scan::outline;

/// The files of a module that count, in the order of loading.
#[derive(Debug)]
pub(super) struct Files<'a> {
    pub(super) dialect: Dialect,
    kind: RootKind,
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
        if selected.kind == Some(RootKind::Stack) {
            return Self { dialect, kind: RootKind::Stack, primary: find(selected.of_kind), overrides: Vec::new() };
        }
        let (primary, overrides) = (find(selected.primary), find(selected.overrides));
        Self { dialect, kind: RootKind::Module, primary, overrides }
    }

    pub(super) fn all(&self) -> Vec<&'a SourceFile> {
        self.primary.iter().chain(&self.overrides).copied().collect()
    }

    pub(super) fn decode(&self) -> Result<Module, EditError> {
        let owned = |files: &[&SourceFile]| files.iter().map(|file| (*file).clone()).collect::<Vec<_>>();
        let decoded = Module::decode_as(self.kind, &owned(&self.primary), &owned(&self.overrides), self.dialect);
        decoded.map_err(EditError::Configuration)
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
            let what = format!("write {} into {} there", entry.json(), self.json_path());
            return Err(EditError::Json { file: file.path.clone(), what });
        }
        let in_block = self.primary.iter().find_map(|file| Some((*file, with_entry(file, entry)?)));
        let found = in_block.or_else(|| self.in_terraform(entry));
        if let Some((file, new)) = found {
            return Ok(vec![edit(file, new)]);
        }
        let path = self.target();
        match self.primary.iter().find(|file| file.path == path) {
            Some(file) => Ok(vec![edit(file, native::append(&file.text, entry, self.kind))]),
            None if self.overrides.iter().any(|file| file.path == path) => Err(EditError::Layout { file: path }),
            None => Ok(vec![FileEdit { path, old: None, new: native::append("", entry, self.kind) }]),
        }
    }

    /// Where JSON has the entries.
    fn json_path(&self) -> &'static str {
        if self.kind == RootKind::Stack { "required_providers" } else { "terraform.required_providers" }
    }

    /// The JSON file that a new entry belongs into: one with entries, or the first where all files are JSON.
    fn json_for_new(&self) -> Option<&'a SourceFile> {
        let with_entries = self.primary.iter().find(|file| self.has_json_entry(file, |_| true));
        let all_are_json = self.all().into_iter().all(is_json);
        with_entries.or_else(|| self.primary.first().filter(|_| all_are_json)).copied()
    }

    /// True if this is a JSON file with an entry whose name is meant.
    fn has_json_entry(&self, file: &SourceFile, is_meant: impl Fn(&str) -> bool) -> bool {
        let file = std::slice::from_ref(file);
        let decoded = is_json(&file[0]).then(|| Module::decode_as(self.kind, file, &[], self.dialect));
        decoded.and_then(Result::ok).is_some_and(|module| module.required.keys().any(|name| is_meant(name)))
    }

    /// Into the first `terraform` block with `required_version`, else the first one.
    fn in_terraform(&self, entry: &Entry) -> Option<(&'a SourceFile, String)> {
        let with = |wanted| self.primary.iter().find_map(|file| Some((*file, with_block(file, entry, wanted)?)));
        with(true).or_else(|| with(false))
    }

    /// `versions.tf`, or `versions.tofu` where all native files are OpenTofu's own; in a stack a file of its generation.
    fn target(&self) -> PathBuf {
        let all = self.all();
        if let Some(name) = self.kind.traits().new_requirement.filter(|_| self.kind == RootKind::Stack) {
            let is_old = all.iter().any(|file| is_of_old_stack(&self::name(file)));
            return PathBuf::from(if is_old { name.replace("tfcomponent", "tfstack") } else { name.to_owned() });
        }
        let names: Vec<String> = all.iter().filter(|file| !is_json(file)).map(|file| name(file)).collect();
        // A `versions.tf` next to `versions.tofu` would not be read.
        let shadowed = names.iter().any(|name| name == "versions.tofu");
        let only_tofu = !names.is_empty() && names.iter().all(|name| name.rsplit('.').next() == Some("tofu"));
        let directory = all.first().and_then(|file| file.path.parent()).unwrap_or(Path::new(""));
        directory.join(if shadowed || only_tofu { "versions.tofu" } else { "versions.tf" })
    }

    /// Changes the entry with a name that counts: the last one.
    pub(super) fn replace(&self, name: &str, change: &SourceChange) -> Result<Vec<FileEdit>, EditError> {
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
                let what = format!("remove {} from {} there", listed.join(" and "), self.json_path());
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
fn replaced(file: &SourceFile, name: &str, change: &SourceChange) -> Option<String> {
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// Such as `resource "aws_instance" "a"`.
    pub what: String,
    pub place: Location,
}

/// `WHAT at FILE:LINE:COLUMN`.
impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.what, self.place)
    }
}

pub(super) fn uses(module: &Module, files: &[&SourceFile], dialect: Dialect, names: &BTreeSet<String>) -> Vec<Use> {
    let mut found = Vec::new();
    for config in module.providers.iter().filter(|config| names.contains(&config.name)) {
        let alias = config.alias.as_ref().map_or_else(String::new, |alias| format!(" with the alias {alias:?}"));
        found.push(Use { what: format!("provider {:?}{alias}", config.name), place: config.place.clone() });
    }
    for resource in module.resources.iter().filter(|resource| names.contains(&resource.provider)) {
        let what = format!("{} {:?} {:?}", resource.mode.as_str(), resource.kind, resource.name);
        found.push(Use { what, place: resource.place.clone() });
    }
    for import in &module.imports {
        let implied = || implied_local_name(&import.target.0, 0).ok().filter(|_| !import.in_child);
        if import.provider.clone().or_else(implied).is_some_and(|name| names.contains(&name)) {
            let what = format!("import of {}.{}", import.target.0, import.target.1);
            found.push(Use { what, place: import.place.clone() });
        }
    }
    for file in files {
        let schema = &[("module", 1), ("terraform", 0)];
        let read = |reader: &mut Reader<'_>, contents: BodyContents<'_>| {
            let mut found = passed_on(reader, &contents, names);
            found.extend(configured(reader, &contents, names));
            found.extend(metadata(reader, &contents, names));
            found
        };
        found.extend(read_file(&file.path, &file.text, (dialect, Role::Primary, schema), read).0);
        found.extend(names.iter().flat_map(|name| functions(file, name)));
    }
    let order = |file: &std::path::Path| files.iter().position(|known| known.path == file);
    found.sort_by_key(|found| (order(&found.place.file), found.place.position));
    found
}

/// The configurations of a provider in a stack, which have a name of their own.
fn configured(reader: &Reader<'_>, contents: &BodyContents<'_>, names: &BTreeSet<String>) -> Vec<Use> {
    let blocks = contents.blocks_of("provider").filter_map(|block| match &block.labels[..] {
        [name, own] if names.contains(&*name.text) => {
            Some((block.at, format!("provider {:?} {:?}", name.text, own.text)))
        }
        _ => None,
    });
    blocks.map(|(at, what)| Use { what, place: reader.place(at) }).collect()
}

/// The values of `providers` in module calls.
fn passed_on(reader: &mut Reader<'_>, contents: &BodyContents<'_>, names: &BTreeSet<String>) -> Vec<Use> {
    let mut found = Vec::new();
    for block in contents.blocks_of("module") {
        let body = block.body.contents(&[], &mut Vec::new());
        let Some(Ok(node)) = body.argument("providers").map(|argument| argument.value.read()) else { continue };
        let NodeKind::Object(pairs) = node.kind else { continue };
        let passed = pairs.iter().filter(|(_, value)| names.contains(&first_name(value)));
        let label = block.labels.first().map_or("", |label| &label.text);
        found.extend(passed.map(|(_, value)| Use {
            what: format!("the providers of module {label:?}"),
            place: reader.place(value.at),
        }));
    }
    found
}

/// Metadata of the module for a provider.
fn metadata(reader: &mut Reader<'_>, contents: &BodyContents<'_>, names: &BTreeSet<String>) -> Vec<Use> {
    let mut found = Vec::new();
    for block in contents.blocks_of("terraform") {
        let body = block.body.contents(&[("provider_meta", 1)], &mut Vec::new());
        for block in body.blocks_of("provider_meta") {
            let name = block.labels.first().map_or("", |label| &label.text);
            if names.contains(name) {
                found.push(Use { what: format!("provider_meta {name:?}"), place: reader.place(block.at) });
            }
        }
    }
    found
}

/// Calls of a provider's functions, wherever an expression may appear: found by their text, except in comments, of which
/// JSON has none.
fn functions(file: &SourceFile, name: &str) -> Vec<Use> {
    let (text, lines) = (&file.text, LineIndex::new(&file.text));
    let is_call = |at: &usize| {
        let parts = ["provider", "::", name, "::"];
        parts.iter().try_fold(&text[*at..], |rest, part| rest.trim_start().strip_prefix(part)).is_some()
    };
    let comments = outline(text, 0..text.len()).map(|outline| outline.comments).unwrap_or_default();
    let in_comment = |at: &usize| comments.iter().any(|comment| comment.contains(at));
    let calls = text.match_indices("provider").map(|(at, _)| at).filter(is_call).filter(|at| !in_comment(at));
    let place = |at| Location { file: Arc::from(&*file.path), position: lines.position(at) };
    calls.map(|at| Use { what: format!("a function of provider {name:?}"), place: place(at) }).collect()
}

/// The local name in a reference, which JSON has in a string.
fn first_name(node: &Node) -> String {
    let inner = node.as_text().and_then(|text| Node::parse_placed(text, node.at).ok());
    let reference = inner.as_ref().unwrap_or(node).as_reference();
    reference.map(|(name, _)| name.to_owned()).unwrap_or_default()
}

/// Writes another host into every source address of a module that names a certain one. A source that names no host is
/// left alone, whatever it means, and so is an entry that an override file replaces.
pub fn change_host(
    files: &[SourceFile],
    dialect: Dialect,
    from: &Hostname,
    to: &Hostname,
) -> Result<Vec<FileEdit>, EditError> {
    let module = Files::select(files, dialect).decode()?;
    let mut edited = files.to_vec();
    let mut meaning = meaning(&module);
    for (name, required) in &module.required {
        let Some(source) = required.source_text.as_deref().and_then(|text| at_host(text, from, to)) else { continue };
        let Some((written, _)) = meaning.get_mut(name) else { continue };
        *written = ProviderSource::parse(&source, dialect)?;
        let now = Files::select(&edited, dialect);
        let change = SourceChange { source: Some(source), constraint: None };
        let edits = now.checked(now.replace(name, &change)?, &meaning)?;
        edited = apply(&edited, &edits);
    }
    Ok(edits_between(files, &edited))
}

/// The same source at another host; `None` if it does not name this host.
fn at_host(text: &str, from: &Hostname, to: &Hostname) -> Option<String> {
    let (host, rest) = text.split_once('/').filter(|(_, rest)| rest.contains('/'))?;
    let named = Hostname::parse(host).ok()?;
    (named == *from).then(|| format!("{to}/{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::default_host;

    #[test]
    fn functions_are_found_in_every_expression() {
        let lines = |text: &str| -> Vec<usize> {
            let file = SourceFile { path: "main.tf".into(), text: text.to_owned() };
            functions(&file, "dns").iter().map(|found| found.place.position.line).collect()
        };
        for (text, expected) in [
            ("a = provider::dns::host(1)\n", &[1][..]),
            ("a = provider :: dns :: host(1)\n", &[1]),
            ("a = provider::dnss::host(1) + provider::dns\n", &[]),
            ("# provider::dns::host(1)\na = 1 // provider::dns::host(1)\n/* provider::dns::host(1) */\n", &[]),
            ("/* a */ a = provider::dns::host(1) /* b\n provider::dns::host(1) */\n", &[1]),
            ("a = \"# ${provider::dns::host(1)}\"\n", &[1]),
            ("a = <<-E\n  https://${provider::dns::host(1)}/\n  # ${provider::dns::host(2)}\n  E\n", &[2, 3]),
            ("{\"locals\": {\"a\": \"# ${provider::dns::host(1)}\"}}\n", &[1]),
        ] {
            assert_eq!(lines(text), expected, "{text}");
        }
    }

    fn edited(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let files: Vec<SourceFile> =
            files.iter().map(|(path, text)| SourceFile { path: path.into(), text: (*text).to_owned() }).collect();
        let [from, to] = [Dialect::Terraform, Dialect::OpenTofu].map(default_host);
        let edits = change_host(&files, Dialect::OpenTofu, &from, &to).unwrap();
        edits.into_iter().map(|edit| (edit.path.to_string_lossy().into_owned(), edit.new)).collect()
    }

    const MAIN: &str = "# ours\r\nterraform {\r\n  required_providers {\r\n    aws = {\r\n      version = \"~> 5.0\" # x\r\n      \
                        source  = \"Registry.Terraform.io/hashicorp/AWS\" # y\r\n    }\r\n    b = { source = \"acme/b\" }\r\n    \
                        c = { source = \"example.com/acme/c\" }\r\n    d = \">= 1.0\"\r\n  }\r\n}\r\n";

    #[test]
    fn only_the_named_host_changes() {
        let wanted = MAIN.replace("Registry.Terraform.io", "registry.opentofu.org");
        assert_eq!(edited(&[("main.tf", MAIN)]), [("main.tf".to_owned(), wanted)]);
        assert_eq!(edited(&[("main.tf", "provider \"aws\" {\n}\n")]), []);
    }

    #[test]
    fn several_files_and_entries_at_once() {
        let block = |entries: &str| format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n");
        let entry = |name: &str| format!("    {name} = {{ source = \"registry.terraform.io/x/{name}\" }}\n");
        let main = block(&format!("{}{}", entry("a"), entry("b")));
        let over = block("    a = { source = \"registry.terraform.io:443/x/a\" }\n");
        let edits = edited(&[("main.tf", &main), ("x_override.tf", &over)]);
        // The overridden entry of main.tf says nothing.
        let [(_, new_main), (_, new_over)] = &edits[..] else { panic!("{edits:?}") };
        assert_eq!(*new_main, main.replace(&entry("b"), &entry("b").replace("terraform.io", "opentofu.org")));
        assert_eq!(*new_over, over.replace("registry.terraform.io:443", "registry.opentofu.org"));
    }
}
