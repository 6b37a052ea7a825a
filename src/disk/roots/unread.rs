//! Why a configuration, or a part of it, is not read: that of a module, a stack or an Atmos instance. The reasons of units are in
//! `core/terragrunt`.

use std::fmt;

use super::UnreadPart;
use crate::config::Location;
use crate::value::Unevaluated;

/// Why a part of a configuration is not read, or all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnreadReason {
    /// There is a lock file alone.
    NoConfiguration,
    /// The lock file is one of an Atmos instance.
    AtmosInstance,
    /// A component or a nested stack is in a registry of components, whose protocol is not public.
    ComponentRegistry { name: String, source: String },
    /// The source or the version of a module depends on what only the tool evaluates.
    ModuleCall { name: String, argument: &'static str, reason: Unevaluated },
    /// The source or the version of a provider does.
    Provider { name: String, argument: &'static str, reason: Unevaluated },
    /// Too many modules are called with values of their own.
    TooManyModules { name: String },
}

impl UnreadReason {
    /// The part of the configuration at a place that is not read for this reason.
    pub fn at(&self, place: &Location) -> UnreadPart {
        UnreadPart { reason: self.to_string(), place: place.clone() }
    }
}

impl fmt::Display for UnreadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtmosInstance => {
                f.write_str("this is the lock file of an Atmos instance, and tflock does not read what its YAML adds")
            }
            Self::NoConfiguration => f.write_str("there is no configuration in this directory"),
            Self::ComponentRegistry { name, source } => {
                write!(f, "{name} comes from a component registry ({source}), and tflock reads those of modules only")
            }
            Self::TooManyModules { name } => {
                write!(f, "{name} is one of more modules with values of their own than tflock reads in a root module")
            }
            Self::ModuleCall { name, argument, reason } => write!(
                f,
                "the {argument} of {name} cannot be determined statically, because {reason}; the module is read once it \
                 is installed"
            ),
            Self::Provider { name, argument, reason } => write!(
                f,
                "the {argument} of provider {name:?} cannot be determined statically, because {reason}; variables, local \
                 values and literals are read"
            ),
        }
    }
}
