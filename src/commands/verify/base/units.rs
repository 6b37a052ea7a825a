//! Where the modules of units come from, at the base and now. A computed source may name a host that a unit of the base has in a source
//! without anything computed, since no change chose it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::{Base, name_of};
use crate::addr::Hostname;
use crate::commands::verify::root::{GateRoot, GateRoots};
use crate::config::{ModuleSource, RootKind, UNIT_FILES};
use crate::dialect::Dialect;
use crate::disk::roots::{UnitMemo, UnitOptions, source_of_unit};
use crate::error::Error;
use crate::path::{RepoPath, shown};
use crate::redact;
use crate::terragrunt::{Files, Found, literal_source};
use crate::words::counted;

/// How many changes of sources are named.
const MOST: usize = 10;

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

    /// What the change does to the sources of units, as they are evaluated: a note for each source before and after.
    pub(in crate::commands::verify) fn changed_sources(&self, roots: &GateRoots) -> Result<Vec<String>, Error> {
        let opened = roots.iter().filter_map(|(_, root)| root.as_ref().ok());
        let units: Vec<&GateRoot> =
            opened.filter(|root| root.tree().is_some_and(|tree| tree.kind == RootKind::Unit)).collect();
        if units.is_empty() {
            return Ok(Vec::new());
        }
        let files = FilesBefore::of(self)?;
        let mut changes: BTreeMap<[Option<String>; 2], Vec<String>> = BTreeMap::new();
        for root in units {
            let settings = root.settings();
            let way = self.way_to(&settings.place);
            let options = settings.unit_options();
            let old = match files.unit_file(&way) {
                Some(name) => {
                    let options = UnitOptions { memo: Arc::clone(&files.memo), ..options.clone() };
                    source_of_unit(&settings.root, Some((&files, name)), &options)
                }
                None => Ok(None),
            };
            // Of a unit that cannot be read the source is not known; its error says so.
            let (Ok(old), Ok(new)) = (old, source_of_unit(&settings.root, None, &options)) else { continue };
            if old != new {
                changes.entry([old, new]).or_default().push(shown(&settings.path));
            }
        }
        let more = changes.len().saturating_sub(MOST);
        let more = (more > 0).then(|| format!("{} changed", counted(more, "more source")));
        Ok(changes
            .iter()
            .take(MOST)
            .map(|([old, new], units)| changed_source(old.as_ref(), new.as_ref(), units))
            .chain(more)
            .collect())
    }
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

/// The files of the merge base, at the paths that they have in the working tree.
struct FilesBefore<'b> {
    base: &'b Base,
    /// What was read, from the top: at first what most units read.
    texts: RefCell<BTreeMap<String, Option<Arc<[u8]>>>>,
    memo: Arc<UnitMemo>,
}

impl<'b> FilesBefore<'b> {
    fn of(base: &'b Base) -> Result<Self, Error> {
        let paths = base.before.tree().paths().filter(|path| is_of_terragrunt(path));
        let texts = base.texts(&base.before, &paths.map(RepoPath::from_git).collect::<Vec<_>>())?;
        let texts = texts.into_iter().map(|(path, text)| (path, Some(text.into()))).collect();
        Ok(Self { base, texts: RefCell::new(texts), memo: Arc::default() })
    }

    /// The name of the file of the unit in a directory.
    fn unit_file(&self, way: &RepoPath) -> Option<&'static str> {
        let names = self.base.before.names_in(way);
        UNIT_FILES.into_iter().rev().find(|name| names.contains(name))
    }

    /// A path from the top; `None` outside of the working tree.
    fn within(&self, path: &str) -> Option<RepoPath> {
        Some(RepoPath::of(Path::new(path).strip_prefix(&self.base.top).ok()?))
    }
}

impl Files for FilesBefore<'_> {
    fn read(&self, path: &str) -> Found<Arc<[u8]>> {
        let Some(within) = self.within(path) else { return outside() };
        let Some(file) = self.base.before.tree().resolve(&within) else { return Found::Missing };
        let known = self.texts.borrow().get(&*file).cloned();
        let text = known.unwrap_or_else(|| {
            let text = self.base.texts(&self.base.before, std::slice::from_ref(&file)).ok();
            let text = text.and_then(|mut texts| Some(Arc::from(texts.remove(&*file)?)));
            self.texts.borrow_mut().insert(file.to_string(), text.clone());
            text
        });
        text.map_or(Found::Missing, Found::Is)
    }

    fn is_directory(&self, path: &str) -> Found<bool> {
        let Some(within) = self.within(path) else { return outside() };
        let tree = self.base.before.tree();
        match tree.resolve(&within) {
            Some(_) => Found::Is(false),
            None if tree.below(&within).next().is_some() => Found::Is(true),
            None => Found::Missing,
        }
    }

    fn list(&self, path: &str) -> Found<Vec<(String, bool)>> {
        let Some(within) = self.within(path) else { return outside() };
        let start = within.prefix().len();
        let below = self.base.before.tree().below(&within).map(|path| &path[start..]);
        let entries = below.map(|path| path.split_once('/').map_or((path, false), |(directory, _)| (directory, true)));
        let entries: BTreeSet<(String, bool)> =
            entries.map(|(name, is_directory)| (name.to_owned(), is_directory)).collect();
        if entries.is_empty() { Found::Missing } else { Found::Is(entries.into_iter().collect()) }
    }
}

fn outside<T>() -> Found<T> {
    Found::Denied("which is outside of the working tree".to_owned())
}

/// True for the names of files that Terragrunt may read as its own.
fn is_of_terragrunt(path: &str) -> bool {
    let name = name_of(path);
    let is_hcl = name.rsplit_once('.').is_some_and(|(stem, end)| end == "hcl" && !stem.is_empty());
    UNIT_FILES.contains(&name) || is_hcl && !name.starts_with('.')
}

fn host_of(source: &str) -> Option<Hostname> {
    let host = match source.strip_prefix("tfr://") {
        Some(rest) => rest.split('/').next()?.to_owned(),
        None => ModuleSource::parse(source, false, Dialect::Terraform).ok()?.host()?,
    };
    host.parse().ok()
}
