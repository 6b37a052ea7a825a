use super::*;
use crate::finding::Position;
use crate::requirements::{Origin, OriginKind};
use crate::version::Constraints;

fn requirements(all: &[(&str, &str, &str)]) -> Requirements {
    let mut requirements = Requirements::new();
    for (module, local_name, address) in all {
        let origin = Origin {
            module: (*module).to_owned(),
            file: "main.tf".into(),
            position: Position::default(),
            kind: OriginKind::RequiredProviders,
            local_name: (*local_name).to_owned(),
            constraint: None,
            in_tests: false,
            is_evaluated: false,
            block: None,
        };
        let addr = ProviderAddr::parse(address, Dialect::Terraform).unwrap();
        requirements.add(&addr, &Constraints::default(), origin);
    }
    requirements
}

#[test]
fn names_are_addresses_local_names_or_types() {
    let requirements = requirements(&[
        ("", "gh", "integrations/github"),
        ("", "random", "hashicorp/random"),
        ("net", "cf", "cloudflare/cloudflare"),
        ("", "one", "acme/twin"),
        ("", "two", "other/twin"),
    ]);
    let names = ProviderNames { requirements: Some(&requirements), lock: None, dialect: Dialect::Terraform };
    let short = |text: &str| names.resolve(text).unwrap().short(Dialect::Terraform);
    for (text, wanted) in [
        ("gh", "integrations/github"),
        ("github", "integrations/github"),
        ("random", "hashicorp/random"),
        ("cloudflare", "cloudflare/cloudflare"),
        // The local names of other modules mean nothing here, and two providers have this type.
        ("cf", "hashicorp/cf"),
        ("twin", "hashicorp/twin"),
        ("acme/twin", "acme/twin"),
        ("example.com/a/b", "example.com/a/b"),
    ] {
        assert_eq!(short(text), wanted, "{text}");
    }
    assert!(names.knows("github") && !names.knows("cf") && !names.knows("twin") && !names.knows("a//b"));
}

#[test]
fn an_unknown_name_is_an_error_with_a_suggestion() {
    let (one, two) =
        (requirements(&[("", "aws", "hashicorp/aws")]), requirements(&[("", "gh", "integrations/github")]));
    let named = NamedProviders::new(&["gh", "aws", "hashicorp/awz", "src"].map(str::to_owned));
    for requirements in [&one, &two] {
        named.see(ProviderNames { requirements: Some(requirements), lock: None, dialect: Dialect::Terraform });
    }
    let error = named.unknown().unwrap();
    assert_eq!(error.message, "no root module requires or locks a provider hashicorp/awz");
    assert_eq!(error.hints[0], "did you mean hashicorp/aws?");
    assert!(error.others[0].hints[0].to_string().contains("-C src"), "{error:?}");
    assert!(NamedProviders::new(&[]).unknown().is_none());
}
