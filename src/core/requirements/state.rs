//! The providers that a state needs.
//!
//! Source: `internal/states/statefile/version4.go`: each resource names its provider configuration as
//! `provider["host/namespace/type"]`, in a module behind `module.NAME.`, with an alias before `.ALIAS`.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::addr::{ProviderAddr, ProviderSource};
use crate::dialect::Dialect;

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
pub fn providers(text: &[u8], dialect: Dialect) -> Result<BTreeSet<ProviderAddr>, String> {
    if text.trim_ascii().is_empty() {
        return Ok(BTreeSet::new());
    }
    let state: State = serde_json::from_slice(text)
        .map_err(|error| format!("the state is not the JSON document that it should be: {error}"))?;
    if state.version != 4 {
        let wanted = "only version 4 can be read, as `state pull` prints it";
        return Err(format!("the state has format version {}, but {wanted}", state.version));
    }
    let mut providers = BTreeSet::new();
    for resource in &state.resources {
        let form = "which is not of the form provider[\"host/namespace/type\"]";
        let bad = || format!("the state names the provider {:?}, {form}", resource.provider);
        let (_, rest) = resource.provider.split_once("provider[\"").ok_or_else(bad)?;
        let (source, _) = rest.split_once("\"]").ok_or_else(bad)?;
        let source = ProviderSource::parse(source, dialect);
        providers.extend(source.map_err(|error| format!("the state names an invalid provider: {error}"))?.lockable());
    }
    Ok(providers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
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
        assert!(read("{").unwrap_err().contains("is not the JSON document"));
        assert!(read(r#"{"version":3}"#).unwrap_err().contains("format version 3"));
        let bad = r#"{"version":4,"resources":[{"provider":"provider.aws"}]}"#;
        assert!(read(bad).unwrap_err().contains("names the provider \"provider.aws\""));
    }
}
