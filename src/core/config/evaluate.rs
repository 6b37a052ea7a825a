//! The little evaluation there is: strings made of variables' known values and local values.
//!
//! Only the sources of modules require it, and only if `modules.json` does not have the result.
//!
//! Source: opentofu `internal/configs/static_evaluator.go`.

use std::collections::BTreeMap;

use crate::dialect::Dialect;

use super::module::{Names, Text};
use super::value::Part;

#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The tool; Terraform looks only at variables that are `const`.
    pub dialect: Dialect,
    pub names: &'a Names,
    /// Variables that are set from outside. `None` is a value that is not known.
    pub given: &'a BTreeMap<String, Option<String>>,
}

/// Local values may refer to each other, this deep.
const DEPTH: usize = 32;

impl Scope<'_> {
    /// The value of a string, if it is known; otherwise the unknown reference.
    pub fn evaluate(&self, text: &Text) -> Result<String, Option<String>> {
        self.text(text, DEPTH)
    }

    fn text(&self, text: &Text, depth: usize) -> Result<String, Option<String>> {
        match text {
            Text::Known(text) => Ok(text.clone()),
            Text::Unknown => Err(None),
            Text::Template(parts) => parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => Ok(text.clone()),
                    Part::Reference(names) => self.reference(names, depth),
                })
                .collect(),
        }
    }

    fn reference(&self, names: &[String], depth: usize) -> Result<String, Option<String>> {
        let unknown = || Some(names.join("."));
        let Some(depth) = depth.checked_sub(1) else { return Err(unknown()) };
        match names {
            [space, name] if space == "var" => {
                let variable = self.names.variables.get(name).ok_or_else(unknown)?;
                if self.dialect == Dialect::Terraform && !variable.constant {
                    return Err(unknown());
                }
                match self.given.get(name) {
                    Some(value) => value.clone().ok_or_else(unknown),
                    // A default has no references.
                    None => match &variable.default {
                        Some(Text::Known(text)) => Ok(text.clone()),
                        _ => Err(unknown()),
                    },
                }
            }
            [space, name] if space == "local" => {
                let local = self.names.locals.get(name).ok_or_else(unknown)?;
                self.text(local, depth).map_err(|inner| inner.or_else(unknown))
            }
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::module::Variable;

    fn reference(space: &str, name: &str) -> Part {
        Part::Reference(vec![space.to_owned(), name.to_owned()])
    }

    fn names() -> Names {
        let mut names = Names::default();
        let known = |text: &str| Some(Text::Known(text.to_owned()));
        names.variables.insert("a".into(), Variable { default: known("x"), constant: false });
        names.variables.insert("c".into(), Variable { default: known("y"), constant: true });
        names.variables.insert("n".into(), Variable { default: None, constant: false });
        names.locals.insert("l".into(), Text::Template(vec![reference("var", "a"), Part::Text("/z".into())]));
        names.locals.insert("r".into(), Text::Template(vec![reference("local", "r")]));
        names
    }

    fn evaluate(part: Part, given: &[(&str, Option<&str>)], dialect: Dialect) -> Result<String, Option<String>> {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect();
        Scope { dialect, names: &names(), given: &given }.evaluate(&Text::Template(vec![part]))
    }

    #[test]
    fn known_values_are_put_in() {
        let tofu = |part, given: &[_]| evaluate(part, given, Dialect::OpenTofu);
        assert_eq!(tofu(reference("local", "l"), &[]), Ok("x/z".into()));
        assert_eq!(tofu(reference("var", "a"), &[("a", Some("q"))]), Ok("q".into()));
        assert_eq!(tofu(reference("var", "n"), &[("n", Some("q"))]), Ok("q".into()));
    }

    #[test]
    fn unknown_values_are_named() {
        let tofu = |part, given: &[_]| evaluate(part, given, Dialect::OpenTofu);
        assert_eq!(tofu(reference("local", "l"), &[("a", None)]), Err(Some("var.a".into())));
        assert_eq!(tofu(reference("var", "n"), &[]), Err(Some("var.n".into())));
        assert_eq!(tofu(reference("local", "r"), &[]), Err(Some("local.r".into())));
        assert_eq!(tofu(reference("path", "module"), &[]), Err(Some("path.module".into())));
    }

    #[test]
    fn terraform_looks_at_constant_variables_only() {
        assert_eq!(evaluate(reference("var", "c"), &[], Dialect::Terraform), Ok("y".into()));
        assert_eq!(evaluate(reference("var", "a"), &[], Dialect::Terraform), Err(Some("var.a".into())));
    }
}
