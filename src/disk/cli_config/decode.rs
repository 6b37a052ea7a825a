//! One file's text into the configuration that the earlier files made; with credentials for OCI registries, of OpenTofu only.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{CliConfig, CredentialsHelper, missing, repeated, wrong};
use crate::addr::Hostname;
use crate::dialect::Dialect;
use crate::disk::cli_config;
use crate::disk::oci_credentials::OciCredential;
use crate::error::Error;
use crate::hcl::hcl1::{self, Hcl1Value, Item, Object};
use crate::settings::{Secret, Variables};

/// What goes wrong here has a place, but no file yet.
pub(super) type DecodeResult<T> = Result<T, Error>;

pub(super) fn merge(config: &mut CliConfig, text: &str, dialect: Dialect, variables: &Variables) -> DecodeResult<()> {
    let document = hcl1::parse(text).map_err(|error| wrong(error.position, &error))?;
    if let Some(item) = document.fields("plugin_cache_dir").last() {
        let dir = expand(text_of(item)?, variables);
        if config.plugin_cache_dir.is_none() && !dir.is_empty() {
            config.plugin_cache_dir = Some(PathBuf::from(dir));
        }
    }
    if let Some(item) = document.fields("plugin_cache_may_break_dependency_lock_file").last() {
        config.plugin_cache_may_break_lock |= truth_of(item)?;
    }
    for (label, item, body) in labelled(&document, "host")? {
        config.hosts.insert(hostname("host", label, item)?, services(body));
    }
    for (label, item, body) in labelled(&document, "credentials")? {
        let host = hostname("credentials", label, item)?;
        let token = body.items.iter().rfind(|item| item.keys == ["token"]).and_then(|item| item.value.as_text());
        if token == Some("") {
            config.warnings.push(format!("the token of the credentials block {label:?} is empty and is not used"));
        }
        config.credentials.insert(host, token.and_then(Secret::new));
    }
    helper(config, &document)?;
    cli_config::merge(config, &document, dialect)?;
    if dialect == Dialect::OpenTofu {
        registry_protocols(config, &document)?;
        merge_oci(config, &document)?;
    }
    Ok(())
}

/// Blocks `name "label" { … }`, also written `name = { "label" = { … } }` and as in JSON.
pub(super) fn labelled<'a>(document: &'a Object, name: &'a str) -> DecodeResult<Vec<(&'a str, &'a Item, &'a Object)>> {
    let mut blocks = Vec::new();
    for item in document.fields(name) {
        let bodies = item.value.objects();
        if bodies.is_empty() && !matches!(&item.value, Hcl1Value::List(list) if list.is_empty()) {
            return Err(wrong_type(item, "a block"));
        }
        for body in bodies {
            match item.keys.as_slice() {
                [_, label, ..] => blocks.push((label.as_str(), item, body)),
                _ => blocks.extend(body.items.iter().flat_map(|inner| {
                    inner.value.objects().into_iter().map(move |body| (inner.keys[0].as_str(), inner, body))
                })),
            }
        }
    }
    Ok(blocks)
}

fn hostname(block: &'static str, label: &str, item: &Item) -> DecodeResult<Hostname> {
    Hostname::parse(label).map_err(|reason| {
        wrong(item.position, format_args!("the {block} block {label:?} has an invalid hostname: {reason}"))
    })
}

fn services(body: &Object) -> BTreeMap<String, String> {
    let objects = body.fields("services").flat_map(|item| item.value.objects());
    let texts = |item: &Item| Some((item.keys[0].clone(), item.value.as_text()?.to_owned()));
    let services: BTreeMap<_, _> = objects.flat_map(|object| object.items.iter().filter_map(texts)).collect();
    for address in services.values() {
        crate::redact::remember_in_path(address);
    }
    services
}

/// One helper in a file; one of the same name in a later file replaces it, one of another name is refused.
fn helper(config: &mut CliConfig, document: &Object) -> DecodeResult<()> {
    for (label, item, body) in labelled(document, "credentials_helper")? {
        if config.credentials_helper.as_ref().is_some_and(|helper| helper.name != label) {
            return Err(repeated(item.position, "credentials_helper"));
        }
        let args = texts_of(body, "args")?;
        config.credentials_helper = Some(CredentialsHelper { name: label.to_owned(), args });
    }
    Ok(())
}

fn registry_protocols(config: &mut CliConfig, document: &Object) -> DecodeResult<()> {
    for item in document.fields("registry_protocols") {
        for body in item.value.objects() {
            let protocols = &mut config.registry_protocols;
            protocols.retry_count = number(body, "retry_count")?.or(protocols.retry_count);
            let seconds = number(body, "request_timeout_seconds")?.filter(|seconds| *seconds > 0);
            protocols.request_timeout_seconds = seconds.or(protocols.request_timeout_seconds);
        }
    }
    Ok(())
}

/// A whole number, zero or more.
pub(super) fn number(body: &Object, name: &str) -> DecodeResult<Option<u32>> {
    let Some(item) = body.fields(name).last() else { return Ok(None) };
    let number = item.value.as_text().and_then(|text| text.parse().ok());
    number.map(Some).ok_or_else(|| wrong_type(item, "a whole number, zero or more"))
}

pub(super) fn text_of(item: &Item) -> DecodeResult<&str> {
    item.value.as_text().ok_or_else(|| wrong_type(item, "a string"))
}

/// A truth value, also written as a string or a number.
pub(super) fn truth_of(item: &Item) -> DecodeResult<bool> {
    match &item.value {
        Hcl1Value::Bool(value) => Ok(*value),
        Hcl1Value::String(text) | Hcl1Value::Number(text) => match text.to_ascii_lowercase().as_str() {
            "1" | "true" => Ok(true),
            "0" | "false" => Ok(false),
            _ => Err(wrong_type(item, "true or false")),
        },
        Hcl1Value::List(_) | Hcl1Value::Object(_) => Err(wrong_type(item, "true or false")),
    }
}

/// A list of texts; absent is empty, written twice is both.
pub(super) fn texts_of(body: &Object, name: &str) -> DecodeResult<Vec<String>> {
    let mut texts = Vec::new();
    for item in body.fields(name) {
        let Hcl1Value::List(list) = &item.value else { return Err(wrong_type(item, "a list of strings")) };
        for value in list {
            texts.push(value.as_text().ok_or_else(|| wrong_type(item, "a list of strings"))?.to_owned());
        }
    }
    Ok(texts)
}

fn wrong_type(item: &Item, wanted: &'static str) -> Error {
    wrong(item.position, format_args!("{} wants {wanted}, not {}", item.keys[0], item.value.kind()))
}

/// `$NAME` and `${NAME}` in a path; a variable that is not set is empty.
fn expand(text: &str, variables: &Variables) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, behind) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some(split) => split,
            None => after.split_at(after.find(|c| !is_name(c)).unwrap_or(after.len())),
        };
        // A lone dollar sign is literal.
        expanded.push_str(if name.is_empty() { "$" } else { variables.raw(name).unwrap_or_default() });
        rest = behind;
    }
    expanded + rest
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OciBlock {
    pub prefix: String,
    pub credential: Option<OciCredential>,
    /// The helper that knows them, by the name behind `docker-credential-`.
    pub helper: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OciDefaults {
    /// Whether what Docker and its like keep counts.
    pub discover_ambient_credentials: bool,
    /// The files in which they keep it; the usual ones if none.
    pub docker_style_config_files: Option<Vec<PathBuf>>,
    /// The helper for all registries.
    pub docker_credentials_helper: Option<String>,
}

impl Default for OciDefaults {
    fn default() -> Self {
        Self { discover_ambient_credentials: true, docker_style_config_files: None, docker_credentials_helper: None }
    }
}

/// Takes the blocks of a further file. A later block for the same repositories replaces an earlier one.
fn merge_oci(config: &mut CliConfig, document: &Object) -> DecodeResult<()> {
    for (label, item, body) in labelled(document, "oci_credentials")? {
        let block = block(label, item, body)?;
        config.oci_credentials.retain(|before| before.prefix != block.prefix);
        config.oci_credentials.push(block);
    }
    for item in document.fields("oci_default_credentials") {
        for body in item.value.objects() {
            if config.oci_defaults.is_some() {
                return Err(repeated(item.position, "oci_default_credentials"));
            }
            config.oci_defaults = Some(defaults(body)?);
        }
    }
    Ok(())
}

fn block(label: &str, item: &Item, body: &Object) -> DecodeResult<OciBlock> {
    let text = |name: &str| body.fields(name).last().map(text_of).transpose().map(|text| text.map(str::to_owned));
    let secret = |name: &str| text(name).map(|text| text.and_then(Secret::new));
    let helper = text("docker_credentials_helper")?;
    let credential = match (text("username")?, secret("password")?, secret("access_token")?, secret("refresh_token")?) {
        (Some(user), Some(password), ..) => Some(OciCredential::Password { user, password }),
        // Source: oras-go `registry/remote/auth`, `fetchBearerToken`: an access token is sent unchanged.
        (.., Some(token), _) => Some(OciCredential::AccessToken(token)),
        (.., Some(token)) => Some(OciCredential::RefreshToken(token)),
        _ => None,
    };
    if credential.is_none() && helper.is_none() {
        let name = "username and password, access_token or docker_credentials_helper";
        return Err(missing(item.position, &format!("oci_credentials {label:?}"), name));
    }
    Ok(OciBlock { prefix: label.to_owned(), credential, helper })
}

fn defaults(body: &Object) -> DecodeResult<OciDefaults> {
    let discover = body.fields("discover_ambient_credentials").last().map(truth_of).transpose()?;
    let files = match body.fields("docker_style_config_files").next() {
        Some(_) => Some(texts_of(body, "docker_style_config_files")?.into_iter().map(PathBuf::from).collect()),
        None => None,
    };
    let helper = body.fields("docker_credentials_helper").last().map(text_of).transpose()?;
    Ok(OciDefaults {
        discover_ambient_credentials: discover.unwrap_or(true),
        docker_style_config_files: files,
        docker_credentials_helper: helper.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::settings::Variables;

    fn decode(text: &str) -> CliConfig {
        CliConfig::decode(text, Dialect::OpenTofu, &Variables::default()).unwrap()
    }

    #[test]
    fn blocks() {
        let read = decode(
            "oci_credentials \"r.example\" {\n username = \"u\"\n password = \"p\"\n}\noci_credentials \"r.example/a\" {\n \
             access_token = \"t\"\n}\noci_credentials \"s.example\" {\n docker_credentials_helper = \"x\"\n}\n",
        );
        let secret = |text: &str| Secret::new(text).unwrap();
        let password = OciCredential::Password { user: "u".to_owned(), password: secret("p") };
        assert_eq!(read.oci_credentials[0].credential, Some(password));
        assert_eq!(read.oci_credentials[1].credential, Some(OciCredential::AccessToken(secret("t"))));
        assert_eq!(read.oci_credentials[2].helper.as_deref(), Some("x"));
        assert!(CliConfig::decode("oci_credentials \"r\" {\n}\n", Dialect::OpenTofu, &Variables::default()).is_err());
        // Terraform does not know the block.
        assert!(CliConfig::decode("oci_credentials \"r\" {\n}\n", Dialect::Terraform, &Variables::default()).is_ok());
    }

    #[test]
    fn defaults_for_all_registries() {
        assert_eq!(decode("").oci_defaults, None);
        let read =
            decode("oci_default_credentials {\n discover_ambient_credentials = false\n}\n").oci_defaults.unwrap();
        assert!(!read.discover_ambient_credentials && read.docker_style_config_files.is_none());
        let read = decode("oci_default_credentials {\n docker_style_config_files = []\n}\n").oci_defaults.unwrap();
        assert_eq!(read.docker_style_config_files, Some(Vec::new()));
    }
}
