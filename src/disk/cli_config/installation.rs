//! `provider_installation`: the methods in order, as data.

use std::path::PathBuf;

use super::decode::{Decoded, number, text_of, texts_of, truth_of};
use super::{CliConfig, missing, repeated, wrong};
use crate::dialect::Dialect;
use crate::finding::Position;
use crate::hcl::hcl1::{Item, Object, Value};

/// An explicit `provider_installation`. Without methods nothing can be installed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Installation {
    /// In the order of the file.
    pub methods: Vec<Method>,
    /// `dev_overrides`, in the order of the file.
    pub dev_overrides: Vec<DevOverride>,
    pub position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    pub kind: MethodKind,
    /// Patterns as written; empty means all.
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MethodKind {
    Direct {
        download_retry_count: Option<u32>,
    },
    FilesystemMirror {
        /// As written.
        path: PathBuf,
    },
    NetworkMirror {
        url: String,
        download_retry_count: Option<u32>,
        /// Whether hashes of all platforms are trusted (`tofu` only).
        trust_all_hashes: bool,
    },
    /// An OCI registry (`tofu` only).
    OciMirror {
        /// The template over `hostname`, `namespace` and `type`, as written.
        repository_template: String,
    },
}

/// `"ADDRESS" = "DIRECTORY"` of `dev_overrides`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevOverride {
    pub address: String,
    pub path: PathBuf,
}

/// Takes the block of a further file; a second one in all files together is refused.
pub(super) fn merge(config: &mut CliConfig, document: &Object, dialect: Dialect) -> Decoded<()> {
    // Unlike other settings these names are compared with their case, as in the tools.
    for item in document.items.iter().filter(|item| item.keys[0] == "provider_installation") {
        if config.installation.is_some() {
            return Err(repeated(item.position, "provider_installation"));
        }
        let mut installation = Installation { position: item.position, ..Installation::default() };
        for body in bodies(item)? {
            for method in &body.items {
                for arguments in bodies(method)? {
                    add(&mut installation, method, arguments, dialect)?;
                }
            }
        }
        config.installation = Some(installation);
    }
    Ok(())
}

fn bodies(item: &Item) -> Decoded<Vec<&Object>> {
    match &item.value {
        Value::Object(_) | Value::List(_) if item.keys.len() == 1 && !item.assigned => Ok(item.value.objects()),
        _ => Err(wrong(item.position, format_args!("{} must be a block without label and equals sign", item.keys[0]))),
    }
}

fn add(installation: &mut Installation, method: &Item, body: &Object, dialect: Dialect) -> Decoded<()> {
    let name = method.keys[0].as_str();
    let tofu = dialect == Dialect::OpenTofu;
    let retries = || if tofu { number(body, "download_retry_count") } else { Ok(None) };
    let kind = match name {
        "direct" => MethodKind::Direct { download_retry_count: retries()? },
        "filesystem_mirror" => MethodKind::FilesystemMirror { path: required(method, body, "path")?.into() },
        "network_mirror" => MethodKind::NetworkMirror {
            url: required(method, body, "url")?,
            download_retry_count: retries()?,
            trust_all_hashes: match body.fields("trust_all_hashes").last() {
                Some(item) if tofu => truth_of(item)?,
                _ => false,
            },
        },
        "oci_mirror" if tofu => {
            MethodKind::OciMirror { repository_template: required(method, body, "repository_template")? }
        }
        "dev_overrides" if installation.methods.is_empty() => {
            for item in &body.items {
                let path = PathBuf::from(text_of(item)?);
                installation.dev_overrides.push(DevOverride { address: item.keys[0].clone(), path });
            }
            return Ok(());
        }
        "dev_overrides" => {
            let late = "the dev_overrides block must come before all other installation methods";
            return Err(wrong(method.position, late));
        }
        _ => {
            let mut error = wrong(method.position, format_args!("unknown provider installation method {name:?}"));
            if name == "oci_mirror" {
                error.hints = vec!["oci_mirror is a method of OpenTofu: use --tool tofu".to_owned()];
            }
            return Err(error);
        }
    };
    let (include, exclude) = (texts_of(body, "include")?, texts_of(body, "exclude")?);
    installation.methods.push(Method { kind, include, exclude, position: method.position });
    Ok(())
}

fn required(method: &Item, body: &Object, name: &'static str) -> Decoded<String> {
    let text = body.fields(name).last().map(text_of).transpose()?.unwrap_or_default();
    if text.is_empty() {
        return Err(missing(method.position, &method.keys[0], name));
    }
    Ok(text.to_owned())
}
