//! Credentials for OCI registries: those of the CLI configuration, and those that Docker and its like keep.
//!
//! Of all that are for a repository the most specific count: for the longest part of its path, for its registry, for any.
//!
//! Source: opentofu `internal/command/cliconfig/ociauthconfig` and `oci_credentials.go`; `containers-auth.json(5)`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::cli_config::{OciBlock, OciDefaults};
use super::{files, helper};
use crate::path::shown;
use crate::settings::{Secret, Variables};

#[derive(Debug, Default)]
pub struct OciCredentials {
    blocks: Vec<OciBlock>,
    default_helper: Option<String>,
    files: Vec<PathBuf>,
    /// True if the user named the files, so each of them must exist.
    files_named: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OciCredential {
    Password {
        user: String,
        password: Secret,
    },
    /// A token that the registry itself takes.
    AccessToken(Secret),
    /// A token to exchange for an access token.
    RefreshToken(Secret),
}

enum FoundCredential {
    Here(OciCredential),
    Helper(String),
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct DockerFile {
    auths: BTreeMap<String, DockerAuth>,
    cred_helpers: BTreeMap<String, String>,
    creds_store: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DockerAuth {
    auth: String,
}

#[derive(Deserialize)]
struct HelperAnswer {
    #[serde(rename = "Username", default)]
    user: String,
    #[serde(rename = "Secret", default)]
    secret: String,
}

impl OciCredentials {
    pub fn new(blocks: &[OciBlock], defaults: &OciDefaults, variables: &Variables) -> Self {
        let files = match (&defaults.docker_style_config_files, defaults.discover_ambient_credentials) {
            (_, false) => Vec::new(),
            (Some(named), true) => named.clone(),
            (None, true) => ambient(variables),
        };
        Self {
            blocks: blocks.to_vec(),
            default_helper: defaults.docker_credentials_helper.clone(),
            files,
            files_named: defaults.docker_style_config_files.is_some(),
        }
    }

    /// The credentials for a repository of a registry. May start a helper, and blocks no longer than allowed.
    pub fn of(&self, registry: &str, name: &str, limit: Duration) -> Result<Option<OciCredential>, String> {
        let mut found: Vec<(usize, FoundCredential)> = Vec::new();
        for block in &self.blocks {
            if let Some(specificity) = specificity(&block.prefix, registry, name) {
                found.extend(block.found().map(|of_block| (specificity, of_block)));
            }
        }
        for file in &self.files {
            if let Some(file) = self.read(file)? {
                file.find(registry, name, &mut found);
            }
        }
        found.extend(self.default_helper.iter().map(|helper| (0, FoundCredential::Helper(helper.clone()))));
        // Of equals the first.
        let best = found.into_iter().rev().max_by_key(|(specificity, _)| *specificity);
        match best {
            None => Ok(None),
            Some((_, FoundCredential::Here(credential))) => Ok(Some(credential)),
            Some((_, FoundCredential::Helper(helper))) => call_helper(&helper, registry, limit),
        }
    }

    fn read(&self, file: &Path) -> Result<Option<DockerFile>, String> {
        let failed = |reason: &dyn std::fmt::Display| format!("{} cannot be read: {reason}", shown(file));
        let bytes = match files::read(file).map_err(|reason| failed(&reason))? {
            Some(bytes) => bytes,
            None if self.files_named => return Err(failed(&"it does not exist")),
            None => return Ok(None),
        };
        // What is wrong with it may quote what is there.
        serde_json::from_slice(&bytes).map(Some).map_err(|_| failed(&"it is not JSON of the form that Docker writes"))
    }
}

impl OciBlock {
    fn found(&self) -> Option<FoundCredential> {
        let of_helper = || Some(FoundCredential::Helper(self.helper.clone()?));
        self.credential.clone().map(FoundCredential::Here).or_else(of_helper)
    }
}

impl DockerFile {
    fn find(self, registry: &str, name: &str, found: &mut Vec<(usize, FoundCredential)>) {
        for (prefix, auth) in &self.auths {
            // Where a helper has the password, the entry is empty.
            let Some(specificity) = specificity(prefix, registry, name) else { continue };
            found.extend(auth.credential().map(|credential| (specificity, FoundCredential::Here(credential))));
        }
        let of_registry = self.cred_helpers.get(registry).filter(|helper| !helper.is_empty());
        found.extend(of_registry.map(|helper| (1, FoundCredential::Helper(helper.clone()))));
        if !self.creds_store.is_empty() {
            found.push((0, FoundCredential::Helper(self.creds_store)));
        }
    }
}

impl DockerAuth {
    fn credential(&self) -> Option<OciCredential> {
        let text = String::from_utf8(STANDARD.decode(self.auth.trim()).ok()?).ok()?;
        let (user, password) = text.split_once(':')?;
        // Docker pads passwords with zeros.
        let password = Secret::new(password.trim_end_matches('\0'))?;
        Some(OciCredential::Password { user: user.to_owned(), password })
    }
}

/// How well `REGISTRY[/PATH]` fits a repository: 1 for its registry, one more for each part of the path; `None` if it
/// is for a different one.
fn specificity(prefix: &str, registry: &str, name: &str) -> Option<usize> {
    let (own, path) = prefix.split_once('/').unwrap_or((prefix, ""));
    if own != registry {
        return None;
    }
    let mut parts = name.split('/');
    let path: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    path.iter().all(|part| parts.next() == Some(part)).then_some(1 + path.len())
}

/// Gets the password of a registry from `docker-credential-NAME`.
///
/// Source: `github.com/docker/docker-credential-helpers`.
fn call_helper(name: &str, registry: &str, limit: Duration) -> Result<Option<OciCredential>, String> {
    let program = format!("docker-credential-{name}");
    let answer = helper::docker_credential(&program, &format!("https://{registry}"), limit)?;
    let Some(answer) = answer else { return Ok(None) };
    let read: HelperAnswer =
        serde_json::from_slice(&answer).map_err(|_| format!("{program} did not answer with a JSON object"))?;
    let Some(secret) = Secret::new(read.secret) else { return Ok(None) };
    Ok(Some(match read.user.as_str() {
        "<token>" => OciCredential::RefreshToken(secret),
        user => OciCredential::Password { user: user.to_owned(), password: secret },
    }))
}

/// The files in which Docker and its like keep credentials, the first first.
fn ambient(variables: &Variables) -> Vec<PathBuf> {
    let home = variables.get("HOME").or_else(|| variables.get("USERPROFILE")).map(PathBuf::from);
    let config = variables.get("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(".config")));
    let runtime = variables.get("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|_| cfg!(target_os = "linux"));
    let auth = |folder: PathBuf| folder.join("containers/auth.json");
    let of_home = home.iter().flat_map(|home| [home.join(".docker/config.json"), home.join(".dockercfg")]);
    runtime.map(auth).into_iter().chain(config.map(auth)).chain(of_home).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = "dXNlcjpzZWNyZXQ="; // user:secret
    const OTHER: &str = "b3RoZXI6c2VjcmV0"; // other:secret

    fn docker(text: &str) -> (tempfile::TempDir, OciCredentials) {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".docker")).unwrap();
        std::fs::write(home.path().join(".docker/config.json"), text).unwrap();
        let variables: Variables = [("HOME", home.path().to_str().unwrap())].into_iter().collect();
        (home, OciCredentials::new(&[], &OciDefaults::default(), &variables))
    }

    fn user(credentials: &OciCredentials, registry: &str, name: &str) -> Option<String> {
        match credentials.of(registry, name, Duration::MAX).unwrap()? {
            OciCredential::Password { user, .. } => Some(user),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_most_specific_counts() {
        let text = format!(
            r#"{{"auths": {{"r.example": {{"auth": "{USER}"}}, "r.example/a/b": {{"auth": "{OTHER}"}}, "s.example": {{}}}}}}"#
        );
        let (_home, credentials) = docker(&text);
        assert_eq!(user(&credentials, "r.example", "a/c").as_deref(), Some("user"));
        assert_eq!(user(&credentials, "r.example", "a/b/c").as_deref(), Some("other"));
        assert_eq!(user(&credentials, "r.example", "a/bc").as_deref(), Some("user"));
        assert_eq!(user(&credentials, "s.example", "a"), None);
        assert_eq!(user(&credentials, "t.example", "a"), None);
    }

    #[test]
    fn blocks_count_before_files_that_are_as_specific() {
        let (_home, ambient) = docker(&format!(r#"{{"auths": {{"r.example": {{"auth": "{USER}"}}}}}}"#));
        let password = Secret::new("secret").unwrap();
        let credential = OciCredential::Password { user: "block".to_owned(), password };
        let block = OciBlock { prefix: "r.example".to_owned(), credential: Some(credential), helper: None };
        let credentials = OciCredentials { blocks: vec![block], ..ambient };
        assert_eq!(user(&credentials, "r.example", "a").as_deref(), Some("block"));
    }

    #[test]
    fn nothing_is_read_if_discovery_is_off() {
        let (home, _) = docker(&format!(r#"{{"auths": {{"r.example": {{"auth": "{USER}"}}}}}}"#));
        let variables: Variables = [("HOME", home.path().to_str().unwrap())].into_iter().collect();
        let defaults = OciDefaults { discover_ambient_credentials: false, ..OciDefaults::default() };
        assert_eq!(user(&OciCredentials::new(&[], &defaults, &variables), "r.example", "a"), None);
        let named = OciDefaults { docker_style_config_files: Some(vec!["/nowhere".into()]), ..OciDefaults::default() };
        assert!(OciCredentials::new(&[], &named, &variables).of("r.example", "a", Duration::MAX).is_err());
    }

    #[test]
    fn a_damaged_file_is_reported_without_its_content() {
        let (_home, credentials) = docker("{\"auths\": \"hunter2\"}");
        let refusal = credentials.of("r.example", "a", Duration::MAX).unwrap_err();
        assert!(refusal.contains("config.json") && !refusal.contains("hunter2"), "{refusal}");
    }
}
