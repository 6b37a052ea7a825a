//! What of `extra_arguments` changes how `init` installs.
//!
//! The variables of the environment that a block sets for any command reach the `init` that Terragrunt runs by itself before it.
//!
//! Source: terragrunt `internal/runner/run/run.go`, `runTerragruntWithConfig`, `runTerraformInitRunCfg`.

use super::context::known_or_unknown;
use super::include::{BlockPart, Merged};
use super::unread::Influence;
use crate::value::Value;

/// Options of `init` that install the same, with whether they may take the next argument as their value.
const HARMLESS: &[(&str, bool)] = &[
    ("backend", false),
    ("backend-config", true),
    ("force-copy", false),
    ("get", false),
    ("input", false),
    ("lock", false),
    ("lock-timeout", true),
    ("migrate-state", false),
    ("no-color", false),
    ("reconfigure", false),
    ("var", true),
    ("var-file", true),
];

/// The same with their values.
const HARMLESS_VALUES: [&str; 2] = ["upgrade=false", "lockfile=readonly"];

/// How names of variables begin that decide what is installed, from where, or which program is run.
const OF_INIT: [&str; 7] = ["DYLD_", "GIT_", "LD_", "SSL_", "TF_", "TG_", "TOFU_"];

/// Exceptions of these.
const HARMLESS_VARIABLES: [&str; 3] = ["TF_IN_AUTOMATION", "TF_INPUT", "TF_LOG"];

impl Merged<'_> {
    /// What changes how `init` installs.
    pub(super) fn init_overrides(&self) -> Vec<Influence> {
        let mut found = Vec::new();
        for block in &self.extra_arguments {
            block.add_variables(&mut found);
            if block.may_be_of_init() {
                block.add_arguments(&mut found);
            }
        }
        found
    }
}

impl BlockPart<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        let value = known_or_unknown(self.names.evaluate(self.block.arguments.get(name)?));
        (!value.is_null()).then_some(value)
    }

    /// True for a block whose arguments `init` has, or may have.
    pub(super) fn may_be_of_init(&self) -> bool {
        let is_init = |command: &Value| command.as_text().is_none_or(|command| command == "init");
        let commands = self.value("commands");
        commands.is_some_and(|commands| commands.elements().is_none_or(|all| all.iter().any(is_init)))
    }

    /// Something that the block gives to `init`; `identity` is its value, or what that comes from.
    fn influence(&self, what: &str, argument: &str, value: Option<&Value>) -> Influence {
        let identity = match value.filter(|value| value.unknown_part().is_none()) {
            Some(value) => format!("{value:?}"),
            None => self.identity_of(argument),
        };
        Influence {
            what: format!("{what} in extra_arguments {:?}", self.block.label),
            place: self.block.arguments.get(argument).map_or(&self.block.place, |value| &value.place).clone(),
            identity: format!("{what} {identity}"),
        }
    }

    fn add_variables(&self, found: &mut Vec<Influence>) {
        let Some(variables) = self.value("env_vars") else { return };
        let Some(all) = variables.attributes() else {
            return found.push(self.influence("env_vars that are not known", "env_vars", None));
        };
        let overriding = all.iter().filter(|(name, _)| !is_harmless_variable(name));
        found.extend(overriding.map(|(name, value)| self.influence(name, "env_vars", Some(value))));
    }

    fn add_arguments(&self, found: &mut Vec<Influence>) {
        let Some(arguments) = self.value("arguments") else { return };
        let Some(all) = arguments.elements() else {
            return found.push(self.influence("arguments that are not known", "arguments", None));
        };
        let mut rest = all.iter();
        while let Some(argument) = rest.next() {
            let Some(text) = argument.as_text() else {
                found.push(self.influence("an argument that is not known", "arguments", Some(argument)));
                continue;
            };
            let option = text.strip_prefix("--").or_else(|| text.strip_prefix('-'));
            let name = option.map(|option| option.split_once('=').map_or((option, false), |(name, _)| (name, true)));
            let harmless = name.and_then(|(name, _)| HARMLESS.iter().find(|(known, _)| *known == name));
            match (harmless, name) {
                (Some((_, true)), Some((_, false))) => drop(rest.next()),
                (Some(_), _) => {}
                _ if option.is_some_and(|option| HARMLESS_VALUES.contains(&option)) => {}
                _ => found.push(self.influence(text, "arguments", Some(argument))),
            }
        }
    }

    /// What an argument comes from.
    fn identity_of(&self, argument: &str) -> String {
        let only = |name: &String| name == argument;
        let arguments = self.block.arguments.iter().filter(|(name, _)| only(name));
        let arguments = arguments.map(|(name, value)| (name.clone(), value.clone())).collect();
        let block = super::file::Stated { arguments, ..self.block.clone() };
        BlockPart { names: self.names.clone(), block }.identity()
    }
}

/// True for variables of the environment that do not change what is installed.
fn is_harmless_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let decides = OF_INIT.iter().any(|start| name.starts_with(start))
        || name.starts_with("XDG_")
        || name.ends_with("_PROXY")
        || ["HOME", "PATH"].contains(&&*name);
    !decides || name.starts_with("TF_VAR_") || name.starts_with("TF_LOG_") || HARMLESS_VARIABLES.contains(&&*name)
}
