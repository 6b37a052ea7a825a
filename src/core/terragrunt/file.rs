//! One file of Terragrunt: its blocks, with expressions that are read when their values are needed.
//!
//! Source: terragrunt `pkg/config/config.go`, `terragruntConfigFile`; `include.go`; `locals.go`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::config::ConfigError;
use crate::config::body::{Block, BodyContents, BodySchema, RawValue};
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
    /// Programs that run before or after a command.
    pub(super) hooks: Vec<Stated>,
    pub(super) generates: Vec<Stated>,
    pub(super) remote_state: Option<Stated>,
    pub(super) dependencies: BTreeSet<String>,
    /// The arguments of the file itself: `inputs`, `generate`, `terraform_binary`, and in a file of values all of them.
    pub(super) arguments: Arguments,
}

const FILE: BodySchema = &schema(1);
/// Where JSON has an include without a label.
const BARE: BodySchema = &schema(0);

/// The blocks of a file, with the number of labels of an include.
const fn schema(labels: usize) -> [(&'static str, usize); 12] {
    [
        ("include", labels),
        ("locals", 0),
        ("feature", 1),
        ("terraform", 0),
        ("generate", 1),
        ("remote_state", 0),
        ("dependency", 1),
        ("dependencies", 0),
        ("exclude", 0),
        ("errors", 0),
        ("engine", 0),
        ("catalog", 0),
    ]
}
const TERRAFORM: BodySchema = &[("extra_arguments", 1), ("before_hook", 1), ("after_hook", 1), ("error_hook", 1)];

impl ConfigFile {
    /// Reads a file; places have its path.
    ///
    /// # Errors
    ///
    /// All that keeps the text from being read.
    pub fn decode(path: &Path, text: &str) -> Result<Self, Vec<ConfigError>> {
        let schema = if has_bare_include(path, text) { BARE } else { FILE };
        let (file, errors) = read_file(path, text, (Dialect::Terraform, Role::Primary, schema), |reader, contents| {
            let mut file = Self { arguments: arguments(reader, &contents), ..Self::default() };
            for block in &contents.blocks {
                file.take(reader, block);
            }
            file
        });
        if errors.is_empty() { Ok(file) } else { Err(errors) }
    }

    fn take<'a>(&mut self, reader: &mut Reader<'a>, block: &Block<'a>) {
        let schema = if block.kind == "terraform" { TERRAFORM } else { &[] };
        let contents = block.body.contents(schema, &mut reader.errors);
        let stated = stated(reader, block, &contents);
        match &*block.kind {
            "include" => self.includes.push(stated),
            "locals" => self.locals.extend(stated.arguments),
            "feature" => drop(self.features.insert(stated.label.clone(), stated)),
            "generate" => self.generates.push(stated),
            "remote_state" => self.remote_state = Some(stated),
            "dependency" => drop(self.dependencies.insert(stated.label)),
            "terraform" => {
                self.terraform = Some(stated);
                for inner in contents.blocks_of("extra_arguments") {
                    let contents = inner.body.contents(&[], &mut reader.errors);
                    self.extra_arguments.push(self::stated(reader, inner, &contents));
                }
                for inner in
                    contents.blocks.iter().filter(|block| ["before_hook", "after_hook"].contains(&&*block.kind))
                {
                    let contents = inner.body.contents(&[], &mut reader.errors);
                    self.hooks.push(self::stated(reader, inner, &contents));
                }
            }
            _ => {}
        }
    }
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

fn stated<'a>(reader: &Reader<'a>, block: &Block<'a>, contents: &BodyContents<'a>) -> Stated {
    let label = block.labels.first().map(|label| label.text.clone().into_owned());
    Stated { place: reader.place(block.at), label: label.unwrap_or_default(), arguments: arguments(reader, contents) }
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
