//! What a run says of what is not among its root modules: numbers, and notes on directories without a lock file and on lock files that
//! Git ignores. Also on variables that do not count.

use std::path::{Path, PathBuf};

use super::{Targets, Unlocked};
use crate::config::RootKind;
use crate::outcome::{NotCounted, Notes, Outcome, RootOutcome};
use crate::path::shown;
use crate::settings::Variables;
use crate::step::Step;
use crate::words::counted;
use crate::workspace::discover::UnlockedUnits;
use crate::workspace::ignored::{self, IgnoredLockFiles};
use crate::workspace::tool_of_new;

/// Variables by which Terragrunt reads something else than its units say.
const OF_TERRAGRUNT: [&str; 6] =
    ["TG_SOURCE", "TG_SOURCE_MAP", "TG_CONFIG", "TG_FEATURE", "TG_TF_PATH", "TG_TF_DEFAULT_REGISTRY_HOST"];

/// That such variables are set, and do not count here.
pub fn not_considered(outcome: &Outcome, variables: &Variables) -> Option<String> {
    let set: Vec<&str> = OF_TERRAGRUNT.into_iter().filter(|name| variables.get(name).is_some()).collect();
    if set.is_empty() || !outcome.kinds.values().any(|kind| *kind == RootKind::Unit) {
        return None;
    }
    let are = if set.len() == 1 { "is" } else { "are" };
    Some(format!("{} {are} not considered: Terragrunt may use something else than was read", set.join(", ")))
}

impl Targets<'_> {
    /// What was found and is not among them.
    pub fn not_counted(&self) -> NotCounted {
        NotCounted { excluded: self.beside.excluded, templates: self.beside.unlocked_units.templates.len() }
    }

    /// The notes on what has no lock file, or has one that Git ignores.
    pub fn notes(&self) -> Notes {
        let mut notes: Notes = self.notes_on_units().collect();
        notes.extend(self.note_on_ignored());
        notes
    }

    /// The note on root modules with a backend and without a lock file, which a command reads nothing of.
    pub fn note_on_unlocked(&self) -> Option<Step> {
        let unlocked: Vec<&RootOutcome> = self.outcomes.iter().filter(|root| root.body.is_ok()).collect();
        let first = shown(&unlocked.first()?.path);
        let first = if first.is_empty() { "." } else { &*first };
        Some(if unlocked.len() == 1 {
            step!("the root module {} has a backend and no lock file: `tflock lock -r --create` writes it", first)
        } else {
            step!(
                "{} root modules with a backend have no lock file, such as {}: `tflock lock -r --create` writes them",
                unlocked.len(),
                first
            )
        })
    }

    /// The note on directories that may need a lock file, and get none.
    pub fn note_on_new(&self) -> Option<Step> {
        let first = self.beside.withheld.first();
        if let Some((first, caller)) = first.and_then(|first| Some((first, self.beside.unread_caller_of(first)?))) {
            return Some(step!(
                "no lock file is created in {} with configuration, such as {}: {} may install any of them as its module, \
                 and its sources are not read",
                counted(self.beside.withheld.len(), "directory"),
                shown(first),
                shown(caller)
            ));
        }
        let first = shown(self.beside.like_roots.first()?);
        let (is, them) = match self.beside.like_roots.len() {
            1 => (format!("{first} looks like a new root module and has"), "one"),
            count => (format!("{first} and {} more look like new root modules and have", count - 1), "them"),
        };
        Some(step!(
            "{} no lock file: `tflock lock -r --create` writes {}; the setting `exclude` leaves directories out",
            is,
            them
        ))
    }

    /// The notes on units without a lock file: it is a choice to have none, and one to have that of the module alone.
    pub fn notes_on_units(&self) -> impl Iterator<Item = Step> {
        let UnlockedUnits { paths, of_modules, .. } = &self.beside.unlocked_units;
        let is_created = self.unlocked == Unlocked::Created;
        let not_created = if is_created { self.beside.unlocked_units.by_reason() } else { Vec::new() };
        let not_created = not_created.into_iter().map(|(reason, count)| {
            let units = if count == 1 { "1 unit gets".to_owned() } else { format!("{count} units get") };
            Step::from(format!("{units} no lock file: {reason}"))
        });
        let of_none = paths.first().filter(|_| !is_created).map(|first| {
            let units = if paths.len() == 1 { "1 unit has".to_owned() } else { format!("{} units have", paths.len()) };
            // Nothing else decides about a new lock file.
            if self.needs_tool(first) {
                return step!(
                    "{} no lock file, such as {}: `tflock lock -r --create --tool TOOL` writes those of units that are read, \
                     with terraform or tofu for TOOL, whichever Terragrunt runs; where that is a choice, name \
                     .terraform.lock.hcl in a .gitignore",
                    units,
                    shown(first)
                );
            }
            step!(
                "{} no lock file, such as {}: `tflock lock -r --create` writes those of units that are read; where that is \
                 a choice, name .terraform.lock.hcl in a .gitignore",
                units,
                shown(first)
            )
        });
        let count = of_modules.values().map(Vec::len).sum();
        let first = of_modules.iter().find_map(|(module, units)| Some((shown(units.first()?), shown(module))));
        let of_module = first.map(|(unit, module)| {
            let units = counted(count, "unit");
            step!(
                "{} without a lock file, such as {}: Terragrunt uses that of the module, such as {}",
                units,
                unit,
                module
            )
        });
        not_created.chain(of_none).chain(of_module)
    }

    /// True for a unit without a lock file of which nothing says which tool runs it: then none is created.
    pub fn needs_tool(&self, unit: &Path) -> bool {
        let is_unit = self.beside.unlocked_units.paths.iter().any(|path| path == unit);
        let place = self.unlocked_places.get(unit).filter(|_| is_unit && self.scope.tool.is_none());
        place.is_some_and(|place| tool_of_new(place, &self.scope.modules).is_none())
    }

    /// A note on lock files that Git ignores, next to others: of those that exist, and of those that are not created.
    fn note_on_ignored(&self) -> Option<String> {
        let is_created = self.unlocked == Unlocked::Created;
        let is_reported = |path: &PathBuf| self.paths.contains(path) || self.outcomes.iter().any(|it| it.path == *path);
        let noted = self.beside.ignored.iter().filter(|(path, file)| (is_created || file.exists) && !is_reported(path));
        let noted: IgnoredLockFiles = noted.map(|(path, file)| (path.clone(), file.clone())).collect();
        let what = if is_created { "not created" } else { "not checked" };
        Some(format!("{what}: {}; {}", ignored::sentence(&noted)?, ignored::WAYS_ON))
    }
}
