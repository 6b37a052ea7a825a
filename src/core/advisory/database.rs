//! The documents that say what a database has.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{BadDocument, GoVersion};

/// `index/modules.json`: which advisories there are about a module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index(BTreeMap<String, Vec<ListedAdvisory>>);

/// An advisory in the index.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedAdvisory {
    /// Its id, of letters, digits and `-`: it names a file.
    pub id: String,
    /// When it was last changed.
    pub modified: String,
    /// The first version of the module that it is not about, nor any later one.
    pub fixed: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Module {
    path: String,
    vulns: Vec<ListedAdvisory>,
}

#[derive(Deserialize)]
struct Database {
    modified: String,
}

/// When a database was last changed, by its `index/db.json`.
pub fn modified(bytes: &[u8]) -> Result<String, BadDocument> {
    let Database { modified } = serde_json::from_slice(bytes)?;
    if modified.get(..10).is_some_and(|day| day.parse::<crate::settings::Date>().is_ok()) {
        return Ok(modified);
    }
    Err(BadDocument(format!("{modified:?} is not a time")))
}

impl Index {
    /// Reads `index/modules.json`.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadDocument> {
        let modules: Vec<Module> = serde_json::from_slice(bytes)?;
        let is_name = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let bad = modules.iter().flat_map(|module| &module.vulns).find(|listed| !is_name(&listed.id));
        if let Some(bad) = bad {
            return Err(BadDocument(format!("{:?} is not the id of an advisory", bad.id)));
        }
        let mut index = BTreeMap::new();
        for Module { path, vulns } in modules {
            if index.contains_key(&path) {
                return Err(BadDocument(format!("it lists the module {path} twice")));
            }
            index.insert(path, vulns);
        }
        Ok(Self(index))
    }

    /// The advisories that may be about a version of a module.
    pub fn advisories(&self, module: &str, version: &GoVersion) -> impl Iterator<Item = &ListedAdvisory> {
        let is_fixed = move |listed: &&ListedAdvisory| {
            let fixed = listed.fixed.as_deref().filter(|fixed| !fixed.is_empty());
            fixed.and_then(GoVersion::parse).is_some_and(|fixed| *version >= fixed)
        };
        self.0.get(module).into_iter().flatten().filter(move |listed| !is_fixed(listed))
    }
}
