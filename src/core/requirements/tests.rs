//! Requirements merged, and read from states.

use super::*;
use crate::dialect::Dialect;

#[test]
fn places_move_to_another_provider_with_their_constraints() {
    let [old, new] = ["example.com/a/b", "a/b"].map(|text| ProviderAddr::parse(text, Dialect::Terraform).unwrap());
    let origin = |module: &str, constraint: &str| Origin {
        module: module.to_owned(),
        file: "main.tf".into(),
        position: Position::default(),
        kind: OriginKind::RequiredProviders,
        local_name: "b".to_owned(),
        constraint: Some(constraint.to_owned()),
        in_tests: false,
        is_evaluated: false,
        block: None,
    };
    let mut requirements = Requirements::new();
    for origin in [origin("", "~> 1.0"), origin("net", ">= 1.2")] {
        requirements.add(&old, &origin.constraints(), origin.clone());
    }
    requirements.move_origins(&old, &new, |origin| origin.module == "net");
    let text = |addr| requirements.get(addr).map(|requirement| requirement.constraints.to_string());
    assert_eq!((text(&old).as_deref(), text(&new).as_deref()), (Some("~> 1.0"), Some(">= 1.2.0")));
    requirements.move_origins(&old, &new, |_| true);
    let moved = requirements.get(&new).unwrap();
    assert_eq!((requirements.get(&old), moved.origins.len()), (None, 2));
    assert_eq!(moved.constraints.to_string(), "~> 1.0, >= 1.2.0");
}

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
    for empty in ["", "\n", r#"{"version":4}"#, r#"{"version":4,"resources":null}"#, r#"{"version":3,"version":4}"#] {
        assert_eq!(read(empty).unwrap(), Vec::<String>::new());
    }
}

#[test]
fn providers_without_an_address_are_known_by_type() {
    for provider in
        ["provider.null", "provider.null.west", "module.a.provider.null", r#"provider["registry.terraform.io/-/null"]"#]
    {
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
