//! Where the modules of units come from, at the base and now. A computed source may name a host that a unit of the base has in a source
//! without anything computed, since no change chose it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Base, name_of};
use crate::addr::Hostname;
use crate::config::{ModuleSource, UNIT_FILES};
use crate::dialect::Dialect;
use crate::disk::files;
use crate::error::Error;
use crate::path::RepoPath;
use crate::redact;
use crate::terragrunt::{literal_source, written_source};
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

    /// What the change does to the sources of units, and of files that they include: a note for each file.
    pub(in crate::commands::verify) fn changed_sources(&self) -> Result<Vec<String>, Error> {
        let paths: Vec<RepoPath> =
            self.changes.paths().filter(|path| is_of_terragrunt(path)).map(RepoPath::from_git).collect();
        let before = if paths.is_empty() { BTreeMap::new() } else { self.texts(&self.before, &paths)? };
        let source = |path: &RepoPath, text: &[u8]| written_source((**path).as_ref(), &String::from_utf8_lossy(text));
        let note = |path: &RepoPath| {
            let old = before.get(&**path).and_then(|text| source(path, text));
            let new = files::read(&self.top.join(&**path)).ok().flatten().and_then(|text| source(path, &text));
            if old == new {
                return None;
            }
            let shown = |source: Option<String>| source.map(|source| redact::module_source(&source));
            Some(match (shown(old), shown(new)) {
                (Some(old), Some(new)) => {
                    format!("{path}: the source of the module is {new}, and was {old} at the base")
                }
                (_, Some(new)) => format!("{path}: the source of the module is {new}, and there was none at the base"),
                (old, None) => {
                    let old = old.unwrap_or_default();
                    format!("{path}: there is no source of a module, and it was {old} at the base")
                }
            })
        };
        let notes: Vec<String> = paths.iter().filter_map(note).collect();
        let more = notes.len().saturating_sub(MOST);
        let more = (more > 0).then(|| format!("{} changed", counted(more, "more source")));
        Ok(notes.into_iter().take(MOST).chain(more).collect())
    }
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
