//! The lines of the commands that are about files, packages, git and the cache.

use std::fmt::Write;

use crate::outcome::{CacheReport, FormattedFile, Generated, GitReport, HashLine};
use crate::report::{printable, size};

// Writing to a string cannot fail, here and below.
pub(super) fn formatted(files: &[FormattedFile]) -> String {
    files.iter().fold(String::new(), |mut text, file| {
        match &file.text {
            Some(canonical) => text.push_str(canonical),
            None if file.changed && file.path.as_os_str() != "-" => {
                let _ = writeln!(text, "{}", printable(&file.path.to_string_lossy()));
            }
            None => {}
        }
        text
    })
}

pub(super) fn hashes(lines: &[HashLine]) -> String {
    lines.iter().fold(String::new(), |mut text, HashLine { hash, path }| {
        let _ = writeln!(text, "{hash}  {}", printable(&path.to_string_lossy()));
        text
    })
}

pub(super) fn cache(report: &CacheReport) -> String {
    match report {
        CacheReport::Directory(directory) => format!("{}\n", directory.display()),
        CacheReport::Stats { directory, stats } => format!(
            "directory  {}\nhashes     {} computed here, {} imported\ndocuments  {}\nreleases   {}\nsize       {}\n",
            directory.display(),
            stats.computed,
            stats.imported,
            stats.documents,
            stats.releases,
            size(stats.bytes)
        ),
        CacheReport::Exported { text: Some(text), .. } => text.clone(),
        CacheReport::Exported { file, entries, text: None } => {
            format!("exported {} to {}\n", super::hashes(*entries), printable(&file.to_string_lossy()))
        }
        CacheReport::Published { index, news, known } => {
            format!("published {} to {}; {known} were there\n", super::hashes(*news), printable(index))
        }
        CacheReport::Imported { imported, known, .. } => {
            format!("imported {}; {known} known before\n", super::hashes(*imported))
        }
        CacheReport::Pruned { files, bytes } => format!("removed {files} files, {}\n", size(*bytes)),
    }
}

pub(super) fn git(reports: &[GitReport]) -> String {
    let done = |changed: bool, word: &str| {
        let attributes = if changed { word } else { "unchanged" };
        format!(".gitattributes: {attributes}\ngit configuration of this clone: {word}\n")
    };
    reports.iter().fold(String::new(), |mut text, report| {
        match report {
            GitReport::Installed(changed) => text.push_str(&done(*changed, "set")),
            GitReport::Uninstalled(changed) => text.push_str(&done(*changed, "removed")),
            GitReport::Status(settings) => settings.iter().for_each(|setting| {
                let _ = writeln!(text, "{setting}");
            }),
        }
        text
    })
}

pub(super) fn generated(generated: &Generated) -> String {
    match generated {
        Generated::Script(text) | Generated::Page(text) => text.clone(),
        Generated::Version(version) => format!("tflock {version}\n"),
        Generated::Schema(text) => (*text).to_owned(),
    }
}
