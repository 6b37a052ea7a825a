//! What variables of a root module are set to from outside of its configuration, and which value wins.
//!
//! Source: opentofu `internal/command/meta_vars.go`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::dialect::Dialect;

use super::decode::{Role, read_file};
use super::error::{ConfigError, ConfigErrorKind};
use super::expression::Expression;

/// The values in a `.tfvars` or `.tfvars.json` file, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableFile(Vec<(String, Expression)>);

/// The values of variables by name: the one that was set last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableValues(BTreeMap<String, VariableValue>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum VariableValue {
    /// What the environment or the command line says; the type decides how it is read.
    Text(String),
    Expression(Expression),
}

/// The names of the files that the tools read without being told, in the order of reading.
pub fn automatic_variable_files(names: impl IntoIterator<Item = String>) -> Vec<String> {
    const FIRST: [&str; 2] = ["terraform.tfvars", "terraform.tfvars.json"];
    let is_automatic = |name: &str| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json");
    let mut files: Vec<String> =
        names.into_iter().filter(|name| FIRST.contains(&name.as_str()) || is_automatic(name)).collect();
    files.sort_by_cached_key(|name| (!FIRST.contains(&name.as_str()), name.clone()));
    files
}

impl VariableFile {
    /// Reads a file of variables, which has arguments only, each once.
    pub fn decode(path: &Path, text: &str) -> Result<Self, Vec<ConfigError>> {
        let (values, errors) = read_file(path, text, (Dialect::OpenTofu, Role::Primary, &[]), |reader, contents| {
            for block in &contents.blocks {
                reader.errors.push((block.at, ConfigErrorKind::UnexpectedBlock(block.kind.clone().into_owned())));
            }
            let mut values = Vec::new();
            for argument in &contents.arguments {
                if let Err(error) = argument.value.read() {
                    reader.errors.push(error);
                }
                values.push((argument.name.clone().into_owned(), reader.constant(&argument.value)));
            }
            values
        });
        if errors.is_empty() { Ok(Self(values)) } else { Err(errors) }
    }
}

impl VariableValues {
    /// Sets a variable to a text, over what it was set to before.
    pub fn set(&mut self, name: &str, text: &str) {
        self.0.insert(name.to_owned(), VariableValue::Text(text.to_owned()));
    }

    /// Sets the variables of a file, over what they were set to before.
    pub fn set_all(&mut self, file: &VariableFile) {
        let values = file.0.iter();
        self.0.extend(values.map(|(name, value)| (name.clone(), VariableValue::Expression(value.clone()))));
    }

    pub(super) fn get(&self, name: &str) -> Option<&VariableValue> {
        self.0.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(name: &str, text: &str) -> Vec<String> {
        let decoded = VariableFile::decode(Path::new(name), text);
        decoded.err().unwrap_or_default().iter().map(|error| format!("{} {error}", error.position)).collect()
    }

    #[test]
    fn automatic_files_have_an_order() {
        let names = ["z.auto.tfvars", "a.auto.tfvars.json", "a.auto.tfvars", "terraform.tfvars.json", "x.tfvars"]
            .into_iter()
            .chain(["terraform.tfvars", "terraform.tfvars.auto.tfvars", "A.auto.tfvars"]);
        assert_eq!(
            automatic_variable_files(names.map(str::to_owned)),
            [
                "terraform.tfvars",
                "terraform.tfvars.json",
                "A.auto.tfvars",
                "a.auto.tfvars",
                "a.auto.tfvars.json",
                "terraform.tfvars.auto.tfvars",
                "z.auto.tfvars"
            ]
        );
    }

    #[test]
    fn files_with_errors_set_nothing() {
        for (name, text, expected) in [
            ("a.tfvars", "<<<<<<< HEAD\nf = 1\n=======\nf = 2\n>>>>>>> x\n", "1:1 conflict marker"),
            ("a.tfvars", "f = 1\nf = 2\n", "2:1 the argument \"f\" is set twice"),
            ("a.tfvars", "variable \"f\" {\n}\n", "1:1 a block of type \"variable\""),
            ("a.tfvars", "f = = 1\n", "1:5 this value cannot be read"),
            ("a.tfvars", "f = \"a\n", "1:"),
            ("a.tfvars.json", "{\"f\": 1, \"f\": 2}", "1:10 the argument \"f\" is set twice"),
            ("a.tfvars.json", "{\"f\": }", "1:7 a JSON value"),
            ("a.tfvars.json", "\"f\"", "1:1 a JSON object"),
        ] {
            let found = errors(name, text);
            assert!(found.len() == 1 && found[0].starts_with(expected), "{text}: {found:?}");
        }
        for (name, text) in [
            ("a.tfvars", "# none\n"),
            ("a.tfvars", "f = <<EOT\na\nEOT\ng = [1, { a = null }]\n"),
            ("a.tfvars.json", "{\"//\": 1, \"f\": null}"),
        ] {
            assert!(errors(name, text).is_empty(), "{text}");
        }
    }
}
