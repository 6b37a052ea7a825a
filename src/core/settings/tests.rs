//! Settings files: texts in, settings or complaints out.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::finding::Rule;

const EXAMPLE: &str = r#"
# Written by people.
platforms = ["linux_amd64", "darwin_arm64", "linux_amd64"]
tool      = "tofu"
source    = "configured"

optional_platforms = {
  "hashicorp/template"       = ["darwin_arm64"]
  "registry.example.com/*/*" = ["windows_amd64", "darwin_arm64"]
}

policy {
  hosts       = ["registry.opentofu.org", "Registry.Example.com:443"]
  signature   = "if_keys_known" # always | never
  expired_key = "deny"
  h1          = "verified"
  minimum_age = "7d"
}

host "registry.example.com" {
  h1 = "registry"
}

ban "acme/widget" {
  versions = "< 1.4.1"
  reason   = "it deletes things"
}

exempt "republished" {
  provider = "cloudposse/utils"
  version  = "2.2.0"
  reason   = "they said so"
  until    = "2027-01-01"
}

level "constraints-stale" {
  is = "deny"
}
"#;

fn settings(text: &str) -> Settings {
    decode(text, Path::new(FILE_NAME)).unwrap()
}

/// All complaints, as `line:column message`.
fn complaints(text: &str) -> Vec<String> {
    let errors = decode(text, Path::new("a/.tflock.hcl")).unwrap_err();
    errors.iter().map(|error| format!("{} {error}", error.position.unwrap())).collect()
}

fn addr(text: &str) -> ProviderAddr {
    ProviderAddr::parse(text, Dialect::OpenTofu).unwrap()
}

fn host(text: &str) -> Hostname {
    text.parse().unwrap()
}

#[test]
fn the_whole_grammar() {
    let read = settings(EXAMPLE);
    let platforms: Vec<_> = read.platforms.iter().flatten().map(Platform::as_str).collect();
    assert_eq!(platforms, ["linux_amd64", "darwin_arm64"]);
    assert_eq!(read.dialect(), Some(Dialect::OpenTofu));
    assert_eq!(read.source, Some(SourceChoice::Configured));
    assert_eq!(read.policy.expired_key, Some(ExpiredKeyRule::Deny));
    assert_eq!(read.policy.minimum_age.unwrap().to_string(), "7d");
    assert!(read.policy.allows_host(&host("registry.example.com")));
    assert!(!read.policy.allows_host(&host("registry.terraform.io")));
    assert_eq!(read.bans[0].reason.as_deref(), Some("it deletes things"));
    assert_eq!(read.exemptions[0].rule, "republished");
    assert_eq!(read.exemptions[0].until.unwrap().to_string(), "2027-01-01");
    assert_eq!(read.level("constraints-stale"), Some(Level::Deny));
    assert_eq!(read.level("republished"), None);
}

#[test]
fn an_empty_file_says_nothing() {
    assert_eq!(settings(""), Settings::default());
    assert_eq!(settings("\u{feff}# nothing\r\n"), Settings::default());
    assert_eq!(settings("").dialect(), None);
    assert_eq!(settings("tool = \"auto\"").dialect(), None);
}

#[test]
fn short_addresses_mean_both_default_registries() {
    let read = settings(EXAMPLE);
    let (arm, windows) = ("darwin_arm64".parse().unwrap(), "windows_amd64".parse().unwrap());
    assert!(read.optional(&addr("registry.opentofu.org/hashicorp/template"), &arm));
    assert!(read.optional(&addr("registry.terraform.io/hashicorp/template"), &arm));
    assert!(!read.optional(&addr("example.com/hashicorp/template"), &arm));
    assert!(!read.optional(&addr("hashicorp/template"), &windows));
    assert!(!read.optional(&addr("hashicorp/aws"), &arm));
    assert!(read.optional(&addr("registry.example.com/a/b"), &windows));
    let short = settings("optional_platforms = { template = [\"darwin_arm64\"] }");
    assert!(short.optional(&addr("hashicorp/template"), &arm));
}

#[test]
fn bans_cover_pre_releases() {
    let read = settings(EXAMPLE);
    let banned = |addr: &ProviderAddr, version: &str| read.bans[0].covers(addr, &version.parse().unwrap());
    assert!(banned(&addr("acme/widget"), "1.4.0"));
    assert!(banned(&addr("acme/widget"), "1.4.1-beta"));
    assert!(!banned(&addr("acme/widget"), "1.4.1"));
    assert!(!banned(&addr("acme/gadget"), "1.4.0"));
    assert!(settings("ban \"acme/*\" {}").bans[0].covers(&addr("acme/x"), &"1.0.0".parse().unwrap()));
}

#[test]
fn which_h1_are_written() {
    let rule = |text: &str, name: &str, dialect| settings(text).h1_for(&host(name), dialect);
    let (tofu, terraform) = (Dialect::OpenTofu, Dialect::Terraform);
    assert_eq!(rule("", "registry.opentofu.org", tofu), H1Rule::Registry);
    assert_eq!(rule("", "registry.opentofu.org", terraform), H1Rule::Computed);
    assert_eq!(rule("", "registry.example.com", tofu), H1Rule::Computed);
    assert_eq!(rule("policy {\n h1 = \"registry\"\n}\n", "registry.example.com", tofu), H1Rule::Computed);
    assert_eq!(rule(EXAMPLE, "registry.example.com", terraform), H1Rule::Registry);
    assert_eq!(rule(EXAMPLE, "registry.opentofu.org", tofu), H1Rule::Verified);
}

#[test]
fn signature_defaults_go_by_host() {
    let rule = |text: &str, name: &str| settings(text).signature_for(&host(name));
    assert_eq!(rule("", "registry.opentofu.org"), SignatureRule::IfKeysKnown);
    assert_eq!(rule("", "registry.terraform.io"), SignatureRule::Always);
    assert_eq!(rule(EXAMPLE, "registry.terraform.io"), SignatureRule::IfKeysKnown);
}

#[test]
fn misspelt_names_are_reported_with_a_suggestion() {
    assert_eq!(
        complaints(
            "plattforms = []\ntool = \"opentofu\"\n\npolcy {}\npolicy {\n  signatures = \"always\"\n  é = 1\n}\n"
        ),
        [
            "1:1 unknown setting \"plattforms\"; did you mean \"platforms\"?",
            "2:8 tool cannot be \"opentofu\"; did you mean \"tofu\"?",
            "4:1 unknown block \"polcy\"; did you mean \"policy\"?",
            "6:3 unknown setting \"signatures\" in a policy block; did you mean \"signature\"?",
            "7:3 unknown setting \"é\" in a policy block",
        ]
    );
    assert_eq!(
        complaints(
            "exempt \"republishd\" {}\nlevel \"banana\" {\n  is = \"error\"\n}\nhost \"a.b\" {\n  h1 = \"verfied\"\n}\n"
        ),
        [
            "1:8 there is no rule \"republishd\"; did you mean \"republished\"?",
            "2:7 there is no rule \"banana\"",
            "3:8 is cannot be \"error\"",
            "6:8 h1 cannot be \"verfied\"; did you mean \"verified\"?",
        ]
    );
}

#[test]
fn values_have_types() {
    let no_platform = format!("4:45 {}", "x".parse::<Platform>().unwrap_err());
    assert_eq!(
        complaints(
            "platforms = \"linux_amd64\"\ntool = tofu\nsource = \"${a}\"\n\
             optional_platforms = { a = \"b\", \"*/c\" = [1, \"x\"] }\n"
        ),
        [
            "1:13 platforms must be a list of literal strings",
            "2:8 tool must be a literal string",
            "3:10 source must be a literal string",
            "4:28 optional_platforms must be a list of literal strings",
            "4:33 invalid provider matching pattern \"*/c\": \
             namespace can be a wildcard only if the provider type is also a wildcard",
            "4:42 optional_platforms must be a list of literal strings",
            &*no_platform,
        ]
    );
    assert_eq!(complaints("platforms = []"), ["1:13 platforms must not be empty"]);
    assert_eq!(
        complaints("policy {\n  hosts = [\"https://a.b\"]\n  minimum_age = \"soon\"\n}\n"),
        [
            "2:12 \"https://a.b\" is not a host: need just a hostname and optional port number, not a full URL",
            "3:17 \"soon\" is not an age: expected a number with h, d or w, such as 7d",
        ]
    );
    let reason = Constraints::parse_config("^1").unwrap_err();
    let no_constraint = format!("2:14 \"^1\" is not a version constraint: {reason}");
    assert_eq!(
        complaints(
            "ban \"a/b\" {\n  versions = \"^1\"\n}\nexempt \"unsigned\" {\n  version = \"1.x\"\n  until = \"soon\"\n}\n"
        ),
        [
            &*no_constraint,
            "5:13 \"1.x\" is not a version: can't use wildcard for minor number; an exact version is required",
            "6:11 \"soon\" is not a date: expected YYYY-MM-DD",
        ]
    );
}

#[test]
fn blocks_have_their_shape() {
    assert_eq!(
        complaints(
            "policy = {}\nplatforms {}\npolicy \"x\" {}\nhost {}\nhost \"a.b\" \"c\" {\n  h1 = \"registry\"\n}\n\
             level \"unsigned\" {}\n"
        ),
        [
            "1:1 \"policy\" is a block and takes no equals sign",
            "2:1 \"platforms\" is an attribute and takes an equals sign",
            "3:8 a policy block has no label",
            "4:1 a host block needs h1",
            "4:1 a host block has one label, the host",
            "5:12 a host block has one label, the host",
            "8:1 a level block needs is",
        ]
    );
    let twice =
        "policy {}\npolicy {}\nhost \"a.b\" {\n  h1 = \"registry\"\n}\nhost \"A.B\" {\n  h1 = \"registry\"\n}\n";
    assert_eq!(complaints(twice), ["2:1 policy appears twice", "6:1 host \"A.B\" appears twice"]);
}

#[test]
fn what_is_not_hcl_has_its_place() {
    let errors = decode("tool = \"auto\"\nplatforms = [\n", Path::new("x")).unwrap_err();
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert!(error.message.contains("is not valid HCL"));
    assert_eq!(error.position.unwrap().line, 2);
    assert_eq!((error.kind.as_str(), error.file.as_deref()), ("settings", Some(Path::new("x"))));
    assert!(!error.message.contains('\n'));
}

#[test]
fn the_nearest_choice_wins() {
    let outer =
        settings("platforms = [\"a_b\"]\ntool = \"tofu\"\nlink = \"hard\"\noptional_platforms = { a = [\"a_b\"] }\n");
    let inner = settings("platforms = [\"c_d\"]\nsource = \"origin\"\noptional_platforms = { b = [\"a_b\"] }\n");
    let both = inner.over(outer);
    assert_eq!(both.platforms, Some(vec!["c_d".parse().unwrap()]));
    assert_eq!(both.link, Some(LinkChoice::Hard));
    assert_eq!((both.dialect(), both.source.clone()), (Some(Dialect::OpenTofu), Some(SourceChoice::Origin)));
    assert!(["a", "b"].iter().all(|name| both.optional(&addr(name), &"a_b".parse().unwrap())));
}

#[test]
fn nested_policy_only_tightens() {
    let strict = "policy {\n hosts = [\"a.b\", \"c.d\"]\n module_hosts = [\"a.b\"]\n signature = \"always\"\n h1 = \"verified\"\n minimum_age = \"2d\"\n}\n\
                  level \"unsigned\" {\n is = \"deny\"\n}\n";
    let loose = "policy {\n hosts = [\"c.d\", \"e.f\"]\n signature = \"never\"\n h1 = \"registry\"\n expired_key = \"allow\"\n}\n\
                 host \"c.d\" {\n h1 = \"registry\"\n signature = \"never\"\n}\nlevel \"unsigned\" {\n is = \"note\"\n}\nexempt \"unsigned\" {}\n\
                 exempt \"republished\" {}\nban \"a/b\" {}\n";
    for (inner, outer) in [(loose, strict), (strict, loose)] {
        let both = settings(inner).over(settings(outer));
        assert_eq!(both.policy.hosts.as_ref().map(|hosts| hosts.iter().collect()), Some(vec![&host("c.d")]));
        assert_eq!(both.policy.module_hosts.as_ref().map(|hosts| hosts.iter().collect()), Some(vec![&host("a.b")]));
        assert_eq!(both.signature_for(&host("c.d")), SignatureRule::Always);
        assert_eq!(both.policy.expired_key, Some(ExpiredKeyRule::Allow));
        assert_eq!(both.h1_for(&host("c.d"), Dialect::OpenTofu), H1Rule::Verified);
        assert_eq!(both.policy.minimum_age.unwrap().to_string(), "2d");
        assert_eq!(both.level("unsigned"), Some(Level::Deny));
        assert_eq!(both.bans.len(), 1);
    }
    let rules = |settings: &Settings| settings.exemptions.iter().map(|e| e.rule.clone()).collect::<Vec<_>>();
    assert_eq!(rules(&settings(loose).over(settings(strict))), ["republished"]);
    assert_eq!(rules(&settings(strict).over(settings(loose))), ["unsigned", "republished"]);
}

#[test]
fn one_registry_may_sign_nothing() {
    let settings = settings("host \"a.b\" {\n signature = \"never\"\n}\n");
    assert_eq!(settings.signature_for(&host("a.b")), SignatureRule::Never);
    assert_eq!(settings.signature_for(&host("c.d")), SignatureRule::Always);
    assert_eq!(settings.h1_for(&host("a.b"), Dialect::Terraform), H1Rule::Computed);
    assert_eq!(complaints("host \"a.b\" {\n}\n").len(), 1, "it says nothing");
}

#[test]
fn nested_files_do_not_loosen_what_the_policy_enforces() {
    let outer = "ban \"a/b\" {}\npolicy {\n hosts = [\"c.d\"]\n minimum_age = \"2d\"\n expired_key = \"deny\"\n}\n";
    let rules = ["banned", "host-not-allowed", "too-young", "expired-key"];
    for rule in rules {
        let exempt = settings(&format!("exempt \"{rule}\" {{}}\n"));
        assert!(exempt.clone().over(settings(outer)).exemptions.is_empty(), "{rule}");
        assert_eq!(exempt.over(Settings::default()).exemptions.len(), 1);
        let level = |level: &str| settings(&format!("level \"{rule}\" {{\n is = \"{level}\"\n}}\n"));
        assert_eq!(level("note").over(settings(outer)).level(rule), None);
        assert_eq!(level("deny").over(settings(outer)).level(rule), Some(Level::Deny));
        // The file itself may.
        let both = format!("{outer}level \"{rule}\" {{\n is = \"note\"\n}}\nexempt \"{rule}\" {{}}\n");
        let both = Settings::default().over(settings(&both));
        assert_eq!((both.level(rule), both.exemptions.len()), (Some(Level::Note), 1));
    }
}

/// What each statement of policy is enforced by cannot be lifted further in.
#[test]
fn each_statement_of_policy_keeps_its_rules() {
    let of_signature = ["bad-signature", "no-signing-key", "unsigned", "mirror-only"];
    let pairs: [(&str, &[&str]); 9] = [
        ("policy {\n hosts = [\"a.b\"]\n}\n", &["host-not-allowed"]),
        ("policy {\n module_hosts = [\"a.b\"]\n}\n", &["host-not-allowed"]),
        ("policy {\n signature = \"always\"\n}\n", &of_signature),
        ("host \"a.b\" {\n signature = \"always\"\n}\n", &of_signature),
        ("policy {\n signature = \"if_keys_known\"\n}\n", &of_signature[..2]),
        ("policy {\n expired_key = \"warn\"\n}\n", &["expired-key"]),
        ("policy {\n minimum_age = \"2d\"\n}\n", &["too-young"]),
        ("ban \"a/b\" {}\n", &["banned"]),
        ("policy {\n h1 = \"verified\"\n signature = \"never\"\n expired_key = \"allow\"\n}\n", &[]),
    ];
    for (outer, kept) in pairs {
        let lifted = |rule: &Rule| {
            let lowest = format!("level \"{0}\" {{\n is = \"note\"\n}}\nexempt \"{0}\" {{}}\n", rule.id());
            let both = settings(&lowest).over(settings(outer));
            assert_eq!(both.level(rule.id()).is_some(), !both.exemptions.is_empty(), "{outer} {rule:?}");
            !both.exemptions.is_empty()
        };
        let raised: Vec<&Rule> = Rule::ALL.iter().filter(|rule| rule.level() > Level::Note).collect();
        let not_lifted: Vec<&str> = raised.into_iter().filter(|rule| !lifted(rule)).map(|rule| rule.id()).collect();
        let mut wanted = kept.to_vec();
        wanted.sort_by_key(|id| Rule::ALL.iter().position(|rule| rule.id() == *id));
        assert_eq!(not_lifted, wanted, "{outer}");
    }
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let pieces = [
        "platforms = [\"a_b\"]\n",
        "tool = \"tofu\"\n",
        "policy {\n h1 = \"verified\"\n hosts = [\"a.b\"]\n}\n",
        "host \"a.b\" {\n h1 = \"registry\"\n}\n",
        "host \"c.d\" {\n h1 = \"verified\"\n}\n",
        "level \"unsigned\" {\n is = \"warn\"\n}\n",
        "exempt \"unsigned\" {}\n",
        "exempt \"banned\" {}\n",
        "exempt \"host-not-allowed\" {}\n",
        "ban \"a/b\" {}\n",
    ];
    proptest::sample::subsequence(pieces.to_vec(), 0..pieces.len()).prop_map(|chosen| settings(&chosen.concat()))
}

proptest! {
    #[test]
    fn decoding_never_panics(text in "[a-z{}=\"\\[\\]\n ,.$é\u{feff}]{0,60}") {
        if let Err(errors) = decode(&text, Path::new("x")) {
            prop_assert!(!errors.is_empty());
            prop_assert!(errors.windows(2).all(|pair| pair[0].position <= pair[1].position));
        }
    }

    #[test]
    fn laying_over_is_associative(a in any_settings(), b in any_settings(), c in any_settings()) {
        prop_assert_eq!(a.clone().over(b.clone()).over(c.clone()), a.over(b.over(c)));
    }

    #[test]
    fn a_silent_file_changes_nothing(a in any_settings()) {
        prop_assert_eq!(a.clone().over(Settings::default()), a.clone());
        prop_assert_eq!(Settings::default().over(a.clone()), a);
    }
}
