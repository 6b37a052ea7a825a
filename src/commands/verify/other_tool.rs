//! What the other tool reads of the configuration: it would install providers that this lock file may not have.

use crate::addr::{ProviderAddr, default_host};
use crate::dialect::Dialect;
use crate::disk::roots::{MissingModules, Tree, TreeOptions, load_tree};
use crate::finding::{Finding, Level, Position, Rule};
use crate::lockfile::LockFile;
use crate::requirements::Requirement;
use crate::verify::entry;
use crate::workspace::RunSettings;

/// The findings about requirements of only the other tool; `own` is the tree that the lock file's tool reads.
pub(super) fn findings(settings: &RunSettings, own: Option<&Tree>, lock: Option<&LockFile>) -> Vec<Finding> {
    if own.is_some_and(|tree| !tree.differs_by_tool) {
        return Vec::new();
    }
    let other = settings.dialect.other();
    let options = TreeOptions { dialect: other, ..settings.tree_options(MissingModules::Skip) };
    // Unreadable configuration installs nothing.
    let Ok(tree) = load_tree(&settings.root, &options) else {
        return Vec::new();
    };
    let required = |addr: &ProviderAddr| own.is_some_and(|tree| tree.requirements.get(addr).is_some());
    let only_there =
        tree.requirements.iter().filter(|(addr, _)| !required(addr) && !required(&translated(addr, other)));
    let is_locked = |addr| lock.is_some_and(|lock| lock.get(addr).is_some());
    only_there.flat_map(|(addr, requirement)| of_provider(settings, (addr, requirement), is_locked(addr))).collect()
}

/// Maps a provider of the other tool's default registry to this tool's, since a short address can mean either.
fn translated(addr: &ProviderAddr, other: Dialect) -> ProviderAddr {
    if *addr.host() == default_host(other) { addr.at(default_host(other.other())) } else { addr.clone() }
}

fn of_provider(
    settings: &RunSettings,
    (addr, requirement): (&ProviderAddr, &Requirement),
    is_locked: bool,
) -> Vec<Finding> {
    let program = settings.dialect.other().program();
    let mut findings = Vec::new();
    let of_releases = entry::of_all_releases(addr, &settings.settings);
    for finding in entry::of_address(addr, &settings.settings).into_iter().chain(of_releases) {
        findings.push(finding.remarked(format_args!("`{program}` reads files that require it")));
    }
    if findings.is_empty() && !is_locked {
        let message = format!("`{program}` reads files that require {addr}, for which the lock file has no entry");
        findings.push(Finding::new(Rule::EntryMissing, message).about(addr).at_level(Level::Note));
    }
    let placed = |finding: Finding| match requirement.origins.first() {
        Some(origin) => finding.in_file(&origin.file).at(origin.position),
        None => finding.at(Position::default()),
    };
    findings.into_iter().map(placed).collect()
}
