//! The two lines that each tool begins its lock files with, and what they say.

use memchr::memmem;

use crate::dialect::Dialect;

/// The byte order mark, which the tools skip.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub(super) fn header(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Terraform => {
            "# This file is maintained automatically by \"terraform init\".\n\
             # Manual edits may be lost in future updates.\n"
        }
        Dialect::OpenTofu => {
            "# This file is maintained automatically by \"tofu init\".\n\
             # Manual edits may be lost in future updates.\n"
        }
    }
}

/// The tool that a text names in its header: in the first comment that says so, before anything but comments.
pub fn header_dialect(text: &[u8]) -> Option<Dialect> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .take_while(|line| line.is_empty() || line.starts_with(b"#") || line.starts_with(b"//"))
        .find_map(|line| {
            let names =
                |dialect: &Dialect| header(*dialect).lines().next().is_some_and(|first| first.as_bytes() == line);
            [Dialect::Terraform, Dialect::OpenTofu].into_iter().find(names)
        })
}

/// The tool that a lock file belongs to: by its header, else by the registries it names if that is one tool's only.
///
/// Works on the text, since how a text is decoded depends on the tool.
pub fn detect_dialect(text: &[u8]) -> Option<Dialect> {
    let names = |dialect: Dialect| {
        let host = format!("\"{}/", dialect.default_registry_host());
        memmem::find(text, host.as_bytes()).is_some()
    };
    header_dialect(text).or_else(|| match (names(Dialect::Terraform), names(Dialect::OpenTofu)) {
        (true, false) => Some(Dialect::Terraform),
        (false, true) => Some(Dialect::OpenTofu),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_decides_before_the_hosts() {
        let tofu = b"\n// ours\n# This file is maintained automatically by \"tofu init\".\r\nprovider \"registry.terraform.io/a/b\" {";
        assert_eq!(detect_dialect(tofu), Some(Dialect::OpenTofu));
        assert_eq!(header_dialect(b"x = 1\n# This file is maintained automatically by \"tofu init\".\n"), None);
        assert_eq!(header_dialect(b"# This file is maintained automatically by \"opentf init\".\n"), None);
    }

    #[test]
    fn one_host_decides_and_both_do_not() {
        assert_eq!(detect_dialect(b"provider\"registry.opentofu.org/a/b\"{"), Some(Dialect::OpenTofu));
        assert_eq!(detect_dialect(b"provider \"registry.terraform.io/a/b\" {"), Some(Dialect::Terraform));
        assert_eq!(detect_dialect(b"\"registry.terraform.io/a/b\" \"registry.opentofu.org/a/b\""), None);
        assert_eq!(detect_dialect(b"provider \"example.com/a/b\" {"), None);
        assert_eq!(detect_dialect(b""), None);
    }
}
