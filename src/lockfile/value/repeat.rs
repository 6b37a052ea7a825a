//! `for` expressions.

use std::collections::BTreeMap;

use super::super::syntax::{For, Number};
use super::{Evaluator, NoValue, Value, no_value};

impl<'s> Evaluator<'s> {
    pub(super) fn repeat(&mut self, at: usize, parts: &For<'s>) -> Result<Value, NoValue> {
        let items: Vec<(Value, Value)> = match self.value(&parts.collection)? {
            Value::List(items) => (0..).map(Number::Whole).map(Value::Number).zip(items).collect(),
            Value::Object(object) => object.into_iter().map(|(key, value)| (Value::Text(key), value)).collect(),
            _ => return no_value(parts.collection.at, "a `for` goes through a list or an object"),
        };
        let names = self.names.len();
        let mut list = Vec::new();
        let mut object = BTreeMap::new();
        for (key, value) in items {
            self.names.extend(parts.key.map(|name| (name, key)));
            self.names.push((parts.value, value));
            let done = self.round(at, parts, &mut list, &mut object);
            self.names.truncate(names);
            done?;
        }
        Ok(if parts.result_key.is_some() { Value::Object(object) } else { Value::List(list) })
    }

    /// Does one round, the names being bound.
    fn round(
        &mut self,
        at: usize,
        parts: &For<'s>,
        list: &mut Vec<Value>,
        object: &mut BTreeMap<String, Value>,
    ) -> Result<(), NoValue> {
        if let Some(condition) = &parts.condition {
            match self.value(condition)?.truth() {
                Some(true) => {}
                Some(false) => return Ok(()),
                None => return no_value(condition.at, "a condition is true or false"),
            }
        }
        let Some(key) = &parts.result_key else {
            list.push(self.value(&parts.result)?);
            return Ok(());
        };
        let Some(key) = self.value(key)?.into_text() else {
            return no_value(key.at, "a key is a string");
        };
        let value = self.value(&parts.result)?;
        if parts.grouped {
            if let Value::List(group) = object.entry(key).or_insert_with(|| Value::List(Vec::new())) {
                group.push(value);
            }
        } else if object.insert(key, value).is_some() {
            return no_value(at, "two items have the same key");
        }
        Ok(())
    }
}
