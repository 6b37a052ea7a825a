//! International names as the tools know them.
//!
//! Source: `golang.org/x/net/idna`, profile `Lookup`, with the tables of Unicode 15.0. The `idna` crate has newer ones.

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};

/// Characters that Unicode 15.0 allows in no name. Later versions drop them or map them to others, so two addresses
/// would be one that are two, or none, for the tools. Those that Unicode 15.0 does not know at all are not listed.
const DISALLOWED: [(char, char); 15] = [
    ('\u{4c0}', '\u{4c0}'),
    ('\u{10a0}', '\u{10c5}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{1806}', '\u{1806}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{2061}', '\u{2063}'),
    ('\u{206a}', '\u{206f}'),
    ('\u{2132}', '\u{2132}'),
    ('\u{2183}', '\u{2183}'),
    ('\u{2260}', '\u{2260}'),
    ('\u{226e}', '\u{226f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{1d173}', '\u{1d17a}'),
];

/// A name in Unicode, normalised; `None` if it is not a valid name.
pub(super) fn to_unicode(name: &str) -> Option<String> {
    let name = prepared(name)?;
    let (normal, valid) = Uts46::new().to_unicode(name.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast);
    // Places are counted in bytes, as there.
    let hyphens = |label: &str| label.len() > 4 && label.as_bytes().get(2..4) == Some(b"--");
    let sound = valid.is_ok() && !normal.contains('/') && !normal.split('.').any(hyphens);
    sound.then(|| normal.into_owned())
}

/// A name in ASCII, each label of another alphabet in its `xn--` form; `None` if it is not a valid name.
pub(super) fn to_ascii(name: &str) -> Option<String> {
    let name = prepared(name)?;
    let ascii = Uts46::new().to_ascii(name.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Ignore);
    ascii.ok().filter(|ascii| !ascii.is_empty() && !ascii.contains('/')).map(std::borrow::Cow::into_owned)
}

fn prepared(name: &str) -> Option<String> {
    let disallowed = |c: char| !c.is_ascii() && DISALLOWED.iter().any(|(first, last)| (*first..=*last).contains(&c));
    // Later versions map it to `ß`.
    (!name.contains(disallowed)).then(|| name.replace('ẞ', "ss"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As terraform 1.11.4 takes them.
    #[test]
    fn names_of_the_tools() {
        let normal = |name: &str| to_unicode(name);
        assert_eq!(normal("feature--site").as_deref(), Some("feature--site"));
        assert_eq!(normal("aẞb").as_deref(), Some("assb"));
        assert_eq!(normal("aßb").as_deref(), Some("aßb"));
        for name in ["pr--1", "ab--c.test", "x.ab--c", "é--b", "ab\u{ff0d}\u{ff0d}c", "xn--ab--c-epa"] {
            assert_eq!(normal(name), None, "{name}");
        }
        for (first, last) in DISALLOWED {
            assert_eq!([first, last].map(|c| normal(&format!("a{c}b"))), [None, None], "{first:?}");
        }
    }
}
