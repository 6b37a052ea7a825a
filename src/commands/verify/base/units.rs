//! The units of the base beside those of now: which lock file Terragrunt uses, which programs start, where modules come from. A computed
//! source may name a host that a unit of the base has in a source without anything computed, since no change chose it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use super::files_before::{FilesBefore, is_of_terragrunt};
use super::{Base, directory_of, name_of, touches};
use crate::addr::Hostname;
use crate::commands::verify::read_paths::ReadPaths;
use crate::commands::verify::root::{GateRoot, GateRoots, init_override};
use crate::config::{ModuleSource, UNIT_FILES, is_read};
use crate::dialect::Dialect;
use crate::disk::files;
use crate::disk::roots::{ModuleAccess, UnitFacts, UnitMemo, UnitOptions, UnreadPart, facts_of_unit, identity_of_unit};
use crate::error::Error;
use crate::finding::{Finding, Level, Position, Rule};
use crate::lockfile::{FILE_NAME, detect_dialect};
use crate::parallel::{self, locked};
use crate::path::{RepoPath, lexical, shown};
use crate::redact;
use crate::terragrunt::{Influence, literal_source};
use crate::workspace::{Readings, Scope, tool_of_new, tools, unit_options};

impl Base {
    /// The hosts of sources that files of Terragrunt have as they are, without anything computed.
    pub(in crate::commands::verify) fn hosts_of_units(&self) -> Result<Arc<BTreeSet<Hostname>>, Error> {
        self.hosts_of_units.get_or_init(|| self.read_hosts_of_units().map(Arc::new)).clone()
    }

    fn read_hosts_of_units(&self) -> Result<BTreeSet<Hostname>, Error> {
        let tree = self.trusted.tree();
        if !tree.paths().any(|path| UNIT_FILES.contains(&name_of(path))) {
            return Ok(BTreeSet::new());
        }
        let paths: Vec<RepoPath> = tree.paths().filter(|path| is_of_terragrunt(path)).map(RepoPath::from_git).collect();
        let texts = self.texts(&self.trusted, &paths)?;
        let sources =
            texts.iter().filter_map(|(path, text)| literal_source(path.as_ref(), &String::from_utf8_lossy(text)));
        Ok(sources.filter_map(|source| host_of(&source)).collect())
    }
}

/// What speaks for a lock file of a new unit.
pub(super) enum NewUnit {
    /// It is a template, or a lock file covers it.
    NeedsNone,
    /// Units of the base like it have one.
    LikeOthers(Box<Finding>),
    /// Nothing is known, or it is no unit.
    Other,
}

/// The included file that is deepest, so nearest to the unit.
fn nearest(includes: &[String]) -> Option<&String> {
    includes.iter().max_by_key(|path| path.split('/').count())
}

/// The lock file that Terragrunt uses in a unit: its own, else that of its module. `None` if there is none in the repository, or if that is
/// not known.
fn covering(way: &RepoPath, unit: &UnitFacts, is_there: impl Fn(&str) -> bool) -> Option<RepoPath> {
    let own = way.join(FILE_NAME);
    if unit.lock_file_left_out.is_none() && is_there(&own) {
        return Some(own);
    }
    let of_module = RepoPath::from_git(unit.module.as_deref()?).join(FILE_NAME);
    is_there(&of_module).then_some(of_module)
}

/// A note on units whose source changed.
fn changed_source(old: Option<&String>, new: Option<&String>, units: &[String]) -> String {
    let units = match units {
        [only] => only.clone(),
        units => format!("{} units, such as {}", units.len(), units[0]),
    };
    let shown = |source: &String| redact::module_source(source);
    match (old.map(shown), new.map(shown)) {
        (Some(old), Some(new)) => format!("{units}: the source of the module is {new}, and was {old} at the base"),
        (_, Some(new)) => format!("{units}: the source of the module is {new}, and there was none at the base"),
        (old, None) => {
            format!("{units}: there is no source of a module, and it was {} at the base", old.unwrap_or_default())
        }
    }
}

/// The units of the merge base, each read when it is asked for.
pub struct UnitsBefore<'b> {
    base: &'b Base,
    files: FilesBefore<'b>,
    /// What the command line says of modules and units.
    modules: ModuleAccess,
    readings: Readings,
    memo: Arc<UnitMemo>,
    known: Mutex<BTreeMap<RepoPath, Option<Arc<UnitFacts>>>>,
    origins: OnceLock<Origins>,
}

/// What all units of the base have that decides beyond their files.
#[derive(Default)]
struct Origins {
    programs: BTreeSet<String>,
    init_overrides: BTreeSet<String>,
    holes: BTreeSet<String>,
    /// Why something was assumed.
    assumed: BTreeSet<String>,
}

impl<'b> UnitsBefore<'b> {
    pub fn of(base: &'b Base, scope: &Scope) -> Result<Self, Error> {
        let mut units = Self {
            base,
            files: FilesBefore::of(&base.git, base.before.tree(), &base.changes)?,
            modules: scope.modules.clone(),
            readings: Readings::default(),
            memo: Arc::default(),
            known: Mutex::default(),
            origins: OnceLock::new(),
        };
        (units.readings.roots, units.readings.compares) = (units.ways().len(), true);
        Ok(units)
    }

    /// What the unit in the directory of a root module said; `None` if there was none, or if it could not be read.
    fn before(&self, root: &GateRoot) -> Option<Arc<UnitFacts>> {
        self.unit(&self.base.way_to(&root.settings().place))
    }

    fn unit(&self, way: &RepoPath) -> Option<Arc<UnitFacts>> {
        if let Some(known) = locked(&self.known).get(way) {
            return known.clone();
        }
        let facts = self.files.unit_file(way).and_then(|name| {
            let options = self.with_memo(self.options_of(way));
            let place = self.base.top.join(&**way);
            facts_of_unit(&place, Some((&self.files, name)), &options).ok().map(Arc::new)
        });
        locked(&self.known).insert(way.clone(), facts.clone());
        facts
    }

    /// The same options for files of the base.
    fn with_memo(&self, options: UnitOptions) -> UnitOptions {
        UnitOptions { memo: Arc::clone(&self.memo), ..options }
    }

    /// The directories of all units.
    fn ways(&self) -> Vec<RepoPath> {
        let files = self.base.before.tree().paths().filter(|path| UNIT_FILES.contains(&name_of(path)));
        let ways: BTreeSet<RepoPath> = files.map(|path| RepoPath::from_git(directory_of(path))).collect();
        ways.into_iter().collect()
    }

    fn origins(&self) -> &Origins {
        self.origins.get_or_init(|| {
            let units = parallel::consume(self.ways(), parallel::cores(), |way| self.unit(&way));
            let mut origins = Origins::default();
            for unit in units.into_iter().flatten() {
                let reasons = unit.notes.iter().map(|note| &note.reason);
                let of_holes = unit.holes.iter().map(|hole| &hole.part.reason);
                origins.assumed.extend(reasons.chain(of_holes).cloned());
                origins.holes.extend(unit.holes.iter().filter_map(|hole| hole.origin.clone()));
                origins.init_overrides.extend(unit.init_overrides.iter().map(|it| it.identity.clone()));
                origins.programs.extend(unit.programs.iter().map(|it| it.identity.clone()));
            }
            origins
        })
    }

    /// Why something was assumed of the units of the base; `None` without units now.
    pub fn assumed(&self, roots: &GateRoots) -> Option<&BTreeSet<String>> {
        let has_unit = roots.iter().filter_map(|(_, root)| root.as_ref().ok()).any(|root| root.unit().is_some());
        has_unit.then(|| &self.origins().assumed)
    }

    /// True if something of a unit is not read that was read at the base, or for another reason.
    pub(super) fn is_read_less(&self, root: &GateRoot) -> bool {
        let Some(now) = root.unit().filter(|unit| !unit.unread.is_empty()) else { return false };
        self.before(root).is_none_or(|before| now.is_read_less_than(&before))
    }

    /// True for a unit of which the same is read as at the base, and of which the rest comes from the same: nothing that decides about it
    /// changed.
    pub(super) fn is_as_before(&self, root: &GateRoot) -> Result<bool, Error> {
        let settings = root.settings();
        let (place, way) = (&settings.place, self.base.way_to(&settings.place));
        let (Some(tree), Some(name)) = (root.tree().filter(|tree| tree.unit.is_some()), self.files.unit_file(&way))
        else {
            return Ok(false);
        };
        let with_variables = !tree.needs_no_variables;
        let (options, options_before) = (settings.unit_options(), self.with_memo(settings.unit_options()));
        let now = identity_of_unit(place, None, with_variables, &options);
        let before = identity_of_unit(place, Some((&self.files, name)), with_variables, &options_before);
        let is_known = now.text.is_some() && now.text == before.text && !self.base.settings_changed;
        if !is_known || now.files.iter().any(|file| self.base.changes.touch(file)) {
            return Ok(false);
        }
        // What Terragrunt reads counts by what it says; what the module reads counts by itself.
        let changes = self.base.changes_beside_comments()?;
        let is_of_module = |name: &str| is_read(name) && !UNIT_FILES.contains(&name);
        let is_evaluated = |place: &Path| {
            let name = place.file_name().unwrap_or_default().to_string_lossy();
            !is_of_module(&name) && now.asked.contains(place)
        };
        let evaluated = changes.paths().filter(|path| is_evaluated(&self.base.top.join(path))).collect();
        let mut read = ReadPaths { listed: Vec::new(), ..root.read() };
        read.files.retain(|file| !is_evaluated(&lexical(&self.base.top, file)));
        Ok(!touches(&changes.without(&evaluated), settings.places(), &read))
    }

    /// The values in generated files of a unit that are not known, and that no unit of the base has, or whose files changed.
    pub(super) fn lost_holes(&self, root: &GateRoot) -> Vec<UnreadPart> {
        let Some(unit) = root.unit() else { return Vec::new() };
        let mut lost = Vec::new();
        for hole in unit.holes.iter().filter(|hole| !hole.is_harmless) {
            let is_old = hole.origin.as_ref().is_some_and(|origin| self.origins().holes.contains(origin));
            if !is_old || hole.files.iter().any(|file| self.base.changes.touch(Path::new(file))) {
                lost.push(UnreadPart { reason: hole.part.reason.clone(), place: hole.part.place.clone() });
            }
        }
        lost
    }

    /// The findings about what decides what `init` installs, and that no unit of the base has.
    pub(super) fn new_overrides(&self, root: &GateRoot) -> Vec<Finding> {
        let Some(unit) = root.unit() else { return Vec::new() };
        let is_new =
            |it: &&Influence| !self.origins().init_overrides.contains(&it.identity) || self.changes_files_of(it);
        unit.init_overrides.iter().filter(is_new).map(init_override).collect()
    }

    /// True if a file changed that something names.
    fn changes_files_of(&self, influence: &Influence) -> bool {
        let changes = &self.base.changes;
        influence.files.iter().map(Path::new).any(|file| changes.touch(file) || changes.touch_below(file))
    }

    /// True if a file changed that a program of a unit, or what decides about its `init`, names.
    pub(super) fn has_changed_influence(&self, root: &GateRoot) -> bool {
        let influences = root.unit().into_iter().flat_map(|unit| unit.programs.iter().chain(&unit.init_overrides));
        influences.into_iter().any(|influence| self.changes_files_of(influence))
    }

    /// What speaks for a lock file of a unit that the base does not have.
    pub(super) fn new_unit(&self, way: &RepoPath) -> NewUnit {
        let place = self.base.top.join(&**way);
        let is_unit = UNIT_FILES.iter().any(|name| files::is_there(&place.join(name)));
        let options = self.options_of(way);
        let Some(unit) = is_unit.then(|| facts_of_unit(&place, None, &options).ok()).flatten() else {
            return NewUnit::Other;
        };
        if unit.is_template || covering(way, &unit, |path| self.base.changes.knows(path)).is_some() {
            return NewUnit::NeedsNone;
        }
        let Some(included) = nearest(&unit.includes).filter(|_| unit.unread.is_empty()) else { return NewUnit::Other };
        let includes_it = |other: &RepoPath| {
            other != way && self.unit(other).is_some_and(|it| nearest(&it.includes) == Some(included))
        };
        let like_it: Vec<RepoPath> = self.ways().into_iter().filter(includes_it).collect();
        let has_lock = |way: &&RepoPath| self.base.before.tree().kind(&way.join(FILE_NAME)).is_some();
        let with_lock = like_it.iter().filter(has_lock).count();
        let level = match with_lock {
            0 => return NewUnit::Other,
            all if all == like_it.len() => Level::Deny,
            _ => Level::Warn,
        };
        let of = match (with_lock, like_it.len()) {
            (1, 1) => format!("the unit of the base that includes {included} has one"),
            (with, all) if with == all => format!("all {all} units of the base that include {included} have one"),
            (with, all) => format!("{with} of {all} units of the base that include {included} have one"),
        };
        let message = format!("the new unit {} has no dependency lock file, and {of}", shown(Path::new(&**way)));
        let finding = Finding::new(Rule::LockFileMissing, message).unless_stated(level).in_file(&*way.join(FILE_NAME));
        let remedy = if tool_of_new(&place, &ModuleAccess::default()).is_some() {
            step!("Run `tflock lock -r --create` and commit the file.")
        } else {
            // No lock file is created for a tool that nothing names.
            let tool = self.tool_of(&like_it).map_or("TOOL", Dialect::program);
            step!("Run `tflock -C {} lock --tool {}` and commit the file.", &**way, tool)
        };
        NewUnit::LikeOthers(Box::new(finding.remedied_by(remedy)))
    }

    /// The tool of all lock files of some units of the base; `None` if it is not one.
    fn tool_of(&self, units: &[RepoPath]) -> Option<Dialect> {
        let locks: Vec<RepoPath> = units.iter().map(|way| way.join(FILE_NAME)).collect();
        let texts = self
            .base
            .git
            .files_of(self.base.before.tree(), &locks.iter().map(|lock| &**lock).collect::<Vec<_>>())
            .ok()?;
        let tools: Vec<Dialect> = texts.into_iter().flatten().filter_map(|text| detect_dialect(&text)).collect();
        tools.first().copied().filter(|first| tools.iter().all(|tool| tool == first))
    }

    /// The finding for a root module for which the repository names another tool than at the base, and than the one of its lock file.
    pub(super) fn other_tool(&self, root: &GateRoot) -> Option<Finding> {
        let settings = root.settings();
        if settings.settings.dialect().is_some() {
            return None;
        }
        let way = self.base.way_to(&settings.place);
        let named = |unit: Option<&UnitFacts>, files: &dyn Fn(&Path) -> Option<String>| {
            let program = unit.and_then(|unit| unit.program.clone());
            match program.as_deref().and_then(tools::of_program) {
                Some(tool) => Some((tool, format!("terraform_binary = {:?}", program.unwrap_or_default()))),
                None => tools::of_version_files(Path::new(&*way), files),
            }
        };
        let (now, what) = named(root.unit(), &|path| {
            let text = files::read(&self.base.top.join(path)).ok()??;
            Some(String::from_utf8_lossy(&text).into_owned())
        })?;
        let before = named(self.before(root).as_deref(), &|path| {
            let path = RepoPath::of(path);
            self.base.before.tree().kind(&path)?;
            Some(String::from_utf8_lossy(&self.files.text(&path)?).into_owned())
        });
        if now == settings.dialect || before.is_some_and(|(before, _)| before == now) {
            return None;
        }
        let message = format!(
            "{what} makes {} the tool now, and the lock file is one of {}",
            now.product(),
            settings.dialect.product()
        );
        Some(Finding::new(Rule::DialectChanged, message).in_file(FILE_NAME).at(Position::default()))
    }

    /// The findings about programs of a unit that no unit of the base starts, or of which a file changed.
    pub(super) fn new_programs(&self, root: &GateRoot) -> Vec<Finding> {
        let Some(unit) = root.unit().filter(|unit| !unit.programs.is_empty()) else { return Vec::new() };
        let before = self.before(root);
        let origins = || self.origins();
        let is_old = |it: &Influence| {
            let was_here =
                before.as_ref().is_some_and(|unit| unit.programs.iter().any(|old| old.identity == it.identity));
            was_here || origins().programs.contains(&it.identity)
        };
        let finding = |influence: &Influence| {
            let Influence { what, place, .. } = influence;
            let message = match (is_old(influence), self.changes_files_of(influence)) {
                (false, _) => format!("{what} starts a program, and the base has none like it"),
                (true, true) => format!("{what} starts a program, and a file that it names changed"),
                (true, false) => return None,
            };
            Some(Finding::new(Rule::ProgramChanged, message).in_file(&*place.file).at(place.position))
        };
        unit.programs.iter().filter_map(finding).collect()
    }

    /// The findings about units that a lock file of the base covered and that none covers now, or another one; `roots` are those with
    /// lock files, and the others are among the directories that are asked for.
    pub fn lost_coverage(&self, roots: &[&GateRoot], is_asked: impl Fn(&Path) -> bool + Sync) -> Vec<Finding> {
        let opened: BTreeMap<RepoPath, &GateRoot> =
            roots.iter().map(|root| (self.base.way_to(&root.settings().place), *root)).collect();
        let tree = self.base.before.tree();
        let (units, others): (Vec<RepoPath>, Vec<RepoPath>) = {
            let ways: BTreeSet<RepoPath> = self.ways().into_iter().collect();
            let locks = tree.paths().filter(|path| name_of(path) == FILE_NAME).map(directory_of);
            let others = locks.filter(|way| !ways.contains(*way)).map(RepoPath::from_git).collect();
            (ways.into_iter().collect(), others)
        };
        let has_before = |path: &str| tree.resolve(path).is_some();
        let is_suspect = |way: &RepoPath| match opened.get(way).and_then(|root| root.unit()) {
            Some(unit) => unit.lock_file_left_out.is_some() && has_before(&way.join(FILE_NAME)),
            // Units without a lock file are covered by those of modules.
            None => !others.is_empty() && !has_before(&way.join(FILE_NAME)) && is_asked(&self.base.top.join(&**way)),
        };
        let suspects = units.into_iter().filter(is_suspect).collect();
        let found = parallel::consume(suspects, parallel::cores(), |way: RepoPath| {
            self.lost_at(&way, opened.get(&way).copied())
        });
        found.into_iter().flatten().collect()
    }

    /// How a unit is read, also one that is no root module.
    fn options_of(&self, way: &RepoPath) -> UnitOptions {
        let settings = self.base.applied_settings(&self.base.top.join(&**way)).unwrap_or_default();
        unit_options(&settings, &self.modules, &self.readings)
    }

    fn lost_at(&self, way: &RepoPath, root: Option<&GateRoot>) -> Option<Finding> {
        let place = self.base.top.join(&**way);
        let tree = self.base.before.tree();
        let before = covering(way, &*self.unit(way)?, |path| tree.resolve(path).is_some())?;
        let name = UNIT_FILES.into_iter().rev().find(|name| files::is_there(&place.join(name)))?;
        let now = match root.and_then(GateRoot::unit) {
            Some(unit) => Ok(unit.clone()),
            None => facts_of_unit(&place, None, &self.options_of(way)),
        };
        let is_known = now.as_ref().is_ok_and(|unit| unit.module.is_some() || unit.unread.is_empty());
        let now = now.as_ref().ok().and_then(|unit| covering(way, unit, |path| self.base.changes.knows(path)));
        let own = way.join(FILE_NAME);
        let message = match now {
            Some(now) if before != own || now == before => return None,
            Some(now) => format!("Terragrunt used {before} at the base, and uses {now} now"),
            None if !is_known => {
                format!("Terragrunt used {before} at the base, and it is not known which lock file it uses now")
            }
            None => {
                format!("Terragrunt used {before} at the base, and no lock file of the repository covers the unit now")
            }
        };
        Some(Finding::new(Rule::CoverageLost, message).in_file(&*way.join(name)).at(Position::default()))
    }

    /// What the change does to the sources of units, as they are evaluated: a note for each source before and after.
    pub fn changed_sources(&self, roots: &GateRoots) -> Vec<String> {
        let mut changes: BTreeMap<[Option<String>; 2], Vec<String>> = BTreeMap::new();
        for root in roots.iter().filter_map(|(_, root)| root.as_ref().ok()) {
            let Some(now) = root.unit() else { continue };
            let is_new = self.files.unit_file(&self.base.way_to(&root.settings().place)).is_none();
            // Of a unit that cannot be read the source is not known; its error says so.
            let old = match self.before(root) {
                Some(before) => before.source.clone(),
                None if is_new => None,
                None => continue,
            };
            if old != now.source {
                changes.entry([old, now.source.clone()]).or_default().push(shown(&root.settings().path));
            }
        }
        changes.iter().map(|([old, new], units)| changed_source(old.as_ref(), new.as_ref(), units)).collect()
    }
}

fn host_of(source: &str) -> Option<Hostname> {
    let host = match source.strip_prefix("tfr://") {
        Some(rest) => rest.split('/').next()?.to_owned(),
        None => ModuleSource::parse(source, false, Dialect::Terraform).ok()?.host()?,
    };
    host.parse().ok()
}
