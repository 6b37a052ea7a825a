//! Addresses that users take for others: letters of other scripts in place of Latin ones.
//!
//! Source: Unicode TR 39, section 4: two texts are confusable if their skeletons are the same.

use unicode_security::skeleton;

use crate::addr::ProviderAddr;

/// The plain address that an address looks like, if it looks like one and is another.
pub(super) fn looks_like(addr: &ProviderAddr) -> Option<String> {
    let text = addr.to_string();
    if text.is_ascii() {
        return None;
    }
    text.chars().map(|letter| if letter.is_ascii() { Some(letter) } else { plain(letter) }).collect()
}

/// The Latin letter or digit that another character looks like, itself or in upper case: Unicode compares shapes in one
/// case only, and many letters differ from the Latin ones in the shape of small capitals alone.
fn plain(letter: char) -> Option<char> {
    let same = |a: &str, b: &str| skeleton(a).eq(skeleton(b));
    let (lower, upper) = (letter.to_string(), letter.to_uppercase().to_string());
    let mut latin = ('a'..='z').chain('0'..='9');
    let in_lower = latin.clone().find(|plain| same(&lower, plain.encode_utf8(&mut [0; 4])));
    in_lower.or_else(|| latin.find(|plain| same(&upper, plain.to_ascii_uppercase().encode_utf8(&mut [0; 4]))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn letters_of_other_scripts_are_recognised() {
        let seen = |text: &str| looks_like(&ProviderAddr::parse(text, Dialect::Terraform).unwrap());
        assert_eq!(seen("registry.terraform.io/acme/widget"), None);
        assert_eq!(seen("registry.terrаform.io/acme/widget").as_deref(), Some("registry.terraform.io/acme/widget"));
        assert_eq!(seen("registry.terraform.io/асмe/widget").as_deref(), Some("registry.terraform.io/acme/widget"));
        for alike in ["haѕhicorp", "hаshiсоrр", "haꜱhicᴏrp", "hashicoгp", "ηashicorp", "hashicoʀp", "hashicᴏʀp"]
        {
            let address = format!("registry.terraform.io/{alike}/aws");
            assert_eq!(seen(&address).as_deref(), Some("registry.terraform.io/hashicorp/aws"), "{alike}");
        }
        // Honest names of other languages look like nothing else.
        assert_eq!(seen("münchen.example/acme/widget"), None);
        assert_eq!(seen("пример.example/acme/widget"), None);
    }
}
