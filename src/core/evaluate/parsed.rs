//! Expressions that are parsed once for many evaluations.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Expression;
use super::syntax::Node;
use crate::value::Unevaluated;

/// The trees of texts.
#[derive(Debug, Default)]
pub struct ParsedTexts(Mutex<HashMap<String, Arc<Node>>>);

impl ParsedTexts {
    /// The expression as a tree, parsed unless its text was.
    ///
    /// # Errors
    ///
    /// Those of [`Expression::parse`].
    pub fn parse(&self, expression: &Expression) -> Result<Arc<Node>, Unevaluated> {
        let Some(text) = expression.native_text() else { return expression.parse().map(Arc::new) };
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = known().get(text) {
            return Ok(Arc::clone(node));
        }
        let node = Arc::new(expression.parse()?);
        known().insert(text.to_owned(), Arc::clone(&node));
        Ok(node)
    }
}
