//! The providers that a state needs.
//!
//! Source: `internal/states/statefile/version4.go`: each resource names its provider configuration as
//! `provider["host/namespace/type"]`, in a module behind `module.NAME.`, with an alias before `.ALIAS`.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::addr::{AddrError, ProviderAddr, ProviderSource};
use crate::dialect::Dialect;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    #[error("the state is not the JSON document that it should be: {0}")]
    Json(String),
    /// A version before Terraform 0.12, or after what is known.
    #[error("the state has format version {0}, but only version 4 can be read, as `state pull` prints it")]
    Version(u64),
    #[error("the state names the provider {0:?}, which is not of the form provider[\"host/namespace/type\"]")]
    Provider(String),
    #[error("the state names an invalid provider: {0}")]
    Address(#[from] AddrError),
}

#[derive(Deserialize)]
struct State {
    version: u64,
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    #[serde(default)]
    provider: String,
}

/// The lockable providers of all resources in a state, as the file or `state pull` gives it, which prints nothing where there
/// is no state.
pub fn providers(text: &[u8], dialect: Dialect) -> Result<BTreeSet<ProviderAddr>, StateError> {
    if text.trim_ascii().is_empty() {
        return Ok(BTreeSet::new());
    }
    let state: State = serde_json::from_slice(text).map_err(|error| StateError::Json(error.to_string()))?;
    if state.version != 4 {
        return Err(StateError::Version(state.version));
    }
    let mut providers = BTreeSet::new();
    for resource in &state.resources {
        let bad = || StateError::Provider(resource.provider.clone());
        let (_, rest) = resource.provider.split_once("provider[\"").ok_or_else(bad)?;
        let (source, _) = rest.split_once("\"]").ok_or_else(bad)?;
        providers.extend(ProviderSource::parse(source, dialect)?.lockable());
    }
    Ok(providers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, StateError> {
        let found = providers(text.as_bytes(), Dialect::Terraform)?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn addresses_of_all_resources() {
        let text = r#"{"version":4,"terraform_version":"1.11.4","resources":[
            {"mode":"managed","provider":"provider[\"registry.terraform.io/hashicorp/null\"]"},
            {"module":"module.a","provider":"module.a.provider[\"example.com/acme/widget\"].west"},
            {"provider":"provider[\"terraform.io/builtin/terraform\"]"}]}"#;
        assert_eq!(read(text).unwrap(), ["example.com/acme/widget", "registry.terraform.io/hashicorp/null"]);
        for empty in ["", "\n", r#"{"version":4}"#] {
            assert_eq!(read(empty).unwrap(), Vec::<String>::new());
        }
    }

    #[test]
    fn what_is_no_state_is_refused() {
        assert!(matches!(read("{"), Err(StateError::Json(_))));
        assert_eq!(read(r#"{"version":3}"#), Err(StateError::Version(3)));
        let bad = r#"{"version":4,"resources":[{"provider":"provider.aws"}]}"#;
        assert_eq!(read(bad), Err(StateError::Provider("provider.aws".to_owned())));
    }
}
