//! `for`: in brackets, in braces, and as a directive of a template.
//!
//! Source: `hclsyntax/expression.go`, `ForExpr`; `hclsyntax/expression_template.go`, `TemplateJoinExpr`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::access::described;
use super::calls::refused;
use super::operators::known;
use super::syntax::For;
use super::{Binding, Evaluated, Evaluation, Failure, Names};
use crate::value::{Cause, Elements, Known, Unevaluated, Value};

/// What an iteration gives: elements with their keys, which only objects have.
type ForItems = Vec<(Option<Arc<str>>, Value)>;

/// What a `for` expression makes of one element: a value, and a key if it makes an object.
type ForItem = (Option<Arc<str>>, Value);

impl Evaluation<'_> {
    pub(super) fn each(&self, each: &For, names: Names<'_>) -> Evaluated {
        let items = match self.items(each, names)? {
            Ok(items) => items,
            Err(reason) => return Ok(Value::Unknown(reason)),
        };
        if each.key.is_none() {
            return self.meter.made(Value::tuple(items.into_iter().map(|(_, value)| value).collect()));
        }
        let keyed = items.into_iter().filter_map(|(key, value)| key.map(|key| (key, value)));
        if each.is_grouped {
            let mut groups: BTreeMap<Arc<str>, Vec<Value>> = BTreeMap::new();
            keyed.for_each(|(key, value)| groups.entry(key).or_default().push(value));
            let groups = groups.into_iter().map(|(key, values)| (key, Value::tuple(values)));
            return self.meter.made(Value::object(groups.collect()));
        }
        let mut attributes = Elements::new();
        for (key, value) in keyed {
            if attributes.insert(key.clone(), value).is_some() {
                return Err(Failure::unknown(format!("a `for` expression with two elements of the key {key:?}")));
            }
        }
        self.meter.made(Value::object(attributes))
    }

    /// The results of a directive, as one string.
    pub(super) fn join(&self, each: &For, names: Names<'_>) -> Evaluated {
        let items = match self.items(each, names)? {
            Ok(items) => items,
            Err(reason) => return Ok(Value::Unknown(reason)),
        };
        let (mut text, mut unknown) = (String::new(), None);
        for (_, value) in items {
            self.append(&value, &mut text, &mut unknown)?;
        }
        Ok(unknown.unwrap_or_else(|| Value::text(text)))
    }

    /// The elements that the condition lets through. Unknown if it is not known which ones do, or by which key.
    fn items(&self, each: &For, names: Names<'_>) -> Result<Known<ForItems>, Failure> {
        let collection = self.value(&each.collection, names)?;
        let pairs = match &collection {
            Value::Null(_) => return refused(Cause::Null, "a `for` expression iterates over null"),
            Value::Unknown(reason) => return Ok(Err(reason.clone())),
            _ if collection.is_open() => {
                let reason = collection.unknown_part().cloned();
                return Ok(Err(reason.unwrap_or_else(|| Arc::new(Unevaluated::limit("all attributes of an object")))));
            }
            Value::Set(_, elements) => elements.iter().map(|value| (value.clone(), value.clone())).collect(),
            _ => match (collection.elements(), collection.attributes()) {
                (Some(elements), _) => {
                    let pairs = elements.iter().enumerate();
                    pairs.map(|(at, value)| (Value::count(at), value.clone())).collect::<Vec<_>>()
                }
                (_, Some(elements)) => {
                    elements.iter().map(|(key, value)| (Value::String(key.clone()), value.clone())).collect()
                }
                _ => {
                    let reason = format!("a `for` expression iterates over {}", described(&collection));
                    return refused(Cause::WrongType, reason);
                }
            },
        };
        self.meter.budget.spend_elements(pairs.len())?;
        if pairs.is_empty() && each.condition.is_some() {
            // The tools look at the condition before there are elements, which shows mistakes that do not depend on them.
            let any = Value::unknown(Unevaluated::limit("an element of a list that has none"));
            with_names(each, (any.clone(), any), names, |names| self.is_included(each, names).map(|_| ()))?;
        }
        let mut items = ForItems::new();
        let mut unknown = None;
        for pair in pairs {
            match with_names(each, pair, names, |names| self.item(each, names))? {
                Ok(item) => items.extend(item),
                Err(reason) => unknown = unknown.or(Some(reason)),
            }
        }
        Ok(unknown.map_or(Ok(items), Err))
    }

    fn is_included(&self, each: &For, names: Names<'_>) -> Result<Known<bool>, Failure> {
        match &each.condition {
            Some(condition) => known(&self.value(condition, names)?, "the condition of a `for` expression"),
            None => Ok(Ok(true)),
        }
    }

    /// The result for one element, if it counts.
    fn item(&self, each: &For, names: Names<'_>) -> Result<Known<Option<ForItem>>, Failure> {
        match self.is_included(each, names)? {
            Ok(true) => {}
            Ok(false) => return Ok(Ok(None)),
            Err(reason) => return Ok(Err(reason)),
        }
        let key = match &each.key {
            Some(key) => match known::<Arc<str>>(&self.value(key, names)?, "a key of a `for` expression")? {
                Ok(key) => Some(key),
                Err(reason) => return Ok(Err(reason)),
            },
            None => None,
        };
        Ok(Ok(Some((key, self.value(&each.value, names)?))))
    }
}

/// Evaluates with the names of a `for` expression for a key and a value.
fn with_names<T>(
    each: &For,
    (key, value): (Value, Value),
    names: Names<'_>,
    evaluate: impl FnOnce(Names<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let key = each.key_name.as_ref().map(|name| Binding { name, value: key, outer: names });
    let value = Binding { name: &each.value_name, value, outer: key.as_ref().map_or(names, |key| Names(Some(key))) };
    evaluate(Names(Some(&value)))
}
