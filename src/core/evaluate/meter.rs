//! How much may be computed for the values of one configuration.

use std::cell::Cell;

use super::Failure;
use crate::value::{Budget, Type, Unevaluated, Value};

/// How deep evaluation may go: the nesting of expressions, and of values that refer to each other.
const LEVELS: usize = 250;

/// What a step of an evaluation costs of the budget.
const STEP: u64 = 64;

/// How much may still be computed, and how deep an evaluation is.
#[derive(Debug, Default)]
pub struct Meter {
    /// What is left for steps and sizes.
    pub budget: Budget,
    level: Cell<usize>,
    /// The deepest level since the last measurement began.
    deepest: Cell<usize>,
}

impl Meter {
    /// One with a budget of its own.
    pub fn new(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    /// Goes one level deeper.
    ///
    /// # Errors
    ///
    /// If that is too deep, or no step is left; then no level was entered.
    pub(super) fn enter(&self) -> Result<(), Failure> {
        self.budget.spend(STEP)?;
        self.reach(1)?;
        self.level.set(self.level.get() + 1);
        Ok(())
    }

    pub(super) fn leave(&self) {
        self.level.set(self.level.get() - 1);
    }

    /// Counts the levels of a value that is known already, which is as deep as its evaluation was.
    ///
    /// # Errors
    ///
    /// If that is too deep from here.
    pub fn reach(&self, levels: usize) -> Result<(), Failure> {
        let level = self.level.get() + levels;
        if level > LEVELS {
            let what = format!("values that refer to each other over more than {LEVELS} levels");
            return Err(Failure::Final(Unevaluated::limit(what)));
        }
        self.deepest.set(self.deepest.get().max(level));
        Ok(())
    }

    /// Evaluates something, and counts its levels.
    pub fn measured<T>(&self, evaluate: impl FnOnce() -> T) -> (T, usize) {
        let before = self.deepest.replace(self.level.get());
        let result = evaluate();
        let levels = self.deepest.get() - self.level.get();
        self.deepest.set(self.deepest.get().max(before));
        (result, levels)
    }

    /// Spends what it costs to look at all of a value.
    pub(super) fn look_at(&self, value: &Value) -> Result<(), Unevaluated> {
        match value {
            Value::String(text) => self.budget.spend_text(text.len()),
            Value::List(_, elements) | Value::Set(_, elements) | Value::Tuple(elements) => {
                self.budget.spend_elements(elements.len())?;
                elements.iter().try_for_each(|element| self.look_at(element))
            }
            Value::Map(_, elements) | Value::Object(elements) => {
                self.budget.spend_elements(elements.len())?;
                elements.values().try_for_each(|element| self.look_at(element))
            }
            Value::Null(_) | Value::Bool(_) | Value::Number(_) | Value::Unknown(..) => Ok(()),
        }
    }

    /// The type of a value; that of tuples and objects takes as long as they are large.
    pub(super) fn kind(&self, value: &Value) -> Result<Type, Unevaluated> {
        if matches!(value, Value::Tuple(_) | Value::Object(_)) {
            self.look_at(value)?;
        }
        Ok(value.kind())
    }
}
