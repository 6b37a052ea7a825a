//! As much of the expressions of GitHub Actions as `action.yml` uses.

use std::collections::BTreeMap;

/// What names such as `inputs.version` mean; others are empty.
#[derive(Debug, Default)]
pub(super) struct Contexts(BTreeMap<String, String>);

impl Contexts {
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// A text with each `${{ name }}` filled in.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut parts = text.split("${{");
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once("}}").expect("an expression ends");
            filled.push_str(self.get(name.trim()));
            filled.push_str(rest);
        }
        filled
    }

    /// Whether a step runs: `if`, or else whether all before it succeeded.
    pub(super) fn holds(&self, condition: Option<&str>, succeeded: bool) -> bool {
        let Some(condition) = condition else { return succeeded };
        let inner = condition.trim().strip_prefix("${{").and_then(|it| it.strip_suffix("}}")).expect("one expression");
        inner.split("&&").map(str::trim).all(|term| match term.split_once(" != ") {
            _ if term == "!cancelled()" => true,
            Some((name, literal)) => self.get(name) != unquoted(literal),
            None => {
                let (name, literal) = term.split_once(" == ").expect("a comparison");
                self.get(name) == unquoted(literal)
            }
        })
    }
}

fn unquoted(literal: &str) -> &str {
    literal.strip_prefix('\'').and_then(|it| it.strip_suffix('\'')).expect("a string")
}

#[test]
fn names_and_conditions() {
    let mut contexts = Contexts::default();
    contexts.set("inputs.a", "x");
    assert_eq!(contexts.fill("<${{ inputs.a }}${{ inputs.b }}>"), "<x>");
    assert!(contexts.holds(Some("${{ !cancelled() && inputs.a == 'x' && inputs.b != 'x' }}"), false));
    assert!(!contexts.holds(Some("${{ inputs.a != 'x' }}"), true));
    assert!(!contexts.holds(None, false));
}
