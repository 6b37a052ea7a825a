//! How much may be computed for the values of one configuration.

use std::cell::{Cell, RefCell};

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
    /// True once something was too deep.
    is_too_deep: Cell<bool>,
    /// Something unknown that was met in the expression that is evaluated.
    met: RefCell<Option<Unevaluated>>,
    /// How many `try` and `can` are around.
    watches: Cell<usize>,
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
            self.is_too_deep.set(true);
            let what = format!("values that refer to each other over more than {LEVELS} levels");
            return Err(Failure::Final(Unevaluated::limit(what)));
        }
        self.deepest.set(self.deepest.get().max(level));
        Ok(())
    }

    /// True once something was too deep: what failed since may have failed for that.
    pub(super) fn is_too_deep(&self) -> bool {
        self.is_too_deep.get()
    }

    /// Evaluates something by itself, and counts its levels.
    pub fn measured<T>(&self, evaluate: impl FnOnce() -> T) -> (T, usize) {
        let before = self.deepest.replace(self.level.get());
        let met = self.met.take();
        let result = evaluate();
        let levels = self.deepest.get() - self.level.get();
        self.deepest.set(self.deepest.get().max(before));
        self.met.replace(met);
        (result, levels)
    }

    /// Evaluates something, and says what unknown was met, if it was.
    pub(super) fn watched<T>(&self, evaluate: impl FnOnce() -> T) -> (T, Option<Unevaluated>) {
        let before = self.met.take();
        self.watches.set(self.watches.get() + 1);
        let result = evaluate();
        self.watches.set(self.watches.get() - 1);
        let met = self.met.replace(before);
        (result, met)
    }

    /// True inside `try` and `can`.
    pub fn is_watched(&self) -> bool {
        self.watches.get() > 0
    }

    /// Notes that something unknown was met: whether the tool refuses what is made of it is unknown too.
    pub(super) fn meet(&self, reason: &Unevaluated) {
        self.met.borrow_mut().get_or_insert_with(|| reason.clone());
    }

    /// Spends the size of a value that was made of others.
    pub(super) fn made(&self, value: Value) -> Result<Value, Failure> {
        self.budget.spend(value.size())?;
        Ok(value)
    }

    /// The type of a value; that of tuples and objects takes as long as they are large.
    pub(super) fn kind(&self, value: &Value) -> Result<Type, Unevaluated> {
        if matches!(value, Value::Tuple(_) | Value::Object(_)) {
            self.budget.spend(value.size())?;
        }
        Ok(value.kind())
    }
}
