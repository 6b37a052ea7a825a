//! How two texts differ next to their entries.

use crate::dialect::Dialect;
use crate::diff::{Formatting, TextChange};
use crate::lockfile::detect_header;

/// Compares two texts. `entries_equal` says that they have the same entries, `refused` that the tools refuse one of them: then
/// whether the entries are equal is unknown.
pub fn text_change(old: &[u8], new: &[u8], entries_equal: bool, refused: bool) -> TextChange {
    let headers = [old, new].map(detect_header);
    // A file that is not there yet, or no more, has no header that could change.
    let [is, was] = [new, old].map(|text| !text.trim_ascii().is_empty());
    let header = (headers[0] != headers[1] && is && was).then_some(headers);
    let differs = || behind_header(old, headers[0]) != behind_header(new, headers[1]);
    let formatting = match refused {
        true if old != new => Formatting::Unknown,
        false if entries_equal && differs() => Formatting::Changed,
        _ => Formatting::Same,
    };
    TextChange { header, removed: was && !is, formatting, not_literal: false }
}

/// The text without the lines before the first blank one, if those are a tool's header.
fn behind_header(text: &[u8], header: Option<Dialect>) -> &[u8] {
    let Some(header) = header else { return text };
    let first = format!("\"{} init\"", header.program());
    let mut rest = text;
    let mut seen = false;
    loop {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let line = rest[..end].trim_ascii();
        let is_comment = line.starts_with(b"#") || line.starts_with(b"//");
        if !is_comment || line.is_empty() {
            return if seen { rest } else { text };
        }
        seen |= memchr::memmem::find(line, first.as_bytes()).is_some();
        rest = &rest[end..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERRAFORM: &str = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n";
    const TOFU: &str =
        "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n";

    #[test]
    fn header_and_formatting_are_distinguished() {
        let change = |old: &str, new: &str| text_change(old.as_bytes(), new.as_bytes(), true, false);
        let [terraform, tofu] = [TERRAFORM, TOFU].map(|header| format!("{header}\nprovider \"a\" {{\n}}\n"));
        let headers = Some([Some(Dialect::Terraform), Some(Dialect::OpenTofu)]);
        assert_eq!(change(&terraform, &terraform), TextChange::default());
        assert_eq!(change(&terraform, &tofu), TextChange { header: headers, ..TextChange::default() });
        assert_eq!(
            change(&terraform, &tofu.replace("{\n", "{")),
            TextChange { header: headers, formatting: Formatting::Changed, ..TextChange::default() }
        );
        assert_eq!(
            change(&tofu, &tofu.replace('\n', "\r\n")),
            TextChange { formatting: Formatting::Changed, ..TextChange::default() }
        );
        let bare = "\nprovider \"a\" {\n}\n";
        assert_eq!(
            change(bare, &tofu),
            TextChange { header: Some([None, Some(Dialect::OpenTofu)]), ..TextChange::default() }
        );
        assert_eq!(change("", &tofu).header, None);
        assert_eq!(
            change(&tofu, "\n"),
            TextChange { removed: true, formatting: Formatting::Changed, ..TextChange::default() }
        );
        assert!(!change("", "").removed && !change("", &tofu).removed);
        // Of a text that is refused, equal entries say nothing.
        let refused = |old: &str, new: &str| text_change(old.as_bytes(), new.as_bytes(), true, true);
        assert_eq!(
            refused(bare, "\n"),
            TextChange { formatting: Formatting::Unknown, removed: true, ..TextChange::default() }
        );
        assert_eq!(
            refused(&tofu, &(tofu.clone() + "\n")),
            TextChange { formatting: Formatting::Unknown, ..TextChange::default() }
        );
        assert_eq!(refused(&tofu, &tofu), TextChange::default());
    }
}
