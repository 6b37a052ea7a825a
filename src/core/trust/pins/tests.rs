//! Trust files: texts in, pins and texts out.

use std::path::Path;

use proptest::prelude::*;

use super::*;

const CANONICAL: &str = r#"# Kept by tflock.
# Ask the platform team.

# The registry of the house.
provider "registry.example.com/house/*" { # all of them
  signers = [
    # Since 2024.
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", # Ann
    "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB",
    # No more for now.
  ] # two
  # Some are older than signing.
  unsigned = true
  # The end.
} # house

# --- public ---

# The big one.
provider "registry.opentofu.org/hashicorp/aws" {
  signers = ["C874011F0AB405110D02105534365D9472D7468F"]

  # The one of now.
  signer "C874011F0AB405110D02105534365D9472D7468F" { # since 2021
    reason = "announced on their site"
  }

  # Their first key.
  retired_signer "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" {
    versions = ["1.2.0", "1.10.0"] # those of prod
    reason   = "new key, says \"the blog\" with ${x} and ✓" # well
  }

  retired_signer "unsigned" {
    versions = ["1.0.0-beta"]
  }
}

denied_signer "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" {
  reason = "revoked"
}

# Ticket 7.
republished "registry.opentofu.org/acme/x" {
  version = "1.2.0"
  date    = "2026-11-20"
  reason  = "they rebuilt it"
}

# The end of the file.
"#;

fn canonical() -> String {
    CANONICAL.replace("${x}", "$${x}")
}

fn read(text: &str) -> TrustFile {
    decode(text, Path::new(FILE_NAME)).unwrap()
}

/// All complaints, as `line:column message`.
fn complaints(text: &str) -> Vec<String> {
    let errors = decode(text, Path::new(FILE_NAME)).unwrap_err();
    errors.iter().map(|error| format!("{} {error}", error.position.unwrap())).collect()
}

#[test]
fn the_whole_grammar() {
    let file = read(&canonical());
    let addr = ProviderAddr::parse("registry.opentofu.org/hashicorp/aws", crate::dialect::Dialect::Terraform).unwrap();
    let (pattern, pin) = file.pins.pin(&addr).unwrap();
    assert_eq!(pattern.to_string(), "registry.opentofu.org/hashicorp/aws");
    let signers = pin.signers.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(signers, ["C874011F0AB405110D02105534365D9472D7468F"]);
    assert_eq!(pin.retired[&Signer::Unsigned].versions.len(), 1);
    let reason = pin.retired.values().next().unwrap().reason.as_deref();
    assert_eq!(reason, Some("new key, says \"the blog\" with ${x} and ✓"));
    assert_eq!(file.pins.denied.values().collect::<Vec<_>>(), ["revoked"]);
    assert_eq!(file.pins.republished.keys().next().unwrap().date.to_string(), "2026-11-20");
    assert_eq!(file.spans[&BlockKey::Provider(pattern.clone())], Position { line: 20, column: 1 });
    assert_eq!(pin.reasons.values().collect::<Vec<_>>(), ["announced on their site"]);
    assert_eq!(file.spans.len(), 7);
}

#[test]
fn canonical_text_stays_as_it_is() {
    assert_eq!(read(&canonical()).encode(), canonical());
    for text in ["", "# only this\n", "# a\n\n# b\n", "provider \"a.b/c/d\" {\n  unsigned = true\n}\n"] {
        assert_eq!(read(text).encode(), text);
    }
}

#[test]
fn writing_sorts_and_keeps_comments() {
    let loose = "// top\n\n\n/* denied\n * for good */\ndenied_signer \"aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa\" { reason = \"x\" }\n\
                 provider \"A.b/C/d\" { # one\n unsigned = true # two\n\n signers = [ /* three */ \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\" ]\n}\n#";
    let wanted = "# top\n\nprovider \"a.b/c/d\" { # one\n  signers = [ # three\n    \"BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB\",\n  ]\n  \
                  unsigned = true # two\n}\n\n# denied\n# for good\ndenied_signer \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\" {\n  reason = \"x\"\n}\n\n#\n";
    assert_eq!(read(loose).encode(), wanted);
    assert_eq!(read(wanted).encode(), wanted);
}

#[test]
fn comments_go_with_their_block() {
    let mut file = read(&canonical());
    file.pins.denied.clear();
    file.pins.providers.pop_first();
    let text = file.encode();
    assert!(
        text.starts_with("# Kept by tflock.\n# Ask the platform team.\n\n# --- public ---\n\n# The big one.\nprovider")
    );
    assert!(!text.contains("Ann") && text.ends_with("}\n\n# The end of the file.\n"));
}

#[test]
fn all_errors_are_reported() {
    assert_eq!(
        complaints(
            "providr \"a.b/c/d\" {}\nprovider \"c/d\" {\n  signrs = [\"x\"]\n}\nprovider \"*/*/*\" {\n  signers = []\n}\n\
             provider \"a.b/c/d\" {\n  signers  = [\"C874\", 1]\n  unsigned = \"yes\"\n}\nunsigned = true\n"
        ),
        [
            "1:1 unknown block \"providr\"; did you mean \"provider\"?",
            "2:1 a provider block needs signers or unsigned = true",
            "2:10 \"c/d\" has no host; a pin is for host/namespace/type",
            "3:3 unknown setting \"signrs\" in a provider block; did you mean \"signers\"?",
            "5:10 \"*/*/*\" covers every host; a pin applies to one host",
            "6:13 signers must not be empty",
            "9:15 \"C874\" is not the fingerprint of a signing key: expected 40 or 64 hexadecimal digits",
            "9:23 signers must be a list of literal strings",
            "10:14 unsigned must be true or false",
            "12:1 unknown setting \"unsigned\"",
        ]
    );
    let no_version = format!("11:13 \"1.x\" is not a version: {}", "1.x".parse::<Version>().unwrap_err());
    let no_date = format!("12:10 {}", "soon".parse::<Date>().unwrap_err());
    assert_eq!(
        complaints(
            "provider \"a.b/c/d\" {\n  unsigned = false\n  retired_signer \"x\" {\n    version = \"1\"\n  }\n}\n\
             provider \"A.B/c/d\" {\n  unsigned = true\n}\n\
             republished \"a.b/c/d\" {\n  version = \"1.x\"\n  date = \"soon\"\n}\ndenied_signer \"y\" \"z\" {}\n"
        ),
        [
            "1:1 a provider block needs signers or unsigned = true",
            "3:3 a retired_signer block needs versions",
            "3:18 \"x\" is not the fingerprint of a signing key: expected 40 or 64 hexadecimal digits",
            "4:5 unknown setting \"version\" in a retired_signer block; did you mean \"versions\"?",
            "7:1 provider \"A.B/c/d\" appears twice",
            "10:1 a republished block needs reason",
            &*no_version,
            &*no_date,
            "14:1 a denied_signer block needs reason",
            "14:19 a denied_signer block has one label, the fingerprint of a key",
        ]
    );
    assert!(complaints("provider \"a.b/c/d\" {\n").first().unwrap().contains("is not valid HCL"));
}

#[test]
fn rotation_keeps_the_old_signer_for_locked_versions() {
    let [a, b] = ['A', 'B'].map(|digit| Signer::Key(digit.to_string().repeat(40).parse().unwrap()));
    let versions: BTreeSet<Version> = [Version::new(1, 0, 0)].into();
    let mut pin = Pin { signers: [a.clone()].into(), ..Pin::default() };
    let signed = [(a.clone(), versions), (b.clone(), [Version::new(1, 1, 0)].into())].into();
    pin.rotate(b.clone(), &signed, Some("new key"));
    assert_eq!(pin.reasons, [(b.clone(), "new key".to_owned())].into());
    assert!(!pin.accepts(&a, &Version::new(1, 1, 0)));
    assert!(pin.accepts(&a, &Version::new(1, 0, 0)) && !pin.accepts(&a, &Version::new(1, 0, 1)));
    assert!(pin.accepts(&b, &Version::new(1, 0, 1)));
    pin.rotate(a.clone(), &BTreeMap::new(), None);
    assert_eq!(pin, Pin { signers: [a].into(), ..Pin::default() });
}

fn any_signer() -> impl Strategy<Value = Signer> {
    prop_oneof![
        1 => Just(Signer::Unsigned),
        4 => "[A-F]".prop_map(|digit| Signer::Key(digit.repeat(40).parse().unwrap())),
    ]
}

fn any_version() -> impl Strategy<Value = Version> {
    (0..3_u64, 0..3_u64).prop_map(|(major, minor)| Version::new(major, minor, 0))
}

fn any_pin() -> impl Strategy<Value = Pin> {
    let retired = (proptest::collection::btree_set(any_version(), 0..3), proptest::option::of(".{0,8}"))
        .prop_map(|(versions, reason)| Retired { versions, reason });
    let signers = proptest::collection::btree_set(any_signer(), 1..4);
    let retired = proptest::collection::btree_map(any_signer(), retired, 0..3);
    (signers, retired).prop_map(|(signers, retired)| {
        let reasons = signers.iter().take(1).map(|signer: &Signer| (signer.clone(), "why".to_owned())).collect();
        Pin { signers, reasons, retired, built_by: None }
    })
}

fn any_place() -> impl Strategy<Value = BuiltBy> {
    let refs = prop_oneof![Just("refs/tags/*"), Just("refs/tags/v*"), Just("refs/heads/main")];
    let signer = proptest::option::of("github\\.com/acme/[a-z]{1,5}/\\.github/workflows/[a-z]{1,5}\\.yml");
    let triggers = proptest::collection::btree_set("push|release|schedule", 1..3);
    let names = ("[a-zA-Z0-9-]{1,9}", "[a-z0-9._-]{3,9}", "[a-z]{1,9}\\.ya?ml");
    let numbers = ("[0-9]{1,9}", "[0-9]{1,9}");
    let rest = (any_version(), proptest::option::of(".{0,8}"), proptest::option::of("20[0-9]{2}-0[1-9]-1[0-9]"));
    (names, numbers, refs, signer, triggers, rest).prop_map(|(names, numbers, refs, signer, triggers, rest)| BuiltBy {
        repository: format!("github.com/{}/{}", names.0, names.1).parse().unwrap(),
        repository_id: numbers.0,
        owner_id: numbers.1,
        workflow: format!(".github/workflows/{}", names.2),
        signer,
        git_ref: refs.to_owned(),
        triggers,
        since: rest.0,
        pinned_on: rest.2.map(|date| date.parse().unwrap()),
        // As files have it.
        reason: rest.1.map(|reason| crate::hcl::normal(&reason).into_owned()),
    })
}

fn any_pins() -> impl Strategy<Value = Pins> {
    let pattern = prop_oneof!["a\\.b/[cd]/[ef]", "a\\.b/c/\\*", "[ab]\\.c/\\*/\\*"];
    let address =
        "a\\.b/[cd]/[ef]".prop_map(|text| ProviderAddr::parse(&text, crate::dialect::Dialect::Terraform).unwrap());
    let republication = (address, any_version(), "20[0-9]{2}-0[1-9]-1[0-9]")
        .prop_map(|(address, version, date)| Republication { address, version, date: date.parse().unwrap() });
    (
        proptest::collection::btree_map(
            pattern.prop_map(|text| provider_pattern(&text).unwrap()),
            (any_pin(), proptest::option::of(any_place())),
            0..4,
        ),
        proptest::collection::btree_map("[A-F]".prop_map(|d| d.repeat(64).parse().unwrap()), ".{0,8}", 0..3),
        proptest::collection::btree_map(republication, ".{0,8}", 0..3),
    )
        .prop_map(|(providers, denied, republished)| {
            let placed = |(pattern, (pin, place)): (AddrPattern, (Pin, Option<BuiltBy>))| {
                let built_by = place.filter(|_| pattern.is_exact()).map(Arc::new);
                (pattern, Pin { built_by, ..pin })
            };
            Pins { providers: providers.into_iter().map(placed).collect(), denied, republished }
        })
}

const PLACE: &str = r#"provider "registry.terraform.io/acme/widget" {
  signers = ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]

  # Where it comes from.
  built_by {
    repository    = "github.com/acme/terraform-provider-widget"
    repository_id = "123"
    owner_id      = "7"
    workflow      = ".github/workflows/release.yml" # the only one
    signer        = "github.com/acme/shared/.github/workflows/build.yml"
    ref           = "refs/tags/*"
    triggers      = ["push", "release"]
    since         = "1.0.0"
    pinned_on     = "2026-11-27"
    reason        = "moved"
  }
}
"#;

#[test]
fn a_place_keeps_its_text_and_comments() {
    assert_eq!(read(PLACE).encode(), PLACE);
    let pins = read(PLACE).pins;
    let place = pins.providers.values().next().unwrap().built_by.clone().unwrap();
    assert_eq!(place.triggers.len(), 2);
}

#[test]
fn places_that_nothing_could_be_checked_against_are_refused() {
    let refused = |from: &str, to: &str| {
        let errors = decode(&PLACE.replace(from, to), Path::new("x")).unwrap_err();
        errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>().join("; ")
    };
    for (from, to, why) in [
        ("github.com/acme/terraform", "gitlab.com/acme/terraform", "is not a repository"),
        ("github.com/acme/terraform", "github.com/acme/../terraform", "is not a repository"),
        ("\"123\"", "\"12x\"", "is not the number"),
        (".github/workflows/release", "workflows/release", "is not the file of a workflow"),
        ("shared/.github", "shared/github", "is not the workflow of a repository"),
        ("refs/tags/*", "refs/pull/*", "is not a ref"),
        ("refs/tags/*", "refs/*", "is not a ref"),
        ("refs/tags/*", "refs/tags/*/x", "is not a ref"),
        ("\"push\"", "\"pull_request_target\"", "anyone can have such a workflow run"),
        ("[\"push\", \"release\"]", "[]", "triggers must not be empty"),
        ("since         = \"1.0.0\"", "since = \"one\"", "is not a version"),
        ("owner_id      = \"7\"", "", "owner_id"),
        ("\"2026-11-27\"", "\"2026-11-31\"", "is not a date"),
        ("built_by {", "built_by \"x\" {", "has no label"),
        ("acme/widget", "acme/*", "covers several providers"),
        ("reason        =", "note =", "note"),
    ] {
        assert!(refused(from, to).contains(why), "{to}: {}", refused(from, to));
    }
    let twice = PLACE.replace("  built_by {", "  built_by {\n    repository = \"github.com/a/b\"\n  }\n\n  built_by {");
    assert!(decode(&twice, Path::new("x")).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn decoding_never_panics(text in "[a-z{}=\"\\[\\]\n ,.$é#/*\u{feff}]{0,60}") {
        match decode(&text, Path::new("x")) {
            Ok(file) => prop_assert_eq!(read(&file.encode()).encode(), file.encode()),
            Err(errors) => prop_assert!(errors.windows(2).all(|pair| pair[0].position <= pair[1].position)),
        }
    }

    #[test]
    fn cut_and_patched_files_never_panic(at in 0..CANONICAL.len(), with in "[#\"{}\n\\[/*]{0,3}") {
        let mut text = canonical();
        let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.insert_str(at, &with);
        if let Ok(file) = decode(&text, Path::new("x")) {
            prop_assert_eq!(read(&file.encode()).encode(), file.encode());
        }
    }

    #[test]
    fn what_is_written_is_read(pins in any_pins()) {
        let file = TrustFile { pins, ..TrustFile::default() };
        let text = file.encode();
        let again = read(&text);
        prop_assert_eq!(again.encode(), text);
        let places = |file: &TrustFile| -> Vec<_> {
            file.pins.providers.iter().map(|(pattern, pin)| (pattern.clone(), pin.built_by.clone())).collect()
        };
        prop_assert_eq!(places(&again), places(&file));
    }

    #[test]
    fn comments_survive(lines in proptest::collection::vec("[ -~]{0,12}", 12)) {
        // One more comment in front of each line that a comment may precede.
        let mut lines = lines.iter().map(String::as_str).cycle();
        let text: String = canonical().lines().flat_map(|line| ["#", lines.next().unwrap(), "\n", line, "\n"].map(str::to_owned)).collect();
        let written = read(&text).encode();
        prop_assert_eq!(written.matches('#').count() >= text.lines().count() / 2, true);
        prop_assert_eq!(read(&written).encode(), written);
    }
}
