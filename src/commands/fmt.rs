//! `tflock fmt`: the canonical text of a lock file.

use crate::dialect::Dialect;
use crate::finding::Finding;
use crate::lockfile::{decode, detect_dialect, is_canonical};

/// A lock file as the tools would write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatted {
    /// The canonical text.
    pub text: String,
    /// True if that is another text than the one given.
    pub changed: bool,
    /// The tool whose text it is.
    pub dialect: Dialect,
}

/// Formats the text of a lock file, for `dialect` or else for the tool that the text belongs to, or else for Terraform.
///
/// Comments, module blocks and duplicate hashes are dropped, as the tools do.
///
/// # Errors
///
/// All findings of the file when the tool refuses it.
pub fn fmt(text: &[u8], dialect: Option<Dialect>) -> Result<Formatted, Vec<Finding>> {
    let dialect = dialect.or_else(|| detect_dialect(text)).unwrap_or(Dialect::Terraform);
    if is_canonical(text, dialect) {
        return Ok(Formatted { text: String::from_utf8_lossy(text).into_owned(), changed: false, dialect });
    }
    let formatted = decode(text, dialect)?.lock.encode(dialect);
    Ok(Formatted { changed: formatted.as_bytes() != text, text: formatted, dialect })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOSE: &[u8] = b"provider \"registry.opentofu.org/a/b\" {version = \"1.0.0\"}";

    #[test]
    fn the_text_tells_the_tool_unless_one_is_named() {
        let formatted = fmt(LOOSE, None).unwrap();
        assert_eq!((formatted.dialect, formatted.changed), (Dialect::OpenTofu, true));
        assert!(formatted.text.contains("\"tofu init\""));
        assert_eq!(fmt(LOOSE, Some(Dialect::Terraform)).unwrap().dialect, Dialect::Terraform);
        assert_eq!(fmt(b"", None).unwrap().dialect, Dialect::Terraform);
    }

    #[test]
    fn a_canonical_text_stays_and_a_header_is_exchanged() {
        let tofu = fmt(LOOSE, None).unwrap().text;
        assert!(!fmt(tofu.as_bytes(), None).unwrap().changed);
        let terraform = fmt(tofu.as_bytes(), Some(Dialect::Terraform)).unwrap();
        assert!(terraform.changed);
        assert_eq!(terraform.text, tofu.replace("tofu init", "terraform init"));
    }

    #[test]
    fn what_the_tool_refuses_is_refused() {
        let text = b"provider \"example.com/a/opentofu-x\" {\n  version = \"1.0.0\"\n}\n";
        assert!(fmt(text, None).is_ok());
        assert_eq!(fmt(text, Some(Dialect::OpenTofu)).unwrap_err().len(), 1);
    }
}
