//! Bodies in either syntax, behind one interface, so the meaning of blocks is written once.

use crate::hcl::scan;
use std::borrow::Cow;
use std::ops::Range;

use super::error::ConfigErrorKind;
use super::json::{self, JsonNode, JsonValue};
use crate::evaluate::syntax::{Node, NodeKind, SyntaxError};

/// Which keys are block types, with the number of their labels. Only the JSON form needs it.
pub(crate) type BodySchema = &'static [(&'static str, usize)];

/// A byte of the file and what is wrong there.
pub(crate) type Located = (usize, ConfigErrorKind);

#[derive(Debug, Clone, Default)]
pub(crate) struct BodyContents<'a> {
    pub(crate) arguments: Vec<Argument<'a>>,
    pub(crate) blocks: Vec<Block<'a>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Argument<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) at: usize,
    pub(crate) value: RawValue<'a>,
}

#[derive(Debug, Clone)]
pub(crate) struct Block<'a> {
    pub(crate) kind: Cow<'a, str>,
    pub(crate) at: usize,
    pub(crate) labels: Vec<Label<'a>>,
    pub(crate) body: Body<'a>,
}

#[derive(Debug, Clone)]
pub(crate) struct Label<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) at: usize,
}

/// A body that was not looked into yet.
#[derive(Debug, Clone)]
pub(crate) enum Body<'a> {
    Native { text: &'a str, range: Range<usize>, provider: Option<Range<usize>> },
    Json(&'a JsonNode<'a>),
}

/// A value that was not looked into yet.
#[derive(Debug, Clone)]
pub(crate) enum RawValue<'a> {
    Native { text: &'a str, range: Range<usize> },
    Json(&'a JsonNode<'a>),
}

impl<'a> Body<'a> {
    /// The arguments and blocks. An argument that comes twice is an error, and left out the second time.
    pub(crate) fn contents(&self, schema: BodySchema, errors: &mut Vec<Located>) -> BodyContents<'a> {
        let contents = match self {
            Body::Native { text, range, .. } => match scan::outline(text, range.clone()) {
                Ok(outline) => native(text, outline),
                Err(error) => {
                    errors.push((error.at, error.kind.into()));
                    BodyContents::default()
                }
            },
            Body::Json(node) => json::contents(node, schema, errors),
        };
        contents.without_duplicates(errors)
    }

    /// The argument `provider`, without reading the rest.
    pub(crate) fn provider(&self) -> Option<RawValue<'a>> {
        match self {
            Body::Native { text, provider, .. } => provider.clone().map(|range| RawValue::Native { text, range }),
            Body::Json(node) => {
                let objects: &[JsonNode<'_>] = match &node.value {
                    JsonValue::Array(items) => items,
                    _ => std::slice::from_ref(*node),
                };
                objects.iter().find_map(|object| match &object.value {
                    JsonValue::Object(members) => members
                        .iter()
                        .find(|member| member.name == "provider")
                        .map(|member| RawValue::Json(&member.value)),
                    _ => None,
                })
            }
        }
    }
}

impl<'a> BodyContents<'a> {
    pub(crate) fn without_duplicates(mut self, errors: &mut Vec<Located>) -> Self {
        let mut seen = std::collections::HashSet::new();
        self.arguments.retain(|argument| {
            let first = seen.insert(argument.name.clone());
            if !first {
                errors.push((argument.at, ConfigErrorKind::DuplicateArgument(argument.name.clone().into_owned())));
            }
            first
        });
        self
    }

    pub(crate) fn argument(&self, name: &str) -> Option<&Argument<'a>> {
        self.arguments.iter().find(|argument| argument.name == name)
    }

    pub(crate) fn blocks_of<'b>(&'b self, kind: &'b str) -> impl Iterator<Item = &'b Block<'a>> {
        self.blocks.iter().filter(move |block| block.kind == kind)
    }
}

impl Block<'_> {
    pub(crate) fn labelled(&self, wanted: usize) -> Result<(), Located> {
        let found = self.labels.len();
        if found == wanted {
            return Ok(());
        }
        Err((self.at, ConfigErrorKind::Labels { kind: self.kind.clone().into_owned(), wanted, found }))
    }
}

impl RawValue<'_> {
    pub(crate) fn at(&self) -> usize {
        match self {
            RawValue::Native { range, .. } => range.start,
            RawValue::Json(node) => node.at,
        }
    }

    /// The value; strings of JSON are plain text.
    pub(crate) fn read(&self) -> Result<Node, Located> {
        match self {
            RawValue::Native { text, range } => Node::parse(text, range.clone()).map_err(located),
            RawValue::Json(node) => Ok(json::value(node)),
        }
    }

    /// The value; strings of JSON are templates.
    pub(crate) fn read_template(&self) -> Result<Node, Located> {
        match self {
            RawValue::Json(JsonNode { at, value: JsonValue::Text(text), .. }) => {
                Node::parse_template(text, *at).map_err(located)
            }
            _ => self.read(),
        }
    }

    /// The value as a reference; strings contain one in either syntax.
    pub(crate) fn read_reference(&self) -> Result<Node, Located> {
        let node = self.read()?;
        Ok(match (self, &node.kind) {
            (_, NodeKind::Text(text)) => Node::parse_placed(text, node.at).unwrap_or(node),
            // Only a string can be a name in JSON, and never a word for a constant.
            (RawValue::Json(_), _) => Node { at: node.at, kind: NodeKind::Wrapped(Box::new(node)) },
            (RawValue::Native { .. }, _) => node,
        })
    }
}

fn located(error: SyntaxError) -> Located {
    (error.at, error.kind.into())
}

/// Gives the blocks of an outline their face.
pub(crate) fn native<'a>(text: &'a str, outline: scan::Outline<'a>) -> BodyContents<'a> {
    let argument = |argument: scan::ArgumentSpan<'a>| Argument {
        name: Cow::Borrowed(argument.name),
        at: argument.at,
        value: RawValue::Native { text, range: argument.value },
    };
    let label = |label: scan::LabelSpan<'a>| Label { text: unescape(label.raw), at: label.at };
    let block = |block: scan::BlockSpan<'a>| Block {
        kind: Cow::Borrowed(block.kind),
        at: block.at,
        labels: block.labels.into_iter().map(label).collect(),
        body: Body::Native { text, range: block.body, provider: block.provider },
    };
    BodyContents {
        arguments: outline.arguments.into_iter().map(argument).collect(),
        blocks: outline.blocks.into_iter().map(block).collect(),
    }
}

/// The text of a label. Escapes in one are legal and as good as never used.
fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains(['\\', '$', '%']) && raw.is_ascii() {
        return Cow::Borrowed(raw);
    }
    let quoted = format!("\"{raw}\"");
    let text = Node::parse(&quoted, 0..quoted.len()).ok().and_then(|node| node.as_text().map(str::to_owned));
    text.map_or(Cow::Borrowed(raw), Cow::Owned)
}
