//! Random configurations, evaluated a second time by the plainest means.

use std::path::PathBuf;
use std::rc::Rc;

use proptest::prelude::*;

use super::*;
use crate::config::{SourceFile, Text, VariableFile};

/// An expression over the variable `v` of its module.
#[derive(Debug, Clone)]
enum Plain {
    Text(&'static str),
    Variable,
    Local,
    Suffixed(Box<Plain>, &'static str),
    Upper(Box<Plain>),
    Conditional(Box<[Plain; 3]>),
    Element(Box<[Plain; 2]>),
}

/// Why there is no value: whether the tool refuses it.
type Outcome = Result<String, bool>;

impl Plain {
    fn written(&self) -> String {
        match self {
            Self::Text(text) => format!("\"{text}\""),
            Self::Variable => "var.v".to_owned(),
            Self::Local => "local.l".to_owned(),
            Self::Suffixed(inner, text) => format!("\"${{{}}}{text}\"", inner.written()),
            Self::Upper(inner) => format!("upper({})", inner.written()),
            Self::Conditional(parts) => {
                let [one, yes, no] = parts.each_ref().map(Self::written);
                format!("({one} == \"a\" ? {yes} : {no})")
            }
            Self::Element(parts) => format!("{{ a = {}, b = {} }}.b", parts[0].written(), parts[1].written()),
        }
    }

    /// The value, by those of the variable and of the local value.
    fn value(&self, variable: &Outcome, local: &Outcome) -> Outcome {
        let of = |inner: &Self| inner.value(variable, local);
        match self {
            Self::Text(text) => Ok((*text).to_owned()),
            Self::Variable => variable.clone(),
            Self::Local => local.clone(),
            Self::Suffixed(inner, text) => Ok(of(inner)? + text),
            Self::Upper(inner) => Ok(of(inner)?.to_uppercase()),
            Self::Conditional(parts) => {
                if of(&parts[0])? == "a" {
                    of(&parts[1])
                } else {
                    of(&parts[2])
                }
            }
            Self::Element(parts) => of(&parts[1]),
        }
    }
}

fn plain() -> impl Strategy<Value = Plain> {
    let text = || prop::sample::select(vec!["a", "b", "~> 1.0", "C"]);
    let leaf = prop_oneof![text().prop_map(Plain::Text), Just(Plain::Variable), Just(Plain::Local)];
    leaf.prop_recursive(4, 24, 3, move |inner| {
        prop_oneof![
            (inner.clone(), text()).prop_map(|(inner, text)| Plain::Suffixed(Box::new(inner), text)),
            inner.clone().prop_map(|inner| Plain::Upper(Box::new(inner))),
            [inner.clone(), inner.clone(), inner.clone()].prop_map(|parts| Plain::Conditional(Box::new(parts))),
            [inner.clone(), inner].prop_map(|parts| Plain::Element(Box::new(parts))),
        ]
    })
}

/// A module: its variable, its local value, and what it passes on.
#[derive(Debug, Clone)]
struct Level {
    is_constant: bool,
    default: Option<&'static str>,
    local: Plain,
    passed: Plain,
}

fn level() -> impl Strategy<Value = Level> {
    let default = prop::option::of(prop::sample::select(vec!["a", "b", ""]));
    (prop::bool::weighted(0.9), default, plain(), plain()).prop_map(|(is_constant, default, local, passed)| Level {
        is_constant,
        default,
        local: without_local(local),
        passed,
    })
}

/// A local value that does not refer to itself.
fn without_local(plain: Plain) -> Plain {
    let all = |inner: Box<Plain>| Box::new(without_local(*inner));
    match plain {
        Plain::Local => Plain::Variable,
        Plain::Suffixed(inner, text) => Plain::Suffixed(all(inner), text),
        Plain::Upper(inner) => Plain::Upper(all(inner)),
        Plain::Conditional(parts) => Plain::Conditional(Box::new(parts.map(without_local))),
        Plain::Element(parts) => Plain::Element(Box::new(parts.map(without_local))),
        leaf => leaf,
    }
}

impl Level {
    fn module(&self, dialect: Dialect) -> Rc<Module> {
        let constant = if self.is_constant { "  const = true\n" } else { "" };
        let default = self.default.map(|text| format!("  default = \"{text}\"\n")).unwrap_or_default();
        let (local, passed) = (self.local.written(), self.passed.written());
        let text = format!(
            "variable \"v\" {{\n{constant}{default}}}\nlocals {{\n  l = {local}\n}}\nmodule \"m\" {{\n  source = \"${{local.l}}/${{{passed}}}\"\n  v = {passed}\n}}\n"
        );
        Rc::new(Module::decode(&[SourceFile { path: PathBuf::from("main.tf"), text }], &[], dialect).unwrap())
    }

    /// The value of the variable, by what it is set to, and of what is passed on.
    fn values(&self, set: Option<Outcome>, is_root: bool, dialect: Dialect) -> (Outcome, Outcome) {
        let default = self.default.map(|text| Ok(text.to_owned()));
        let variable = match set.or(default) {
            _ if !self.is_constant && dialect == Dialect::Terraform => Err(true),
            Some(value) => value,
            None => Err(!is_root),
        };
        let local = self.local.value(&variable, &Err(true));
        let passed = self.passed.value(&variable, &local);
        (local, passed)
    }
}

proptest! {
    #[test]
    fn a_second_evaluation_agrees(
        levels in [level(), level(), level()],
        set in prop::option::of(prop::sample::select(vec!["a", "c"])),
        is_tofu in any::<bool>(),
    ) {
        let dialect = if is_tofu { Dialect::OpenTofu } else { Dialect::Terraform };
        let mut surroundings = Surroundings::new(dialect);
        if let Some(set) = set {
            let file = VariableFile::decode(std::path::Path::new("x.tfvars"), &format!("v = \"{set}\"\n")).unwrap();
            surroundings.variables.set_all(&file);
        }
        let mut scope: Option<Rc<ModuleScope>> = None;
        let mut input = set.map(|text| Ok(text.to_owned()));
        for level in &levels {
            let is_root = scope.is_none();
            let inputs = scope.map_or(Inputs::Root, |caller| Inputs::Call(caller, "m".to_owned()));
            let here = Rc::new(ModuleScope::new(level.module(dialect), Some(".".to_owned()), inputs));
            let (local, passed) = level.values(input, is_root, dialect);
            let expected = match (&local, &passed) {
                (Ok(local), Ok(passed)) => Ok(format!("{local}/{passed}")),
                (Err(reason), _) | (_, Err(reason)) => Err(*reason),
            };
            let source = &here.module.calls["m"].source.as_ref().unwrap().text;
            let found = match source {
                Text::Known(text) => Ok(text.clone()),
                Text::Expression(expression) => here.evaluate(expression, Purpose::Source, &surroundings).map(Option::unwrap),
            };
            match (&found, &expected) {
                (Ok(found), Ok(expected)) => prop_assert_eq!(found, expected),
                (Err(reason), Err(is_refused)) => {
                    // What no caller sets is refused wherever it is named; else only what is needed counts.
                    prop_assert!(matches!(reason, Unevaluated::Refused { .. }) || !is_refused, "{reason} {is_refused}");
                }
                // Stricter than needed, and only there.
                (Err(Unevaluated::Refused { reason, .. }), Ok(_)) => prop_assert!(reason.contains("which no caller sets"), "{reason}"),
                (found, expected) => prop_assert!(false, "{found:?} {expected:?}"),
            }
            scope = Some(here);
            input = Some(passed);
        }
    }
}
