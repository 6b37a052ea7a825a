//! Configuration: one module directory's files, and what they need.
//!
//! Texts go in, a [`Module`] comes out, or all errors at once. Read are block headers, the argument `provider`, and the
//! few bodies that say something about providers and modules; all else is only checked for structure. Nothing is
//! evaluated, except strings that are constant, and the sources of modules (`evaluate`). The folder knows neither
//! directories nor the module tree: see `disk/roots.rs`.
//!
//! Source: `internal/configs` of both tools.
//! Which files of a directory are configuration: `internal/configs/parser_config_dir.go`, and
//! for OpenTofu `internal/configs/parser_file_matcher.go`.

pub(crate) mod body;
pub(crate) mod decode;
pub mod edit;
pub(crate) mod json;
mod kind;
mod module;
mod module_source;
mod overrides;
mod scope;
mod side_files;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

pub use json::JsonError;
pub use kind::{KindTraits, RootKind, UNIT_FILES, is_of_old_stack, is_root_configuration, suffixes};
pub use module::{
    CallSource, CallVersion, Constraint, DynamicProvider, Import, Location, Module, ModuleCall, Names, Needs,
    ProviderConfig, RequiredProvider, Resource, Text, Variable,
};
pub use module_source::{
    ModuleSource, ModuleSourceError, RegistryModule, RemoteModule, host_of, is_of_component_registry,
};
pub use scope::{Inputs, ModuleScope, ProviderProblem, Purpose, Surroundings};
pub use side_files::{Installed, Manifest, ManifestError, TestFile, VariableFile, VariableValues};

use crate::addr::{AddrError, PartError};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::evaluate::syntax::SyntaxErrorKind;
use crate::finding::Position;
use crate::hcl::scan::StructureError;
use crate::version::{ConstraintError, ModuleVersionError};
use crate::words::counted;
use decode::{Role, decode};
pub(crate) use side_files::is_automatic_variable_file;
use side_files::sort_variable_files;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path, relative to the root module; its suffix gives the syntax.
    pub path: PathBuf,
    /// The text. Bytes that are not UTF-8 matter to the tools only outside of comments, and are replaced.
    pub text: String,
}

impl Module {
    /// Reads the files of one directory, in the order of loading.
    pub fn decode(
        primary: &[SourceFile],
        overrides: &[SourceFile],
        dialect: Dialect,
    ) -> Result<Self, Vec<ConfigError>> {
        let mut errors = Vec::new();
        let mut read = |files: &[SourceFile], role| {
            let mut all = Vec::with_capacity(files.len());
            for file in files {
                let (parts, found) = decode(&file.path, &file.text, dialect, role);
                errors.extend(found);
                all.push(parts);
            }
            all
        };
        let primary = read(primary, Role::Primary);
        let overrides = read(overrides, Role::Override);
        let module = overrides::assemble(primary, overrides, &mut errors);
        if errors.is_empty() { Ok(module) } else { Err(first_problems(errors.into_iter())) }
    }
}

/// How many problems of one file are named. A file of a few megabytes could have hundreds of thousands, all on one line.
const MOST_PROBLEMS: usize = 100;

/// The first problems of each file, and how many more it has.
pub(super) fn first_problems(problems: impl Iterator<Item = ConfigError>) -> Vec<ConfigError> {
    let mut counts: BTreeMap<PathBuf, (usize, Position)> = BTreeMap::new();
    let mut first = Vec::new();
    for problem in problems {
        let (count, last) = counts.entry(problem.file.clone()).or_insert((0, problem.position));
        *count += problem.kind.count();
        if *count <= MOST_PROBLEMS {
            *last = problem.position;
            first.push(problem);
        }
    }
    let more = counts.into_iter().filter(|(_, (count, _))| *count > MOST_PROBLEMS);
    first.extend(more.map(|(file, (count, position))| ConfigError {
        file,
        position,
        line: String::new(),
        kind: ConfigErrorKind::More(count - MOST_PROBLEMS),
    }));
    first
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ConfigError {
    /// The file, relative to the root module.
    pub file: PathBuf,
    pub position: Position,
    /// The line as written, for users, or a part of it; empty without the text.
    pub line: String,
    #[source]
    pub kind: ConfigErrorKind,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigErrorKind {
    /// That many more problems of the file are not named.
    #[error("{} of this file {} not listed", counted(*.0, "more problem"), if *.0 == 1 { "is" } else { "are" })]
    More(usize),
    #[error(transparent)]
    Structure(#[from] StructureError),
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error("conflict marker `<<<<<<<` of an unfinished merge")]
    ConflictMarker,
    #[error(transparent)]
    Expression(#[from] SyntaxErrorKind),
    #[error("a {kind:?} block takes {wanted} labels, and this one has {found}")]
    Labels { kind: String, wanted: usize, found: usize },
    #[error("an argument named {0:?} is not expected here")]
    UnexpectedArgument(String),
    #[error("a block of type {0:?} is not expected here")]
    UnexpectedBlock(String),
    #[error("only OpenTofu reads a {0:?} block")]
    OnlyOfTofu(&'static str),
    #[error("a state_store block needs a provider block that names its provider")]
    StateStoreWithoutProvider,
    #[error("the provider {0:?} of the state_store block must be in required_providers")]
    StateStoreProvider(String),
    #[error("the argument {0:?} is set twice")]
    DuplicateArgument(String),
    /// Two `required_providers` blocks in the primary files of a module.
    #[error("a module may have only one required_providers block; the other one is at {0}")]
    DuplicateRequiredProviders(String),
    #[error("{what} was already declared at {earlier}")]
    Duplicate {
        /// What, such as `module "x"`.
        what: String,
        earlier: String,
    },
    #[error("there is no {0} for this override file to change")]
    MissingBase(String),
    #[error("a {0:?} block is not allowed in an override file")]
    NotInOverride(&'static str),
    #[error("{0:?} is not a valid name: it needs a letter or underscore, then letters, digits, underscores and dashes")]
    Name(String),
    #[error("the alias of a provider configuration must be a constant string")]
    Alias,
    #[error("{name:?} is not a valid local name of a provider: {reason}")]
    LocalName {
        name: String,
        #[source]
        reason: PartError,
    },
    #[error("the local name {name:?} of a provider must be normalised: replace it with {normalised:?}")]
    NotNormalised { name: String, normalised: String },
    #[error("the entry {0:?} of required_providers must be a string or an object")]
    RequirementShape(String),
    /// A key that an entry of `required_providers` cannot have.
    #[error(
        "an entry of required_providers can contain only \"source\", \"version\" and \"configuration_aliases\", not {0:?}"
    )]
    RequirementKey(String),
    /// Anything but a list of `NAME` and `NAME.ALIAS` with the entry's own name.
    #[error("configuration_aliases of {0:?} must be a list of references, such as {0}.ALIAS")]
    ConfigurationAliases(String),
    #[error("the source of a provider must be a constant string")]
    SourceNotText,
    #[error(transparent)]
    Source(#[from] AddrError),
    #[error("provider source {0:?} is a legacy one, which cannot be installed")]
    LegacySource(String),
    /// More providers in the tree of one root module than any project needs.
    #[error("this requires one more provider than the {0} that a root module can require")]
    TooManyProviders(usize),
    #[error("a version constraint must be a constant string")]
    VersionNotText,
    #[error("invalid version constraint {text:?}: {reason}")]
    Constraint {
        text: String,
        #[source]
        reason: ConstraintError,
    },
    /// `provider =` with anything but a name and an alias.
    #[error("the argument \"provider\" takes the local name of a provider, and after a dot perhaps an alias")]
    ProviderReference,
    /// `to` of an `import` block is not the address of a resource.
    #[error("the argument \"to\" of an import block must be the address of a resource")]
    ImportTarget,
    #[error("the provider {0:?} of a stack needs a source")]
    MissingProviderSource(String),
    #[error("the provider {0:?} of a stack needs a version")]
    MissingProviderVersion(String),
    #[error("module {0:?} comes from a registry, so it needs a version")]
    MissingModuleVersion(String),
    /// Files of Terraform 1.13 next to those of later versions.
    #[error("Terraform 1.13 refuses this file next to {0}, and later versions ignore it")]
    TwoGenerations(String),
    #[error("module {0:?} has no source")]
    MissingModuleSource(String),
    #[error("the source of module {0:?} must be a string")]
    ModuleSourceNotText(String),
    #[error("invalid source of module {name:?}: {reason}")]
    ModuleSource {
        name: String,
        #[source]
        reason: ModuleSourceError,
    },
    #[error("invalid version constraint of module {name:?}: {reason}")]
    ModuleVersion {
        name: String,
        #[source]
        reason: ModuleVersionError,
    },
}

impl ConfigErrorKind {
    fn count(&self) -> usize {
        if let Self::More(count) = self { *count } else { 1 }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        let located = Error::new(ErrorKind::Configuration, error.to_string()).in_file(error.file).at(error.position);
        let mapped = located.quoting(&error.line);
        match error.kind {
            ConfigErrorKind::Constraint { .. } => {
                mapped.hint("a constraint looks like \"~> 1.2\" or \">= 1.0.0, < 2.0.0\"")
            }
            ConfigErrorKind::UnexpectedBlock(kind) if kind == "required_providers" => {
                mapped.hint("a required_providers block belongs in a `terraform` block")
            }
            ConfigErrorKind::OnlyOfTofu(_) => mapped
                .hint("if OpenTofu runs this configuration, set `tool = \"tofu\"` in .tflock.hcl, or pass --tool tofu"),
            ConfigErrorKind::ConflictMarker => mapped.hint("resolve the conflict, and run again"),
            ConfigErrorKind::TooManyProviders(_) => {
                mapped.hint("move a part of the configuration into another root module")
            }
            ConfigErrorKind::LegacySource(_) => {
                mapped.hint("write the full source address, NAMESPACE/TYPE, into required_providers")
            }
            _ => mapped,
        }
    }
}

/// The names of one directory's configuration files, each list in the order of loading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigFiles {
    /// Loaded first.
    pub primary: Vec<String>,
    /// Merged into what the primary files say.
    pub overrides: Vec<String>,
    pub tests: Vec<String>,
    /// The files of variables that the tools read without being told.
    pub variables: Vec<String>,
    pub differs_by_tool: bool,
    /// What a root module here is; `None` without configuration.
    pub kind: Option<RootKind>,
    /// The configuration of the root module, if it is not that of a module.
    pub of_kind: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    Native,
    /// The mapping of it into JSON.
    Json,
}

impl Syntax {
    pub fn of(name: &str) -> Self {
        if Path::new(name).extension().is_some_and(|extension| extension == "json") {
            Syntax::Json
        } else {
            Syntax::Native
        }
    }
}

/// Suffixes of configuration, each OpenTofu one behind the one of Terraform that it shadows.
const CONFIGURATION: [(&str, &str); 2] = [(".tf", ".tofu"), (".tf.json", ".tofu.json")];
const TESTS: [(&str, &str); 2] = [(".tftest.hcl", ".tofutest.hcl"), (".tftest.json", ".tofutest.json")];

const VARIABLES: [&str; 2] = [".tfvars", ".tfvars.json"];

/// True for the names of files that either tool reads as configuration of a module; test files are none.
pub fn is_configuration(name: &str) -> bool {
    suffix(name, &CONFIGURATION, Dialect::OpenTofu).is_some()
}

/// True for the names of configuration files of a module that only OpenTofu reads.
pub fn is_of_tofu(name: &str) -> bool {
    CONFIGURATION.iter().any(|(_, tofu)| name.ends_with(tofu))
}

/// True for the names of files that may be read for a root module: configuration, tests and values of variables.
pub fn is_read(name: &str) -> bool {
    let is_test = suffix(name, &TESTS, Dialect::OpenTofu).is_some();
    is_root_configuration(name) || is_test || VARIABLES.iter().any(|suffix| name.ends_with(suffix))
}

impl ConfigFiles {
    /// Sorts the names of a directory's files into their parts; those that are no configuration are dropped.
    pub fn select(names: impl IntoIterator<Item = String>, dialect: Dialect) -> Self {
        let names: Vec<String> = names.into_iter().collect();
        let kind = RootKind::of(names.iter().map(String::as_str), dialect);
        let mut files = Self { kind, ..Self::default() };
        for name in names {
            if is_automatic_variable_file(&name) {
                files.variables.push(name);
                continue;
            }
            if is_ignored(&name) {
                continue;
            }
            if kind.is_some_and(|kind| kind != RootKind::Module && kind.is_configuration(&name)) {
                files.of_kind.push(name);
                continue;
            }
            files.differs_by_tool |= CONFIGURATION.iter().chain(&TESTS).any(|(_, tofu)| name.ends_with(tofu));
            if suffix(&name, &TESTS, dialect).is_some() {
                files.tests.push(name);
            } else if let Some(suffix) = suffix(&name, &CONFIGURATION, dialect) {
                let base = &name[..name.len() - suffix.len()];
                let list = if base == "override" || base.ends_with("_override") {
                    &mut files.overrides
                } else {
                    &mut files.primary
                };
                list.push(name);
            }
        }
        for (list, pairs) in
            [(&mut files.primary, &CONFIGURATION), (&mut files.overrides, &CONFIGURATION), (&mut files.tests, &TESTS)]
        {
            list.sort();
            drop_shadowed(list, pairs);
        }
        sort_variable_files(&mut files.variables);
        files.of_kind.sort();
        files
    }

    /// The test files of a directory of tests, in the order of loading. For Terraform 1.13 and later their ending alone decides,
    /// so hidden ones and those of editors count.
    ///
    /// Source: `internal/configs/parser_config_dir.go`; as recorded with Terraform 1.17-dev.
    pub fn select_tests(names: impl IntoIterator<Item = String>, dialect: Dialect) -> Vec<String> {
        if dialect == Dialect::OpenTofu {
            return Self::select(names, dialect).tests;
        }
        let mut tests: Vec<String> = names.into_iter().filter(|name| suffix(name, &TESTS, dialect).is_some()).collect();
        tests.sort();
        tests
    }

    /// True if some names of a directory are those of configuration, and only `OpenTofu` reads it.
    pub fn is_only_for_tofu(names: &[&str]) -> bool {
        let kind = |dialect| RootKind::of(names.iter().copied(), dialect);
        kind(Dialect::Terraform).is_none() && kind(Dialect::OpenTofu).is_some()
    }

    /// True if nothing here is configuration; test files do not count.
    pub fn is_empty(&self) -> bool {
        self.primary.is_empty() && self.overrides.is_empty()
    }
}

fn suffix(name: &str, pairs: &[(&'static str, &'static str)], dialect: Dialect) -> Option<&'static str> {
    pairs.iter().find_map(|(terraform, tofu)| {
        if name.ends_with(terraform) {
            Some(*terraform)
        } else {
            (dialect == Dialect::OpenTofu && name.ends_with(tofu)).then_some(*tofu)
        }
    })
}

/// Files of editors and hidden ones.
fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

fn drop_shadowed(names: &mut Vec<String>, pairs: &[(&str, &str)]) {
    let all: HashSet<String> = names.iter().cloned().collect();
    names.retain(|name| {
        !pairs.iter().any(|(terraform, tofu)| {
            name.strip_suffix(terraform).is_some_and(|base| all.contains(&format!("{base}{tofu}")))
        })
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(names: &[&str], dialect: Dialect) -> ConfigFiles {
        ConfigFiles::select(names.iter().map(|name| (*name).to_owned()), dialect)
    }

    #[test]
    fn suffixes_belong_to_a_tool() {
        let names =
            ["z.tf", "a.tf.json", "x.tofu", "y.tofu.json", "notes.txt", "t.tftest.hcl", "u.tofutest.json", "tf"];
        let files = select(&names, Dialect::Terraform);
        assert_eq!(
            (files.primary, files.tests),
            (vec!["a.tf.json".into(), "z.tf".into()], vec!["t.tftest.hcl".into()])
        );
        let files = select(&names, Dialect::OpenTofu);
        assert_eq!(files.primary, ["a.tf.json", "x.tofu", "y.tofu.json", "z.tf"]);
        assert_eq!(files.tests, ["t.tftest.hcl", "u.tofutest.json"]);
    }

    #[test]
    fn files_of_every_list_count_as_read() {
        let names =
            ["a.tf", "a.tofu.json", "override.tofu", "t.tftest.hcl", "t.tofutest.json", "notes.tf.txt", "x.hcl"];
        for name in names {
            let lists = |dialect| select(&[name], dialect);
            let listed = [Dialect::Terraform, Dialect::OpenTofu].map(lists);
            assert_eq!(is_read(name), listed.iter().any(|files| *files != ConfigFiles::default()), "{name}");
            assert_eq!(is_configuration(name), listed.iter().any(|files| !files.is_empty()), "{name}");
        }
        assert!(is_read("terraform.tfvars") && is_read("x.auto.tfvars.json") && !is_configuration("x.tfvars"));
    }

    #[test]
    fn files_of_editors_are_ignored() {
        let tests = [".x.tftest.hcl", "#y.tftest.json#", "z.tftest.hcl~", "#a.tftest.hcl", "b.tofutest.hcl", "c.tf"];
        let in_tests = |dialect| ConfigFiles::select_tests(tests.map(str::to_owned), dialect);
        assert_eq!(in_tests(Dialect::Terraform), ["#a.tftest.hcl", ".x.tftest.hcl"]);
        assert_eq!(in_tests(Dialect::OpenTofu), ["#a.tftest.hcl", "b.tofutest.hcl"]);
        assert_eq!(select(&tests, Dialect::Terraform).tests, ["#a.tftest.hcl"]);
        assert_eq!(select(&[".hidden.tf", "bak.tf~", "#e.tf#", "#f.tf"], Dialect::Terraform).primary, ["#f.tf"]);
    }

    #[test]
    fn overrides_are_known_by_their_base_name() {
        let names = ["override.tf", "x_override.tf.json", "xoverride.tf", "override_x.tf", "_override.tf"];
        let files = select(&names, Dialect::Terraform);
        assert_eq!(files.overrides, ["_override.tf", "override.tf", "x_override.tf.json"]);
        assert_eq!(files.primary, ["override_x.tf", "xoverride.tf"]);
    }

    #[test]
    fn tofu_files_shadow_within_one_syntax_and_list() {
        let names =
            ["a.tf", "a.tofu", "b.tf", "b.tofu.json", "c.tf.json", "c.tofu.json", "override.tf", "override.tofu"];
        let files = select(&names, Dialect::OpenTofu);
        assert_eq!(files.primary, ["a.tofu", "b.tf", "b.tofu.json", "c.tofu.json"]);
        assert_eq!(files.overrides, ["override.tofu"]);
        assert_eq!(select(&names, Dialect::Terraform).primary, ["a.tf", "b.tf", "c.tf.json"]);
    }
}
