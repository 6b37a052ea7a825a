//! The parts of a value, with what is known of all of them together.

use std::ops::Deref;
use std::sync::Arc;

use super::{Budget, Elements, Unevaluated, Value};

/// Elements or attributes that several values may have in common. Their size is that of all that is in them, as often as it is
/// there: a few shared parts make a huge value, which is small in memory and takes for ever to go through.
#[derive(Debug)]
pub struct SharedParts<T: ?Sized> {
    parts: Arc<T>,
    size: u64,
    unknown: Option<Arc<Unevaluated>>,
}

impl<T: ?Sized> SharedParts<T> {
    /// What it costs to go through all of it.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Why a part is unknown, if one is.
    pub fn unknown_part(&self) -> Option<&Arc<Unevaluated>> {
        self.unknown.as_ref()
    }
}

impl<T: ?Sized> Clone for SharedParts<T> {
    fn clone(&self) -> Self {
        Self { parts: Arc::clone(&self.parts), size: self.size, unknown: self.unknown.clone() }
    }
}

impl<T: ?Sized> Deref for SharedParts<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.parts
    }
}

impl<T: ?Sized + PartialEq> PartialEq for SharedParts<T> {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl<T: ?Sized + Eq> Eq for SharedParts<T> {}

fn sum<'a>(parts: impl Iterator<Item = &'a Value>) -> u64 {
    parts.fold(Budget::ELEMENT, |sum, part| sum.saturating_add(part.size()))
}

impl From<Vec<Value>> for SharedParts<[Value]> {
    fn from(parts: Vec<Value>) -> Self {
        let unknown = parts.iter().find_map(Value::unknown_part).cloned();
        Self { size: sum(parts.iter()), unknown, parts: parts.into() }
    }
}

impl From<Elements> for SharedParts<Elements> {
    fn from(parts: Elements) -> Self {
        let unknown = parts.values().find_map(Value::unknown_part).cloned();
        let names = parts.keys().fold(0u64, |sum, name| sum.saturating_add(super::budget::length(name.len())));
        Self { size: sum(parts.values()).saturating_add(names), unknown, parts: Arc::new(parts) }
    }
}
