//! What names mean in a file of Terragrunt, which depends on who reads it.
//!
//! A unit, a file that it includes, and a file that is read with `read_terragrunt_config` are evaluated differently: see [`Place`].
//!
//! Source: terragrunt `pkg/config/config_helpers.go`, `createTerragruntEvalContext`; `config_as_cty.go`; `locals.go`; `variable.go`.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::file::{ConfigFile, Stated};
use super::files::{Files, Found, VALUES, join, parent, relative};
use super::include::{BlockPart, Included, Includes};
use super::origin::Origin;
use super::unread::Unread;
use crate::config::ConfigError;
use crate::evaluate::syntax::Node;
use crate::evaluate::{Evaluated, Expression, Failure, Memo, Meter, ParsedTexts, Reference, Scope};
use crate::finding::{Location, Position};
use crate::functions::Tools;
use crate::value::{Budget, Cause, Type, Unevaluated, Value};

/// What a stack adds to a unit that it generates.
const AUTO_INCLUDE: &str = "terragrunt.autoinclude.hcl";

/// The name of an attribute that stands for all those that an object may have besides.
const OPEN: &str = Value::OPEN;

/// Over how many files one file may read another one.
const LEVELS: usize = 12;

/// Arguments of a file that others see as text, which is empty without them.
pub(super) const TEXTS: [&str; 7] = [
    "download_dir",
    "iam_assume_role_session_name",
    "iam_role",
    "iam_web_identity_token",
    "terraform_binary",
    "terraform_version_constraint",
    "terragrunt_version_constraint",
];

/// How many files one unit may read.
const MOST_FILES: usize = 500;

/// What all units of a run may take: as much as 64 of them, and some hundred times of what a thousand usual ones take.
const MOST_OF_RUN: u64 = 64 * Budget::UNITS;

/// What the settings say of the environment: a value, or `None` for a variable that is never set.
pub type Environment = BTreeMap<String, Option<String>>;

/// What the settings vouch for, since it cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vouched {
    /// Functions, dependencies (`dependency.NAME`, `dependency.*`) and variables (`get_env:NAME`) whose texts end no quotes.
    pub plain: BTreeSet<String>,
    /// Blocks and arguments of Terragrunt, unknown to this program, that decide no requirement.
    pub harmless: BTreeSet<String>,
}

/// The files of some units that were parsed already, by path, and their expressions.
#[derive(Debug, Default)]
pub struct ParsedFiles {
    files: Mutex<HashMap<String, ParsedFile>>,
    /// What their evaluation took.
    pub(super) spent: AtomicU64,
    pub(super) expressions: ParsedTexts,
}

type ParsedFile = Result<Arc<ConfigFile>, Arc<[ConfigError]>>;

impl ParsedFiles {
    /// Adds what the evaluation of a unit took.
    pub(super) fn spend(&self, units: u64) {
        self.spent.fetch_add(units, Ordering::Relaxed);
    }

    /// Why no further unit is evaluated, if so.
    pub(super) fn limit(&self) -> Option<Unevaluated> {
        let is_spent = self.spent.load(Ordering::Relaxed) > MOST_OF_RUN;
        let what = || format!("units of one run that take more than {} MB to compute", MOST_OF_RUN >> 20);
        is_spent.then(|| Unevaluated::limit(what()))
    }

    /// Parses a text, unless that was done; `shown` is its path in places.
    fn parse(&self, path: &str, shown: &str, text: &[u8]) -> ParsedFile {
        let mut known = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let parse = || ConfigFile::decode(Path::new(shown), &String::from_utf8_lossy(text));
        known.entry(path.to_owned()).or_insert_with(|| parse().map(Arc::new).map_err(Arc::from)).clone()
    }
}

/// The evaluation of one unit.
pub(super) struct Session<'s> {
    pub(super) files: &'s dyn Files,
    pub(super) parsed: &'s ParsedFiles,
    pub(super) environment: &'s Environment,
    pub(super) vouched: &'s Vouched,
    /// The top of the working tree.
    pub(super) top: &'s str,
    /// The configuration file of the unit.
    pub(super) unit: &'s str,
    /// Whether the default of a variable that the settings do not name counts.
    pub(super) takes_defaults: bool,
    /// True once such a default was used.
    pub(super) used_default: Cell<bool>,
    /// Why files cannot be parsed.
    pub(super) errors: RefCell<Vec<ConfigError>>,
    /// What the files have that is in no table.
    pub(super) strange: RefCell<Vec<Unread>>,
    /// True while the outputs of dependencies are those that they have without a state.
    pub(super) mocks: Cell<bool>,
    /// True while files are read that decide nothing.
    pub(super) is_scanning: Cell<bool>,
    /// What was assumed.
    pub(super) notes: RefCell<Vec<Unread>>,
    /// True once a value of a stack was used that no file has.
    pub(super) lacks_values: Cell<bool>,
    pub(super) meter: Meter,
    /// Files that were read with `read_terragrunt_config`.
    pub(super) read: RefCell<HashMap<String, Rc<Place>>>,
    pub(super) count: Cell<usize>,
}

/// A file, and who reads it.
pub(super) struct Place {
    pub(super) file: Arc<ConfigFile>,
    /// Its path, which `file()` and the like start from.
    pub(super) path: String,
    /// The configuration file that most functions mean: the unit, or what is read with `read_terragrunt_config`.
    pub(super) of: String,
    /// True if the file at `of` includes this one.
    pub(super) is_included: bool,
    pub(super) depth: usize,
    pub(super) includes: RefCell<Includes>,
    /// The file that includes this one.
    includer: Option<Weak<Place>>,
    known: Memo,
    /// What its locals come from.
    pub(super) origins: RefCell<HashMap<String, Origin>>,
    /// Whether all of it is valid, once that is known.
    is_valid: Cell<Option<bool>>,
}

/// The names in one place.
#[derive(Clone)]
pub(super) struct Names<'s> {
    pub(super) session: &'s Session<'s>,
    pub(super) place: Rc<Place>,
}

impl<'s> Session<'s> {
    /// Reads a file for a place.
    pub(super) fn open(&'s self, path: String, of: Option<&Rc<Place>>, depth: usize) -> Result<Names<'s>, Failure> {
        self.count.set(self.count.get() + 1);
        if depth > LEVELS {
            return Err(limit(format!("files that read each other over more than {LEVELS} levels")));
        }
        if self.count.get() > MOST_FILES {
            return Err(limit(format!("more than {MOST_FILES} files")));
        }
        let text = self.text(&path)?;
        let shown = relative(self.top, &path);
        let file = self.parsed.parse(&path, &shown, &text).map_err(|errors| {
            if !self.is_scanning.get() {
                self.errors.borrow_mut().extend(errors.iter().cloned());
            }
            Failure::Final(Unevaluated::refused(format!("{shown} cannot be read")))
        })?;
        if !path.ends_with(VALUES) && !self.is_scanning.get() {
            self.add_strange(&file);
        }
        let place = Place {
            file,
            of: of.map_or_else(|| path.clone(), |of| of.of.clone()),
            is_included: of.is_some(),
            path,
            depth,
            includes: RefCell::default(),
            includer: of.map(Rc::downgrade),
            known: Memo::default(),
            origins: RefCell::default(),
            is_valid: Cell::default(),
        };
        Ok(Names { session: self, place: Rc::new(place) })
    }

    /// Reads a file that is evaluated by itself, once.
    pub(super) fn open_once(&'s self, path: String, depth: usize) -> Result<Names<'s>, Failure> {
        let known = self.read.borrow().get(&path).cloned();
        if let Some(place) = known {
            return Ok(Names { session: self, place });
        }
        let names = self.open(path.clone(), None, depth)?;
        self.read.borrow_mut().insert(path, names.place.clone());
        Ok(names)
    }

    /// The bytes of a file that the repository must have.
    pub(super) fn text(&self, path: &str) -> Result<Arc<[u8]>, Failure> {
        match self.files.read(path) {
            Found::Is(text) => {
                self.meter.budget.spend_text(text.len())?;
                Ok(text)
            }
            Found::Missing => self.without(path).map(|_| Arc::default()),
            Found::Denied(reason) => Err(limit(format!("{path}, {reason}"))),
        }
    }

    /// Notes what a file has that is in no table, and that the settings do not vouch for.
    fn add_strange(&self, file: &ConfigFile) {
        for (way, place) in &file.strange {
            let name = way.rsplit('.').next().unwrap_or(way);
            if [&**way, name].iter().any(|name| self.vouched.harmless.contains(*name)) {
                continue;
            }
            let reason = format!(
                "tflock does not know {way} of Terragrunt; if it decides no requirement, terragrunt {{ harmless = [{way:?}] }} in the settings says so"
            );
            let part = Unread { reason, place: place.clone() };
            if !self.strange.borrow().contains(&part) {
                self.strange.borrow_mut().push(part);
            }
        }
    }

    /// Evaluates something with the outputs that dependencies have without a state.
    pub(super) fn with_mocks<T>(&self, evaluate: impl FnOnce() -> T) -> T {
        let before = self.mocks.replace(true);
        let result = evaluate();
        self.mocks.set(before);
        result
    }

    /// A value that needs a file which does not exist.
    pub(super) fn without(&self, path: &str) -> Evaluated {
        Err(Cause::MissingFile.refuses(Unevaluated::limit(self.missing(path)).to_string()))
    }

    pub(super) fn missing(&self, path: &str) -> String {
        format!("{}, which the repository does not have", self.shown(path))
    }

    /// A path in messages.
    pub(super) fn shown(&self, path: &str) -> String {
        if path.starts_with(self.top) { relative(self.top, path) } else { path.to_owned() }
    }
}

impl Place {
    /// The directory of the file itself.
    pub(super) fn base(&self) -> &str {
        parent(&self.path)
    }

    /// The directory that `get_terragrunt_dir` gives.
    pub(super) fn directory(&self) -> &str {
        parent(&self.of)
    }
}

impl Scope for Names<'_> {
    fn tools(&self) -> Tools {
        Tools::TERRAGRUNT
    }

    fn lookup(&self, reference: &Reference<'_>, _: &Meter) -> Evaluated {
        let are_included = self.place.includes.borrow().are_known();
        match (reference.name, reference.member()) {
            ("local" | "include", _) if !are_included => {
                Err(Failure::invalid(format!("{reference} is used in the path of an include")))
            }
            ("local", Some(name)) => self.local(name),
            ("local", None) => Ok(self.locals()),
            ("include", Some(label)) => self.included(label),
            ("feature", Some(name)) => self.feature(name),
            ("values", Some(name)) => self.value_of_stack(name),
            ("values", None) => self.values_of_stack().map(|values| values.object(&values.place.file.arguments)),
            ("dependency", Some(label)) => Ok(self.outputs(label, reference)),
            ("dependency", None) => Ok(unknown(format!("{reference}, the outputs of other units"))),
            _ => Err(Failure::invalid(format!("Terragrunt knows no {reference} here"))),
        }
    }

    fn call(&self, name: &str, arguments: &[Value], _: &Meter) -> Option<Evaluated> {
        self.call_function(name, arguments)
    }
}

impl<'s> Names<'s> {
    /// Notes, once, what is assumed in this file.
    pub(super) fn note(&self, reason: String) {
        let file = self.session.shown(&self.place.path);
        let note = Unread { reason, place: Location { file: Path::new(&file).into(), position: Position::default() } };
        let mut notes = self.session.notes.borrow_mut();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    pub(super) fn evaluate(&self, expression: &Expression) -> Evaluated {
        let node = self.parse(expression).map_err(Failure::Final)?;
        node.evaluate(Some(expression), self, &self.session.meter)
    }

    pub(super) fn parse(&self, expression: &Expression) -> Result<Arc<Node>, Unevaluated> {
        self.session.parsed.expressions.parse(expression)
    }

    /// A value that is evaluated once.
    fn once(&self, key: &str, evaluate: impl FnOnce() -> Evaluated) -> Evaluated {
        let key = if self.session.mocks.get() { &format!("{key} with mocks") } else { key };
        self.place.known.value(key, &self.session.meter, evaluate)
    }

    /// True for the file of the unit, and what a stack adds to it.
    pub(super) fn is_of_unit(&self) -> bool {
        let path = &self.place.path;
        *path == self.session.unit || *path == join(parent(self.session.unit), AUTO_INCLUDE)
    }

    /// What a stack adds to the file.
    pub(super) fn auto_include(&self) -> Result<Option<Self>, Failure> {
        let path = join(self.place.base(), AUTO_INCLUDE);
        if path == self.place.path || self.session.files.is_directory(&path) == Found::Missing {
            return Ok(None);
        }
        self.session.open_once(path, self.place.depth + 1).map(Some)
    }

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
                object([("outputs", known_or_unknown(names.evaluate(mocks))), (OPEN, other())])
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

    /// True if Terragrunt certainly reads the file without an error: all of it is known, and of kinds that are looked at here.
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
        let is_known = |value: &Expression| self.known(value).is_ok();
        let is_text = |value: &Expression| self.known(value).is_ok_and(|value| value.as_text().is_some());
        let is_argument = |(name, value): (&String, &Expression)| match &**name {
            "inputs" => self.known(value).is_ok_and(|value| value.attributes().is_some()),
            name => TEXTS.contains(&name) && is_text(value),
        };
        let is_simple = |block: &Stated| block.arguments.iter().all(|(name, value)| name == "source" && is_text(value));
        let has_others = !file.others.is_empty()
            || !file.dependencies.is_empty()
            || !file.features.is_empty()
            || !file.extra_arguments.is_empty()
            || !file.hooks.is_empty()
            || file.remote_state.is_some()
            || file.engine.is_some();
        let has_values = self.session.files.is_directory(&join(self.place.base(), VALUES)) != Found::Missing;
        file.strange.is_empty()
            && !has_others
            && !has_values
            && matches!(self.auto_include(), Ok(None))
            && file.locals.values().all(is_known)
            && file.arguments.iter().all(is_argument)
            && file.terraform.iter().all(is_simple)
            && self.merged().is_ok_and(|merged| merged.has_valid_files())
            && self.includes().is_ok_and(|includes| includes.iter().all(|include| include.names.is_valid()))
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
        Ok(object([("value", value), (OPEN, unknown(format!("what feature.{name} is besides its value")))]))
    }

    /// The values that a stack of Terragrunt wrote for a unit, next to the file.
    pub(super) fn values_of_stack(&self) -> Result<Self, Failure> {
        let path = join(self.place.base(), VALUES);
        let is_of_unit = self.place.base() == parent(self.session.unit);
        if is_of_unit && self.session.files.is_directory(&path) == Found::Missing {
            self.session.lacks_values.set(true);
        }
        self.session.open_once(path, self.place.depth + 1)
    }

    fn value_of_stack(&self, name: &str) -> Evaluated {
        let values = self.values_of_stack()?;
        match values.place.file.arguments.get(name) {
            Some(value) => values.evaluate(value),
            None => Err(missing(format!("there is no values.{name}"))),
        }
    }

    /// What an include shows of its file.
    fn included(&self, label: &str) -> Evaluated {
        let includes = self.includes()?;
        let is_shown = |include: &&Included<'_>| include.is_exposed;
        if let Some(include) = includes.iter().filter(is_shown).find(|include| include.label == label) {
            return include.names.as_value();
        }
        let bare = includes.iter().filter(is_shown).find(|include| include.label.is_empty());
        let value = bare.map(|include| include.names.as_value()).transpose()?;
        let part = value.as_ref().and_then(|value| value.attributes()?.get(label));
        part.cloned().ok_or_else(|| missing(format!("there is no include {label:?} with `expose = true`")))
    }

    /// What others see of a file: its locals and what it configures, after its includes were merged.
    pub(super) fn as_value(&self) -> Evaluated {
        let path = &self.place.path;
        self.once(path, || {
            let config = self.merged()?;
            let others = || unknown(format!("what {} configures besides", self.session.shown(path)));
            let null = || Value::Null(Type::Dynamic);
            let has_locals = !self.place.file.locals.is_empty();
            let mut parts = vec![
                ("locals", if has_locals { through_json(&self.locals()) } else { null() }),
                ("inputs", config.inputs().map_or_else(null, |inputs| through_json(&inputs))),
                (OPEN, others()),
            ];
            for name in TEXTS {
                let text = config.texts.get(name).map(|part| known_or_unknown(part.evaluate()));
                parts.push((name, text.unwrap_or_else(|| Value::text(""))));
            }
            if config.has_terraform {
                let source = config.source().unwrap_or_else(|failure| known_or_unknown(Err(failure)));
                parts.push(("terraform", object([("source", source), (OPEN, others())])));
            }
            if let Some(state) = &config.remote_state {
                let arguments = through_json(&state.as_object());
                let arguments = arguments.attributes().into_iter().flat_map(|all| all.iter());
                let arguments = arguments.map(|(name, value)| (&**name, value.clone()));
                parts.push(("remote_state", object(arguments.chain([(OPEN, others())]))));
            }
            Ok(object(parts))
        })
    }

    /// The arguments of a block, evaluated.
    pub(super) fn object(&self, arguments: &super::file::Arguments) -> Value {
        object(arguments.iter().map(|(name, value)| (&**name, known_or_unknown(self.evaluate(value)))))
    }
}

/// Where an error is no reason to give up, as it may not matter.
pub(super) fn known_or_unknown(value: Evaluated) -> Value {
    value.unwrap_or_else(|failure| Value::unknown(failure.into()))
}

pub(super) fn unknown(what: String) -> Value {
    Value::unknown(Unevaluated::limit(what))
}

/// The error of a part that a known object does not have.
fn missing(reason: String) -> Failure {
    Cause::MissingPart.refuses(reason)
}

fn limit(what: String) -> Failure {
    Failure::Final(Unevaluated::limit(what))
}

fn object<'a>(attributes: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let attributes = attributes.into_iter().map(|(name, value)| (Arc::from(name), value));
    Value::object(attributes.collect())
}

/// A value as it comes back from JSON, which has neither lists nor maps of a type, nor sets.
///
/// Source: terragrunt `convertToCtyWithJSON`.
pub(super) fn through_json(value: &Value) -> Value {
    if let Some(elements) = value.elements() {
        return Value::tuple(elements.iter().map(through_json).collect());
    }
    if let Some(attributes) = value.attributes() {
        return object(attributes.iter().map(|(name, value)| (&**name, through_json(value))));
    }
    match value {
        Value::Null(_) => Value::Null(Type::Dynamic),
        value => value.clone(),
    }
}
