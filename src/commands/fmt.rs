//! `fmt`: writes lock files in their canonical text.

use std::path::{Path, PathBuf};

use super::Services;
use super::shared::options::Within;
use crate::config::{self, RootKind};
use crate::dialect::Dialect;
use crate::disk::atomic::{FileMode, NewFile, store};
use crate::disk::below::{SurveyedDirectory, survey};
use crate::disk::files::{is_there, names_in};
use crate::disk::root_files::{self, DirectoryLock};
use crate::disk::roots::{ReadModuleLock, kind_of};
use crate::error::{Error, ErrorKind};
use crate::finding::Finding;
use crate::interrupt::What;
use crate::lockfile::{LockFile, LockName, decode, is_canonical, likely_dialect};
use crate::merge::Document;
use crate::outcome::{Body, FormattedFile, Outcome};
use crate::path::shown;
use crate::path::worktree::{absolute, boundary, place};
use crate::trust::pins;
use crate::workspace::{Exclusions, Scope, absent, dialect_of_text, refused};
use crate::{modulelock, settings};

/// Write the lock file as the tools write it.
///
/// Rewrites dependency lock files in their canonical text: order, spacing, each hash once. Refuses what the tools refuse.
/// Without FILE, it formats the lock file of the root module; `-` reads standard input and writes standard output.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock fmt\n  tflock fmt --check -r\n  git show HEAD:./.terraform.lock.hcl | tflock fmt -"
)]
pub(crate) struct FmtArgs {
    /// Write nothing; exit 1 if a file would change.
    #[arg(long)]
    pub(crate) check: bool,
    /// The lock files, or - for standard input.
    #[arg(value_name = "FILE|-")]
    pub(crate) files: Vec<PathBuf>,
    /// Format every lock file below.
    #[arg(short, long, conflicts_with = "files")]
    pub(crate) recursive: bool,
    #[command(flatten)]
    pub(crate) within: Within,
}

/// Writes lock files in their canonical text: to standard output for standard input, else in place with a line for each
/// file that changes. A file that cannot be formatted does not stop the others.
pub fn fmt(args: &FmtArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let mut formatted = Vec::new();
    let (files, mut errors) =
        if args.recursive { files_below(&services.scope) } else { (files(args, &services.scope), Vec::new()) };
    if !args.check {
        for file in &files {
            services.interrupt.expect(What::of_name(file), 1);
        }
    }
    for path in files {
        match one(&path, args.check, services) {
            Ok(file) => formatted.push(file),
            Err(error) => errors.push(error),
        }
    }
    let differs = args.check && formatted.iter().any(|file| file.changed);
    Ok(Outcome::of_body("fmt", Body::Formatted(formatted)).exit_1_if(differs).with_error(Error::all(errors)))
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Formatted {
    text: String,
    changed: bool,
    dialect: Dialect,
}

/// Formats the text of a lock file for `dialect`, else for the tool that the text belongs to, else for Terraform; next to
/// configuration of a kind, if that is known. Drops comments, module blocks and duplicate hashes, as the tools do.
fn format(text: &[u8], dialect: Option<Dialect>, kind: Option<RootKind>) -> Result<Formatted, Vec<Finding>> {
    let is_stack = kind.map(|kind| kind.traits().has_stacks_header);
    let dialect = dialect.unwrap_or_else(|| likely_dialect(text));
    let is_of_kind = is_stack.is_none_or(|is_stack| !is_stack && !LockFile::has_stacks_header(text));
    if let Ok(text) = std::str::from_utf8(text)
        && is_of_kind
        && is_canonical(text.as_bytes(), dialect)
    {
        return Ok(Formatted { text: text.to_owned(), changed: false, dialect });
    }
    let lock = decode(text, dialect)?.lock;
    if kind == Some(RootKind::Unit) && lock.is_without_header(text, dialect) {
        return Ok(Formatted { text: String::from_utf8_lossy(text).into_owned(), changed: false, dialect });
    }
    let lock = is_stack.into_iter().fold(lock, LockFile::of_kind);
    let formatted = lock.encode(dialect);
    Ok(Formatted { changed: formatted.as_bytes() != text, text: formatted, dialect })
}

fn files(args: &FmtArgs, scope: &Scope) -> Vec<PathBuf> {
    let is_stdin = |file: &Path| file == Path::new("-");
    let in_directory = |directory: &PathBuf| -> Vec<PathBuf> {
        if args.files.is_empty() {
            return locks_in(directory).chain(modules_in(directory)).collect();
        }
        args.files.iter().map(|file| if is_stdin(file) { file.clone() } else { directory.join(file) }).collect()
    };
    scope.directories().iter().flat_map(in_directory).collect()
}

/// The lock files of a directory; the ordinary one too if there is none.
fn locks_in(root: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let names = names_in(if root.as_os_str().is_empty() { Path::new(".") } else { root });
    let mut locks: Vec<LockName> = names.iter().filter_map(|name| LockName::of(name)).collect();
    locks.sort_unstable();
    if locks.is_empty() {
        locks.push(LockName::default());
    }
    let root = root.to_owned();
    locks.into_iter().map(move |name| root.join(name.as_str()))
}

fn modules_in(root: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let file = root.join(modulelock::FILE_NAME);
    is_there(&file).then_some(file).into_iter()
}

/// The lock files below the directories of a run, and errors about unreadable directories.
fn files_below(scope: &Scope) -> (Vec<PathBuf>, Vec<Error>) {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for directory in scope.directories() {
        let start = if directory.as_os_str().is_empty() { Path::new(".") } else { &directory };
        match survey(start, None) {
            Ok(found) => {
                let out = Exclusions::of_work_tree(start, found.places.iter().map(|place| place.path.as_path()));
                let top = absolute(start);
                let is_in = |place: &&SurveyedDirectory| place.has_lock() && !out.cover(&top.join(&place.path));
                let locked = found.places.iter().filter(is_in);
                for place in locked {
                    let root = directory.join(&place.path);
                    files.extend(place.locks.iter().map(|name| root.join(name.as_str())));
                    files.extend(modules_in(&root));
                }
                errors.extend(found.unreadable);
            }
            Err(error) => errors.push(error),
        }
    }
    (files, errors)
}

/// Formats one file. For standard input the text is part of the result.
fn one(path: &Path, check: bool, services: &Services<'_>) -> Result<FormattedFile, Error> {
    if path == Path::new("-") {
        let text = services.read_stdin()?;
        let formatted = canonical(Path::new("."), &text, Path::new("<stdin>"), &services.scope)?;
        let text = (!check).then_some(formatted.text);
        return Ok(FormattedFile { path: path.to_owned(), changed: formatted.changed, written: false, text });
    }
    if path.is_dir() && path.file_name().and_then(LockName::of_file).is_none() {
        let message = format!("{} is a directory, not a lock file", shown(path));
        let hint = step!("`tflock -C {} fmt` formats the lock file of the root module there", shown(path));
        return Err(Error::new(ErrorKind::Usage, message).hint(hint));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let read = || root_files::read_lock_file(path)?.ok_or_else(|| absent(path.to_owned(), directory));
    let (text, lock) = (read()?, DirectoryLock::acquire(directory)?);
    // Read again under the lock, since another run may have written meanwhile.
    let text = if check { text } else { read()? };
    // As all files in reports; outside of git as it was named.
    let named = place(directory).zip(path.file_name()).map_or(path.to_owned(), |(within, name)| within.join(name));
    let formatted = canonical(directory, &text, &named, &services.scope)?;
    let written = formatted.changed && !check;
    if written {
        let (bytes, what) = (formatted.text.as_bytes(), What::of_name(path));
        let file = NewFile { path, bytes, mode: FileMode::KeepOr(0o644), what };
        store(file, &boundary(directory), &services.interrupt)?;
    }
    drop(lock);
    Ok(FormattedFile { path: named, changed: formatted.changed, written, text: None })
}

fn canonical(directory: &Path, text: &[u8], named: &Path, scope: &Scope) -> Result<Formatted, Error> {
    if named.file_name().is_some_and(|name| Document::by_name(&name.to_string_lossy()) == Document::ModuleLock) {
        let read = ReadModuleLock::decode(text.to_owned(), named)?;
        let formatted = read.file.encode();
        return Ok(Formatted { changed: formatted != read.text, text: formatted, dialect: Dialect::Terraform });
    }
    let dialect = dialect_of_text(directory, text, scope)?;
    let name = named.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let is_configuration = config::is_root_configuration(&name);
    if is_configuration || [settings::FILE_NAME, pins::FILE_NAME].contains(&&*name) {
        let message = format!("{} is not a lock file, and `tflock fmt` formats nothing else", shown(named));
        let hint = if is_configuration {
            step!("`{} fmt` formats configuration", dialect.program())
        } else {
            "lock files are called .terraform.lock.hcl; without FILE, tflock formats the one of the root module".into()
        };
        return Err(Error::new(ErrorKind::Usage, message).in_file(named).hint(hint));
    }
    let kind = kind_of(directory, dialect);
    format(text, Some(dialect), kind)
        .map_err(|findings| refused(findings, &directory.join(named.file_name().unwrap_or_default()), named))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOSE: &[u8] = b"provider \"registry.opentofu.org/a/b\" {version = \"1.0.0\"}";

    #[test]
    fn the_text_shows_the_tool_unless_an_option_names_one() {
        let formatted = format(LOOSE, None, Some(RootKind::Module)).unwrap();
        assert_eq!((formatted.dialect, formatted.changed), (Dialect::OpenTofu, true));
        assert!(formatted.text.contains("\"tofu init\""));
        assert_eq!(
            format(LOOSE, Some(Dialect::Terraform), Some(RootKind::Module)).unwrap().dialect,
            Dialect::Terraform
        );
        assert_eq!(format(b"", None, Some(RootKind::Module)).unwrap().dialect, Dialect::Terraform);
    }

    #[test]
    fn a_canonical_text_stays_and_a_header_is_exchanged() {
        let tofu = format(LOOSE, None, Some(RootKind::Module)).unwrap().text;
        assert!(!format(tofu.as_bytes(), None, Some(RootKind::Module)).unwrap().changed);
        let terraform = format(tofu.as_bytes(), Some(Dialect::Terraform), Some(RootKind::Module)).unwrap();
        assert!(terraform.changed);
        assert_eq!(terraform.text, tofu.replace("tofu init", "terraform init"));
    }

    #[test]
    fn a_stack_has_its_own_header_and_no_constraints() {
        let text =
            "# x\nprovider \"registry.terraform.io/a/b\" {\n  version = \"1.0.0\"\n  constraints = \"1.0.0\"\n}\n";
        let of_stack = format(text.as_bytes(), None, Some(RootKind::Stack)).unwrap().text;
        assert!(
            of_stack.contains("stacks providers-lock") && of_stack.ends_with(" {\n  version = \"1.0.0\"\n}\n"),
            "{of_stack}"
        );
        let early = of_stack.replace("providers-lock", "providers lock");
        assert!(!format(early.as_bytes(), None, Some(RootKind::Stack)).unwrap().changed);
        assert!(!format(early.as_bytes(), None, None).unwrap().changed);
        assert!(format(early.as_bytes(), None, Some(RootKind::Module)).unwrap().text.contains("\"terraform init\""));
    }

    #[test]
    fn files_that_the_tool_refuses_are_refused() {
        let text = b"provider \"example.com/a/opentofu-x\" {\n  version = \"1.0.0\"\n}\n";
        assert!(format(text, None, Some(RootKind::Module)).is_ok());
        assert_eq!(format(text, Some(Dialect::OpenTofu), Some(RootKind::Module)).unwrap_err().len(), 1);
    }
}
