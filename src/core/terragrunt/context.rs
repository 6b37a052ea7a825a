//! What names mean in a file of Terragrunt, which depends on who reads it.
//!
//! A unit, a file that it includes, and a file that is read with `read_terragrunt_config` are evaluated differently: see [`super::place::Place`].
//!
//! Source: terragrunt `pkg/config/config_helpers.go`, `createTerragruntEvalContext`; `config_as_cty.go`; `locals.go`; `variable.go`.

use std::rc::Weak;

use super::file::Stated;
use super::files::{Found, VALUES, join, parent};
use super::place::{BlockPart, Included, Names, TEXTS, known_or_unknown, object, open_object, unknown};
use crate::evaluate::syntax::Step;
use crate::evaluate::{Evaluated, Expression, Failure, Meter, Reference, Scope};
use crate::functions::Tools;
use crate::value::{Cause, Elements, Type, Value};

/// What others see of a file only where it is stated.
const IF_STATED: [&str; 8] =
    ["catalog", "engine", "errors", "exclude", "include", "prevent_destroy", "remote_state", "terraform"];

/// What others see as null, or as empty, where it is not stated.
const ELSE_NULL: [&str; 2] = ["dependencies", "iam_assume_role_duration"];
const ELSE_EMPTY: [&str; 3] = ["dependency", "feature", "generate"];

impl Scope for Names<'_> {
    fn tools(&self) -> Tools {
        Tools::TERRAGRUNT
    }

    fn lookup(&self, reference: &Reference<'_>, _: &Meter) -> Evaluated {
        if self.place.is_values {
            return Ok(self.not_literal(&format!("the name {reference}")));
        }
        let are_included = self.place.includes.borrow().are_known();
        match (reference.name, reference.member()) {
            ("local" | "include", _) if !are_included => {
                Err(Failure::invalid(format!("{reference} is used in the path of an include")))
            }
            ("local", Some(name)) => self.local(name),
            ("local", None) => Ok(self.locals()),
            ("include", Some(label)) => self.included(label, reference.names_behind()),
            ("feature", Some(name)) => self.feature(name),
            ("values", Some(name)) => self.value_of_stack(name),
            ("values", None) => self.values_of_stack().map(|values| values.object(&values.place.file.arguments)),
            ("dependency", Some(label)) => Ok(self.outputs(label, reference)),
            ("dependency", None) => Ok(unknown(format!("{reference}, the outputs of other units"))),
            _ => Err(Failure::invalid(format!("Terragrunt knows no {reference} here"))),
        }
    }

    fn call(&self, name: &str, arguments: &[Value], _: &Meter) -> Option<Evaluated> {
        if self.place.is_values {
            return Some(Ok(self.not_literal(&format!("the function {name}"))));
        }
        self.call_function(name, arguments)
    }
}

impl<'s> Names<'s> {
    /// The block of a dependency: what a stack adds goes before the file, and that before its last include.
    pub(super) fn dependency(&self, label: &str) -> Option<BlockPart<'s>> {
        let unit = self.place.includer.as_ref().and_then(Weak::upgrade);
        let top = unit.map_or_else(|| self.clone(), |place| Self { session: self.session, place });
        let includes = top.includes().ok()?;
        let is_deep = includes.iter().any(Included::is_deep);
        let merged = includes.into_iter().rev().filter(Included::is_merged).map(|include| include.names);
        let all = top.auto_include().ok()?.into_iter().chain([top]).chain(merged);
        let mut found = all.filter_map(|names| {
            let block = names.place.file.dependencies.iter().find(|block| block.label == label)?.clone();
            Some(BlockPart { names, block })
        });
        let first = found.next()?;
        (!is_deep || found.next().is_none()).then_some(first)
    }

    /// What is known of a dependency: its outputs are known where Terragrunt asks for no state.
    fn outputs(&self, label: &str, reference: &Reference<'_>) -> Value {
        let other = || unknown(format!("{reference}, an output of another unit"));
        let Some(BlockPart { names, block }) = self.dependency(label) else { return other() };
        let known = |name: &str| names.known(block.arguments.get(name)?).ok();
        let is = |name: &str, wanted: bool| {
            known(name).and_then(|value| value.convert(&Type::Bool).ok()) == Some(Value::Bool(wanted))
        };
        let is_for_all = match block.arguments.get("mock_outputs_allowed_terraform_commands") {
            None => true,
            Some(_) => known("mock_outputs_allowed_terraform_commands")
                .is_some_and(|commands| commands.is_null() || commands.elements().is_some_and(|all| all.is_empty())),
        };
        let asks_no_state = is("skip_outputs", true) && is_for_all || is("enabled", false);
        match block.arguments.get("mock_outputs") {
            Some(mocks) if asks_no_state || self.session.mocks.get() => {
                open_object([("outputs", known_or_unknown(names.evaluate(mocks)))], &other(), [])
            }
            _ => other(),
        }
    }

    /// Where a value of a stack is written.
    pub(super) fn value_expression(&self, name: &str) -> Option<(Self, Expression)> {
        let values = self.values_of_stack().ok()?;
        let value = values.place.file.arguments.get(name)?.clone();
        Some((values, value))
    }

    /// The names in an included file that is exposed.
    pub(super) fn exposed(&self, label: &str) -> Option<Self> {
        let includes = self.includes().ok()?;
        includes.into_iter().find(|include| include.is_exposed && include.label == label).map(|include| include.names)
    }

    /// True if Terragrunt certainly reads the file without an error: it has local values, a source and a few arguments, and all
    /// of them are known.
    pub(super) fn is_valid(&self) -> bool {
        if let Some(is_valid) = self.place.is_valid.get() {
            return is_valid;
        }
        // A file that reads itself is refused.
        self.place.is_valid.set(Some(false));
        let is_valid = self.has_known_parts_alone();
        self.place.is_valid.set(Some(is_valid));
        is_valid
    }

    fn has_known_parts_alone(&self) -> bool {
        let file = &self.place.file;
        let is_declared = |name: &str, steps: &[Step]| match steps {
            [Step::Name(local), ..] => name == "local" && file.locals.contains_key(local),
            _ => false,
        };
        // Terragrunt looks for names before it evaluates anything, so also where none is needed.
        let sound = |value: &Expression| {
            let uses_declared = self.parse(value).is_ok_and(|node| node.uses_only(&[], &is_declared));
            self.known(value).ok().filter(|_| uses_declared)
        };
        let is_text = |value: &Expression| sound(value).is_some_and(|value| value.as_text().is_some());
        let is_argument = |(name, value): (&String, &Expression)| match &**name {
            "inputs" => sound(value).is_some_and(|value| value.attributes().is_some()),
            name => TEXTS.contains(&name) && is_text(value),
        };
        let is_plain = |block: &Stated| block.arguments.iter().all(|(name, value)| name == "source" && is_text(value));
        file.has_plain_blocks
            && file.extra_arguments.is_empty()
            && file.hooks.is_empty()
            && file.terraform.iter().all(is_plain)
            && file.strange.is_empty()
            && !self.may_have_values()
            && matches!(self.auto_include(), Ok(None))
            && file.locals.values().all(|value| sound(value).is_some())
            && file.arguments.iter().all(is_argument)
    }

    fn local(&self, name: &str) -> Evaluated {
        let key = format!("local.{name}");
        match self.place.file.locals.get(name) {
            Some(local) => self.once(&key, || self.evaluate(local)),
            None => Err(missing(format!("there is no {key}"))),
        }
    }

    fn locals(&self) -> Value {
        let names = self.place.file.locals.keys();
        object(names.map(|name| (&**name, known_or_unknown(self.local(name)))))
    }

    /// The value of a feature: that of its default, as the command line is not known. The file goes before its last include, and
    /// that before earlier ones.
    fn feature(&self, name: &str) -> Evaluated {
        let includes = self.includes()?;
        let merged = includes.iter().rev().filter(|include| include.is_merged()).map(|include| &include.names);
        let default = std::iter::once(self).chain(merged).find_map(|names| {
            let feature = names.place.file.features.get(name)?;
            Some((names, feature.arguments.get("default")?))
        });
        let Some((names, default)) = default else {
            return Err(missing(format!("there is no feature.{name} with a default")));
        };
        self.session.used_default.set(true);
        let value = if self.session.takes_defaults {
            names.evaluate(default)?
        } else {
            unknown(format!("feature.{name}, which the command line may set"))
        };
        let others = unknown(format!("what feature.{name} is besides its value"));
        Ok(open_object([("value", value)], &others, []))
    }

    /// What is no literal in a file of values: stacks write nothing else there, and what it means depends on who reads the file.
    fn not_literal(&self, what: &str) -> Value {
        unknown(format!("{what} in {}", self.session.shown(&self.place.path)))
    }

    /// False if a stack of Terragrunt certainly wrote no values next to the file.
    pub(super) fn may_have_values(&self) -> bool {
        self.session.files.is_directory(&join(self.place.base(), VALUES)) != Found::Missing
    }

    /// The values that a stack of Terragrunt wrote for a unit, next to the file.
    pub(super) fn values_of_stack(&self) -> Result<Self, Failure> {
        let is_of_unit = self.place.base() == parent(self.session.unit);
        if is_of_unit && !self.may_have_values() {
            self.session.lacks_values.set(true);
        }
        self.session.open_once(join(self.place.base(), VALUES), self.place.depth + 1)
    }

    fn value_of_stack(&self, name: &str) -> Evaluated {
        let values = self.values_of_stack()?;
        match values.place.file.arguments.get(name) {
            Some(value) => values.evaluate(value),
            None => Err(missing(format!("there is no values.{name}"))),
        }
    }

    /// What an include shows of its file; `names` are those behind the label. Where they name a local value, nothing else is evaluated.
    fn included(&self, label: &str, names: Option<[&str; 2]>) -> Evaluated {
        let includes = self.includes()?;
        let is_shown = |include: &&Included<'_>| include.is_exposed;
        if let Some(include) = includes.iter().filter(is_shown).find(|include| include.label == label) {
            return match names {
                Some(["locals", local]) => include.names.as_value_with(local),
                _ => include.names.as_value(),
            };
        }
        let bare = includes.iter().filter(is_shown).find(|include| include.label.is_empty());
        let value = bare.map(|include| include.names.as_value()).transpose()?;
        let part = value.as_ref().and_then(|value| value.attributes()?.get(label));
        part.cloned().ok_or_else(|| missing(format!("there is no include {label:?} with `expose = true`")))
    }

    /// What stands for all of a file that is not followed.
    fn others(&self) -> Value {
        unknown(format!("what {} configures besides", self.session.shown(&self.place.path)))
    }

    /// What others see of a file, of which only one local value is used.
    fn as_value_with(&self, local: &str) -> Evaluated {
        let is_alone = matches!(self.auto_include(), Ok(None)) && self.includes()?.is_empty();
        if !is_alone || !self.place.file.locals.contains_key(local) {
            return self.as_value();
        }
        let others = self.others();
        let value = through_json(&known_or_unknown(self.local(local)));
        Ok(open_object([("locals", open_object([(local, value)], &others, []))], &others, []))
    }

    /// What others see of a file: its locals and what it configures, after its includes were merged.
    pub(super) fn as_value(&self) -> Evaluated {
        let path = &self.place.path;
        self.once(path, || {
            let config = self.merged()?;
            let others = self.others();
            let is_stated = |name: &&str| config.stated.contains(*name);
            let null = || Value::Null(Type::Dynamic);
            let has_locals = !self.place.file.locals.is_empty();
            let mut parts = vec![
                ("locals", if has_locals { through_json(&self.locals()) } else { null() }),
                ("inputs", config.inputs().map_or_else(null, |inputs| through_json(&inputs))),
            ];
            parts.extend(ELSE_NULL.into_iter().filter(|name| !is_stated(name)).map(|name| (name, null())));
            parts.extend(ELSE_EMPTY.into_iter().filter(|name| !is_stated(name)).map(|name| (name, object([]))));
            for name in TEXTS {
                let text = config.texts.get(name).map(|part| known_or_unknown(part.evaluate()));
                parts.push((name, text.unwrap_or_else(|| Value::text(""))));
            }
            if config.stated.contains("terraform") {
                let source = config.source_value().unwrap_or_else(|failure| known_or_unknown(Err(failure)));
                parts.push(("terraform", open_object([("source", source)], &others, [])));
            }
            if let Some(state) = &config.remote_state {
                let arguments = through_json(&state.as_object());
                let arguments = arguments.attributes().into_iter().flat_map(|all| all.iter());
                let arguments = arguments.map(|(name, value)| (&**name, value.clone()));
                parts.push(("remote_state", open_object(arguments, &others, [])));
            }
            Ok(open_object(parts, &others, IF_STATED.into_iter().filter(|name| !is_stated(name))))
        })
    }
}

/// The error of a part that a known object does not have.
fn missing(reason: String) -> Failure {
    Cause::MissingPart.refuses(reason)
}

/// A value as it comes back from JSON, which has neither lists nor maps of a type, nor sets.
///
/// Source: terragrunt `convertToCtyWithJSON`.
pub(super) fn through_json(value: &Value) -> Value {
    if let Some(elements) = value.elements() {
        return Value::tuple(elements.iter().map(through_json).collect());
    }
    if let Some(attributes) = value.attributes() {
        let attributes: Elements = attributes.iter().map(|(name, value)| (name.clone(), through_json(value))).collect();
        return Value::Object(attributes.into());
    }
    match value {
        Value::Null(_) => Value::Null(Type::Dynamic),
        value => value.clone(),
    }
}
