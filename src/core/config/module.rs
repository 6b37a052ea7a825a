//! What one module directory says, as far as requirements go.
//!
//! What one module adds to the requirements of its tree.
//!
//! Source: `internal/configs/config.go`, `addProviderRequirements`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::backend::Backend;
use super::body::Located;
use super::error::{ConfigError, ConfigErrorKind};
use crate::addr::{ProviderSource, normalise_part};
use crate::dialect::Dialect;
use crate::evaluate::Expression;
pub use crate::finding::Location;
use crate::requirements::{Origin, OriginKind, Requirements};
use crate::version::{Constraints, ModuleConstraints};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    /// The entries of `required_providers`, by local name.
    pub required: BTreeMap<String, RequiredProvider>,
    /// The `provider` blocks, in the order of the files.
    pub providers: Vec<ProviderConfig>,
    /// The resources of all modes, in the order of the files.
    pub resources: Vec<Resource>,
    /// The `import` blocks, in the order of the files.
    pub imports: Vec<Import>,
    pub calls: BTreeMap<String, ModuleCall>,
    /// The `backend` or `cloud` block, which only root modules have.
    pub backend: Option<Backend>,
    pub names: Names,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredProvider {
    pub place: Location,
    /// What the local name means, given or implied.
    pub source: ProviderSource,
    /// The source as written, if it is.
    pub source_text: Option<String>,
    pub version: Option<Constraint>,
    /// What gives the source and the version, if that is evaluated: until then nothing is known of what the name means.
    pub dynamic: Option<Box<DynamicProvider>>,
    /// True if the version is the value of an expression.
    pub is_evaluated: bool,
}

impl RequiredProvider {
    /// True if its source is an expression that has no value yet.
    fn is_of_unknown_source(&self) -> bool {
        self.dynamic.as_ref().is_some_and(|dynamic| dynamic.source.is_some())
    }
}

/// The expressions of an entry of `required_providers`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicProvider {
    pub source: Option<Expression>,
    pub version: Option<Expression>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    /// As written.
    pub text: String,
    pub terms: Constraints,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    pub place: Location,
    pub name: String,
    /// The alias, if there is one that is constant.
    pub alias: Option<String>,
    /// The constraint, in the deprecated argument `version`.
    pub version: Option<Constraint>,
}

/// A `resource`, `data`, `ephemeral` or `action` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    pub place: Location,
    pub mode: OriginKind,
    /// The type, such as `aws_instance`.
    pub kind: String,
    pub name: String,
    /// The local name of the provider: given, else implied by the type.
    pub provider: String,
    /// True if the argument `provider` gives it.
    pub explicit: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub place: Location,
    /// True if the target is in a module below.
    pub in_child: bool,
    /// The type and the name of the target.
    pub target: (String, String),
    /// The local name of the provider: given, else none.
    pub provider: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleCall {
    pub place: Location,
    pub name: String,
    pub source: Option<CallSource>,
    pub version: Option<CallVersion>,
    /// The arguments that set variables of the module.
    pub inputs: BTreeMap<String, Expression>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSource {
    pub place: Location,
    pub text: Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallVersion {
    pub place: Location,
    pub text: Text,
    pub constraints: Option<ModuleConstraints>,
}

/// A string that may need evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    Known(String),
    Expression(Expression),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    pub variables: BTreeMap<String, Variable>,
    pub locals: BTreeMap<String, Expression>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub place: Location,
    /// The type.
    pub kind: Option<Expression>,
    pub default: Option<Expression>,
    pub sensitive: Option<bool>,
    pub ephemeral: Option<bool>,
    pub nullable: Option<bool>,
    /// Whether its argument `const` is true, which Terraform 1.15 and later requires.
    pub constant: Option<bool>,
}

#[derive(Debug, Default)]
pub struct Needs {
    pub requirements: Requirements,
    /// Providers that are part of the program.
    pub built_in: BTreeSet<String>,
    /// Places that give a built-in provider a version constraint, which `init` refuses; with its address.
    pub constrained_built_in: Vec<(Location, String)>,
    pub errors: Vec<ConfigError>,
    /// True while what only test files lead to is added.
    pub in_tests: bool,
    /// True once a provider was refused because there are too many.
    is_full: bool,
}

/// How many providers a root module may require, with all modules that it calls. Resources imply providers, so a file of a
/// few megabytes could require hundreds of thousands; reports are in proportion to them.
const MOST_PROVIDERS: usize = 10_000;

struct Usage<'a> {
    module: &'a str,
    place: &'a Location,
    kind: OriginKind,
    name: &'a str,
    /// The type and name of the block, if it has them.
    block: Option<[&'a str; 2]>,
    /// True if its constraint is the value of an expression.
    is_evaluated: bool,
}

impl Module {
    pub fn provider(&self, local_name: &str, dialect: Dialect) -> Result<Cow<'_, ProviderSource>, ConfigErrorKind> {
        match self.required.get(local_name) {
            Some(required) => Ok(Cow::Borrowed(&required.source)),
            None => Ok(Cow::Owned(ProviderSource::implied(local_name, dialect)?)),
        }
    }

    /// Adds what this module needs, without the modules that it calls. `path` is its call names joined by dots.
    pub fn contribute(&self, path: &str, dialect: Dialect, needs: &mut Needs) {
        for (name, required) in self.required.iter().filter(|(_, required)| !required.is_of_unknown_source()) {
            let usage = Usage {
                module: path,
                place: &required.place,
                kind: OriginKind::RequiredProviders,
                name,
                block: None,
                is_evaluated: required.is_evaluated,
            };
            needs.add(&required.source, required.version.as_ref(), &usage);
        }
        for config in &self.providers {
            self.contribute_config(config, path, dialect, needs);
        }
        for resource in &self.resources {
            let usage = Usage {
                module: path,
                place: &resource.place,
                kind: resource.mode,
                name: &resource.provider,
                block: Some([&resource.kind, &resource.name]),
                is_evaluated: false,
            };
            self.require(None, &usage, dialect, needs);
        }
        let managed = self.resources.iter().filter(|_| !self.imports.is_empty());
        let managed = managed.filter(|resource| resource.mode == OriginKind::Resource);
        let managed: HashSet<_> = managed.map(|resource| (&*resource.kind, &*resource.name)).collect();
        for import in &self.imports {
            let is_configured = managed.contains(&(&*import.target.0, &*import.target.1));
            self.contribute_import(import, is_configured, path, dialect, needs);
        }
    }

    /// Adds a `provider` block, of this module or of a test file, which resolves names as the root module does.
    pub fn contribute_config(&self, config: &ProviderConfig, path: &str, dialect: Dialect, needs: &mut Needs) {
        let usage = Usage {
            module: path,
            place: &config.place,
            kind: OriginKind::ProviderBlock,
            name: &config.name,
            block: None,
            is_evaluated: false,
        };
        self.require(config.version.as_ref(), &usage, dialect, needs);
    }

    /// A target in the configuration names its own provider; OpenTofu still requires the type's provider.
    fn contribute_import(&self, import: &Import, is_configured: bool, path: &str, dialect: Dialect, needs: &mut Needs) {
        let (kind, _) = &import.target;
        if dialect == Dialect::Terraform && (import.in_child || is_configured) {
            return;
        }
        let implied;
        let local_name = match &import.provider {
            Some(given) => given,
            None => match implied_local_name(kind, 0) {
                Ok(name) => {
                    implied = name;
                    &implied
                }
                Err(_) => return,
            },
        };
        let usage = Usage {
            module: path,
            place: &import.place,
            kind: OriginKind::Import,
            name: local_name,
            block: None,
            is_evaluated: false,
        };
        self.require(None, &usage, dialect, needs);
    }

    fn require(&self, version: Option<&Constraint>, usage: &Usage<'_>, dialect: Dialect, needs: &mut Needs) {
        if self.required.get(usage.name).is_some_and(RequiredProvider::is_of_unknown_source) {
            return;
        }
        match self.provider(usage.name, dialect) {
            Ok(source) => needs.add(&source, version, usage),
            Err(kind) => needs.fail(usage.place, kind),
        }
    }
}

impl Needs {
    fn add(&mut self, source: &ProviderSource, version: Option<&Constraint>, usage: &Usage<'_>) {
        match source {
            ProviderSource::Provider(addr) => {
                if self.requirements.len() >= MOST_PROVIDERS && self.requirements.get(addr).is_none() {
                    if !self.is_full {
                        self.fail(usage.place, ConfigErrorKind::TooManyProviders(MOST_PROVIDERS));
                    }
                    self.is_full = true;
                    return;
                }
                let origin = Origin {
                    module: usage.module.to_owned(),
                    file: usage.place.file.to_path_buf(),
                    position: usage.place.position,
                    kind: usage.kind,
                    local_name: usage.name.to_owned(),
                    constraint: version.map(|version| version.text.clone()),
                    in_tests: self.in_tests,
                    is_evaluated: usage.is_evaluated,
                    block: usage.block.map(|[kind, name]| format!("{kind:?} {name:?}")),
                };
                let none = Constraints::default();
                self.requirements.add(addr, version.map_or(&none, |version| &version.terms), origin);
            }
            ProviderSource::BuiltIn(text) => {
                if version.is_some() {
                    self.constrained_built_in.push((usage.place.clone(), text.clone()));
                }
                self.built_in.insert(text.clone());
            }
            ProviderSource::Legacy(text) => self.fail(usage.place, ConfigErrorKind::LegacySource(text.clone())),
        }
    }

    fn fail(&mut self, place: &Location, kind: ConfigErrorKind) {
        self.errors.push(ConfigError {
            file: place.file.to_path_buf(),
            position: place.position,
            line: String::new(),
            kind,
        });
    }
}

/// The local name that a type implies: what is before its first underscore, in normalised form.
///
/// Source: `internal/addrs/resource.go`, `ImpliedProvider`.
pub(super) fn implied_local_name(kind: &str, at: usize) -> Result<String, Located> {
    let prefix = kind.split('_').next().unwrap_or(kind);
    normalise_part(prefix).map_err(|reason| (at, ConfigErrorKind::LocalName { name: prefix.to_owned(), reason }))
}
