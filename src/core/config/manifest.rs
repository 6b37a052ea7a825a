//! `modules.json`: which modules are installed, and where.
//!
//! Source: `internal/modsdir/manifest.go`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::module_version::ModuleVersion;

/// The installed modules, by their path of call names joined by dots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest(BTreeMap<String, Installed>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub source: String,
    /// The version; only modules of registries have one.
    pub version: Option<ModuleVersion>,
    /// The directory, relative to the root module, with forward slashes.
    pub dir: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    #[error("this is not a list of installed modules (line {line}, column {column})")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    #[error("module {0:?} is recorded twice")]
    Duplicate(String),
    #[error("module {key:?} is recorded with the version {version:?}, which is not a version")]
    Version { key: String, version: String },
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "Modules", default)]
    modules: Option<Vec<Record>>,
}

#[derive(Deserialize)]
struct Record {
    #[serde(rename = "Key", default)]
    key: String,
    #[serde(rename = "Source", default)]
    source: String,
    #[serde(rename = "Version", default)]
    version: Option<String>,
    #[serde(rename = "Dir", default)]
    dir: String,
}

impl Manifest {
    pub fn decode(text: &str) -> Result<Self, ManifestError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let document: Document = serde_json::from_str(text)
            .map_err(|error| ManifestError::Json { line: error.line(), column: error.column() })?;
        let mut modules = BTreeMap::new();
        for Record { key, source, version, dir } in document.modules.unwrap_or_default() {
            let version = match version.filter(|version| !version.is_empty()) {
                None => None,
                Some(text) => match text.parse() {
                    Ok(version) => Some(version),
                    Err(_) => return Err(ManifestError::Version { key, version: text }),
                },
            };
            if modules.insert(key.clone(), Installed { source, version, dir }).is_some() {
                return Err(ManifestError::Duplicate(key));
            }
        }
        Ok(Self(modules))
    }

    /// Records a module; gives what was recorded of it.
    pub fn insert(&mut self, key: String, installed: Installed) -> Option<Installed> {
        self.0.insert(key, installed)
    }

    /// Takes out the records of a module and of those below it; true if there were any.
    pub fn remove_with_below(&mut self, key: &str) -> bool {
        let (before, prefix) = (self.0.len(), format!("{key}."));
        self.0.retain(|other, _| other != key && !other.starts_with(&prefix));
        self.0.len() < before
    }

    /// The text, as the tools write it.
    ///
    /// Source: `internal/modsdir/manifest.go`, `WriteSnapshot`; Go's `encoding/json` for what is escaped.
    pub fn encode(&self) -> String {
        let record = |(key, installed): (&String, &Installed)| {
            let version = installed.version.as_ref();
            let version = version.map(|version| format!("\"Version\":{},", quoted(version.as_str())));
            format!(
                "{{\"Key\":{},\"Source\":{},{}\"Dir\":{}}}",
                quoted(key),
                quoted(&installed.source),
                version.unwrap_or_default(),
                quoted(&installed.dir)
            )
        };
        let records: Vec<String> = self.0.iter().map(record).collect();
        format!("{{\"Modules\":[{}]}}", records.join(","))
    }

    /// True if a module below one is recorded.
    pub fn has_below(&self, key: &str) -> bool {
        let prefix = if key.is_empty() { String::new() } else { format!("{key}.") };
        self.0.range(prefix.clone()..).any(|(key, _)| !key.is_empty() && key.starts_with(&prefix))
    }

    pub fn get(&self, key: &str) -> Option<&Installed> {
        self.0.get(key)
    }
}

/// A string as Go writes it, which escapes what could end a script.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    let mut quoted = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => quoted.extend(format!("\\u{:04x}", u32::from(c)).chars()),
            c => quoted.push(c),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_by_key() {
        let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a.b","Source":"h.io/x/y/z","Version":"1.2.0","Dir":"d"}]}"#;
        let manifest = Manifest::decode(text).unwrap();
        let installed = manifest.get("a.b").unwrap();
        assert_eq!((&*installed.source, &*installed.dir), ("h.io/x/y/z", "d"));
        assert_eq!(installed.version.as_ref().map(ModuleVersion::as_str), Some("1.2.0"));
        assert_eq!(manifest.get("").unwrap().version, None);
        assert_eq!(["", "a", "a.b", "b"].map(|key| manifest.has_below(key)), [true, true, false, false]);
        assert_eq!(Manifest::decode(""), Ok(Manifest::default()));
        assert_eq!(Manifest::decode("{}"), Ok(Manifest::default()));
    }

    #[test]
    fn what_was_read_is_written_again() {
        let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"git::https://h/x?depth=1\u0026ref=v1","Dir":"d"},{"Key":"a.b","Source":"h.io/x/y/z","Version":"1.2.0","Dir":"d/e"},{"Key":"ab","Source":"./m","Dir":"m"}]}"#;
        let mut manifest = Manifest::decode(text).unwrap();
        assert_eq!(manifest.encode(), text);
        assert!(manifest.remove_with_below("a"));
        assert!(!manifest.remove_with_below("a"));
        assert_eq!(
            manifest.encode(),
            r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"ab","Source":"./m","Dir":"m"}]}"#
        );
    }

    #[test]
    fn what_the_tools_refuse_is_refused() {
        let twice = r#"{"Modules":[{"Key":"a"},{"Key":"a"}]}"#;
        assert_eq!(Manifest::decode(twice), Err(ManifestError::Duplicate("a".into())));
        let version = r#"{"Modules":[{"Key":"a","Version":"x"}]}"#;
        assert!(matches!(Manifest::decode(version), Err(ManifestError::Version { .. })));
        assert_eq!(Manifest::decode("[1"), Err(ManifestError::Json { line: 1, column: 2 }));
    }
}
