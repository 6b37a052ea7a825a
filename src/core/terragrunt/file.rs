//! One file of Terragrunt: its blocks, with expressions that are read when their values are needed.
//!
//! Source: terragrunt `pkg/config/config.go`, `terragruntConfigFile`; `include.go`; `locals.go`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::table::{self, Effect};
use crate::config::ConfigError;
use crate::config::body::{Block, BodyContents, RawValue};
use crate::config::decode::{Reader, Role, read_file};
use crate::config::json::{JsonNode, JsonValue, Member};
use crate::dialect::Dialect;
use crate::evaluate::Expression;
use crate::evaluate::syntax::{Node, NodeKind};
use crate::finding::Location;

/// The arguments of a block, by name.
pub(super) type Arguments = BTreeMap<String, Expression>;

/// A block with arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stated {
    pub(super) place: Location,
    /// Its kind, such as `before_hook`.
    pub(super) kind: String,
    /// Its label; empty without one.
    pub(super) label: String,
    pub(super) arguments: Arguments,
}

/// What a file says, as far as requirements go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigFile {
    pub(super) includes: Vec<Stated>,
    pub(super) locals: Arguments,
    /// The defaults of features.
    pub(super) features: BTreeMap<String, Stated>,
    pub(super) terraform: Option<Stated>,
    pub(super) extra_arguments: Vec<Stated>,
    /// Programs that run before or after a command, or if it fails.
    pub(super) hooks: Vec<Stated>,
    pub(super) generates: Vec<Stated>,
    pub(super) remote_state: Option<Stated>,
    pub(super) dependencies: Vec<Stated>,
    pub(super) engine: Option<Stated>,
    /// The arguments of the file itself: `inputs`, `generate`, `terraform_binary`, and in a file of values all of them.
    pub(super) arguments: Arguments,
    /// The names of the blocks and arguments of the file itself.
    pub(super) stated: BTreeSet<String>,
    /// Blocks and arguments that make a unit unread, by the way to each.
    pub(super) strange: Vec<(String, Location)>,
    /// Blocks that are not followed, as they decide nothing.
    pub(super) others: Vec<Stated>,
    /// Expressions that may start a program, or read a file that does.
    pub(super) calls: Vec<Expression>,
    pub(super) has_blocks: bool,
    /// True for a file without blocks but one with its local values and one about its module.
    pub(super) has_plain_blocks: bool,
}

impl ConfigFile {
    /// Reads a file; places have its path.
    ///
    /// # Errors
    ///
    /// All that keeps the text from being read.
    pub fn decode(path: &Path, text: &str) -> Result<Self, Vec<ConfigError>> {
        let schema = if has_bare_include(path, text) { table::BARE } else { table::FILE };
        let (file, errors) = read_file(path, text, (Dialect::Terraform, Role::Primary, schema), |reader, contents| {
            let mut file = Self::default();
            let count = |kind: &str| contents.blocks_of(kind).filter(|block| block.labels.is_empty()).count();
            let plain = ["locals", "terraform"].map(count);
            file.has_plain_blocks =
                plain.iter().all(|count| *count <= 1) && plain.iter().sum::<usize>() == contents.blocks.len();
            file.arguments = file.body(reader, "", &contents);
            file
        });
        if errors.is_empty() { Ok(file) } else { Err(errors) }
    }

    /// The arguments of a body, by the way to it, after its blocks were taken.
    fn body<'a>(&mut self, reader: &mut Reader<'a>, way: &str, contents: &BodyContents<'a>) -> Arguments {
        for argument in &contents.arguments {
            if table::effect(way, &argument.name).is_none_or(|effect| effect == Effect::Unread) {
                self.strange.push((joined(way, &argument.name), reader.place(argument.at)));
            }
        }
        self.has_blocks |= !contents.blocks.is_empty();
        if way.is_empty() {
            let arguments = contents.arguments.iter().map(|argument| &argument.name);
            self.stated =
                arguments.chain(contents.blocks.iter().map(|block| &block.kind)).map(ToString::to_string).collect();
        }
        for block in &contents.blocks {
            let inner = joined(way, &block.kind);
            if table::is_followed(&inner) {
                self.take(reader, &inner, block);
            } else {
                self.strange.push((inner, reader.place(block.at)));
            }
        }
        let arguments = arguments(reader, contents);
        self.calls.extend(arguments.values().filter(|value| may_call(value)).cloned());
        arguments
    }

    fn take<'a>(&mut self, reader: &mut Reader<'a>, way: &str, block: &Block<'a>) {
        let contents = block.body.contents(table::blocks_in(way), &mut reader.errors);
        let arguments = self.body(reader, way, &contents);
        let label = block.labels.first().map(|label| label.text.clone().into_owned());
        let stated = Stated {
            place: reader.place(block.at),
            kind: block.kind.clone().into_owned(),
            label: label.unwrap_or_default(),
            arguments,
        };
        match way {
            "include" => self.includes.push(stated),
            "locals" => self.locals.extend(stated.arguments),
            "feature" => drop(self.features.insert(stated.label.clone(), stated)),
            "generate" => self.generates.push(stated),
            "remote_state" => self.remote_state = Some(stated),
            "dependency" => self.dependencies.push(stated),
            "terraform" => self.terraform = Some(stated),
            "terraform.extra_arguments" => self.extra_arguments.push(stated),
            "terraform.before_hook" | "terraform.after_hook" | "terraform.error_hook" => self.hooks.push(stated),
            "engine" => self.engine = Some(stated),
            _ => self.others.push(stated),
        }
    }
}

/// True for an expression that may start a program, or read a file that does.
fn may_call(expression: &Expression) -> bool {
    expression.native_text().is_none_or(|text| text.contains("run_cmd") || text.contains("read_terragrunt_config"))
}

fn joined(way: &str, name: &str) -> String {
    if way.is_empty() { name.to_owned() } else { format!("{way}.{name}") }
}

/// True if the value of `include` in JSON is what an include says itself, and not an object of includes by label.
///
/// Source: terragrunt `pkg/config/include.go`, `jsonIsIncludeBlock`.
fn has_bare_include(path: &Path, text: &str) -> bool {
    let is_json = path.extension().is_some_and(|end| end == "json");
    let Some(Ok(document)) = is_json.then(|| serde_json::from_str::<serde_json::Value>(text)) else { return false };
    let include = match &document["include"] {
        serde_json::Value::Array(all) if all.len() == 1 => &all[0],
        include => include,
    };
    let is_own = |name: &String| ["path", "expose", "merge_strategy"].contains(&&**name);
    include.as_object().is_some_and(|include| include.contains_key("path") && include.keys().all(is_own))
}

fn arguments<'a>(reader: &Reader<'a>, contents: &BodyContents<'a>) -> Arguments {
    let arguments = contents.arguments.iter();
    arguments.map(|argument| (argument.name.clone().into_owned(), expression(reader, &argument.value))).collect()
}

/// A value that is read when it is needed. In JSON its strings are templates.
fn expression<'a>(reader: &Reader<'a>, value: &RawValue<'a>) -> Expression {
    let place = reader.place(value.at());
    match value {
        RawValue::Native { text, range } => Expression::native(place, &text[range.clone()]),
        RawValue::Json(node) => Expression::templates(place, of_json(node)),
    }
}

fn of_json(node: &JsonNode<'_>) -> Node {
    let kind = match &node.value {
        JsonValue::Null => NodeKind::Null,
        JsonValue::Bool(value) => NodeKind::Bool(*value),
        JsonValue::Number(text) => NodeKind::Number((*text).into()),
        JsonValue::Text(text) => NodeKind::Text(text.clone().into_owned()),
        JsonValue::Array(items) => NodeKind::Tuple(items.iter().map(of_json).collect()),
        JsonValue::Object(members) => {
            let key =
                |member: &Member<'_>| Node { at: member.at, kind: NodeKind::Text(member.name.clone().into_owned()) };
            NodeKind::Object(members.iter().map(|member| (key(member), of_json(&member.value))).collect())
        }
    };
    Node { at: node.at, kind }
}
