//! Locked modules for users.

use std::fmt::Write;

use crate::count::counted;
use crate::modulelock::{ModuleChange, ModuleChangeKind};
use crate::outcome::{InstalledModules, ModuleHolder, OutdatedModule, UsedModule};
use crate::report::groups::root_modules;
use crate::report::paint::Paint;
use crate::report::table::Table;
use crate::report::{Style, printable, shown};

/// One line for each package whose lock changed, with the number of root modules if there are several.
pub(in crate::report) fn changes<'a>(
    changes: impl IntoIterator<Item = (&'a ModuleChange, usize)>,
    style: Style,
) -> String {
    changes.into_iter().fold(String::new(), |mut text, (change, count)| {
        let (sign, paint) = match change.kind {
            ModuleChangeKind::ContentReplaced => ('!', Paint::Bad),
            ModuleChangeKind::Added => ('+', Paint::Good),
            ModuleChangeKind::Removed => ('-', Paint::Bad),
            ModuleChangeKind::Downgraded => ('~', Paint::Bad),
            ModuleChangeKind::Upgraded | ModuleChangeKind::Moved | ModuleChangeKind::CallsChanged => {
                ('~', Paint::Careful)
            }
        };
        let about = match change.kind {
            ModuleChangeKind::Upgraded | ModuleChangeKind::Downgraded => change.key.source.clone(),
            _ => change.key.to_string(),
        };
        let roots = if count > 1 { format!("  ({})", root_modules(count)) } else { String::new() };
        let (about, sentence) = (printable(&about), change.sentence());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} module {about}  {}{roots}", style.paint(paint, sign), printable(&sentence));
        text
    })
}

/// One line for each call: its name, its source, and its place.
pub(super) fn list(used: &[UsedModule], style: Style) -> String {
    if used.is_empty() {
        return "no module from elsewhere is called\n".to_owned();
    }
    let row = |module: &UsedModule| {
        let commit = module.commit.as_deref().map(|commit| commit.get(..12).unwrap_or(commit));
        let locked = match (module.locked, commit) {
            (Some(true), Some(commit)) => commit,
            (Some(true), None) => "yes",
            (Some(false), _) => "no",
            (None, _) => "-",
        };
        let place = format!("{}:{}", shown(&module.file), module.position);
        let version = module.version.as_deref().unwrap_or("-");
        [&*module.call, &*module.source, version, locked, &*place].map(|cell| printable(cell).into_owned())
    };
    let rows: Vec<[String; 5]> = used.iter().map(row).collect();
    Table { headings: ["CALL", "SOURCE", "VERSION", "LOCKED", "AT"], rows }.text(style)
}

pub(super) fn installed(installed: &InstalledModules) -> String {
    let new = installed.modules.iter().filter(|module| module.changed).count();
    let count = installed.modules.len();
    let modules = counted(count, "module");
    let place = shown(&installed.path);
    let place = printable(&place);
    match new {
        0 if count == 0 => "no remote module is called; nothing to do\n".to_owned(),
        0 => format!("{modules} in {place}, all match the lock; nothing to do\n"),
        _ => format!("installed {new} of {modules} in {place}; all match the lock\n"),
    }
}

pub(super) fn versions(row: &OutdatedModule) -> [String; 4] {
    let text = |version: &Option<String>| version.clone().unwrap_or_else(|| "none".to_owned());
    let versions = &row.versions;
    let cells = [versions.source.clone(), text(&versions.selected), text(&versions.allowed), text(&versions.newest)];
    cells.map(|cell| printable(&cell).into_owned())
}

/// The constraint that excludes a newer version, optionally with its place.
pub(super) fn holder(holder: &ModuleHolder, with_place: bool) -> String {
    let place = if with_place { format!(" ({}:{})", shown(&holder.file), holder.position) } else { String::new() };
    printable(&format!("module.{} {}{place}", holder.call, holder.constraint)).into_owned()
}
