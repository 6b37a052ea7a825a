//! What of `extra_arguments` changes how `init` installs.
//!
//! The variables of the environment that a block sets for any command reach the `init` that Terragrunt runs by itself before it.
//!
//! Source: terragrunt `internal/runner/run/run.go`, `runTerragruntWithConfig`, `runTerraformInitRunCfg`.

use super::include::Merged;
use super::origin_text::OriginText;
use super::place::{BlockPart, known_or_unknown};
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
const OF_INIT: [&str; 12] =
    ["BASH_", "DYLD_", "GIT_", "LD_", "OPENTOFU_", "SSL_", "TENV_", "TF_", "TFENV_", "TG_", "TOFUENV_", "TOFU_"];

/// Exceptions of these.
const HARMLESS_VARIABLES: [&str; 3] = ["TF_IN_AUTOMATION", "TF_INPUT", "TF_LOG"];

impl Merged<'_> {
    /// What changes how `init` installs.
    pub(super) fn init_overrides(&self) -> Vec<Influence> {
        let module = self.module_directory();
        let mut found = Overrides { all: Vec::new(), module: module.as_deref() };
        for block in &self.extra_arguments {
            block.add_variables(&mut found);
            if block.may_be_of_init() {
                block.add_arguments(&mut found);
            }
        }
        found.all
    }
}

/// What was found, and the directory of the module, in which `init` runs.
struct Overrides<'m> {
    all: Vec<Influence>,
    module: Option<&'m str>,
}

impl Overrides<'_> {
    /// Adds what a block gives to `init`; `value` is what an argument of the block, or a part of it, is.
    fn add(&mut self, block: &BlockPart<'_>, what: &str, argument: &str, value: Option<&Value>) {
        let mut origin = match value.filter(|value| value.unknown_part().is_none()) {
            Some(value) => OriginText::of(format!("{value:?}")),
            None => block.argument(argument).origin(),
        };
        if let Some(text) = value.and_then(Value::as_text) {
            let places: Vec<&str> = self.module.into_iter().collect();
            block.names.add_paths(text, &places, &mut origin, true);
        }
        let place = block.block.arguments.get(argument).map_or(&block.block.place, |value| &value.place);
        let shown = format!("{what} in extra_arguments {:?}", block.block.label);
        let influence = origin.influence(shown, place.clone(), &block.names);
        self.all.push(Influence { identity: format!("{what} {}", influence.identity), ..influence });
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

    fn add_variables(&self, found: &mut Overrides<'_>) {
        let Some(variables) = self.value("env_vars") else { return };
        let Some(all) = variables.attributes() else {
            return found.add(self, "env_vars that are not known", "env_vars", None);
        };
        let overriding = all.iter().filter(|(name, _)| !is_harmless_variable(name));
        overriding.for_each(|(name, value)| found.add(self, name, "env_vars", Some(value)));
    }

    fn add_arguments(&self, found: &mut Overrides<'_>) {
        let Some(arguments) = self.value("arguments") else { return };
        let Some(all) = arguments.elements() else {
            return found.add(self, "arguments that are not known", "arguments", None);
        };
        let mut rest = all.iter();
        while let Some(argument) = rest.next() {
            let Some(text) = argument.as_text() else {
                found.add(self, "an argument that is not known", "arguments", Some(argument));
                continue;
            };
            let option = text.strip_prefix("--").or_else(|| text.strip_prefix('-'));
            let name = option.map(|option| option.split_once('=').map_or((option, false), |(name, _)| (name, true)));
            let harmless = name.and_then(|(name, _)| HARMLESS.iter().find(|(known, _)| *known == name));
            match (harmless, name) {
                (Some((_, true)), Some((_, false))) => drop(rest.next()),
                (Some(_), _) => {}
                _ if option.is_some_and(|option| HARMLESS_VALUES.contains(&option)) => {}
                _ => found.add(self, text, "arguments", Some(argument)),
            }
        }
    }

    /// Adds the files that its arguments name to what they come from.
    pub(super) fn add_named(&self, origin: &mut OriginText) {
        for value in
            ["arguments", "required_var_files", "optional_var_files"].into_iter().filter_map(|name| self.value(name))
        {
            let texts = value.elements().into_iter().flat_map(|all| all.iter()).filter_map(Value::as_text);
            texts.for_each(|text| self.names.add_named(text, &[], origin));
        }
    }

    /// The block with one argument alone.
    fn argument(&self, name: &str) -> Self {
        let only = self.block.arguments.get(name).map(|value| (name.to_owned(), value.clone()));
        let block = super::file::Stated { arguments: only.into_iter().collect(), ..self.block.clone() };
        Self { names: self.names.clone(), block }
    }
}

/// True for variables of the environment that do not change what is installed.
fn is_harmless_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let decides = OF_INIT.iter().any(|start| name.starts_with(start))
        || name.starts_with("XDG_")
        || name.ends_with("_PROXY")
        || ["HOME", "NETRC", "PATH"].contains(&&*name);
    !decides || name.starts_with("TF_VAR_") || name.starts_with("TF_LOG_") || HARMLESS_VARIABLES.contains(&&*name)
}
