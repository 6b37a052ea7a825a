//! Paths as messages and documents name them.

use std::path::Path;

/// A path for users and reports: with slashes on every system, and without the prefix by which Windows allows long ones.
pub fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' { text.into_owned() } else { with_slashes(&text) }
}

fn with_slashes(text: &str) -> String {
    let plain = text.strip_prefix(r"\\?\UNC\").map(|share| format!(r"\\{share}"));
    plain.as_deref().or(text.strip_prefix(r"\\?\")).unwrap_or(text).replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_windows_are_shown_with_slashes() {
        let rows = [
            (r"a\b", "a/b"),
            (r"\\?\C:\a\b", "C:/a/b"),
            (r"\\?\UNC\server\share\a", "//server/share/a"),
            (r"\\server\share", "//server/share"),
            ("a/b", "a/b"),
        ];
        for (path, wanted) in rows {
            assert_eq!(with_slashes(path), wanted);
        }
    }
}
