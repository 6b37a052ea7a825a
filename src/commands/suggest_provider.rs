//! What a provider that does not exist was meant to be.

use std::collections::BTreeSet;

use super::Services;
use super::trust_store::TrustStore;
use crate::addr::ProviderAddr;
use crate::config::edit::suggest;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::outcome::{Outcome, RootOutcome};

/// Providers that many configurations require, as both default registries have them.
const WELL_KNOWN: [&str; 48] = [
    "Azure/azapi",
    "DataDog/datadog",
    "PagerDuty/pagerduty",
    "aliyun/alicloud",
    "auth0/auth0",
    "bpg/proxmox",
    "cloudflare/cloudflare",
    "confluentinc/confluent",
    "cyrilgdn/postgresql",
    "databricks/databricks",
    "digitalocean/digitalocean",
    "elastic/ec",
    "elastic/elasticstack",
    "fastly/fastly",
    "fluxcd/flux",
    "gitlabhq/gitlab",
    "grafana/grafana",
    "hashicorp/archive",
    "hashicorp/aws",
    "hashicorp/awscc",
    "hashicorp/azuread",
    "hashicorp/azurerm",
    "hashicorp/cloudinit",
    "hashicorp/consul",
    "hashicorp/dns",
    "hashicorp/external",
    "hashicorp/google",
    "hashicorp/google-beta",
    "hashicorp/helm",
    "hashicorp/http",
    "hashicorp/kubernetes",
    "hashicorp/local",
    "hashicorp/nomad",
    "hashicorp/null",
    "hashicorp/random",
    "hashicorp/template",
    "hashicorp/time",
    "hashicorp/tls",
    "hashicorp/vault",
    "hashicorp/vsphere",
    "hetznercloud/hcloud",
    "integrations/github",
    "kreuzwerker/docker",
    "linode/linode",
    "mongodb/mongodbatlas",
    "newrelic/newrelic",
    "okta/okta",
    "snowflakedb/snowflake",
];

/// Adds near names to errors about providers, as typed, that there are not.
pub(super) fn suggest_near(outcome: &mut Outcome, services: &Services<'_>, typed: &[&str]) {
    let Ok(roots) = services.named_roots() else { return };
    let dialect = outcome.dialect.unwrap_or(Dialect::Terraform);
    let mut known: BTreeSet<String> = WELL_KNOWN.map(str::to_owned).into();
    for root in &roots {
        // What cannot be read knows no provider.
        let bytes = crate::disk::lock_file::read(&root.lock_file()).ok().flatten().unwrap_or_default();
        let decoded = crate::lockfile::decode(&bytes, root.dialect).ok();
        let pins = TrustStore::load(&root.trust).map(|store| store.pins().clone()).unwrap_or_default();
        let pinned = pins.providers.keys().filter(|pattern| pattern.is_exact());
        let pinned = pinned.filter_map(|pattern| ProviderAddr::parse(&pattern.to_string(), dialect).ok());
        known.extend(pinned.map(|addr| addr.short(dialect)));
        known.extend(decoded.iter().flat_map(|decoded| decoded.lock.iter().map(|(addr, _)| addr.short(dialect))));
    }
    for RootOutcome { body, .. } in &mut outcome.roots {
        if let Err(error) = body {
            tell(error, typed, &known, dialect);
        }
    }
}

fn tell(error: &mut Error, typed: &[&str], known: &BTreeSet<String>, dialect: Dialect) {
    error.others.iter_mut().for_each(|error| one(error, typed, known, dialect));
    one(error, typed, known, dialect);
}

fn one(error: &mut Error, typed: &[&str], known: &BTreeSet<String>, dialect: Dialect) {
    if error.kind != ErrorKind::UnknownProvider {
        return;
    }
    let meant = |name: &&&str| ProviderAddr::parse(name, dialect).ok().as_ref() == error.address.as_deref();
    let Some(name) = typed.iter().find(meant) else { return };
    let mut hints: Vec<String> = foreign_letters(name).into_iter().collect();
    let near = suggest(name, known.iter().map(String::as_str));
    hints.extend(near.into_iter().filter(|near| near != name).map(|near| format!("did you mean {near}?")));
    if hints.is_empty() {
        hints.push("look the address up in the registry: namespace/type, or host/namespace/type".to_owned());
    }
    error.hints = hints;
}

/// Which characters of a name are not ASCII: they may look as if they were.
fn foreign_letters(name: &str) -> Option<String> {
    let foreign: Vec<String> =
        name.chars().filter(|c| !c.is_ascii()).map(|c| format!("{c:?} (U+{:04X})", u32::from(c))).collect();
    (!foreign.is_empty()).then(|| format!("it is written with {}, which is not an ASCII letter", foreign.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(typed: &str) -> Vec<String> {
        let addr = ProviderAddr::parse(typed, Dialect::Terraform).unwrap();
        let mut error = Error::new(ErrorKind::UnknownProvider, "none of that name").about(addr).hint("look elsewhere");
        let known = WELL_KNOWN.map(str::to_owned).into();
        tell(&mut error, &["acme/other", typed], &known, Dialect::Terraform);
        error.hints
    }

    #[test]
    fn well_known_names_are_suggested() {
        assert!(WELL_KNOWN.is_sorted());
        assert_eq!(hints("datadog"), ["did you mean DataDog/datadog?"]);
        assert_eq!(hints("hashicorp/nul")[0], "did you mean hashicorp/null?");
        assert_eq!(hints("hashicorp/github"), ["did you mean integrations/github?"]);
        assert_eq!(
            hints("acme/unheard-of"),
            ["look the address up in the registry: namespace/type, or host/namespace/type"]
        );
        let hints = hints("h\u{430}shicorp/null");
        assert!(hints[0].contains("'\u{430}' (U+0430)") && hints[1] == "did you mean hashicorp/null?", "{hints:?}");
    }
}
