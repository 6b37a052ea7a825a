//! Files of Terragrunt stacks, as far as what they generate may take the place of what a repository has.
//!
//! Source: terragrunt `pkg/config/stack.go`, `resolveDestPath`.

use std::path::Path;

use crate::config::body::{Argument, BodySchema};
use crate::config::decode::{Role, read_file};
use crate::dialect::Dialect;
use crate::evaluate::syntax::NodeKind;
use crate::finding::{Location, Position};

/// The names of such files: what a repository writes, and what a stack above adds to it.
pub const STACK_FILES: [&str; 2] = ["terragrunt.stack.hcl", "terragrunt.autoinclude.stack.hcl"];

const BLOCKS: BodySchema = &[("unit", 1), ("stack", 1), ("locals", 0)];

/// What a stack generates next to its file, and not in the directory for what is generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// The path from the directory of the file; `None` if that is not known.
    pub path: Option<String>,
    /// The block.
    pub place: Location,
}

/// What a file may generate next to itself. What is not followed may do so anywhere.
pub fn generated_beside(file: &Path, text: &str) -> Vec<Beside> {
    let of_stack = (Dialect::Terraform, Role::Primary, BLOCKS);
    let (mut found, errors) = read_file(file, text, of_stack, |reader, contents| {
        let unknown = contents.arguments.first().map(|argument| argument.at);
        let mut found: Vec<_> = unknown.into_iter().map(|at| (None, at)).collect();
        for block in &contents.blocks {
            match &*block.kind {
                "locals" => {}
                "unit" | "stack" => {
                    let inner = block.body.contents(&[], &mut reader.errors);
                    let flag = inner.argument("no_dot_terragrunt_stack").map(literal);
                    if flag.is_some_and(|flag| flag != Some(NodeKind::Bool(false))) {
                        let path = match inner.argument("path").and_then(literal) {
                            Some(NodeKind::Text(path)) => Some(path),
                            _ => None,
                        };
                        found.push((path, block.at));
                    }
                }
                _ => found.push((None, block.at)),
            }
        }
        let place = |(path, at)| Beside { path, place: reader.place(at) };
        found.into_iter().map(place).collect::<Vec<_>>()
    });
    if !errors.is_empty() {
        let place = Location { file: file.into(), position: Position::default() };
        found.push(Beside { path: None, place });
    }
    found
}

/// The value as it is written, if it is a literal.
fn literal(argument: &Argument<'_>) -> Option<NodeKind> {
    let kind = argument.value.read_template().ok()?.kind;
    matches!(kind, NodeKind::Bool(_) | NodeKind::Text(_)).then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_generated_elsewhere_is_certainly_harmless() {
        let unit = |flag: &str| format!("unit \"a\" {{\n  source = \"x\"\n  path = \"a/b\"\n{flag}}}\n");
        let flag = |value: &str| unit(&format!("  no_dot_terragrunt_stack = {value}\n"));
        let beside = |text: &str| {
            let found = generated_beside(Path::new("terragrunt.stack.hcl"), text).into_iter();
            found.map(|it| it.path.unwrap_or_else(|| "?".to_owned())).collect::<Vec<_>>().join(" ")
        };
        assert_eq!([unit(""), flag("false"), "locals {\n}\n".to_owned()].map(|text| beside(&text)), ["", "", ""]);
        assert_eq!([flag("true"), flag("local.x")].map(|text| beside(&text)), ["a/b", "a/b"]);
        let computed = flag("true").replace("\"a/b\"", "\"a/${local.b}\"");
        let others = [&*computed, "include \"x\" {\n}\n", "x = 1\n", "unit {", "unit \"a\" {\n  path =\n}\n"];
        assert!(others.iter().all(|text| beside(text).contains('?')), "{:?}", others.map(beside));
    }
}
