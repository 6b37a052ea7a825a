//! What one module directory says, as far as requirements go.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::addr::ProviderSource;
use crate::finding::Position;
use crate::path::shown;
use crate::requirements::OriginKind;
use crate::version::Constraints;

use super::expression::Expression;
use super::module_version::ModuleConstraints;
use super::value::Node;

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
    /// True if there is a `backend` or `cloud` block, which only root modules have.
    pub has_backend: bool,
    pub names: Names,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file, relative to the root module.
    pub file: Arc<Path>,
    pub position: Position,
}

/// `FILE:LINE:COLUMN`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", shown(&self.file), self.position)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredProvider {
    pub place: Location,
    /// What the local name means, given or implied.
    pub source: ProviderSource,
    /// The source as written, if it is.
    pub source_text: Option<String>,
    pub version: Option<Constraint>,
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
    Expression(Node),
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
