//! Test files: which modules their runs are made of, and which providers they configure.
//!
//! The tools differ in who sees them; that is decided where the module tree is walked.
//!
//! Source: `internal/configs/test_file.go`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::dialect::Dialect;

use super::body::{Block, Located, Schema};
use super::decode::{Reader, Role, read_file};
use super::error::{ConfigError, ConfigErrorKind};
use super::module::{ModuleCall, ProviderConfig};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestFile {
    /// The key of `modules.json` for the modules of its runs: `test.tests.a` for `tests/a.tftest.hcl`. The tools leave
    /// all other endings: `test.tests.a.tftest.json`.
    pub key: String,
    /// The runs that name a module, as calls by the name of the run. Their paths are relative to the root module.
    pub calls: Vec<ModuleCall>,
    pub providers: Vec<ProviderConfig>,
}

const FILE: Schema = &[
    ("run", 1),
    ("variables", 0),
    ("provider", 1),
    ("test", 0),
    ("mock_provider", 1),
    ("override_resource", 0),
    ("override_data", 0),
    ("override_module", 0),
];
const RUN: Schema = &[
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
