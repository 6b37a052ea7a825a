//! The namespace and type parts of an address.

use super::idna;

/// Why a namespace or type is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// Nothing there.
    #[error("must have at least one character")]
    Empty,
    /// `.` separates the labels of hosts.
    #[error("dots are not allowed")]
    Dot,
    /// `--`, which also keeps `xn--` out.
    #[error("cannot use multiple consecutive dashes")]
    ConsecutiveDashes,
    /// Refused by the IDNA lookup profile.
    #[error("must contain only letters, digits, and dashes, and may not use leading or trailing dashes")]
    Characters,
}

/// Normalises a namespace or type: UTS 46 lookup form in Unicode.
///
/// Source: `github.com/hashicorp/terraform-registry-address`, `ParseProviderPart`. There as here a dot may come out of
/// the normalisation (of U+3002), but unlike there never at an end or twice: a part is the name of a directory.
pub fn normalise_part(part: &str) -> Result<String, PartError> {
    if part.is_empty() {
        return Err(PartError::Empty);
    }
    if part.contains('.') {
        return Err(PartError::Dot);
    }
    if part.contains("--") {
        return Err(PartError::ConsecutiveDashes);
    }
    idna::to_unicode(part).filter(|normal| !normal.split('.').any(str::is_empty)).ok_or(PartError::Characters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_forms() {
        assert_eq!(normalise_part("AWS").as_deref(), Ok("aws"));
        assert_eq!(normalise_part("ａｗｓ").as_deref(), Ok("aws"));
        assert_eq!(normalise_part("ß").as_deref(), Ok("ß"));
        assert_eq!(normalise_part("a\u{3002}b").as_deref(), Ok("a.b"));
    }

    #[test]
    fn refusals() {
        assert_eq!(normalise_part(""), Err(PartError::Empty));
        assert_eq!(normalise_part("a.b"), Err(PartError::Dot));
        assert_eq!(normalise_part("a--b"), Err(PartError::ConsecutiveDashes));
        for part in
            ["-a", "a-", "a_b", " a", "a b", "\u{3002}", "\u{3002}\u{3002}", "a\u{3002}", "a\u{ff0f}b", "\u{ad}"]
        {
            assert_eq!(normalise_part(part), Err(PartError::Characters), "{part:?}");
        }
    }
}
