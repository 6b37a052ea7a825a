//! The environment as a value, and the texts in it that must never be shown.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The environment variables of the run, by name.
///
/// Only the shell reads the process's environment; everyone else is handed this. A variable whose value is empty
/// counts as not set, unless a caller uses [`Variables::raw`]. Cheap to clone: every root module of a run has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(Arc<BTreeMap<String, String>>);

impl Variables {
    /// The value of a variable that is set to something.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.raw(name).filter(|value| !value.is_empty())
    }

    /// The value of a variable, which may be empty.
    pub fn raw(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value of a variable as a number above zero; anything else counts as not set, as in both tools.
    pub fn positive(&self, name: &str) -> Option<u32> {
        self.get(name)?.parse().ok().filter(|number| *number > 0)
    }

    /// The variables whose names begin with a prefix, as the rest of the name and the value, ordered by name.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self(Arc::new(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()))
    }
}

/// A token. `Debug` never shows it and there is no `Display`; [`Secret::reveal`] is for the one header it goes to.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// A secret; `None` if the text is empty, because an empty token is an absent one.
    ///
    /// From here on `redact::secrets` takes it out of whatever is printed.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = Some(text.into()).filter(|text: &String| !text.is_empty())?;
        crate::redact::remember(&text);
        Some(Self(text))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_is_unset_and_zero_is_no_number() {
        let variables = Variables::from_iter([("A", ""), ("B", "2"), ("C", "0"), ("D", "-1"), ("TF_TOKEN_x", "t")]);
        assert_eq!((variables.get("A"), variables.raw("A")), (None, Some("")));
        assert_eq!(variables.positive("B"), Some(2));
        assert_eq!(["A", "C", "D", "E"].map(|name| variables.positive(name)), [None; 4]);
        assert_eq!(variables.with_prefix("TF_TOKEN_").collect::<Vec<_>>(), [("x", "t")]);
    }
}

#[cfg(test)]
mod secret_tests {
    use super::*;

    #[test]
    fn is_not_shown() {
        let secret = Secret::new("hunter2").unwrap();
        assert!(!format!("{:?}", Some(&secret)).contains("hunter2"));
        assert_eq!(secret.reveal(), "hunter2");
        assert_eq!(Secret::new(""), None);
    }
}
