//! Texts with holes: generated files in which some interpolated values are unknown.
//!
//! A hole becomes an expression whose value is unknown to every reader of the file, so what depends on it is unknown too. It is
//! accepted only inside a quoted string, or as the whole of a value that is one value of JSON, and only where it decides no
//! requirement. Its text may end the quotes all the same: [`Hole`] says what it comes from, and what its form is.

use std::ops::Range;

use super::origin::{Form, WrittenAt, is_plain};
use super::origin_text::OriginText;
use super::place::Names;
use super::reads::TemplateFunctions;
use super::unread::{Hole, Unread};
use crate::evaluate::syntax::{Node, NodeKind, Step};
use crate::evaluate::{Expression, TemplateScope};
use crate::finding::Location;
use crate::hcl::scan::{ArgumentSpan, outline};
use crate::value::{Budget, Type, Unevaluated, Value};

/// What a hole is in the text: a call whose value only the tool computes.
const HOLE: &str = "${timestamp()}";
/// The same where it is a whole value.
const VALUE: &str = "timestamp()";

/// How deep templates may be in templates.
const LEVELS: usize = 20;

/// A text with holes.
#[derive(Debug)]
pub(super) struct Rendering {
    text: String,
    holes: Vec<OpenHole>,
}

/// A hole, before it is known what it is a part of.
#[derive(Debug)]
struct OpenHole {
    /// Where it begins.
    at: usize,
    reason: Unevaluated,
    origin: Option<String>,
    files: Vec<String>,
    form: Form,
    /// True if the text that a dependency has without a state ends the quotes.
    ends_quotes: bool,
}

/// What a template is rendered with.
struct Renderer<'a, 's> {
    site: WrittenAt<'a, 's>,
    /// What a template in a file comes from: its variables.
    outer: Option<String>,
    level: usize,
}

impl Rendering {
    /// The text of an expression behind another text, with holes where its parts are unknown.
    pub(super) fn of(names: &Names<'_>, expression: &Expression, text: String) -> Result<Self, Unevaluated> {
        let mut rendering = Self { text, holes: Vec::new() };
        let site = WrittenAt { names, scope: names, expression: Some(expression) };
        rendering.append(&*names.parse(expression)?, &Renderer { site, outer: None, level: 0 })?;
        Ok(rendering)
    }

    fn append(&mut self, node: &Node, renderer: &Renderer<'_, '_>) -> Result<(), Unevaluated> {
        let WrittenAt { names, scope, expression } = renderer.site;
        let evaluate = |node: &Node| node.evaluate(expression, scope, &names.session.meter);
        let reason = match evaluate(node)?.convert(&Type::String)? {
            Value::String(text) => {
                self.text.push_str(&text);
                return Ok(());
            }
            Value::Unknown(reason) => reason,
            _ => return Err(Unevaluated::refused("a part of a generated file is null")),
        };
        match &node.kind {
            NodeKind::Template(parts) => return parts.iter().try_for_each(|part| self.append(part, renderer)),
            NodeKind::Wrapped(inner) => return self.append(inner, renderer),
            NodeKind::Conditional(parts) => {
                let [condition, yes, no] = &**parts;
                match evaluate(condition)?.convert(&Type::Bool)? {
                    Value::Bool(true) => return self.append(yes, renderer),
                    Value::Bool(false) => return self.append(no, renderer),
                    _ => {}
                }
            }
            NodeKind::Traversal(root, steps) if renderer.level < LEVELS => {
                if let (NodeKind::Name(name), [Step::Name(local)]) = (&root.kind, &steps[..])
                    && name == "local"
                    && expression.is_some()
                    && let Some(local) = names.place.file.locals.get(local)
                {
                    let site = WrittenAt { names, scope: names, expression: Some(local) };
                    let renderer = Renderer { site, outer: None, level: renderer.level + 1 };
                    return self.append(&*names.parse(local)?, &renderer);
                }
            }
            NodeKind::Call(call) if call.name == "templatefile" && renderer.level < LEVELS => {
                if let [path, variables] = &call.arguments[..]
                    && let (Value::String(path), variables) = (evaluate(path)?, evaluate(variables)?)
                {
                    let template = names.template(&path).map_err(Unevaluated::from)?;
                    let functions = TemplateFunctions(names);
                    let scope = TemplateScope { outer: &functions, variables: &variables };
                    let outer = renderer.site.origin(node).text;
                    let site = WrittenAt { names, scope: &scope, expression: None };
                    return self.append(&template, &Renderer { site, outer, level: renderer.level + 1 });
                }
            }
            _ => {}
        }
        self.add_hole(node, renderer, Unevaluated::clone(&reason));
        Ok(())
    }

    fn add_hole(&mut self, node: &Node, renderer: &Renderer<'_, '_>, reason: Unevaluated) {
        let names = renderer.site.names;
        let origin = if names.session.compares { renderer.site.origin(node) } else { OriginText::default() };
        let text = match &renderer.outer {
            _ if renderer.site.is_of_file() => origin.text,
            Some(outer) => origin.text.map(|text| format!("{outer}: {text}")),
            None => None,
        };
        let mocked = names.session.with_mocks(|| {
            let value = node.evaluate(renderer.site.expression, renderer.site.scope, &names.session.meter).ok()?;
            value.convert(&Type::String).ok()?.as_text().map(str::to_owned)
        });
        self.holes.push(OpenHole {
            at: self.text.len(),
            reason,
            origin: text,
            files: origin.files.into_iter().collect(),
            form: renderer.site.form(node, 0),
            ends_quotes: mocked.is_some_and(|text| !is_plain(&text)),
        });
        self.text.push_str(HOLE);
    }

    /// The text as a file, unless a hole may decide what is required.
    pub(super) fn file(
        mut self,
        path: &str,
        budget: &Budget,
        holes: &mut Vec<Hole>,
        place: &Location,
    ) -> Result<String, Unevaluated> {
        let values = Values::with_holes(path, &self, budget)?;
        let mut alone = Vec::new();
        for hole in self.holes {
            let Some(value) = values.at(hole.at) else { return Err(hole.reason) };
            let is_alone = value.is_hole(&self.text);
            let is_accepted = match hole.form {
                Form::Json | Form::Scalar if is_alone => true,
                _ => value.is_quoted && !hole.ends_quotes && !self.text[..hole.at].ends_with(['$', '%']),
            };
            if !is_accepted {
                return Err(hole.reason);
            }
            if is_alone {
                alone.push(hole.at);
            }
            holes.push(Hole {
                part: Unread::of(hole.reason, place),
                origin: hole.origin.map(|origin| format!("{}: {origin}", value.way)),
                files: hole.files,
                is_harmless: is_alone || hole.form.is_plain(),
            });
        }
        for at in alone.into_iter().rev() {
            self.text.replace_range(at..at + HOLE.len(), VALUE);
        }
        Ok(self.text)
    }
}

/// A value of an argument that decides no requirement.
struct HarmlessValue {
    range: Range<usize>,
    /// The kinds of the blocks around the argument, and its name.
    way: String,
    /// True if its holes are in strings: elsewhere, the value is no expression.
    is_quoted: bool,
}

impl HarmlessValue {
    fn is_hole(&self, text: &str) -> bool {
        text[self.range.clone()].trim() == HOLE
    }
}

/// The values of a text that have holes and decide no requirement, in order.
struct Values(Vec<HarmlessValue>);

impl Values {
    fn with_holes(path: &str, rendering: &Rendering, budget: &Budget) -> Result<Self, Unevaluated> {
        let mut values = Self(Vec::new());
        let is_configuration = std::path::Path::new(path).extension().is_some_and(|end| end == "tf" || end == "tofu");
        if !rendering.holes.is_empty() && is_configuration {
            let at: Vec<usize> = rendering.holes.iter().map(|hole| hole.at).collect();
            values.add(&rendering.text, 0..rendering.text.len(), &mut Vec::new(), &at, budget)?;
            values.0.sort_by_key(|value| value.range.start);
        }
        Ok(values)
    }

    /// Adds those in a body, which has all of some holes.
    fn add<'t>(
        &mut self,
        text: &'t str,
        body: Range<usize>,
        kinds: &mut Vec<&'t str>,
        holes: &[usize],
        budget: &Budget,
    ) -> Result<(), Unevaluated> {
        budget.spend_text(body.len())?;
        let Ok(outline) = outline(text, body) else { return Ok(()) };
        for argument in outline.arguments {
            if !within(holes, &argument.value).is_empty() && !decides(kinds, &argument) {
                let way = kinds.iter().copied().chain([argument.name]).collect::<Vec<_>>().join(".");
                let is_quoted = Node::parse(text, argument.value.clone()).is_ok();
                self.0.push(HarmlessValue { range: argument.value, way, is_quoted });
            }
        }
        for block in outline.blocks {
            let inner = within(holes, &block.body);
            if !inner.is_empty() {
                kinds.push(block.kind);
                self.add(text, block.body, kinds, inner, budget)?;
                kinds.pop();
            }
        }
        Ok(())
    }

    fn at(&self, at: usize) -> Option<&HarmlessValue> {
        let after = self.0.partition_point(|value| value.range.start <= at);
        self.0[..after].last().filter(|value| value.range.contains(&at))
    }
}

/// The holes, in order, that are in a range.
fn within<'h>(holes: &'h [usize], range: &Range<usize>) -> &'h [usize] {
    let start = holes.partition_point(|at| *at < range.start);
    let end = holes.partition_point(|at| *at < range.end);
    holes.get(start..end).unwrap_or(&[])
}

/// True for arguments that decide which providers or modules are required, in blocks from the outermost to the innermost.
fn decides(kinds: &[&str], argument: &ArgumentSpan<'_>) -> bool {
    matches!(
        (kinds, argument.name),
        ([] | ["terraform", "required_providers", ..] | ["import", ..], _)
            | (["module"], "source" | "version" | "providers")
            | (["provider"], "version" | "alias")
            | (["check", "data"] | [_], "provider")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_is_accepted_in_quotes_where_it_decides_nothing() {
        for (text, wanted) in [
            ("provider \"aws\" {\n  region = \"a-HOLE\"\n}\n", true),
            ("provider \"aws\" {\n  a {\n    b = [\"HOLE\"]\n  }\n}\n", true),
            ("terraform {\n  backend \"s3\" {\n    key = \"HOLE\"\n  }\n}\n", true),
            ("provider \"aws\" {\n  region = HOLE\n}\n", false),
            ("provider \"aws\" {\n  version = \"HOLE\"\n}\n", false),
            ("provider \"HOLE\" {\n}\n", false),
            ("HOLE\n", false),
            ("# HOLE\n", false),
            ("terraform {\n  required_providers {\n    a = { source = \"HOLE\" }\n  }\n}\n", false),
            ("module \"a\" {\n  source = \"HOLE\"\n}\n", false),
            ("module \"a\" {\n  source = \"./b\"\n  name = \"HOLE\"\n}\n", true),
            ("resource \"a_b\" \"c\" {\n  provider = \"HOLE\"\n}\n", false),
            ("provider \"aws\" {\n  region = \"HOLE\n}\n", false),
            ("provider \"aws\" {\n  region = \"a\"HOLE\"\"\n}\n", false),
            ("provider \"aws\" {\n  region = \"a$HOLE\"\n}\n", false),
        ] {
            assert_eq!(is_accepted("a.tf", text), wanted, "{text}");
        }
        assert!(!is_accepted("a.tf.json", "{\"a\": \"HOLE\"}"));
    }

    fn is_accepted(path: &str, text: &str) -> bool {
        let hole = OpenHole {
            at: text.find("HOLE").unwrap(),
            reason: Unevaluated::limit("x"),
            origin: None,
            files: Vec::new(),
            form: Form::Any,
            ends_quotes: false,
        };
        let rendering = Rendering { text: text.replace("HOLE", HOLE), holes: vec![hole] };
        let place = Location { file: std::path::Path::new("x").into(), position: crate::finding::Position::default() };
        rendering.file(path, &Budget::default(), &mut Vec::new(), &place).is_ok()
    }
}
