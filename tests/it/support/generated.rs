//! Files, and parts of pages, that the program or a test writes: `UPDATE=1` rewrites them, else they are compared.

use std::path::Path;

/// A file is what was generated.
pub fn compare(path: impl AsRef<Path>, wanted: &str) {
    let path = path.as_ref();
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    if kept != wanted && std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(path, wanted).unwrap();
        return;
    }
    let differing = kept.lines().zip(wanted.lines()).find(|(kept, wanted)| kept != wanted);
    assert!(kept == wanted, "UPDATE=1 rewrites {}; its first line that differs: {differing:#?}", path.display());
}

/// A page has this between the two comments of that name.
pub fn shows(path: &str, what: &str, wanted: &str) {
    let page = std::fs::read_to_string(path).unwrap();
    let (before, after) = (format!("<!-- begin {what} -->\n"), format!("<!-- end {what} -->"));
    let start = page.find(&before).unwrap_or_else(|| panic!("{path} has no place for {what}")) + before.len();
    let end = start + page[start..].find(&after).unwrap_or_else(|| panic!("{path} has no end of {what}"));
    compare(path, &format!("{}{wanted}{}", &page[..start], &page[end..]));
}
