//! Values of names that are evaluated once.

use std::cell::RefCell;
use std::collections::HashMap;

use super::{Evaluated, Failure, Meter};

/// The values of the names of one place, each evaluated when it is needed first.
#[derive(Debug, Default)]
pub struct Memo(RefCell<HashMap<String, Known>>);

#[derive(Debug, Clone)]
enum Known {
    /// Its evaluation has begun: it must not need itself.
    Begun,
    /// A value, and over how many levels it was evaluated.
    Done(Evaluated, usize),
}

impl Memo {
    /// The value of a name, evaluated unless that was done. What was too deep may be known from elsewhere.
    ///
    /// # Errors
    ///
    /// Those of the evaluation, and a value that needs itself.
    pub fn value(&self, name: &str, meter: &Meter, evaluate: impl FnOnce() -> Evaluated) -> Evaluated {
        let known = self.0.borrow().get(name).cloned();
        match known {
            Some(Known::Begun) => return Err(Failure::invalid(format!("{name} refers to itself"))),
            Some(Known::Done(value, levels)) => {
                meter.reach(levels)?;
                return value;
            }
            None => {}
        }
        self.0.borrow_mut().insert(name.to_owned(), Known::Begun);
        let (value, levels) = meter.measured(evaluate);
        let mut all = self.0.borrow_mut();
        if value.is_err() && meter.is_too_deep() {
            all.remove(name);
        } else {
            all.insert(name.to_owned(), Known::Done(value.clone(), levels));
        }
        value
    }
}
