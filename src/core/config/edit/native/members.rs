//! The members of an object, with their places.

use std::ops::Range;

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, ObjectKey};

#[derive(Debug)]
pub(super) struct Object {
    pub(super) range: Range<usize>,
    pub(super) members: Vec<Member>,
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) at: usize,
    pub(super) value: Range<usize>,
}

/// Reads the expression in a range of a text, if it is an object whose keys are constant.
pub(super) fn object(text: &str, range: Range<usize>) -> Option<Object> {
    let slice = &text[range.clone()];
    let mut expression: Expression = slice.parse().ok()?;
    while let Expression::Parenthesis(inner) = expression {
        expression = inner.into_inner();
    }
    let absolute = |span: Range<usize>| range.start + span.start..range.start + span.end;
    let Expression::Object(object) = &expression else { return None };
    let member = |(key, value): (&ObjectKey, &hcl_edit::expr::ObjectValue)| {
        let (name, at) = match key {
            ObjectKey::Ident(name) => (name.as_str().to_owned(), name.span()?.start),
            ObjectKey::Expression(key) => (key.as_str()?.to_owned(), key.span()?.start),
        };
        Some(Member { name, at: range.start + at, value: absolute(value.expr().span()?) })
    };
    Some(Object { range: absolute(object.span()?), members: object.iter().map(member).collect::<Option<_>>()? })
}

impl Object {
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_their_places() {
        for text in [
            "x = { source = \"a/b\", \"version\" : \"1\" }",
            "x = {\n  # c\n  source = \"a/b\" # d\n  /* é */ \"version\" = \"1\"\n  configuration_aliases = [x.y]\n}",
            "x = ({ source = \"a/b\", version = \"1\", })",
        ] {
            let object = object(text, 4..text.len()).unwrap();
            assert!(text[object.range.clone()].starts_with('{') && text[object.range.clone()].ends_with('}'), "{text}");
            let value = |name| &text[object.member(name).unwrap().value.clone()];
            assert_eq!((value("source"), value("version")), ("\"a/b\"", "\"1\""), "{text}");
            assert!(text[object.member("version").unwrap().at..].trim_start_matches('"').starts_with("version"));
        }
        assert!(object("\"1\"", 0..3).is_none());
    }
}
