//! The namespace and type parts of an address.

use idna::AsciiDenyList;
use idna::uts46::{Hyphens, Uts46};

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
/// # Errors
///
/// [`PartError`], by the first rule that is broken.
///
/// Source: `github.com/hashicorp/terraform-registry-address`, `ParseProviderPart`. A dot that only the normalisation
/// brings forth (U+3002) is refused, unlike there.
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
    let (normal, valid) = Uts46::new().to_unicode(part.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast);
    if valid.is_err() || normal.is_empty() || normal.contains(['.', '/']) {
        return Err(PartError::Characters);
    }
    Ok(normal.into_owned())
}
