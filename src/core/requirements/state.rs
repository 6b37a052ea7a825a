//! The providers that a state needs.
//!
//! Source: `internal/states/statefile/read.go`, `version4.go` and `version3_upgrade.go`, `internal/addrs/provider_config.go`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Requirements;
use crate::addr::{ProviderAddr, ProviderSource, default_host};
use crate::config::ModuleVersion;
use crate::dialect::Dialect;

/// The providers that a state needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateProviders {
    pub addresses: BTreeSet<ProviderAddr>,
    /// The types of providers without an address, as Terraform 0.12 wrote them: which providers are meant is not known.
    types: BTreeSet<String>,
}

impl StateProviders {
    /// True if the state needs the provider, or may.
    pub fn need(&self, addr: &ProviderAddr) -> bool {
        self.addresses.contains(addr) || self.types.contains(addr.type_name())
    }

    /// The same providers at the addresses that OpenTofu takes them for, with the requirements of the configuration.
    #[must_use]
    pub fn translated(self, required: Option<&Requirements>) -> Self {
        let is_required = |addr: &ProviderAddr| required.is_some_and(|required| required.get(addr).is_some());
        let translate = |addr: ProviderAddr| translation(&addr).filter(|_| !is_required(&addr)).unwrap_or(addr);
        Self { addresses: self.addresses.into_iter().map(translate).collect(), ..self }
    }
}

/// The address that OpenTofu takes one of Terraform's registry in a state for, unless the configuration requires that
/// very address; `None` for other addresses.
///
/// Source: opentofu `internal/tofumigrate/tofumigrate.go`.
pub fn translation(addr: &ProviderAddr) -> Option<ProviderAddr> {
    (*addr.host() == default_host(Dialect::Terraform)).then(|| addr.at(default_host(Dialect::OpenTofu)))
}

/// The providers of all resources in a state, as the file or `state pull` gives it, which prints nothing where there is no
/// state.
pub fn providers(text: &[u8], dialect: Dialect) -> Result<StateProviders, String> {
    let mut found = StateProviders::default();
    if text.trim_ascii().is_empty() {
        return Ok(found);
    }
    let state: Value = serde_json::from_slice(text)
        .map_err(|error| format!("the state is not the JSON document that it should be: {error}"))?;
    check(&state)?;
    match field(&state, "version").as_u64() {
        Some(4) => {
            for resource in items(&state, "resources") {
                check_resource(resource)?;
                found.add(text_of(resource, "provider"), dialect);
            }
        }
        Some(1..=3) => {
            for module in items(&state, "modules") {
                for (address, resource) in field(module, "resources").as_object().into_iter().flatten() {
                    found.add_old(address, text_of(resource, "provider"))?;
                }
            }
        }
        Some(version) => return Err(format!("the state has format version {version}, but only 1 to 4 can be read")),
        None => return Err("the state has no \"version\" that is a whole number".to_owned()),
    }
    Ok(found)
}

impl StateProviders {
    /// Takes in the provider of a resource. The tools pass over what is no address.
    fn add(&mut self, provider: &str, dialect: Dialect) {
        let local = provider.rsplit_once("module.").map_or(provider, |(_, rest)| rest);
        let local = local.find("provider").map_or(local, |at| &local[at..]);
        let is_end = |rest: &str| rest.is_empty() || rest.starts_with('.');
        let quoted = local.strip_prefix("provider[\"").and_then(|rest| rest.split_once("\"]"));
        let is_in_module = local.len() == provider.len() || provider.starts_with("module.");
        match quoted {
            Some((source, rest)) if is_in_module && is_end(rest) => match ProviderSource::parse(source, dialect) {
                Ok(ProviderSource::Provider(addr)) => self.addresses.extend([addr]),
                Ok(ProviderSource::Legacy(_)) => self.types.extend(source.rsplit('/').next().map(str::to_owned)),
                Ok(ProviderSource::BuiltIn(_)) | Err(_) => {}
            },
            _ => self.types.extend(old_type(local).filter(|_| is_in_module).map(str::to_owned)),
        }
    }

    /// The same of a resource before Terraform 0.12, which may name none: then its type does.
    fn add_old(&mut self, address: &str, provider: &str) -> Result<(), String> {
        let parts: Vec<&str> = address.strip_prefix("data.").unwrap_or(address).split('.').collect();
        let kind = match parts[..] {
            [kind, _] => kind,
            [kind, _, index] if index.parse::<i64>().is_ok() => kind,
            _ => {
                return Err(format!(
                    "the state names the resource {address:?}, which is not of the form TYPE.NAME[.INDEX]"
                ));
            }
        };
        let implied = || kind.split('_').next().unwrap_or(kind);
        let named = match provider {
            "" => implied(),
            _ => old_type(provider.rfind("provider.").map_or(provider, |at| &provider[at..]))
                .unwrap_or_else(|| provider.split('.').next().unwrap_or(provider)),
        };
        self.types.insert(named.to_owned());
        Ok(())
    }
}

/// The type in `provider.TYPE` and `provider.TYPE.ALIAS`.
fn old_type(provider: &str) -> Option<&str> {
    provider.strip_prefix("provider.")?.split('.').next()
}

fn check(state: &Value) -> Result<(), String> {
    let is_count = |value: &Value| value.is_null() || value.is_u64();
    let version = text_of(state, "terraform_version");
    // The tools do not read it in the first format.
    let is_read = !version.is_empty() && field(state, "version") != 1;
    if is_read && version.parse::<ModuleVersion>().is_err() {
        return Err(format!("the state names the version {version:?} of the tool, which is not a version"));
    }
    if is_count(field(state, "serial")) {
        Ok(())
    } else {
        Err("the \"serial\" of the state is not a whole number".to_owned())
    }
}

fn check_resource(resource: &Value) -> Result<(), String> {
    let (mode, module) = (text_of(resource, "mode"), text_of(resource, "module"));
    if !matches!(mode, "managed" | "data") {
        return Err(format!("the state has a resource of the mode {mode:?}, which is not \"managed\" or \"data\""));
    }
    if !module.is_empty() && !module.starts_with("module.") {
        return Err(format!("the state names the module {module:?}, which does not begin with \"module.\""));
    }
    let is_key =
        |instance: &Value| matches!(field(instance, "index_key"), Value::Null | Value::String(_) | Value::Number(_));
    if !items(resource, "instances").iter().all(is_key) {
        return Err("the state has an instance whose key is not a text or a number".to_owned());
    }
    Ok(())
}

/// A field of an object. The tools ignore the case of its name.
fn field<'a>(object: &'a Value, name: &str) -> &'a Value {
    let any_case =
        || object.as_object()?.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    object.get(name).or_else(any_case).unwrap_or(&Value::Null)
}

fn text_of<'a>(object: &'a Value, name: &str) -> &'a str {
    field(object, name).as_str().unwrap_or_default()
}

fn items<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    field(object, name).as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let found = providers(text.as_bytes(), Dialect::Terraform)?;
        Ok(found.addresses.iter().map(ToString::to_string).chain(found.types).collect())
    }

    fn with(provider: &str) -> String {
        let mode = r#""mode":"managed""#;
        format!(r#"{{"version":4,"resources":[{{{mode},"provider":{}}}]}}"#, Value::from(provider))
    }

    #[test]
    fn addresses_of_all_resources() {
        let text = r#"{"version":4,"terraform_version":"1.11.4","resources":[
            {"mode":"managed","provider":"provider[\"registry.terraform.io/hashicorp/null\"]"},
            {"mode":"data","module":"module.a","provider":"module.a.provider[\"example.com/acme/widget\"].west"},
            {"mode":"data","provider":"provider[\"terraform.io/builtin/terraform\"]"}]}"#;
        assert_eq!(read(text).unwrap(), ["example.com/acme/widget", "registry.terraform.io/hashicorp/null"]);
        assert_eq!(read(&text.replace("resources", "Resources")).unwrap().len(), 2);
        for empty in ["", "\n", r#"{"version":4}"#, r#"{"version":4,"resources":null}"#, r#"{"version":3,"version":4}"#]
        {
            assert_eq!(read(empty).unwrap(), Vec::<String>::new());
        }
    }

    #[test]
    fn providers_without_an_address_are_known_by_type() {
        for provider in [
            "provider.null",
            "provider.null.west",
            "module.a.provider.null",
            r#"provider["registry.terraform.io/-/null"]"#,
        ] {
            assert_eq!(read(&with(provider)).unwrap(), ["null"], "{provider}");
        }
        let found = providers(with("provider.null").as_bytes(), Dialect::Terraform).unwrap();
        let needs = |addr: &str| found.need(&ProviderAddr::parse(addr, Dialect::Terraform).unwrap());
        assert!(needs("acme/null") && !needs("acme/widget"));
    }

    #[test]
    fn opentofu_translates_what_the_configuration_does_not_require() {
        let addr = |text: &str| ProviderAddr::parse(text, Dialect::OpenTofu).unwrap();
        let old = ["acme/a", "hashicorp/null"].map(|short| addr(&format!("registry.terraform.io/{short}")));
        let other = addr("registry.example.com/acme/a");
        let addresses = old.iter().cloned().chain([other.clone()]).collect();
        let state = StateProviders { addresses, ..StateProviders::default() };
        let entry = crate::lockfile::LockEntry {
            version: "1.0.0".parse().unwrap(),
            constraints: "".parse().unwrap(),
            hashes: crate::hash::PackageHashes::new(),
        };
        let mut required = Requirements::new();
        required.add_entry(&old[1], &entry);
        let found = |required| state.clone().translated(required).addresses;
        assert_eq!(found(None), [addr("acme/a"), addr("hashicorp/null"), other.clone()].into());
        assert_eq!(found(Some(&required)), [addr("acme/a"), old[1].clone(), other].into());
    }

    #[test]
    fn invalid_addresses_are_ignored() {
        for provider in [
            "",
            "null",
            r#"xprovider["hashicorp/null"]"#,
            r#"provider["hashicorp/null"]x"#,
            r#"provider["example.com/-/null"]"#,
        ] {
            assert_eq!(read(&with(provider)).unwrap(), Vec::<String>::new(), "{provider}");
        }
    }

    #[test]
    fn states_of_old_formats() {
        for version in 1..=3 {
            let state = |resources: &str| {
                read(&format!(r#"{{"version":{version},"modules":[{{"path":["root"],"resources":{{{resources}}}}}]}}"#))
            };
            assert_eq!(state(r#""null_resource.a":{"provider":""}"#).unwrap(), ["null"]);
            assert_eq!(state(r#""aws_eip.a.0":{"provider":"provider.aws.west"}"#).unwrap(), ["aws"]);
            assert_eq!(state(r#""data.aws_ami.a":{"provider":"module.a.provider.aws"}"#).unwrap(), ["aws"]);
            assert_eq!(state(r#""aws_eip.a":{"provider":"aws.west"}"#).unwrap(), ["aws"]);
            for name in ["a", "aws_eip.a.x", "aws_eip.a.0.b"] {
                let refusal = state(&format!(r#""{name}":{{"provider":"provider.aws"}}"#)).unwrap_err();
                assert!(refusal.contains("not of the form TYPE.NAME"), "{name}");
            }
        }
    }

    #[test]
    fn what_is_no_state_is_refused() {
        let good = with("provider.null");
        assert!(read(&good).is_ok());
        for (text, reason) in [
            ("{".to_owned(), "is not the JSON document"),
            (format!("{good}x"), "is not the JSON document"),
            ("[]".to_owned(), "no \"version\" that is a whole number"),
            (r#"{"version":4.0}"#.to_owned(), "no \"version\" that is a whole number"),
            (r#"{"version":"4"}"#.to_owned(), "no \"version\" that is a whole number"),
            (r#"{"version":0}"#.to_owned(), "format version 0"),
            (r#"{"version":5}"#.to_owned(), "format version 5"),
            (r#"{"version":4,"serial":-1}"#.to_owned(), "\"serial\""),
            (r#"{"version":4,"terraform_version":"x"}"#.to_owned(), "not a version"),
            (r#"{"version":3,"terraform_version":"x"}"#.to_owned(), "not a version"),
            (good.replace("managed", "x"), "mode \"x\""),
            (good.replace("\"mode\"", "\"module\":\"x.y\",\"mode\""), "module \"x.y\""),
            (good.replace("\"mode\"", "\"instances\":[{\"index_key\":[1]}],\"mode\""), "an instance whose key"),
        ] {
            assert!(read(&text).unwrap_err().contains(reason), "{text}");
        }
    }
}
