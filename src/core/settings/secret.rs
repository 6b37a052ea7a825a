//! Texts that must never be shown.

use std::fmt;

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
    fn is_not_shown() {
        let secret = Secret::new("hunter2").unwrap();
        assert!(!format!("{:?}", Some(&secret)).contains("hunter2"));
        assert_eq!(secret.reveal(), "hunter2");
        assert_eq!(Secret::new(""), None);
    }
}
