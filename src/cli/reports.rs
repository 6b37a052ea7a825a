//! Writes report files, and the step summary of GitHub Actions.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::Environment;
use super::args::Global;
use crate::disk::root_files;
use crate::error::{Error, ErrorKind};
use crate::redact;
use crate::report::{Format, Style, shown};

/// Writes the reports of a run. `render` gives its result, or its error, in one format.
pub(super) fn write(
    global: &Global,
    environment: &Environment,
    render: impl Fn(Format, Style) -> String,
) -> Result<(), Error> {
    let dialect = global.tool.and_then(super::args::Tool::dialect);
    let plain = Style { dialect, detail: global.detail(), ..Style::default() };
    let requested = global.report.iter().map(|(format, file)| (*format, environment.directory.join(file)));
    let mut errors = Vec::new();
    for (format, file) in requested {
        errors.extend(
            root_files::write_report(&file, &redact::secrets(&render(format, plain)))
                .err()
                .map(|reason| unwritable(&file, &reason)),
        );
    }
    if let Some(file) = step_summary(global, environment) {
        errors.extend(
            append(&file, &redact::secrets(&render(Format::Markdown, plain)))
                .err()
                .map(|reason| unwritable(&file, &reason)),
        );
    }
    Error::all(errors).map_or(Ok(()), Err)
}

/// The step summary file, if annotations were requested.
fn step_summary(global: &Global, environment: &Environment) -> Option<PathBuf> {
    let file = environment.variables.get("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty())?;
    global.has(Format::Github).then(|| environment.directory.join(file))
}

fn append(file: &Path, text: &str) -> std::io::Result<()> {
    std::fs::File::options().append(true).create(true).open(file)?.write_all(text.as_bytes())
}

fn unwritable(file: &Path, reason: &std::io::Error) -> Error {
    Error::new(ErrorKind::Disk, format!("cannot write the report {}: {reason}", shown(file))).in_file(file)
}
