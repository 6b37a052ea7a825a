//! What a run says of what is not among its root modules: numbers, and notes on directories without a lock file and on lock files that
//! Git ignores. Also on variables that do not count.

use std::path::{Path, PathBuf};

use super::{Targets, Unlocked};
use crate::config::RootKind;
use crate::outcome::{NotCounted, Notes, Outcome};
use crate::path::shown;
use crate::settings::Variables;
use crate::step::{Step, Value};
use crate::words::counted;
use crate::workspace::ignored::{self, IgnoredLockFile, IgnoredLockFiles};
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

    /// The notes on root modules with a backend and without a lock file, which a command reads nothing of.
    pub fn notes_on_unlocked(&self) -> Notes {
        let unlocked = self.outcomes.iter().filter(|root| root.body.is_ok()).map(|root| &root.path);
        let unlocked = unlocked.filter(|path| !self.beside.ignored.contains_key(*path));
        let lacking = |first: &str, count: usize| match count {
            1 => format!("the root module {first} has a backend and no lock file"),
            _ => format!("{count} root modules with a backend have no lock file, such as {first}"),
        };
        let mut notes: Notes = self.with_writers(unlocked, lacking).collect();
        notes.extend(self.note_on_ignored_roots());
        notes
    }

    /// What some directories lack, by the first of them and their number, and the command that writes it: `lock -r --create` passes
    /// over some.
    fn with_writers<'p>(
        &self,
        directories: impl Iterator<Item = &'p PathBuf>,
        lacking: impl Fn(&str, usize) -> String,
    ) -> impl Iterator<Item = Step> {
        let (created, others): (Vec<&PathBuf>, Vec<&PathBuf>) = directories.partition(|path| self.is_created(path));
        let lacking = |paths: &[&PathBuf]| {
            let first = shown(paths.first()?);
            Some(lacking(if first.is_empty() { "." } else { &first }, paths.len()))
        };
        let them = if created.len() == 1 { "it" } else { "them" };
        let of_created = lacking(&created).map(|lack| step!("{}: `tflock lock -r --create` writes {}", lack, them));
        let place = others.first().map(|first| shown(&self.path_from_here(first))).unwrap_or_default();
        let of_others = lacking(&others).map(|lack| step!("{}: `tflock -C {} lock` writes it there", lack, place));
        of_created.into_iter().chain(of_others)
    }

    /// The notes on directories that may need a lock file, and get none.
    pub fn notes_on_new(&self) -> Notes {
        let first = self.beside.withheld.first();
        if let Some((first, caller)) = first.and_then(|first| Some((first, self.beside.unread_caller_of(first)?))) {
            let note = format!(
                "no lock file is created in {} with configuration, such as {}: {} may install any of them as its module, \
                 and its sources are not read",
                counted(self.beside.withheld.len(), "directory"),
                shown(first),
                shown(caller)
            );
            return Notes::from(vec![note]);
        }
        let lacking = |first: &str, count: usize| match count {
            1 => format!("{first} looks like a new root module and has no lock file"),
            _ => format!("{first} and {} more look like new root modules and have no lock file", count - 1),
        };
        let notes = self.with_writers(self.beside.like_roots.iter(), lacking);
        notes.map(|note| step!("{}; the setting `exclude` leaves directories out", Value::Step(note))).collect()
    }

    /// The notes on units without a lock file: it is a choice to have none, and one to have that of the module alone.
    pub fn notes_on_units(&self) -> impl Iterator<Item = Step> {
        let is_created = self.unlocked == Unlocked::Created;
        let not_created = if is_created { self.beside.by_reason() } else { Vec::new() };
        let not_created = not_created.into_iter().map(|(reason, count)| {
            let units = if count == 1 { "1 unit gets".to_owned() } else { format!("{count} units get") };
            Step::from(format!("{units} no lock file: {reason}"))
        });
        let of_none = if is_created { None } else { self.note_on_units_without() };
        let of_modules = &self.beside.unlocked_units.of_modules;
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

    /// The note on units without a lock file, of which `lock -r --create` writes some, all or none.
    fn note_on_units_without(&self) -> Option<Step> {
        let all: Vec<&PathBuf> = self.beside.unlocked_units.paths.iter().collect();
        let (none, written): (Vec<&PathBuf>, Vec<&PathBuf>) =
            all.iter().copied().partition(|path| self.beside.why_none(path).is_some());
        let reason: Step = if let [(reason, _)] = self.beside.by_reason()[..] {
            format!(": {reason}").into()
        } else {
            step!(", for several reasons: `tflock lock -r --create` lists them")
        };
        let choice = "where that is a choice, name .terraform.lock.hcl in a .gitignore";
        let Some(first) = written.first() else {
            let units = such(&all, "has no lock file and gets none", "have no lock file and get none")?;
            return Some(step!("{}{}; {}", units, Value::Step(reason), choice));
        };
        let them = match (written.len(), all.len()) {
            (1, 1) => "it".to_owned(),
            (written, all) if written == all => "them".to_owned(),
            (written, _) => format!("{written} of them"),
        };
        // Nothing else decides about a new lock file.
        let written = if self.needs_tool(first) {
            step!(
                "`tflock lock -r --create --tool TOOL` writes {}, with terraform or tofu for TOOL, whichever Terragrunt runs",
                them
            )
        } else {
            step!("`tflock lock -r --create` writes {}", them)
        };
        let rest = such(&none, "gets none", "get none").map(|units| step!("; {}{}", units, Value::Step(reason)));
        let units = such(&all, "has no lock file", "have no lock file")?;
        Some(step!("{}: {}{}; {}", units, Value::Step(written), Value::Step(rest.unwrap_or_default()), choice))
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
        let what = if is_created { "not created" } else { "not checked" };
        let sentence = self.ignored(|path, file| (is_created || file.exists) && !self.is_root(path))?;
        Some(format!("{what}: {sentence}; {}", ignored::WAYS_ON))
    }

    /// The note on root modules that lack a lock file since Git ignores it.
    pub fn note_on_ignored_roots(&self) -> Option<String> {
        Some(format!("{}: {}", self.ignored(|path, _| self.is_root(path))?, ignored::WAYS_ON))
    }

    fn ignored(&self, is_noted: impl Fn(&PathBuf, &IgnoredLockFile) -> bool) -> Option<String> {
        let noted = self.beside.ignored.iter().filter(|(path, file)| is_noted(path, file));
        let noted: IgnoredLockFiles = noted.map(|(path, file)| (path.clone(), file.clone())).collect();
        ignored::sentence(&noted)
    }

    fn is_root(&self, path: &Path) -> bool {
        self.paths.iter().chain(self.outcomes.iter().map(|root| &root.path)).any(|known| known == path)
    }
}

/// `the unit a has none`, `3 units have none, such as a`; `None` without units.
fn such(units: &[&PathBuf], one: &str, many: &str) -> Option<String> {
    let first = shown(units.first()?);
    Some(match units.len() {
        1 => format!("the unit {first} {one}"),
        count => format!("{count} units {many}, such as {first}"),
    })
}
