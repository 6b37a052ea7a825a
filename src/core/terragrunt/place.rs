//! Files of a unit, who reads them, and what of them counts: the unit itself, what it includes, and what is read by itself.
//!
//! Source: terragrunt `pkg/config/config_helpers.go`, `createTerragruntEvalContext`; `include.go`.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, PoisonError};

use super::file::{ConfigFile, Stated};
use super::files::{Files, Found, VALUES, join, parent, relative};
use super::origin_text::OriginText;
use super::unread::Unread;
use crate::config::ConfigError;
use crate::evaluate::syntax::{Node, NodeKind};
use crate::evaluate::{Evaluated, Expression, Failure, Memo, Meter, ParsedTexts};
use crate::finding::{Location, Position};
use crate::value::{Budget, Cause, Elements, Type, Unevaluated, Value};

/// What a stack adds to a unit that it generates.
const AUTO_INCLUDE: &str = "terragrunt.autoinclude.hcl";

/// What it costs to look for a path, in bytes of a text: as long as evaluating such a text takes. A root module has 32,000 looks, and
/// one of a thousand 500.
const LOOK: usize = 2048;

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

/// Which unit is read, and what is known around it.
pub struct UnitRequest<'a> {
    /// The path of its configuration file.
    pub path: &'a str,
    /// The path of the top of the working tree.
    pub top: &'a str,
    /// The files of the working tree.
    pub files: &'a dyn Files,
    /// What the settings say of the environment.
    pub environment: &'a Environment,
    /// What the settings state of units.
    pub vouched: &'a Vouched,
    /// The files that were parsed for other units.
    pub parsed: &'a ParsedFiles,
    /// How many root modules share what may be computed in a run.
    pub roots: usize,
    /// True if a change is judged: only then it matters what unknown values come from, and what starts programs.
    pub compares: bool,
}

/// How many files one unit may read.
const MOST_FILES: usize = 500;

/// What the settings say of the environment: a value, or `None` for a variable that is never set.
pub type Environment = BTreeMap<String, Option<String>>;

/// What the settings state of units, since it cannot be read.
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
    pub(super) expressions: ParsedTexts,
}

type ParsedFile = Result<Arc<ConfigFile>, Arc<[ConfigError]>>;

impl ParsedFiles {
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
    pub(super) compares: bool,
    /// Files that were read with `read_terragrunt_config`.
    pub(super) read: RefCell<HashMap<String, Rc<Place>>>,
    pub(super) count: Cell<usize>,
}

/// What an evaluation leaves in its session besides files.
pub(super) struct Traces {
    used_default: bool,
    lacks_values: bool,
    notes: usize,
}

/// A file, and who reads it.
pub(super) struct Place {
    pub(super) file: Arc<ConfigFile>,
    /// Its path, which `file()` and the like start from.
    pub(super) path: String,
    /// The configuration file that most functions mean: the unit, or what is read with `read_terragrunt_config`.
    pub(super) of: String,
    /// True for values that a stack wrote.
    pub(super) is_values: bool,
    /// True if the file at `of` includes this one.
    pub(super) is_included: bool,
    pub(super) depth: usize,
    pub(super) includes: RefCell<Includes>,
    /// The file that includes this one.
    pub(super) includer: Option<Weak<Place>>,
    known: Memo,
    /// What its locals come from.
    pub(super) origins: RefCell<HashMap<String, OriginText>>,
    /// Whether all of it is valid, once that is known.
    pub(super) is_valid: Cell<Option<bool>>,
}

/// The names in one place.
#[derive(Clone)]
pub(super) struct Names<'s> {
    pub(super) session: &'s Session<'s>,
    pub(super) place: Rc<Place>,
}

impl<'s> Session<'s> {
    pub(super) fn new(request: &UnitRequest<'s>, takes_defaults: bool) -> Self {
        Self {
            files: request.files,
            parsed: request.parsed,
            environment: request.environment,
            vouched: request.vouched,
            top: request.top,
            unit: request.path,
            takes_defaults,
            used_default: Cell::new(false),
            errors: RefCell::default(),
            strange: RefCell::default(),
            mocks: Cell::default(),
            is_scanning: Cell::default(),
            notes: RefCell::default(),
            lacks_values: Cell::new(false),
            meter: Meter::new(Budget::of_root(request.roots)),
            compares: request.compares,
            read: RefCell::new(HashMap::new()),
            count: Cell::new(0),
        }
    }

    /// The traces so far.
    pub(super) fn traces(&self) -> Traces {
        Traces {
            used_default: self.used_default.get(),
            lacks_values: self.lacks_values.get(),
            notes: self.notes.borrow().len(),
        }
    }

    /// Takes back what came after these.
    pub(super) fn forget_since(&self, traces: &Traces) {
        self.used_default.set(traces.used_default);
        self.lacks_values.set(traces.lacks_values);
        self.notes.borrow_mut().truncate(traces.notes);
    }

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
        let is_values = of.is_none() && path.rsplit('/').next() == Some(VALUES);
        if !is_values && !self.is_scanning.get() {
            self.add_strange(&file);
        }
        let place = Place {
            file,
            of: of.map_or_else(|| path.clone(), |of| of.of.clone()),
            is_values,
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

    /// Whether a path leads to a directory. Each look is paid for.
    pub(super) fn look(&self, path: &str) -> Found<bool> {
        match self.meter.budget.spend_text(LOOK + path.len()) {
            Ok(()) => self.files.is_directory(path),
            Err(_) => Found::Denied("which is one path too many to look for".to_owned()),
        }
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

    /// Notes what a file has that is in no table, and that the settings do not call harmless.
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

/// The includes of a file, once they are known.
#[derive(Default)]
pub(super) enum Includes {
    #[default]
    Unread,
    /// Their paths are evaluated just now.
    Begun,
    Known(Result<Rc<[IncludedPlace]>, Failure>),
}

impl Includes {
    /// False while paths of includes are evaluated, which can use no local value.
    pub(super) fn are_known(&self) -> bool {
        !matches!(self, Self::Begun)
    }
}

/// An included file.
pub(super) struct IncludedPlace {
    pub(super) label: String,
    pub(super) place: Rc<Place>,
    pub(super) is_exposed: bool,
    pub(super) strategy: Strategy,
}

/// An included file, and the names in it.
pub(super) struct Included<'s> {
    pub(super) label: String,
    pub(super) names: Names<'s>,
    pub(super) is_exposed: bool,
    pub(super) strategy: Strategy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    Shallow,
    Deep,
    None,
}

/// An expression, and what its names mean.
#[derive(Clone)]
pub(super) struct Part<'s> {
    pub(super) names: Names<'s>,
    pub(super) expression: Expression,
}

impl Included<'_> {
    pub(super) fn is_merged(&self) -> bool {
        self.strategy != Strategy::None
    }

    pub(super) fn is_deep(&self) -> bool {
        self.strategy == Strategy::Deep
    }
}

/// A block, and what the names in it mean.
#[derive(Clone)]
pub(super) struct BlockPart<'s> {
    pub(super) names: Names<'s>,
    pub(super) block: Stated,
}

impl Part<'_> {
    pub(super) fn evaluate(&self) -> Evaluated {
        self.names.evaluate(&self.expression)
    }

    /// The text; `None` if it is null.
    pub(super) fn optional_text(&self) -> Result<Option<String>, Failure> {
        self.text_of(&self.evaluate()?)
    }

    /// The text of its value; `None` if that is null.
    pub(super) fn text_of(&self, value: &Value) -> Result<Option<String>, Failure> {
        if value.is_null() { Ok(None) } else { text_of(value, &self.expression).map(Some) }
    }
}

impl BlockPart<'_> {
    pub(super) fn as_object(&self) -> Value {
        self.names.object(&self.block.arguments)
    }
}

impl Names<'_> {
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
    pub(super) fn once(&self, key: &str, evaluate: impl FnOnce() -> Evaluated) -> Evaluated {
        let key = if self.session.mocks.get() { &format!("{key} with mocks") } else { key };
        self.place.known.value(key, &self.session.meter, evaluate)
    }

    /// True for the file of the unit, and what a stack adds to it.
    pub(super) fn is_of_unit(&self) -> bool {
        let path = &self.place.path;
        *path == self.session.unit || *path == join(parent(self.session.unit), AUTO_INCLUDE)
    }

    /// What a stack adds to the file of the unit. Next to other files it depends on who reads them.
    pub(super) fn auto_include(&self) -> Result<Option<Self>, Failure> {
        let (path, session) = (join(self.place.base(), AUTO_INCLUDE), self.session);
        if path == self.place.path || self.place.is_values || session.files.is_directory(&path) == Found::Missing {
            return Ok(None);
        }
        if self.place.path != session.unit {
            let (added, file) = (session.shown(&path), session.shown(&self.place.path));
            return Err(limit(format!("{added}, which Terragrunt may merge into {file}")));
        }
        session.open_once(path, self.place.depth + 1).map(Some)
    }

    /// The text of an argument, which must be known.
    pub(super) fn text(&self, expression: &Expression) -> Result<String, Failure> {
        text_of(&self.evaluate(expression)?, expression)
    }

    /// The value of an argument that decides what is generated.
    pub(super) fn known(&self, expression: &Expression) -> Result<Value, Unread> {
        let value = self.evaluate(expression).map_err(Unevaluated::from);
        let value = value.and_then(|value| match value.unknown_part() {
            Some(reason) => Err(Unevaluated::clone(reason)),
            None => Ok(value),
        });
        value.map_err(|reason| Unread::of(reason, &expression.place))
    }

    /// The arguments of a block, evaluated.
    pub(super) fn object(&self, arguments: &super::file::Arguments) -> Value {
        object(arguments.iter().map(|(name, value)| (&**name, known_or_unknown(self.evaluate(value)))))
    }
}

/// The text that an expression has as its value.
fn text_of(value: &Value, expression: &Expression) -> Result<String, Failure> {
    match value.convert(&Type::String)? {
        Value::String(text) => Ok(text.to_string()),
        Value::Unknown(reason) => Err(Failure::Final(Unevaluated::clone(&reason))),
        _ => Err(Failure::Final(Unevaluated::refused("a string is required").at(&expression.place))),
    }
}

/// Where an error is no reason to give up, as it may not matter.
pub(super) fn known_or_unknown(value: Evaluated) -> Value {
    value.unwrap_or_else(|failure| Value::unknown(failure.into()))
}

pub(super) fn unknown(what: String) -> Value {
    Value::unknown(Unevaluated::limit(what))
}

pub(super) fn name_of(key: &Node) -> Option<&str> {
    if let NodeKind::Name(name) | NodeKind::Text(name) = &key.kind { Some(name) } else { None }
}

pub(super) fn is_true(value: &Value) -> bool {
    value.convert(&Type::Bool).is_ok_and(|value| value == Value::Bool(true))
}

pub(super) fn limit(what: String) -> Failure {
    Failure::Final(Unevaluated::limit(what))
}

pub(super) fn object<'a>(attributes: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::object(elements(attributes))
}

pub(super) fn open_object<'a, 'n>(
    attributes: impl IntoIterator<Item = (&'a str, Value)>,
    others: &Value,
    absent: impl IntoIterator<Item = &'n str>,
) -> Value {
    Value::open_object(elements(attributes), others, absent)
}

fn elements<'a>(attributes: impl IntoIterator<Item = (&'a str, Value)>) -> Elements {
    attributes.into_iter().map(|(name, value)| (Arc::from(name), value)).collect()
}
