//! What in a module uses a local name of a provider.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::config::body::Contents;
use crate::config::decode::{Reader, Role, implied_local_name, read_file};
use crate::config::value::{Node, Step, Value};
use crate::config::{Location, Module, SourceFile};
use crate::dialect::Dialect;
use crate::finding::LineIndex;
use crate::hcl::scan::outline;

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
        let read = |reader: &mut Reader<'_>, contents: Contents<'_>| {
            let mut found = passed_on(reader, &contents, names);
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

/// The values of `providers` in module calls.
fn passed_on(reader: &mut Reader<'_>, contents: &Contents<'_>, names: &BTreeSet<String>) -> Vec<Use> {
    let mut found = Vec::new();
    for block in contents.blocks_of("module") {
        let body = block.body.contents(&[], &mut Vec::new());
        let Some(Ok(node)) = body.argument("providers").map(|argument| argument.value.read()) else { continue };
        let Value::Object(pairs) = node.value else { continue };
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
fn metadata(reader: &mut Reader<'_>, contents: &Contents<'_>, names: &BTreeSet<String>) -> Vec<Use> {
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
    let node = match &node.value {
        Value::Text(text) => &Node::reference_in_text(text, node.at),
        _ => node,
    };
    match &node.value {
        Value::Reference(steps) => match steps.first() {
            Some(Step::Name(name)) => name.clone(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
