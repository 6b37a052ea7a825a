//! Addresses that people take for others: letters of other scripts in the place of Latin ones.
//!
//! Source: our own short list, of the lower-case letters whose shapes are the same in common fonts (Unicode TR 39).

use crate::addr::ProviderAddr;

const ALIKE: &[(char, char)] = &[
    ('а', 'a'),
    ('в', 'b'),
    ('с', 'c'),
    ('ԁ', 'd'),
    ('е', 'e'),
    ('һ', 'h'),
    ('і', 'i'),
    ('ј', 'j'),
    ('ӏ', 'l'),
    ('о', 'o'),
    ('р', 'p'),
    ('ԛ', 'q'),
    ('ѕ', 's'),
    ('т', 't'),
    ('ս', 'u'),
    ('ѵ', 'v'),
    ('ԝ', 'w'),
    ('х', 'x'),
    ('у', 'y'),
    ('к', 'k'),
    ('м', 'm'),
    ('н', 'h'),
    ('ɡ', 'g'),
    ('ո', 'n'),
    ('օ', 'o'),
    ('α', 'a'),
    ('ε', 'e'),
    ('ι', 'i'),
    ('κ', 'k'),
    ('ν', 'v'),
    ('ο', 'o'),
    ('ρ', 'p'),
    ('τ', 't'),
    ('υ', 'u'),
    ('χ', 'x'),
    ('ı', 'i'),
    ('ɑ', 'a'),
    ('ց', 'g'),
    ('զ', 'q'),
    ('հ', 'h'),
    ('ւ', 'l'),
];

/// The plain address that an address looks like, if it looks like one and is another.
pub(super) fn looks_like(addr: &ProviderAddr) -> Option<String> {
    let text = addr.to_string();
    if text.is_ascii() {
        return None;
    }
    let plain = |letter: char| match ALIKE.iter().find(|(other, _)| *other == letter) {
        Some((_, latin)) => *latin,
        None => letter,
    };
    let seen: String = text.chars().map(plain).collect();
    seen.is_ascii().then_some(seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn letters_of_other_scripts_are_seen_through() {
        let seen = |text: &str| looks_like(&ProviderAddr::parse(text, Dialect::Terraform).unwrap());
        assert_eq!(seen("registry.terraform.io/acme/widget"), None);
        assert_eq!(seen("registry.terrаform.io/acme/widget").as_deref(), Some("registry.terraform.io/acme/widget"));
        assert_eq!(seen("registry.terraform.io/асмe/widget").as_deref(), Some("registry.terraform.io/acme/widget"));
        // Honest names of other languages look like nothing else.
        assert_eq!(seen("münchen.example/acme/widget"), None);
        assert_eq!(seen("пример.example/acme/widget"), None);
    }
}
