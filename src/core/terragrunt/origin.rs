//! What an unknown value comes from. The base and a change are compared by it: nobody who proposes a change chose a value whose
//! expression, arguments and files are those of the base. And what the text of a value may contain, as far as its form says so.

use std::collections::BTreeSet;

use super::files::{Found, join};
use super::origin_text::OriginText;
use super::place::{BlockPart, Names, name_of};
use crate::evaluate::syntax::{Call, Node, NodeKind, Step};
use crate::evaluate::{Expression, Scope};
use crate::value::{Type, Value};

/// Over how many levels an origin is followed.
const LEVELS: usize = 60;

/// Functions whose results are numbers or bools.
const SCALAR: [&str; 5] = ["can", "contains", "length", "tobool", "tonumber"];

/// Functions whose results end no quotes, whatever they compute from.
const PLAIN: [&str; 5] = [
    "base64encode",
    "get_aws_account_alias",
    "get_aws_account_id",
    "get_aws_caller_identity_arn",
    "get_aws_caller_identity_user_id",
];

/// Functions whose results end no quotes if no argument does.
const PASSING: [&str; 5] = ["coalesce", "lower", "trimspace", "try", "upper"];

/// Functions some of whose arguments may name files.
const OF_FILES: [&str; 7] =
    ["file", "filebase64", "fileexists", "read_tfvars_file", "run_cmd", "sops_decrypt_file", "templatefile"];

/// What the text of a value may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A number or a bool.
    Scalar,
    /// No quote, line feed, backslash, `${` or `%{`.
    Plain,
    /// One value of JSON.
    Json,
    Any,
}

impl Form {
    /// True if the text ends no quotes.
    pub(super) fn is_plain(self) -> bool {
        matches!(self, Self::Scalar | Self::Plain)
    }
}

/// Where a part of an expression is written.
#[derive(Clone, Copy)]
pub(super) struct WrittenAt<'a, 's> {
    pub(super) names: &'a Names<'s>,
    /// What names mean.
    pub(super) scope: &'a dyn Scope,
    pub(super) expression: Option<&'a Expression>,
}

impl<'a, 's> WrittenAt<'a, 's> {
    fn of(names: &'a Names<'s>, expression: &'a Expression) -> Self {
        WrittenAt { names, scope: names, expression: Some(expression) }
    }

    /// The value, unless a part of it is unknown, or there is none.
    pub(super) fn known(&self, node: &Node) -> Option<Value> {
        let value = node.evaluate(self.expression, self.scope, &self.names.session.meter).ok()?;
        value.unknown_part().is_none().then_some(value)
    }

    /// What a part of an expression comes from.
    pub(super) fn origin(&self, node: &Node) -> OriginText {
        let mut origin = OriginText::of(String::new());
        if !self.names.is_of_unit() {
            let file = self.names.session.shown(&self.names.place.path);
            origin.add(&format!("{file}: "));
        }
        self.describe(node, &mut origin, 0);
        origin.shortened()
    }

    fn describe(&self, node: &Node, origin: &mut OriginText, level: usize) {
        if level > LEVELS || origin.text.is_none() || self.names.session.meter.budget.left() == 0 {
            origin.text = None;
            return;
        }
        if let Some(value) = self.known(node) {
            origin.add(&format!("{value:?}"));
            return;
        }
        // Each form has its own opening, and an end: else two expressions could have one origin.
        let each = |opening: &str, nodes: &mut dyn Iterator<Item = &Node>, origin: &mut OriginText| {
            origin.add(opening);
            for node in nodes {
                self.describe(node, origin, level + 1);
                origin.add(",");
            }
            origin.add(")");
        };
        match &node.kind {
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::Text(_) => {
                origin.add(&format!("{:?}", node.kind));
            }
            NodeKind::Template(nodes) => each("(", &mut nodes.iter(), origin),
            NodeKind::Tuple(nodes) => each("[(", &mut nodes.iter(), origin),
            NodeKind::Wrapped(inner) => self.describe(inner, origin, level + 1),
            NodeKind::Negation(inner) => each("-(", &mut std::iter::once(&**inner), origin),
            NodeKind::Not(inner) => each("!(", &mut std::iter::once(&**inner), origin),
            NodeKind::Conditional(nodes) => each("?(", &mut nodes.iter(), origin),
            NodeKind::Operation(first, others) => {
                origin.add("=(");
                self.describe(first, origin, level + 1);
                for (operator, other) in others {
                    origin.add(&format!("{operator:?}"));
                    self.describe(other, origin, level + 1);
                }
                origin.add(")");
            }
            NodeKind::Object(pairs) => each("{(", &mut pairs.iter().flat_map(|(key, value)| [key, value]), origin),
            NodeKind::Call(call) => self.describe_call(call, origin, level),
            NodeKind::For(all) | NodeKind::Join(all) => {
                // Names that it gives have no value here, so all of the text counts.
                origin.add(&format!("{:?}", node.kind));
                let parts = [&all.collection, &all.value].into_iter().chain(&all.key).chain(&all.condition);
                each("(", &mut parts.into_iter(), origin);
            }
            NodeKind::Name(_) | NodeKind::Traversal(..) => self.describe_reference(node, origin, level),
        }
    }

    /// A local that is used as a whole is described once, as many may use it.
    fn describe_reference(&self, node: &Node, origin: &mut OriginText, level: usize) {
        let describe = |origin: &mut OriginText| {
            self.follow(node, &[], level, &mut |site, end, way, level| site.describe_end(end, way, origin, level));
        };
        let local = match node.as_reference() {
            Some(("local", [Step::Name(local)])) if self.is_of_file() => local,
            _ => return describe(origin),
        };
        let known = &self.names.place.origins;
        let found = known.borrow().get(local).cloned();
        let described = found.unwrap_or_else(|| {
            let mut described = OriginText::of(String::new());
            describe(&mut described);
            described.shortened()
        });
        origin.join(&described);
        known.borrow_mut().insert(local.clone(), described);
    }

    fn describe_call(&self, call: &Call, origin: &mut OriginText, level: usize) {
        if call.name == "read_terragrunt_config" {
            origin.text = None;
            return;
        }
        origin.add(&format!("{}{}(", call.name, if call.is_expanded { "..." } else { "" }));
        for argument in &call.arguments {
            self.describe(argument, origin, level + 1);
            origin.add(",");
            if OF_FILES.contains(&&*call.name)
                && let Some(Value::String(text)) = self.known(argument)
            {
                self.names.add_named(&text, &[], origin);
            }
        }
        origin.add(")");
    }

    /// What is at the end of a reference: a name that leads no further, or a part of an expression with a way into it.
    fn describe_end(&self, end: &Node, way: &[ReferenceStep], origin: &mut OriginText, level: usize) {
        let mut way = way;
        match (&end.kind, way) {
            (NodeKind::Name(name), [ReferenceStep::Part(label), rest @ ..]) if name == "dependency" => {
                match self.names.dependency(label) {
                    Some(dependency) => origin.join(&dependency.origin()),
                    None => origin.text = None,
                }
                way = rest;
            }
            (NodeKind::Name(name), _) if ["include", "local", "values"].contains(&&**name) => origin.text = None,
            (NodeKind::Name(name), _) => origin.add(name),
            _ => self.describe(end, origin, level + 1),
        }
        for step in way {
            match step {
                ReferenceStep::Part(name) => origin.add(&format!(".{name}")),
                ReferenceStep::Splat(names) => origin.add(names),
                ReferenceStep::Unknown => origin.text = None,
            }
        }
    }

    /// What the text of a value may contain.
    pub(super) fn form(&self, node: &Node, level: usize) -> Form {
        if level > LEVELS || self.names.session.meter.budget.left() == 0 {
            return Form::Any;
        }
        let all_plain = |nodes: &[Node]| nodes.iter().all(|node| self.form(node, level + 1).is_plain());
        let plain_if = |is_plain: bool| if is_plain { Form::Plain } else { Form::Any };
        if let Some(value) = self.known(node) {
            return plain_if(value.convert(&Type::String).is_ok_and(|text| text.as_text().is_some_and(is_plain)));
        }
        match &node.kind {
            NodeKind::Wrapped(inner) => self.form(inner, level + 1),
            NodeKind::Negation(_) | NodeKind::Not(_) | NodeKind::Operation(..) => Form::Scalar,
            NodeKind::Template(parts) => plain_if(all_plain(parts)),
            NodeKind::Conditional(parts) => {
                let [_, yes, no] = &**parts;
                let (yes, no) = (self.form(yes, level + 1), self.form(no, level + 1));
                if yes == no { yes } else { Form::Any }
            }
            NodeKind::Call(call) => match &*call.name {
                "jsonencode" => Form::Json,
                name if SCALAR.contains(&name) => Form::Scalar,
                name if PLAIN.contains(&name) => Form::Plain,
                name if PASSING.contains(&name) && !call.is_expanded => plain_if(all_plain(&call.arguments)),
                "get_env" => {
                    plain_if(self.vouches_for_variable(call) && all_plain(call.arguments.get(1..).unwrap_or(&[])))
                }
                name => plain_if(self.names.vouches_for(name)),
            },
            NodeKind::Name(_) | NodeKind::Traversal(..) => {
                let mut form = Form::Any;
                self.follow(node, &[], level, &mut |site, end, way, level| form = site.form_of_end(end, way, level));
                form
            }
            _ => Form::Any,
        }
    }

    fn form_of_end(&self, end: &Node, way: &[ReferenceStep], level: usize) -> Form {
        match (&end.kind, way) {
            (NodeKind::Name(name), [ReferenceStep::Part(label), ..]) if name == "dependency" => {
                let is_vouched =
                    ["dependency.*", &*format!("dependency.{label}")].iter().any(|it| self.names.vouches_for(it));
                if is_vouched { Form::Plain } else { Form::Any }
            }
            (NodeKind::Name(_), _) => Form::Any,
            (_, []) => self.form(end, level + 1),
            // A text without quotes has strings without quotes.
            (NodeKind::Call(call), _) if ["jsondecode", "yamldecode"].contains(&&*call.name) => {
                match &call.arguments[..] {
                    [text] if self.form(text, level + 1).is_plain() => Form::Plain,
                    _ => Form::Any,
                }
            }
            _ => Form::Any,
        }
    }

    fn vouches_for_variable(&self, call: &Call) -> bool {
        let name = call.arguments.first().and_then(|name| self.known(name));
        let is_vouched = |name: &str| self.names.vouches_for(&format!("get_env:{name}"));
        self.names.vouches_for("get_env") || name.is_some_and(|name| name.as_text().is_some_and(is_vouched))
    }

    /// True where names are those of a file, and not of a template.
    pub(super) fn is_of_file(&self) -> bool {
        self.expression.is_some()
    }

    /// Follows a reference to where its value is written: through locals, values, included files and files that are read.
    fn follow(&self, node: &Node, way: &[ReferenceStep], level: usize, end: &mut ReferenceEnd<'_>) {
        let names = self.names;
        let written = match (&node.kind, way) {
            _ if level > LEVELS => None,
            (NodeKind::Wrapped(inner), _) => return self.follow(inner, way, level + 1, end),
            (NodeKind::Traversal(root, steps), _) => {
                let way: Vec<ReferenceStep> =
                    steps.iter().map(|step| self.way(step)).chain(way.iter().cloned()).collect();
                return self.follow(root, &way, level + 1, end);
            }
            (NodeKind::Object(pairs), [ReferenceStep::Part(part), rest @ ..]) => {
                let is_part = |(key, _): &&(Node, Node)| name_of(key) == Some(part);
                let has_names = pairs.iter().all(|(key, _)| name_of(key).is_some());
                match pairs.iter().rev().find(is_part) {
                    Some((_, value)) if has_names => return self.follow(value, rest, level + 1, end),
                    _ => None,
                }
            }
            (NodeKind::Name(name), [ReferenceStep::Part(part), rest @ ..]) if self.is_of_file() => match &**name {
                "local" => names.place.file.locals.get(part).map(|local| (names.clone(), local.clone(), rest)),
                "values" => names.value_expression(part).map(|(values, value)| (values, value, rest)),
                "include" => names.exposed(part).and_then(|included| part_of_config(included, rest)),
                _ => None,
            },
            (NodeKind::Call(call), rest) if call.name == "read_terragrunt_config" => {
                let path = call.arguments.first().and_then(|path| self.known(path));
                let config = path.and_then(|path| names.config_at(path.as_text()?));
                config.and_then(|config| part_of_config(config, rest))
            }
            _ => None,
        };
        if let Some((names, expression, rest)) = written
            && let Ok(node) = names.parse(&expression)
        {
            return WrittenAt::of(&names, &expression).follow(&node, rest, level + 1, end);
        }
        end(self, node, way, level);
    }

    fn way(&self, step: &Step) -> ReferenceStep {
        match step {
            Step::Name(name) => ReferenceStep::Part(name.clone()),
            Step::Index(key) => {
                let key = self.known(key).and_then(|key| key.convert(&Type::String).ok());
                key.and_then(|key| key.as_text().map(str::to_owned)).map_or(ReferenceStep::Unknown, ReferenceStep::Part)
            }
            Step::Splat(steps) if steps.iter().all(|step| matches!(step, Step::Name(_))) => {
                ReferenceStep::Splat(format!("{steps:?}"))
            }
            Step::Splat(_) => ReferenceStep::Unknown,
        }
    }
}

/// What is done where a reference ends.
type ReferenceEnd<'e> = dyn FnMut(&WrittenAt<'_, '_>, &Node, &[ReferenceStep], usize) + 'e;

/// A step into a value.
#[derive(Debug, Clone)]
enum ReferenceStep {
    Part(String),
    Splat(String),
    Unknown,
}

/// Where a part of a configuration is written, which others see.
fn part_of_config<'s, 'w>(
    names: Names<'s>,
    way: &'w [ReferenceStep],
) -> Option<(Names<'s>, Expression, &'w [ReferenceStep])> {
    let file = &names.place.file;
    let (expression, rest) = match way {
        [ReferenceStep::Part(part), ReferenceStep::Part(local), rest @ ..] if part == "locals" => {
            (file.locals.get(local)?, rest)
        }
        [ReferenceStep::Part(part), rest @ ..] if part == "inputs" && file.includes.is_empty() => {
            (file.arguments.get("inputs")?, rest)
        }
        _ => return None,
    };
    let expression = expression.clone();
    Some((names, expression, rest))
}

impl Names<'_> {
    /// What an expression comes from.
    pub(super) fn origin_of(&self, expression: &Expression) -> OriginText {
        let unknown = || OriginText { text: None, files: BTreeSet::new() };
        self.parse(expression).map_or_else(|_| unknown(), |node| WrittenAt::of(self, expression).origin(&node))
    }

    fn vouches_for(&self, name: &str) -> bool {
        self.session.vouched.plain.contains(name)
    }

    /// Adds the files of the repository that a text may name, as a whole or with one of its words: from the directories of the unit and of
    /// the file, and from some others.
    pub(super) fn add_named(&self, text: &str, others: &[&str], origin: &mut OriginText) {
        self.add_paths(text, others, origin, false);
    }

    /// The same; with `with_directories`, directories count like files.
    pub(super) fn add_paths(&self, text: &str, others: &[&str], origin: &mut OriginText, with_directories: bool) {
        let is_end = |char: char| char.is_whitespace() || "'\"`;&|()<>{}=,:".contains(char);
        let words: BTreeSet<&str> = std::iter::once(text).chain(text.split(is_end)).collect();
        for word in words.into_iter().filter(|word| !["", ".", "..", "/"].contains(word)) {
            for directory in [self.place.directory(), self.place.base()].into_iter().chain(others.iter().copied()) {
                let path = join(directory, word);
                if self.session.meter.budget.left() == 0 {
                    origin.text = None;
                    return;
                }
                let is_there = match self.session.look(&path) {
                    Found::Is(is_directory) => with_directories || !is_directory,
                    _ => false,
                };
                if is_there && origin.files.insert(path.clone()) {
                    origin.add(&format!("@{}", self.session.shown(&path)));
                }
            }
        }
    }
}

impl BlockPart<'_> {
    /// What its arguments are. Paths of dependencies are those of files.
    pub(super) fn origin(&self) -> OriginText {
        let (names, block) = (&self.names, &self.block);
        let mut origin = OriginText::of(String::new());
        origin.add(&format!("{} {:?}", block.kind, block.label));
        for (name, expression) in &block.arguments {
            origin.add(&format!(" {name}="));
            let Ok(node) = names.parse(expression) else {
                origin.text = None;
                break;
            };
            let site = WrittenAt::of(names, expression);
            site.describe(&node, &mut origin, 0);
            if let ("config_path", Some(path)) = (&**name, site.known(&node)) {
                let path = path.as_text().map(|path| join(names.place.directory(), path));
                origin.add(&names.session.shown(&path.unwrap_or_default()));
            }
        }
        origin.shortened()
    }
}

/// True for a text that ends no quotes, before and behind whatever it stands.
pub(super) fn is_plain(text: &str) -> bool {
    !text.contains(['"', '\n', '\r', '\\'])
        && !text.contains("${")
        && !text.contains("%{")
        && !text.ends_with(['$', '%'])
}
