//! The variables of the module of a unit: those that `inputs` sets, and those of the arguments that Terragrunt adds to `init`.
//!
//! Source: terragrunt `internal/runner/run/run.go`, `FilterTerraformExtraArgs`, `filterTerraformEnvVarsFromExtraArgs`,
//! `setTerragruntInputsAsEnvVars`.

use std::collections::BTreeMap;

use super::files::Found;
use super::include::Merged;
use super::place::{BlockPart, Names, known_or_unknown};
use super::unread::Unread;
use crate::config::VariableFile;
use crate::evaluate::Meter;
use crate::finding::Location;
use crate::functions::{Function, Tools};
use crate::value::{Type, Unevaluated, Value};

/// What sets variables of the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitVariables {
    /// By name, text or an expression of JSON: as `TF_VAR_NAME` in the environment.
    pub environment: BTreeMap<String, String>,
    /// In the order of the command line, which goes before the environment.
    pub arguments: Vec<VariableArgument>,
    /// Why more variables may be set, or others, if so.
    pub unknown: Option<Unread>,
}

/// An argument of `init` that sets variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableArgument {
    /// A variable, and its text.
    Value(String, String),
    /// The content of a file.
    File(VariableFile),
}

impl Merged<'_> {
    pub(super) fn variables(&self) -> UnitVariables {
        let mut variables = UnitVariables::default();
        if let (Some(inputs), Some(place)) = (self.inputs(), self.inputs_place()) {
            match inputs.attributes() {
                Some(inputs) => inputs.iter().for_each(|(name, value)| variables.set(name, value, &place)),
                None => variables.lose(inputs.unknown_part(), "the inputs are not known", &place),
            }
        }
        for block in &self.extra_arguments {
            variables.add(block);
        }
        variables
    }
}

impl UnitVariables {
    fn set(&mut self, name: &str, value: &Value, place: &Location) {
        if value.is_null() {
            // Terragrunt writes a file of variables for it, which an `init` before another command does not see.
            self.environment.remove(name);
            self.lose(None, &format!("the input {name:?} is null"), place);
        } else if let Some(text) = as_variable(value) {
            self.environment.insert(name.to_owned(), text);
        } else {
            self.environment.remove(name);
            self.lose(value.unknown_part(), &format!("the input {name:?} is not known"), place);
        }
    }

    /// Notes that variables may have other values; a first reason stays.
    fn lose(&mut self, reason: Option<&std::sync::Arc<Unevaluated>>, what: &str, place: &Location) {
        let because = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        let reason = format!("a source of a module depends on variables, and {what}{because}");
        self.unknown.get_or_insert_with(|| Unread { reason, place: place.clone() });
    }

    /// Adds what a block `extra_arguments` does if the command is `init`. What it sets for others counts where Terragrunt runs `init`
    /// before them, and not where the user does.
    fn add(&mut self, part: &BlockPart<'_>) {
        let BlockPart { names, block } = part;
        let value = |name: &str| block.arguments.get(name).map(|value| known_or_unknown(names.evaluate(value)));
        let variables = value("env_vars");
        let commands = value("commands").unwrap_or(Value::Null(Type::Dynamic));
        match (commands.unknown_part(), commands.elements()) {
            (Some(reason), _) => return self.lose(Some(reason), "extra_arguments may set them", &block.place),
            (None, Some(commands)) if commands.iter().any(|command| command.as_text() == Some("init")) => {}
            _ => {
                let names = variables.iter().filter_map(|all| all.attributes()).flat_map(|all| all.keys());
                for name in names.filter(|name| name.starts_with("TF_VAR_")) {
                    self.lose(None, &format!("extra_arguments set {name} for some commands"), &block.place);
                }
                return;
            }
        }
        match variables.as_ref().map(|variables| (variables, variables.attributes())) {
            None | Some((Value::Null(_), _)) => {}
            Some((_, Some(all))) => all.iter().for_each(|(name, value)| self.add_variable(name, value, &block.place)),
            Some((value, None)) => self.lose(value.unknown_part(), "env_vars may set them", &block.place),
        }
        if let Some(arguments) = self.texts(value("arguments"), "arguments", &block.place) {
            self.add_arguments(names, &arguments, &block.place);
        }
        for (name, is_optional) in [("required_var_files", false), ("optional_var_files", true)] {
            for path in self.texts(value(name), name, &block.place).unwrap_or_default() {
                self.add_file(names, &path, is_optional, &block.place);
            }
        }
    }

    /// Adds a variable of the environment, which goes before an input.
    fn add_variable(&mut self, name: &str, value: &Value, place: &Location) {
        if let Some(variable) = name.strip_prefix("TF_VAR_") {
            self.set(variable, value, place);
        } else if name.starts_with("TF_CLI_ARGS") || name == "TF_WORKSPACE" {
            self.lose(None, &format!("extra_arguments set {name}"), place);
        }
    }

    /// The elements of a list of texts; `None` if one is unknown, which is noted.
    fn texts(&mut self, list: Option<Value>, name: &str, place: &Location) -> Option<Vec<String>> {
        let list = list.filter(|list| !list.is_null())?;
        let texts: Option<Vec<String>> = list.elements().and_then(|all| all.iter().map(as_variable).collect());
        if texts.is_none() {
            self.lose(list.unknown_part(), &format!("{name} of extra_arguments may set them"), place);
        }
        texts
    }

    fn add_arguments(&mut self, names: &Names<'_>, arguments: &[String], place: &Location) {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let option = argument.trim_start_matches('-');
            let (option, value) = match option.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (option, None),
            };
            if !argument.starts_with('-') || !["var", "var-file"].contains(&option) {
                continue;
            }
            let Some(value) = value.or_else(|| rest.next().map(String::as_str)) else { continue };
            match (option, value.split_once('=')) {
                ("var", Some((name, text))) => {
                    self.arguments.push(VariableArgument::Value(name.to_owned(), text.to_owned()));
                }
                ("var-file", _) => self.add_file(names, value, false, place),
                _ => {}
            }
        }
    }

    /// Adds a file of variables. Where relative paths begin depends on the run.
    fn add_file(&mut self, names: &Names<'_>, path: &str, is_optional: bool, place: &Location) {
        let session = names.session;
        let is_missing = path.starts_with('/') && matches!(session.files.is_directory(path), Found::Missing);
        if is_optional && is_missing {
            return;
        }
        let text = if path.starts_with('/') { names.file_text(path).ok() } else { None };
        let shown = session.shown(path);
        match text.and_then(|text| VariableFile::decode(shown.as_ref(), &text).ok()) {
            Some(file) => self.arguments.push(VariableArgument::File(file)),
            None => self.lose(None, &format!("{shown} of extra_arguments is not read"), place),
        }
    }
}

/// A value as the environment gives it to the tool; `None` if it is unknown.
fn as_variable(value: &Value) -> Option<String> {
    if let Ok(Value::String(text)) = value.convert(&Type::String) {
        return Some(text.to_string());
    }
    let encode = Function::find("jsonencode", Tools::TERRAGRUNT)?;
    let text = encode.call(vec![value.clone()], &Meter::default().budget).ok()?;
    text.as_text().map(str::to_owned)
}
