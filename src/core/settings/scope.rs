//! Which providers a setting is about.

use std::fmt;

use crate::addr::{AddrPattern, PatternError, ProviderAddr};
use crate::dialect::Dialect;

/// A source address or pattern as settings have it: without host it means both default registries.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProviderScope {
    text: String,
    patterns: Vec<AddrPattern>,
}

impl ProviderScope {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let is_name = !text.contains(['/', '*']);
        let full = if is_name { format!("hashicorp/{text}") } else { text.to_owned() };
        let mut patterns = vec![AddrPattern::parse(&full, Dialect::Terraform)?];
        let other = AddrPattern::parse(&full, Dialect::OpenTofu)?;
        if !patterns.contains(&other) {
            patterns.push(other);
        }
        Ok(Self { text: text.to_owned(), patterns })
    }

    pub fn covers(&self, addr: &ProviderAddr) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(addr))
    }

    pub fn includes(&self, other: &Self) -> bool {
        other.patterns.iter().all(|pattern| self.patterns.iter().any(|own| own.covers(pattern)))
    }
}

/// As written.
impl fmt::Display for ProviderScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
