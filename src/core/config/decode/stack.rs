//! Files of a Terraform stack: the providers that it requires, and its components and nested stacks as calls of modules.
//!
//! Source: `internal/stacks/stackconfig/file.go`, `component.go`, `embedded_stack.go` and `required_providers.go` of
//! Terraform 1.13 and later.

use std::collections::BTreeMap;

use super::{Block, BodySchema, Located, ModuleCall, Parts, Reader, Role, read_file, unexpected_block};
use crate::addr::{ProviderAddr, ProviderSource};
use crate::config::module::{Location, Text};
use crate::config::{
    ConfigError, ConfigErrorKind, Module, ModuleSource, SourceFile, is_of_component_registry, is_of_old_stack,
    overrides,
};
use crate::dialect::Dialect;
use crate::finding::Position;
use crate::requirements::{REMOVED, module_name};
use crate::words::shown;

/// The block types of a file and their labels.
const FILE: BodySchema = &[
    ("required_providers", 0),
    ("component", 1),
    ("stack", 1),
    ("provider", 2),
    ("variable", 1),
    ("locals", 0),
    ("output", 1),
    ("removed", 0),
];

impl Module {
    /// Reads the files of one stack, in the order of their names. Its components are calls named `component:NAME`, its
    /// nested stacks calls named `stack:NAME`; their sources are literal. What is removed is a call too, with a number for a name.
    pub(in crate::config) fn decode_stack(files: &[SourceFile]) -> Result<Self, Vec<ConfigError>> {
        let mut errors: Vec<ConfigError> = two_generations(files).into_iter().collect();
        let mut all = Vec::with_capacity(files.len());
        for file in files {
            let schema = (Dialect::Terraform, Role::Primary, FILE);
            let (parts, found) = read_file(&file.path, &file.text, schema, |reader, contents| {
                let mut parts = Parts::default();
                let unknown = contents.arguments.iter().filter(|argument| argument.name != "language");
                unknown.for_each(|argument| reader.unexpected(argument));
                for block in &contents.blocks {
                    if let Err(error) = reader.block_of_stack(block, &mut parts) {
                        reader.errors.push(error);
                    }
                }
                parts
            });
            errors.extend(found);
            all.push(parts);
        }
        let removed = all.iter_mut().flat_map(|parts| &mut parts.calls).filter(|call| call.name.ends_with(REMOVED));
        removed.enumerate().for_each(|(at, call)| call.name.push_str(&(at + 1).to_string()));
        let module = overrides::assemble(all, Vec::new(), &mut errors);
        let wrong = wrong_entries(&module).into_iter().chain(module.calls.values().filter_map(wrong_call));
        errors.extend(wrong.map(|(place, kind)| located(&place, kind, files)));
        if errors.is_empty() { Ok(module) } else { Err(errors) }
    }
}

/// The error for files of Terraform 1.13 next to those of later versions.
fn two_generations(files: &[SourceFile]) -> Option<ConfigError> {
    let is_old = |file: &&SourceFile| is_of_old_stack(&file.path.to_string_lossy());
    let (old, new) = (files.iter().find(is_old)?, files.iter().find(|file| !is_old(file))?);
    let kind = ConfigErrorKind::TwoGenerations(shown(&new.path));
    Some(ConfigError { file: old.path.clone(), position: Position::default(), line: String::new(), kind })
}

fn located(place: &Location, kind: ConfigErrorKind, files: &[SourceFile]) -> ConfigError {
    let file = files.iter().find(|file| *file.path == *place.file);
    let line = file.and_then(|file| file.text.lines().nth(place.position.line - 1)).unwrap_or_default().to_owned();
    ConfigError { file: place.file.to_path_buf(), position: place.position, line, kind }
}

/// Entries of `required_providers` without a literal source or version, and those of one provider under two names.
fn wrong_entries(module: &Module) -> Vec<(Location, ConfigErrorKind)> {
    let (mut wrong, mut known): (_, BTreeMap<&ProviderAddr, &Location>) = (Vec::new(), BTreeMap::new());
    for (name, entry) in &module.required {
        // A stack has no values that could be known before it is planned.
        if let Some(dynamic) = &entry.dynamic {
            let source = dynamic.source.iter().map(|it| (it.place.clone(), ConfigErrorKind::SourceNotText));
            let version = dynamic.version.iter().map(|it| (it.place.clone(), ConfigErrorKind::VersionNotText));
            wrong.extend(source.chain(version));
            continue;
        }
        let mut fail = |kind| wrong.push((entry.place.clone(), kind));
        if entry.source_text.is_none() {
            fail(ConfigErrorKind::MissingProviderSource(name.clone()));
        }
        let ProviderSource::Provider(addr) = &entry.source else { continue };
        if entry.version.is_none() {
            fail(ConfigErrorKind::MissingProviderVersion(name.clone()));
        }
        if let Some(earlier) = known.insert(addr, &entry.place) {
            fail(ConfigErrorKind::Duplicate { what: format!("provider {addr}"), earlier: earlier.clone() });
        }
    }
    wrong
}

/// What is wrong with a component or a nested stack: an expression where Terraform takes a literal, or a version that the
/// source must or must not have.
fn wrong_call(call: &ModuleCall) -> Option<(Location, ConfigErrorKind)> {
    let name = || module_name(&call.name);
    let source = call.source.as_ref()?;
    let Text::Known(text) = &source.text else {
        return Some((source.place.clone(), ConfigErrorKind::ModuleSourceNotText(name())));
    };
    if let Some(version) = call.version.as_ref().filter(|version| version.constraints.is_none()) {
        return Some((version.place.clone(), ConfigErrorKind::VersionNotText));
    }
    let is_component = is_of_component_registry(text);
    match ModuleSource::parse(text, call.version.is_some(), Dialect::Terraform) {
        _ if is_component && call.version.is_some() => None,
        _ if is_component => Some((source.place.clone(), ConfigErrorKind::MissingModuleVersion(name()))),
        Err(reason) => Some((source.place.clone(), ConfigErrorKind::ModuleSource { name: name(), reason })),
        Ok(ModuleSource::Registry(_)) if call.version.is_none() => {
            Some((source.place.clone(), ConfigErrorKind::MissingModuleVersion(name())))
        }
        Ok(_) => None,
    }
}

impl<'a> Reader<'a> {
    fn block_of_stack(&mut self, block: &Block<'a>, parts: &mut Parts) -> Result<(), Located> {
        match &*block.kind {
            "required_providers" => {
                block.labelled(0)?;
                let entries = self.required_providers(block);
                parts.required.push((self.place(block.at), entries));
                Ok(())
            }
            kind @ ("component" | "stack") => {
                let call = self.call(block)?;
                let name = format!("{kind}:{}", call.name);
                parts.calls.push(ModuleCall { name, ..call });
                Ok(())
            }
            "removed" => {
                block.labelled(0)?;
                let contents = block.body.contents(&[], &mut self.errors);
                // Terraform reads what it destroys, and from where it was.
                if contents.argument("source").is_some() {
                    let from = contents.argument("from").map(|from| self.expression(&from.value));
                    let is_stack = from.and_then(|from| Some(from.parse().ok()?.as_reference()?.0 == "stack"));
                    let kind = if is_stack == Some(true) { "stack" } else { "component" };
                    parts.calls.push(self.call_named(format!("{kind}:{REMOVED}"), block, &contents)?);
                }
                Ok(())
            }
            kind => match FILE.iter().find(|(known, _)| *known == kind) {
                Some((_, labels)) => block.labelled(*labels),
                // Its meaning is unknown, so a requirement may be lost.
                None => Err(unexpected_block(block)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(files: &[(&str, &str)]) -> Result<Module, Vec<String>> {
        let file = |(path, text): &(&str, &str)| SourceFile { path: (*path).into(), text: (*text).to_owned() };
        let files: Vec<SourceFile> = files.iter().map(file).collect();
        Module::decode_stack(&files).map_err(|errors| {
            errors.iter().map(|error| format!("{}:{}: {error}", shown(&error.file), error.position)).collect()
        })
    }

    const PROVIDERS: &str =
        "required_providers {\n  a = {\n    source = \"acme/a\"\n    version = \"~> 1.0\"\n  }\n}\n";

    #[test]
    fn components_and_nested_stacks_are_calls() {
        let calls = "language = \"x\"\ncomponent \"net\" {\n  source = \"./net\"\n  inputs = { a = var.a }\n}\nstack \"net\" {\n  source = \"../deep\"\n}\n\
                     provider \"a\" \"this\" {\n  config {}\n}\nremoved {\n  from = component.old\n}\n";
        let module = decode(&[("a.tfcomponent.hcl", calls), ("b.tfcomponent.hcl", PROVIDERS)]).unwrap();
        assert_eq!(module.calls.keys().collect::<Vec<_>>(), ["component:net", "stack:net"]);
        assert_eq!(module.required["a"].version.as_ref().unwrap().text, "~> 1.0");
        assert!(module.providers.is_empty() && module.resources.is_empty());
    }

    #[test]
    fn what_is_removed_is_a_call() {
        let removed = |from: &str, source: &str| format!("removed {{\n  from = {from}\n  source = \"{source}\"\n}}\n");
        let (one, two) = (removed("component.a[\"x\"]", "./a"), removed("stack.removed", "./b"));
        let module = decode(&[("a.tfcomponent.hcl", &one), ("b.tfcomponent.hcl", &format!("{two}{one}"))]).unwrap();
        let names: Vec<&str> = module.calls.keys().map(String::as_str).collect();
        assert_eq!(names, ["component:removed:1", "component:removed:3", "stack:removed:2"]);
        let within = names.iter().map(|name| module_name(&format!("stack:deep.{name}.net")));
        let wanted = [1, 3, 2].map(|number| format!("stack.deep.removed block {number}.net"));
        assert_eq!(within.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn json_means_the_same() {
        let text = r#"{"required_providers": {"a": {"source": "acme/a", "version": "1.0.0"}}, "component": {"c": {"source": "./c"}}}"#;
        let module = decode(&[("a.tfcomponent.json", text)]).unwrap();
        assert_eq!(
            (module.required.len(), module.calls.keys().collect::<Vec<_>>()),
            (1, vec![&"component:c".to_owned()])
        );
    }

    #[test]
    fn what_terraform_refuses_is_an_error_with_its_place() {
        let entry = |body: &str| format!("required_providers {{\n  a = {{\n{body}  }}\n}}\n");
        let (source, version) = ("    source = \"acme/a\"\n", "    version = \"1.0.0\"\n");
        let twice =
            format!("required_providers {{\n  a = {{\n{source}{version}  }}\n  b = {{\n{source}{version}  }}\n}}\n");
        for (text, wanted) in [
            (entry(source), "a.tfcomponent.hcl:2:3: the provider \"a\" of a stack needs a version"),
            (entry(version), "a.tfcomponent.hcl:2:3: the provider \"a\" of a stack needs a source"),
            (entry(&source.replace("\"acme/a\"", "var.x")), "a.tfcomponent.hcl:3:14: the source of a provider must be"),
            (twice, "a.tfcomponent.hcl:6:3: provider registry.terraform.io/acme/a was already declared at"),
            (format!("{PROVIDERS}{PROVIDERS}"), "a.tfcomponent.hcl:7:1: a module may have only one required_providers"),
            ("component \"c\" {\n  source = var.x\n}\n".into(), "a.tfcomponent.hcl:2:12: the source of module"),
            ("component \"c\" {\n}\n".into(), "a.tfcomponent.hcl:1:1: module \"c\" has no source"),
            (
                "stack \"c\" {\n  source = \"./c\"\n  version = \"1.0\"\n}\n".into(),
                "a.tfcomponent.hcl:2:12: invalid source",
            ),
            (
                "component \"c\" {\n  source = \"acme/c/lab\"\n}\n".into(),
                "a.tfcomponent.hcl:2:12: module \"component.c\" comes",
            ),
            ("stack \"c\" {\n  source = \"acme/c\"\n}\n".into(), "a.tfcomponent.hcl:2:12: module \"stack.c\" comes"),
            ("resource \"x\" \"y\" {}\n".into(), "a.tfcomponent.hcl:1:1: a block of type \"resource\" is not expected"),
        ] {
            let errors = decode(&[("a.tfcomponent.hcl", &text)]).unwrap_err();
            assert!(errors.iter().any(|error| error.starts_with(wanted)), "{text}: {errors:?}");
        }
        let both = decode(&[("a.tfcomponent.hcl", PROVIDERS), ("b.tfstack.hcl", "")]).unwrap_err();
        assert_eq!(
            both,
            [
                "b.tfstack.hcl:1:1: Terraform 1.13 refuses this file next to a.tfcomponent.hcl, and later versions ignore it"
            ]
        );
    }
}
