//! Files beside the configuration of a module: `modules.json`, which says what is installed and where; test files, whose
//! runs are made of modules and configure providers; and the values of variables of a root module, the last of which wins.
//!
//! The tools differ in who sees test files; that is decided where the module tree is walked.
//!
//! Source: `internal/modsdir/manifest.go`, `internal/configs/test_file.go`; opentofu `internal/command/meta_vars.go`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::body::{Block, BodySchema, Located};
use super::decode::{Reader, Role, read_file};
use super::error::{ConfigError, ConfigErrorKind};
use super::module::{ModuleCall, ProviderConfig};
use crate::dialect::Dialect;
use crate::evaluate::Expression;
use crate::version::ModuleVersion;

/// The installed modules, by their path of call names joined by dots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest(BTreeMap<String, Installed>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub source: String,
    /// The version; only modules of registries have one.
    pub version: Option<ModuleVersion>,
    /// The directory, relative to the root module, with forward slashes.
    pub dir: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    #[error("this is not a list of installed modules (line {line}, column {column})")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    #[error("module {0:?} is recorded twice")]
    Duplicate(String),
    #[error("module {key:?} is recorded with the version {version:?}, which is not a version")]
    Version { key: String, version: String },
}

#[derive(Deserialize)]
struct ManifestDocument {
    #[serde(rename = "Modules", default)]
    modules: Option<Vec<ManifestRecord>>,
}

#[derive(Deserialize)]
struct ManifestRecord {
    #[serde(rename = "Key", default)]
    key: String,
    #[serde(rename = "Source", default)]
    source: String,
    #[serde(rename = "Version", default)]
    version: Option<String>,
    #[serde(rename = "Dir", default)]
    dir: String,
}

impl Installed {
    fn encode(&self, key: &str) -> String {
        let version = self.version.as_ref();
        let version = version.map(|version| format!("\"Version\":{},", quoted(version.as_str())));
        format!(
            "{{\"Key\":{},\"Source\":{},{}\"Dir\":{}}}",
            quoted(key),
            quoted(&self.source),
            version.unwrap_or_default(),
            quoted(&self.dir)
        )
    }
}

impl Manifest {
    pub fn decode(text: &str) -> Result<Self, ManifestError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let document: ManifestDocument = serde_json::from_str(text)
            .map_err(|error| ManifestError::Json { line: error.line(), column: error.column() })?;
        let mut modules = BTreeMap::new();
        for ManifestRecord { key, source, version, dir } in document.modules.unwrap_or_default() {
            let version = match version.filter(|version| !version.is_empty()) {
                None => None,
                Some(text) => match text.parse() {
                    Ok(version) => Some(version),
                    Err(_) => return Err(ManifestError::Version { key, version: text }),
                },
            };
            if modules.insert(key.clone(), Installed { source, version, dir }).is_some() {
                return Err(ManifestError::Duplicate(key));
            }
        }
        Ok(Self(modules))
    }

    /// Records a module; gives what was recorded of it.
    pub fn insert(&mut self, key: String, installed: Installed) -> Option<Installed> {
        self.0.insert(key, installed)
    }

    /// Takes out the records of a module and of those below it; true if there were any.
    pub fn remove_with_below(&mut self, key: &str) -> bool {
        let (before, prefix) = (self.0.len(), format!("{key}."));
        self.0.retain(|other, _| other != key && !other.starts_with(&prefix));
        self.0.len() < before
    }

    /// The text, as the tools write it.
    ///
    /// Source: `internal/modsdir/manifest.go`, `WriteSnapshot`; Go's `encoding/json` for what is escaped.
    pub fn encode(&self) -> String {
        let records: Vec<String> = self.0.iter().map(|(key, installed)| installed.encode(key)).collect();
        format!("{{\"Modules\":[{}]}}", records.join(","))
    }

    /// True if a module below one is recorded.
    pub fn has_below(&self, key: &str) -> bool {
        let prefix = if key.is_empty() { String::new() } else { format!("{key}.") };
        self.0.range(prefix.clone()..).any(|(key, _)| !key.is_empty() && key.starts_with(&prefix))
    }

    pub fn get(&self, key: &str) -> Option<&Installed> {
        self.0.get(key)
    }
}

/// A string as Go writes it, which escapes what could end a script.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    let mut quoted = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => quoted.extend(format!("\\u{:04x}", u32::from(c)).chars()),
            c => quoted.push(c),
        }
    }
    quoted
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestFile {
    /// The key of `modules.json` for the modules of its runs: `test.tests.a` for `tests/a.tftest.hcl`. The tools leave
    /// all other endings: `test.tests.a.tftest.json`.
    pub key: String,
    /// The runs that name a module, as calls by the name of the run. Their paths are relative to the root module.
    pub calls: Vec<ModuleCall>,
    pub providers: Vec<ProviderConfig>,
}

const FILE: BodySchema = &[
    ("run", 1),
    ("variables", 0),
    ("provider", 1),
    ("test", 0),
    ("mock_provider", 1),
    ("override_resource", 0),
    ("override_data", 0),
    ("override_module", 0),
];
const RUN: BodySchema = &[
    ("module", 0),
    ("plan_options", 0),
    ("variables", 0),
    ("assert", 0),
    ("override_resource", 0),
    ("override_data", 0),
    ("override_module", 0),
];

impl TestFile {
    /// Reads a test file; `path` is relative to the root module.
    pub fn decode(path: &Path, text: &str, dialect: Dialect) -> Result<Self, Vec<ConfigError>> {
        let (file, errors) = read_file(path, text, (dialect, Role::Primary, FILE), |reader, contents| {
            let name = path.to_string_lossy().replace(['/', '\\'], ".");
            let name = name.strip_suffix(".tftest.hcl").unwrap_or(&name);
            let mut file = Self { key: format!("test.{name}"), ..Self::default() };
            for block in &contents.blocks {
                let done = match &*block.kind {
                    "run" => reader.run(block).map(|call| file.calls.extend(call)),
                    "provider" => reader.provider_config(block).map(|config| file.providers.extend(config)),
                    _ => Ok(()),
                };
                if let Err(error) = done {
                    reader.errors.push(error);
                }
            }
            file
        });
        if errors.is_empty() { Ok(file) } else { Err(errors) }
    }
}

impl<'a> Reader<'a> {
    fn run(&mut self, block: &Block<'a>) -> Result<Option<ModuleCall>, Located> {
        block.labelled(1)?;
        let name = block.labels[0].text.clone().into_owned();
        let contents = block.body.contents(RUN, &mut self.errors);
        let Some(module) = contents.blocks_of("module").next() else { return Ok(None) };
        let inner = module.body.contents(&[], &mut self.errors);
        let source = inner
            .argument("source")
            .ok_or_else(|| (module.at, ConfigErrorKind::MissingModuleSource(name.clone())))
            .and_then(|argument| self.call_source(&name, &argument.value))?;
        let version = match inner.argument("version") {
            Some(argument) => self.call_version(&name, &argument.value)?,
            None => None,
        };
        Ok(Some(ModuleCall {
            place: self.place(module.at),
            name,
            source: Some(source),
            version,
            inputs: BTreeMap::new(),
        }))
    }
}

/// The values in a `.tfvars` or `.tfvars.json` file, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableFile(Vec<(String, Expression)>);

/// The values of variables by name: the one that was set last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableValues(BTreeMap<String, VariableValue>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum VariableValue {
    /// What the command line says; the type decides how it is read.
    Text(String),
    /// What the environment of the process says, which may be a secret.
    Environment(String),
    Expression(Expression),
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

    /// Sets a variable to a text of the environment, over what it was set to before.
    pub fn set_from_environment(&mut self, name: &str, text: &str) {
        self.0.insert(name.to_owned(), VariableValue::Environment(text.to_owned()));
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
    use crate::config::ConfigFiles;

    #[test]
    fn records_are_found_by_key() {
        let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a.b","Source":"h.io/x/y/z","Version":"1.2.0","Dir":"d"}]}"#;
        let manifest = Manifest::decode(text).unwrap();
        let installed = manifest.get("a.b").unwrap();
        assert_eq!((&*installed.source, &*installed.dir), ("h.io/x/y/z", "d"));
        assert_eq!(installed.version.as_ref().map(ModuleVersion::as_str), Some("1.2.0"));
        assert_eq!(manifest.get("").unwrap().version, None);
        assert_eq!(["", "a", "a.b", "b"].map(|key| manifest.has_below(key)), [true, true, false, false]);
        assert_eq!(Manifest::decode(""), Ok(Manifest::default()));
        assert_eq!(Manifest::decode("{}"), Ok(Manifest::default()));
    }

    #[test]
    fn what_was_read_is_written_again() {
        let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"git::https://h/x?depth=1\u0026ref=v1","Dir":"d"},{"Key":"a.b","Source":"h.io/x/y/z","Version":"1.2.0","Dir":"d/e"},{"Key":"ab","Source":"./m","Dir":"m"}]}"#;
        let mut manifest = Manifest::decode(text).unwrap();
        assert_eq!(manifest.encode(), text);
        assert!(manifest.remove_with_below("a"));
        assert!(!manifest.remove_with_below("a"));
        assert_eq!(
            manifest.encode(),
            r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"ab","Source":"./m","Dir":"m"}]}"#
        );
    }

    #[test]
    fn what_the_tools_refuse_is_refused() {
        let twice = r#"{"Modules":[{"Key":"a"},{"Key":"a"}]}"#;
        assert_eq!(Manifest::decode(twice), Err(ManifestError::Duplicate("a".into())));
        let version = r#"{"Modules":[{"Key":"a","Version":"x"}]}"#;
        assert!(matches!(Manifest::decode(version), Err(ManifestError::Version { .. })));
        assert_eq!(Manifest::decode("[1"), Err(ManifestError::Json { line: 1, column: 2 }));
    }

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
            ConfigFiles::select(names.map(str::to_owned), Dialect::Terraform).variables,
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
