//! Includes, and what a file says after they were merged into it.
//!
//! Source: terragrunt `pkg/config/include.go`, `config.go` (`Merge`, `DeepMerge`).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::file::{Arguments, Stated};
use super::files::join;
use super::place::{
    BlockPart, Included, IncludedPlace, Includes, Names, Part, Place, Strategy, TEXTS, is_true, known_or_unknown,
    name_of,
};
use super::table;
use crate::evaluate::syntax::NodeKind;
use crate::evaluate::{Evaluated, Expression, Failure};
use crate::finding::Location;
use crate::functions::merge_deeply;
use crate::value::{Type, Unevaluated, Value};

/// What a file says with its includes. Nothing of it is evaluated before it is needed.
#[derive(Default)]
pub(super) struct Merged<'s> {
    /// The names of all blocks and arguments.
    pub(super) stated: BTreeSet<String>,
    /// The first that is not null counts.
    pub(super) sources: Vec<Part<'s>>,
    pub(super) version: Option<Part<'s>>,
    pub(super) extra_arguments: Vec<BlockPart<'s>>,
    pub(super) hooks: Vec<BlockPart<'s>>,
    pub(super) engine: Option<BlockPart<'s>>,
    /// What is not copied to the working directory. Of several lists, only Terragrunt knows which count.
    pub(super) left_out: Vec<Part<'s>>,
    /// Which hidden files are copied nevertheless.
    pub(super) hidden: Vec<Part<'s>>,
    /// In the order in which Terragrunt adds them: those of the file itself are last.
    pub(super) generates: Vec<BlockPart<'s>>,
    pub(super) remote_state: Option<BlockPart<'s>>,
    /// The arguments of [`TEXTS`].
    pub(super) texts: BTreeMap<&'static str, Part<'s>>,
    /// The later ones go before the earlier ones; with whether those behind one are merged into it deeply.
    pub(super) inputs: Vec<(Part<'s>, bool)>,
    /// The files that were included.
    pub(super) includes: Vec<String>,
    /// What may say more and could not be evaluated.
    pub(super) unread: Vec<(Unevaluated, Location)>,
    chosen: OnceCell<Option<Source<'s>>>,
}

/// The source that counts, and its value.
pub(super) struct Source<'s> {
    pub(super) part: Part<'s>,
    pub(super) value: Evaluated,
}

impl Source<'_> {
    /// The text; `None` if it is null.
    pub(super) fn text(&self) -> Result<Option<String>, Failure> {
        self.part.text_of(self.value.as_ref().map_err(Failure::clone)?)
    }
}

impl<'s> Names<'s> {
    /// The includes of the file, in its order.
    pub(super) fn includes(&self) -> Result<Vec<Included<'s>>, Failure> {
        let known = match &*self.place.includes.borrow() {
            Includes::Known(known) => Some(known.clone()?),
            Includes::Begun => return Ok(Vec::new()),
            Includes::Unread => None,
        };
        let places = if let Some(places) = known {
            places
        } else {
            *self.place.includes.borrow_mut() = Includes::Begun;
            let read: Result<Rc<[_]>, Failure> =
                self.place.file.includes.iter().map(|block| self.include(block)).collect();
            *self.place.includes.borrow_mut() = Includes::Known(read.clone());
            read?
        };
        let names = |place: &Rc<Place>| Self { session: self.session, place: Rc::clone(place) };
        let included = |place: &IncludedPlace| Included {
            label: place.label.clone(),
            names: names(&place.place),
            is_exposed: place.is_exposed,
            strategy: place.strategy,
        };
        Ok(places.iter().map(included).collect())
    }

    fn include(&self, block: &Stated) -> Result<IncludedPlace, Failure> {
        let at = |failure: Failure| Failure::Final(Unevaluated::from(failure).at(&block.place));
        let Some(path) = block.arguments.get("path") else {
            return Err(at(Failure::invalid("an include has no path")));
        };
        let text = self.text(path).map_err(at)?;
        let flag = |name: &str| match block.arguments.get(name).map(|value| self.evaluate(value)) {
            None => Ok(Value::Bool(false)),
            Some(value) => value,
        };
        let is_exposed = is_true(&flag("expose").map_err(at)?);
        let part =
            block.arguments.get("merge_strategy").map(|value| Part { names: self.clone(), expression: value.clone() });
        let strategy = match part.map(|part| part.optional_text()).transpose().map_err(at)?.flatten().as_deref() {
            None | Some("shallow") => Strategy::Shallow,
            Some("no_merge") => Strategy::None,
            Some("deep") => Strategy::Deep,
            Some(word) => return Err(at(Failure::invalid(format!("there is no merge strategy {word:?}")))),
        };
        let path = join(self.place.directory(), &text);
        let names = self.session.open(path, Some(&self.place), self.place.depth).map_err(at)?;
        if let Some(nested) = names.place.file.includes.first() {
            let reason = format!("{} is included and includes further files", self.session.shown(&names.place.path));
            return Err(Failure::Final(Unevaluated::refused(reason).at(&nested.place)));
        }
        Ok(IncludedPlace { label: block.label.clone(), place: names.place, is_exposed, strategy })
    }

    /// What the file says with its includes: the last include goes before earlier ones, and the file itself before all.
    pub(super) fn merged(&self) -> Result<Merged<'s>, Failure> {
        let mut merged = self.own()?;
        let includes = self.includes()?;
        merged.includes = includes.iter().map(|include| include.names.place.path.clone()).collect();
        for include in includes.into_iter().rev().filter(Included::is_merged) {
            merged.take_parent(include.names.own()?, include.strategy == Strategy::Deep);
        }
        Ok(merged)
    }

    /// What the file itself says, after what a stack adds to it.
    fn own(&self) -> Result<Merged<'s>, Failure> {
        let own = self.written();
        let Some(auto) = self.auto_include()? else { return Ok(own) };
        let mut merged = auto.merged()?;
        merged.take_parent(own, false);
        Ok(merged)
    }

    fn written(&self) -> Merged<'s> {
        let config = &self.place.file;
        let part = |expression: &Expression| Part { names: self.clone(), expression: expression.clone() };
        let block = |block: &Stated| BlockPart { names: self.clone(), block: block.clone() };
        let argument = |name: &str| config.terraform.as_ref().and_then(|block| block.arguments.get(name)).map(part);
        let mut merged = Merged {
            stated: config.stated.clone(),
            sources: argument("source").into_iter().collect(),
            version: argument("version"),
            left_out: argument("exclude_from_copy").into_iter().collect(),
            hidden: argument("include_in_copy").into_iter().collect(),
            extra_arguments: config.extra_arguments.iter().map(block).collect(),
            hooks: config.hooks.iter().map(block).collect(),
            engine: config.engine.as_ref().map(block),
            remote_state: config.remote_state.as_ref().map(block),
            texts: TEXTS.iter().filter_map(|name| Some((*name, part(config.arguments.get(*name)?)))).collect(),
            inputs: config.arguments.get("inputs").map(|inputs| (part(inputs), false)).into_iter().collect(),
            ..Merged::default()
        };
        for generate in &config.generates {
            merged.add_generate(block(generate));
        }
        if let Some(attribute) = config.arguments.get("generate") {
            match self.blocks_of(attribute) {
                Ok(blocks) => blocks.iter().for_each(|generate| merged.add_generate(block(generate))),
                Err(reason) => merged.unread.push((reason, attribute.place.clone())),
            }
        }
        if let Some(attribute) = config.arguments.get("remote_state") {
            match self.block_of("remote_state", "", attribute.clone()) {
                Ok(state) => merged.remote_state = Some(block(&state)),
                Err(reason) => merged.unread.push((reason, attribute.place.clone())),
            }
        }
        merged
    }

    /// The blocks in an argument that is an object of objects.
    fn blocks_of(&self, attribute: &Expression) -> Result<Vec<Stated>, Unevaluated> {
        let parts = self.parts_of(attribute)?;
        parts.into_iter().map(|(label, block)| self.block_of("generate", &label, block)).collect()
    }

    fn block_of(&self, kind: &str, label: &str, object: Expression) -> Result<Stated, Unevaluated> {
        let arguments: Arguments = self.parts_of(&object)?.into_iter().collect();
        let is_strange =
            |name: &&String| table::effect(kind, name).is_none() && !self.session.vouched.harmless.contains(*name);
        if let Some(name) = arguments.keys().find(is_strange) {
            return Err(Unevaluated::limit(format!("{kind}.{name}, which tflock does not know of Terragrunt")));
        }
        Ok(Stated { place: object.place, kind: kind.to_owned(), label: label.to_owned(), arguments })
    }

    /// The elements of an object by name: as written, where it is written out, which leaves more of it known; else evaluated.
    fn parts_of(&self, object: &Expression) -> Result<Vec<(String, Expression)>, Unevaluated> {
        let node = object.parse()?;
        if let NodeKind::Object(pairs) = &node.kind
            && let Some(names) = pairs.iter().map(|(key, _)| name_of(key)).collect::<Option<Vec<_>>>()
        {
            let values = pairs.iter().map(|(_, value)| Expression::plain(object.locate(value.at), value.clone()));
            return Ok(names.into_iter().map(str::to_owned).zip(values).collect());
        }
        let value = self.evaluate(object)?;
        if let Some(reason) = value.unknown_part() {
            return Err(Unevaluated::clone(reason));
        }
        let not_object = || Unevaluated::refused("it is not an object");
        let parts = value.attributes().ok_or_else(not_object)?.iter();
        Ok(parts.map(|(name, value)| (name.to_string(), Expression::constant(object.place.clone(), value))).collect())
    }
}

impl<'s> Merged<'s> {
    /// Adds a `generate` block. The names of those of a file and of what it includes shallowly must differ.
    fn add_generate(&mut self, generate: BlockPart<'s>) {
        let Stated { label, place, .. } = &generate.block;
        if self.generates.iter().any(|other| other.block.label == *label) {
            let reason = format!("there are two generate blocks {label:?}, which Terragrunt refuses");
            self.unread.push((Unevaluated::refused(reason), place.clone()));
        }
        self.generates.push(generate);
    }

    /// Merges what an include says into this.
    fn take_parent(&mut self, parent: Self, is_deep: bool) {
        self.stated.extend(parent.stated);
        self.sources.extend(parent.sources);
        self.version = self.version.take().or(parent.version);
        self.hooks.extend(parent.hooks);
        self.engine = self.engine.take().or(parent.engine);
        self.left_out.extend(parent.left_out);
        self.hidden.extend(parent.hidden);
        self.remote_state = self.remote_state.take().or(parent.remote_state);
        self.unread.extend(parent.unread);
        for generate in std::mem::replace(&mut self.generates, parent.generates) {
            let same = |other: &&mut BlockPart<'_>| is_deep && other.block.label == generate.block.label;
            match self.generates.iter_mut().find(same) {
                Some(other) => *other = generate,
                None => self.add_generate(generate),
            }
        }
        let is_own = |part: &BlockPart<'_>| self.extra_arguments.iter().any(|own| own.block.label == part.block.label);
        let mut extra_arguments: Vec<_> = parent.extra_arguments.into_iter().filter(|part| !is_own(part)).collect();
        extra_arguments.append(&mut self.extra_arguments);
        self.extra_arguments = extra_arguments;
        for (name, text) in parent.texts {
            self.texts.entry(name).or_insert(text);
        }
        let mut inputs: Vec<_> = parent.inputs.into_iter().map(|(part, _)| (part, is_deep)).collect();
        inputs.append(&mut self.inputs);
        self.inputs = inputs;
    }

    /// The value of the source: null without one.
    pub(super) fn source_value(&self) -> Evaluated {
        self.source().map_or(Ok(Value::Null(Type::String)), |source| source.value.clone())
    }

    /// The first source that is not null. It is evaluated once, so nothing may be merged into this afterwards.
    pub(super) fn source(&self) -> Option<&Source<'s>> {
        let is_null = |source: &Source<'_>| source.value.as_ref().is_ok_and(Value::is_null);
        let evaluated = |part: &Part<'s>| Source { part: part.clone(), value: part.evaluate() };
        let first = || self.sources.iter().map(evaluated).find(|source| !is_null(source));
        self.chosen.get_or_init(first).as_ref()
    }

    /// Where inputs are set, of the file itself before others.
    pub(super) fn inputs_place(&self) -> Option<Location> {
        self.inputs.last().map(|(part, _)| part.expression.place.clone())
    }

    /// All inputs; `None` without any.
    pub(super) fn inputs(&self) -> Option<Value> {
        let parts = self.inputs.iter().map(|(part, is_deep)| (known_or_unknown(part.evaluate()), *is_deep));
        let merged = parts.rev().reduce(|(all, _), (value, is_deep)| {
            let merged = if is_deep { merge_deeply(&value, &all) } else { merge(&value, &all) };
            (merged, is_deep)
        });
        merged.map(|(value, _)| value)
    }
}

/// The elements of two objects; those of the second go before.
fn merge(one: &Value, other: &Value) -> Value {
    match (one.attributes(), other.attributes()) {
        (Some(ours), Some(theirs)) => {
            let all = ours.iter().chain(theirs.iter()).map(|(name, value)| (name.clone(), value.clone()));
            Value::object(all.collect())
        }
        (_, Some(_)) if one.is_null() => other.clone(),
        _ if other.is_null() => one.clone(),
        _ => one.unknown_part().or(other.unknown_part()).map_or_else(|| other.clone(), Value::from),
    }
}
