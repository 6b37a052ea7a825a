//! The results of `list` and `why` for users.

use std::fmt::Write;

use crate::count::nonzero;
use crate::hash::HashScheme;
use crate::outcome::{CallOnPath, Listed, Outdated, OutdatedReport, PassedOver, Required};
use crate::platform::Platform;
use crate::report::paint::Paint;
use crate::report::table::{Table, rows};
use crate::report::{Detail, Style, printable, shown};
use crate::requirements::{Origin, OriginKind};
use crate::trust::Fingerprint;
use crate::trust::pins::Signer;
use crate::version::Version;

/// How many places that only use a provider are listed for it.
pub(super) const MOST_USES: usize = 8;

/// One line for each entry, with long columns last. Constraints are shown only on request, since `why` prints them.
pub(in crate::report) fn list(entries: &[Listed], style: Style) -> Option<Table<7>> {
    let headings = ["PROVIDER", "VERSION", "CONSTRAINTS", "HASHES", "SIGNER", "REMARK", "PLATFORMS"];
    Table::of(headings, entries.iter().map(|listed| entry(listed, style)))
}

fn entry(listed: &Listed, style: Style) -> [String; 7] {
    let platforms: Vec<&str> = listed.platforms.iter().map(Platform::as_str).collect();
    [
        style.addr(&listed.address),
        listed.entry.version.to_string(),
        if style.detail == Detail::Verbose { listed.entry.constraints.to_string() } else { String::new() },
        counts(listed),
        listed.signer.as_ref().map(short_key).unwrap_or_default(),
        if listed.required == Some(false) { "not required".to_owned() } else { String::new() },
        printable(&platforms.join(", ")).into_owned(),
    ]
}

fn counts(listed: &Listed) -> String {
    let counts = [(HashScheme::H1, "h1"), (HashScheme::Zh, "zh"), (HashScheme::Other, "other")]
        .map(|(scheme, word)| (listed.entry.hashes.of(scheme).count(), word));
    let counts = nonzero(counts);
    if counts.is_empty() { "none".to_owned() } else { counts }
}

/// One line for each provider that has a newer release or must be newly selected; `None` if no provider has.
pub(in crate::report) fn outdated(report: &OutdatedReport, style: Style) -> Option<Table<6>> {
    let rows = report.rows.iter().filter(|row| row.is_noteworthy()).map(|row| versions(row, style));
    let headings = ["PROVIDER", "SELECTED", "ALLOWED", "NEWEST", "HELD BACK BY", "REGISTRY WARNING"];
    Table::of(headings, rows)
}

/// The text without outdated providers; empty if the versions of some are unknown.
pub(super) fn up_to_date(report: &OutdatedReport) -> String {
    if report.complete { "all providers are up to date\n".to_owned() } else { String::new() }
}

fn versions(row: &Outdated, style: Style) -> [String; 6] {
    let text = |version: &Option<Version>| version.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
    let holders = row.holders.iter().map(|origin| holder(origin, true));
    let held = holders.chain(skipped(row)).collect::<Vec<_>>().join(", ");
    [style.addr(&row.address), text(&row.selected), text(&row.allowed), text(&row.newest), held, warnings(row)]
}

pub(super) fn warnings(row: &Outdated) -> String {
    printable(&row.warnings.join("; ")).into_owned()
}

pub(super) fn skipped(row: &Outdated) -> Option<String> {
    let PassedOver { version, reason } = row.passed_over.first()?;
    let others = match row.passed_over.len() - 1 {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    Some(format!("{version} is excluded: {}{others}", printable(reason)))
}

/// The constraint that excludes a newer version, optionally with its place.
pub(super) fn holder(origin: &Origin, with_place: bool) -> String {
    let [place, _, constraint, module] = self::origin(origin);
    let module = if module.is_empty() { String::new() } else { format!("{module} ") };
    let place = if with_place { format!(" ({place})") } else { String::new() };
    format!("{module}{constraint}{place}")
}

/// The last 16 digits, the usual short form of a key.
pub(super) fn short_key(signer: &Signer) -> String {
    signer.key().map_or(Signer::UNSIGNED, Fingerprint::short).to_owned()
}

/// Each provider with the places that require it.
pub(super) fn why(providers: &[Required], style: Style) -> String {
    let mut text = String::new();
    for provider in providers {
        if !text.is_empty() {
            text.push('\n');
        }
        let locked = provider.locked.as_ref().map_or("not locked".to_owned(), ToString::to_string);
        let addr = style.paint(Paint::Strong, style.addr(&provider.address));
        let constraints = &provider.requirement.constraints;
        // Writing to a string cannot fail.
        let _ = if constraints.is_empty() {
            writeln!(text, "{addr} {locked}")
        } else {
            writeln!(text, "{addr} {locked} ({constraints})")
        };
        let (shown, left) = shortened(&provider.requirement.origins, style.detail);
        let origins: Vec<[String; 4]> = shown.into_iter().map(|origin| origin_on_path(origin, provider)).collect();
        text.push_str(&rows("  ", &origins, style));
        if left > 0 {
            let _ = writeln!(text, "  and {left} more that require any version; -v shows them");
        }
    }
    text
}

/// How many of some lines are shown.
pub(super) fn rows_shown(count: usize, most: usize, detail: Detail) -> usize {
    if detail == Detail::Verbose || count <= most { count } else { most }
}

/// All origins with a constraint or source, the first few that only use the provider, and the number of the others.
fn shortened(origins: &[Origin], detail: Detail) -> (Vec<&Origin>, usize) {
    let mut room = if detail == Detail::Verbose { usize::MAX } else { MOST_USES };
    let shown: Vec<&Origin> = origins
        .iter()
        .filter(|origin| {
            let is_listed = origin.constraint.is_some() || origin.kind == OriginKind::RequiredProviders;
            is_listed || room.checked_sub(1).map(|rest| room = rest).is_some()
        })
        .collect();
    let left = origins.len() - shown.len();
    (shown, left)
}

/// Like `origin`, with the versions of the modules on the way.
pub(super) fn origin_on_path(requiring: &Origin, provider: &Required) -> [String; 4] {
    let [place, argument, constraint, caller] = origin(requiring);
    let path = provider.paths.get(&requiring.module).map(Vec::as_slice).unwrap_or_default();
    if requiring.in_tests || path.iter().all(|call| call.version.is_none()) {
        return [place, argument, constraint, caller];
    }
    let call = |call: &CallOnPath| match &call.version {
        Some(version) => format!("{} ({version})", call.name),
        None => call.name.clone(),
    };
    let calls: Vec<String> = path.iter().map(call).collect();
    [place, argument, constraint, printable(&format!("module.{}", calls.join(" > "))).into_owned()]
}

pub(super) fn origin(origin: &Origin) -> [String; 4] {
    let caller = if origin.module.is_empty() { String::new() } else { origin.caller() };
    let place = format!("{}:{}", shown(&origin.file), origin.position);
    let argument = match &origin.block {
        Some(block) => format!("{} {block}", origin.kind.as_str()),
        None => format!("{} {:?}", origin.kind.as_str(), origin.local_name),
    };
    let constraint = origin.constraint.as_deref().unwrap_or("any version");
    [place.as_str(), argument.as_str(), constraint, caller.as_str()].map(|cell| printable(cell).into_owned())
}
