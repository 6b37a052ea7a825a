//! Texts with holes: generated files in which some interpolated values are unknown.
//!
//! A hole becomes an expression whose value is unknown to every reader of the file, so what depends on it is unknown too. It is
//! accepted only inside a quoted string, and only where it decides no requirement.

use std::ops::Range;

use super::context::Names;
use super::reads::TemplateFunctions;
use super::unread::{Hole, Unread};
use crate::config::Syntax;
use crate::evaluate::syntax::{Node, NodeKind, Step};
use crate::evaluate::{Expression, Scope, TemplateScope};
use crate::finding::Location;
use crate::hcl::scan::{ArgumentSpan, outline};
use crate::value::{Type, Unevaluated, Value};

/// What a hole is in the text: a call whose value only the tool computes.
const HOLE: &str = "${timestamp()}";

/// How deep templates may be in templates.
const LEVELS: usize = 20;

/// A text with holes.
#[derive(Debug, Default)]
pub(super) struct Rendering {
    text: String,
    /// Where holes begin, and why the values are unknown.
    holes: Vec<(usize, Unevaluated)>,
}

/// What a template is rendered with.
struct Renderer<'a, 's> {
    names: &'a Names<'s>,
    /// What names in the template mean: those of the file, or those of a template in a file of its own.
    scope: &'a dyn Scope,
    expression: Option<&'a Expression>,
    level: usize,
}

impl Rendering {
    /// The text of an expression, with holes where its parts are unknown.
    pub(super) fn of(names: &Names<'_>, expression: &Expression) -> Result<Self, Unevaluated> {
        let mut rendering = Self::default();
        let renderer = Renderer { names, scope: names, expression: Some(expression), level: 0 };
        rendering.append(&*names.parse(expression)?, &renderer)?;
        Ok(rendering)
    }

    fn append(&mut self, node: &Node, renderer: &Renderer<'_, '_>) -> Result<(), Unevaluated> {
        let Renderer { names, scope, expression, .. } = *renderer;
        let value = node.evaluate(expression, scope, &names.session.meter)?;
        let reason = match value.convert(&Type::String)? {
            Value::String(text) => {
                self.text.push_str(&text);
                return Ok(());
            }
            Value::Unknown(reason) => reason,
            _ => return Err(Unevaluated::refused("a part of a generated file is null")),
        };
        let evaluate = |node: &Node| node.evaluate(expression, scope, &names.session.meter);
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
                    && renderer.expression.is_some()
                    && let Some(local) = names.place.file.locals.get(local)
                {
                    let renderer = Renderer { names, scope: names, expression: Some(local), level: renderer.level + 1 };
                    return self.append(&*names.parse(local)?, &renderer);
                }
            }
            NodeKind::Call(call) if call.name == "templatefile" && renderer.level < LEVELS => {
                if let [path, variables] = &call.arguments[..]
                    && let (Value::String(path), variables) = (evaluate(path)?, evaluate(variables)?)
                {
                    let template = names.template(&path).map_err(Unevaluated::from)?;
                    let scope = TemplateScope { outer: &TemplateFunctions(names), variables: &variables };
                    let renderer = Renderer { names, scope: &scope, expression: None, level: renderer.level + 1 };
                    return self.append(&template, &renderer);
                }
            }
            _ => {}
        }
        self.holes.push((self.text.len(), Unevaluated::clone(&reason)));
        self.text.push_str(HOLE);
        Ok(())
    }

    /// The text as an address without its user, which git has credentials for; `None` if another part of it is unknown.
    pub(super) fn without_user(self) -> Option<String> {
        let (scheme, rest) = self.text.split_once("://")?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (_, host) = host.rsplit_once('@')?;
        let address = format!("{scheme}://{host}{path}");
        (!address.contains(HOLE)).then_some(address)
    }

    /// The text as a file, unless a hole may decide what is required.
    pub(super) fn file(
        self,
        path: &str,
        signature: &str,
        holes: &mut Vec<Hole>,
        place: &Location,
    ) -> Result<String, Unevaluated> {
        if let Some((_, reason)) = self.holes.iter().find(|(at, _)| !is_harmless(path, &self.text, *at)) {
            return Err(reason.clone());
        }
        holes.extend(self.holes.into_iter().map(|(_, reason)| Hole {
            part: Unread::of(reason, place),
            origin: None,
            files: Vec::new(),
            is_harmless: false,
        }));
        let is_json = Syntax::of(path) == Syntax::Json || signature.is_empty();
        Ok(if is_json { self.text } else { format!("# {signature}\n{}", self.text) })
    }
}

/// True if a hole at a byte of a file is in a quoted string of an argument that decides no requirement.
fn is_harmless(path: &str, text: &str, at: usize) -> bool {
    if !std::path::Path::new(path).extension().is_some_and(|end| end == "tf" || end == "tofu") {
        return false;
    }
    let mut kinds: Vec<&str> = Vec::new();
    let mut body = 0..text.len();
    loop {
        let Ok(outline) = outline(text, body.clone()) else { return false };
        if let Some(argument) = outline.arguments.iter().find(|argument| argument.value.contains(&at)) {
            return is_quoted(text, &argument.value) && !decides(&kinds, argument);
        }
        let Some(block) = outline.blocks.into_iter().find(|block| block.body.contains(&at)) else { return false };
        kinds.push(block.kind);
        body = block.body;
    }
}

/// True if the holes of a value are in strings: elsewhere, the value is no expression.
fn is_quoted(text: &str, value: &Range<usize>) -> bool {
    Node::parse(text, value.clone()).is_ok()
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
    fn a_hole_is_harmless_in_quotes_where_it_decides_nothing() {
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
        ] {
            let at = text.find("HOLE").unwrap();
            let text = text.replace("HOLE", HOLE);
            assert_eq!(is_harmless("a.tf", &text, at), wanted, "{text}");
        }
        assert!(!is_harmless("a.tf.json", "{\"a\": \"${timestamp()}\"}", 7));
    }
}
