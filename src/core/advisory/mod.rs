//! Advisories of the Go vulnerability database, and which of them a program is affected by.
//!
//! Judged as `govulncheck -mode=binary` does at module level: whether an affected module is in the program, at an affected
//! version, for the platform. Whether its code is ever reached is not known. What cannot be compared is unknown, and said.
//!
//! The documents that say what a database has.

mod entry;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use entry::{Advisory, ByModule, GoVersion};

use crate::goinfo::{GoInfo, GoModule};

/// Why a document of a database cannot be used. The caller names the document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadDocument(String);

impl From<serde_json::Error> for BadDocument {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// The name of the standard library in the database.
pub const STDLIB: &str = "stdlib";

/// The name of the `go` command and its like in the database.
pub const TOOLCHAIN: &str = "toolchain";

/// The page of an advisory, if its id is one of the Go vulnerability database.
pub fn page_of(id: &str) -> Option<String> {
    let number = id.strip_prefix("GO-")?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_number.then(|| format!("https://pkg.go.dev/vuln/{id}"))
}

/// One part of a program that advisories are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// The path of the module.
    pub module: String,
    /// Its version.
    pub version: GoVersion,
    /// True if the program does not name this version: then it is the version of the locked release.
    pub is_locked_version: bool,
}

/// The parts of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Components {
    /// Those that can be judged.
    pub known: Vec<Component>,
    /// The others, with why not.
    pub unknown: Vec<(String, &'static str)>,
}

impl Components {
    /// The parts of a program of a release of this version. `toolchain` adds the toolchain itself.
    pub fn of(info: &GoInfo, locked: &str, toolchain: bool) -> Self {
        let mut parts = Self::default();
        for name in [STDLIB, TOOLCHAIN].into_iter().take(1 + usize::from(toolchain)) {
            parts.add(name, GoVersion::of_toolchain(&info.go), "its Go version is none that was released");
        }
        let main = info.main();
        if main.is_none() {
            parts.unknown.push(("its dependencies".to_owned(), "it was built without modules"));
        }
        for module in main.iter().filter(|main| matches!(main.built().version.as_str(), "" | "(devel)")) {
            // The record does not say; the release does.
            let version = GoVersion::parse(locked).filter(|_| module.replace.is_none());
            parts.add(&module.path, version, "its version is not known");
            parts.known.iter_mut().filter(|it| it.module == module.path).for_each(|it| it.is_locked_version = true);
        }
        let versioned = main.filter(|main| !matches!(main.built().version.as_str(), "" | "(devel)"));
        for module in versioned.into_iter().chain(info.dependencies()) {
            parts.add_module(&module);
        }
        parts
    }

    fn add_module(&mut self, module: &GoModule) {
        if module.is_local() {
            self.unknown.push((module.path.clone(), "it was replaced by a local directory"));
            return;
        }
        let built = module.built();
        self.add(&built.path, GoVersion::parse(&built.version), "its version cannot be compared");
    }

    fn add(&mut self, module: &str, version: Option<GoVersion>, otherwise: &'static str) {
        match version {
            Some(version) => {
                self.known.push(Component { module: module.to_owned(), version, is_locked_version: false });
            }
            None => self.unknown.push((module.to_owned(), otherwise)),
        }
    }
}

/// `index/modules.json`: which advisories there are about a module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdvisoryIndex(BTreeMap<String, Vec<ListedAdvisory>>);

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
struct OsvModule {
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

impl AdvisoryIndex {
    /// Reads `index/modules.json`.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadDocument> {
        let modules: Vec<OsvModule> = serde_json::from_slice(bytes)?;
        let is_name = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let bad = modules.iter().flat_map(|module| &module.vulns).find(|listed| !is_name(&listed.id));
        if let Some(bad) = bad {
            return Err(BadDocument(format!("{:?} is not the id of an advisory", bad.id)));
        }
        let mut index = BTreeMap::new();
        for OsvModule { path, vulns } in modules {
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
