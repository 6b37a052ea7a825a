//! The results of commands about files, packages, git and the cache.

use std::fmt::Write;

use crate::count::counted;
use crate::outcome::{CacheReport, FormattedFile, Generated, GitReport, HashLine};
use crate::report::{printable, shown, size};

// Writing to a string cannot fail, here and below.
pub(super) fn formatted(files: &[FormattedFile]) -> String {
    files.iter().fold(String::new(), |mut text, file| {
        match &file.text {
            Some(canonical) => text.push_str(canonical),
            None if file.changed && file.path.as_os_str() != "-" => {
                let _ = writeln!(text, "{}", printable(&shown(&file.path)));
            }
            None => {}
        }
        text
    })
}

pub(super) fn hashes(lines: &[HashLine]) -> String {
    lines.iter().fold(String::new(), |mut text, HashLine { hash, path }| {
        let _ = writeln!(text, "{hash}  {}", printable(&shown(path)));
        text
    })
}

pub(super) fn cache(report: &CacheReport) -> String {
    match report {
        CacheReport::Directory { directory } => format!("{}\n", shown(directory)),
        CacheReport::Stats { directory, stats } => format!(
            "directory  {}\nhashes     {} computed here, {} imported\ndocuments  {}\nreleases   {}\nmodules    {}\npackages   {}\nsize       {}\n",
            shown(directory),
            stats.computed,
            stats.imported,
            stats.documents,
            stats.releases,
            stats.modules,
            stats.packages,
            size(stats.bytes)
        ),
        CacheReport::Exported { text: Some(text), .. } => text.clone(),
        CacheReport::Exported { file, entries, text: None } => {
            format!("exported {} to {}\n", super::hashes(*entries), printable(&shown(file)))
        }
        CacheReport::Published { index, news, known } => {
            let records = counted(*news, "record");
            format!("published {records} to {}; {known} were there\n", printable(index))
        }
        CacheReport::Imported { imported, known, .. } => {
            format!("imported {}; {known} known before\n", super::hashes(*imported))
        }
        CacheReport::Pruned { files, bytes } => format!("removed {files} files, {}\n", size(*bytes)),
    }
}

pub(super) fn git(reports: &[GitReport]) -> String {
    const CLONE: &str = "the git configuration of this clone";
    reports.iter().fold(String::new(), |mut text, report| {
        match report {
            GitReport::Installed(true) => {
                let _ = writeln!(text, "set: {CLONE} and .gitattributes");
                text.push_str(
                    "commit .gitattributes; everyone who merges runs `tflock git install` in their own clone\n",
                );
            }
            GitReport::Installed(false) => {
                let _ = writeln!(text, "set: {CLONE}; .gitattributes has the lines already");
            }
            GitReport::Uninstalled { attributes: true, .. } => {
                let _ = writeln!(text, "removed from {CLONE} and .gitattributes: commit that file");
            }
            GitReport::Uninstalled { attributes: false, clone: true } => {
                let _ = writeln!(text, "removed from {CLONE}; .gitattributes lacks the lines");
            }
            GitReport::Uninstalled { attributes: false, clone: false } => {
                text.push_str("nothing was installed\n");
            }
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
