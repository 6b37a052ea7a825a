//! Credentials for OCI registries, of OpenTofu only.

use std::path::PathBuf;

use super::decode::{Decoded, labelled, text_of, texts_of, truth_of};
use super::{CliConfig, missing, repeated};
use crate::disk::oci_credentials::OciCredential;
use crate::hcl::hcl1::{Item, Object};
use crate::settings::Secret;

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
pub(super) fn merge(config: &mut CliConfig, document: &Object) -> Decoded<()> {
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

fn block(label: &str, item: &Item, body: &Object) -> Decoded<OciBlock> {
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

fn defaults(body: &Object) -> Decoded<OciDefaults> {
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
