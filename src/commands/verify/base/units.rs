//! The hosts of modules of units at the base: a computed source may name one of them, since no change chose it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Base, name_of};
use crate::addr::Hostname;
use crate::config::{ModuleSource, UNIT_FILES};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::path::RepoPath;
use crate::terragrunt::literal_source;

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
        let is_of_terragrunt = |path: &&str| {
            let name = name_of(path);
            UNIT_FILES.contains(&name) || name.ends_with(".hcl") && !name.starts_with('.')
        };
        let paths: Vec<RepoPath> = tree.paths().filter(is_of_terragrunt).map(RepoPath::from_git).collect();
        let texts = self.texts(&self.trusted, &paths)?;
        let sources =
            texts.iter().filter_map(|(path, text)| literal_source(path.as_ref(), &String::from_utf8_lossy(text)));
        Ok(sources.filter_map(|source| host_of(&source)).collect())
    }
}

fn host_of(source: &str) -> Option<Hostname> {
    let host = match source.strip_prefix("tfr://") {
        Some(rest) => rest.split('/').next()?.to_owned(),
        None => ModuleSource::parse(source, false, Dialect::Terraform).ok()?.host()?,
    };
    host.parse().ok()
}
