//! Invalid answers, for every kind of document: no command takes one for a valid document.

use crate::support::locked::{LOCK, MAIN, honest, locked};
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::Run;
use crate::support::side_by_side;
use crate::support::workspace::Workspace;

const PAGE: &str = "<!doctype html><title>Please sign in</title>";

/// JSON that has none of the members that are wanted.
const SHAPES: [&str; 6] = ["{}", "[]", "null", "7", r#""later""#, r#"{"error":"rate limit exceeded"}"#];

/// Words that a command must not print without an answer.
const CLAIMS: [&str; 8] = [
    "withdrawn",
    "no longer offers",
    "does not have a provider",
    "does not exist",
    "up to date",
    "nothing to do",
    "republished",
    "lists no release",
];

/// Commands that query registries; each exits with 4 if a query stays open.
const COMMANDS: [&[&str]; 10] = [
    &["lock", "--platform", "linux_amd64"],
    &["lock", "--check"],
    &["upgrade", "--platform", "linux_amd64"],
    &["outdated"],
    &["verify"],
    &["verify", "--deep"],
    &["diff", "--online", "--", "before", LOCK],
    &["trust", "init"],
    &["add", "{{registry}}/acme/new", "--platform", "linux_amd64"],
    &["mirror", "copies", "--platform", "linux_amd64"],
];

fn registry() -> Registry {
    honest().release("acme/new", "1.0.0", &["linux_amd64"])
}

fn workspace(registry: &Registry) -> Workspace {
    let workspace = locked(registry);
    let text = workspace.lock_file();
    let h1 = registry.package("acme/widget", "1.4.0", "darwin_arm64").h1;
    workspace.write("before", &text.split_inclusive('\n').filter(|line| !line.contains(&h1)).collect::<String>());
    workspace
}

/// Asserts that a run that got such an answer says that it knows nothing, and changes nothing.
fn knows_nothing(run: &Run, what: &str) {
    assert_eq!(run.code, Some(4), "{what}: {run}");
    let kept = run.touched().into_iter().all(|file| file.starts_with("copies/"));
    assert!(kept, "{what}: {run}");
    let said = format!("{}{}", run.stdout, run.stderr);
    let claim = CLAIMS.iter().find(|claim| said.contains(*claim));
    assert!(claim.is_none(), "{what}: {run}");
    assert!(!run.stdout.contains("denied["), "{what}: {run}");
}

/// Runs all commands that request an endpoint, which gives this answer; returns how many they are.
fn asked(endpoint: Endpoint, answer: &Answer, commands: &[&[&str]]) -> usize {
    let registry = registry();
    let workspace = workspace(&registry);
    let registry = registry.answers(endpoint, answer.clone());
    let mut asking = 0;
    for command in commands {
        let words: Vec<String> = command.iter().map(|word| word.replace("{{registry}}", &registry.host())).collect();
        registry.forget_requests();
        let run = workspace.tflock(&registry, words.iter().map(String::as_str).chain(["--no-cache"]));
        if registry.count(endpoint) > 0 {
            asking += 1;
            knows_nothing(&run, &format!("{endpoint:?} answers {answer:?} to {command:?}"));
        }
    }
    asking
}

#[test]
#[ignore = "long"]
fn a_page_is_no_document_for_any_command() {
    let page = Answer::html();
    let documents = [
        (Endpoint::Discovery, 9),
        (Endpoint::Versions, 9),
        (Endpoint::Download, 8),
        (Endpoint::Sums, 8),
        (Endpoint::Signature, 8),
        (Endpoint::Zip, 5),
    ];
    side_by_side(&documents, |(endpoint, least)| {
        let asking = asked(*endpoint, &page, &COMMANDS);
        assert!(asking >= *least, "{endpoint:?}: {asking}");
    });
}

#[test]
#[ignore = "long"]
fn another_shape_is_no_document_for_any_command() {
    side_by_side(&[Endpoint::Discovery, Endpoint::Versions, Endpoint::Download], |endpoint| {
        for (at, shape) in SHAPES.iter().enumerate() {
            // Each shape by some commands, and each command with some shapes.
            let commands: Vec<&[&str]> = COMMANDS.into_iter().skip(at % 3).step_by(3).collect();
            assert!(asked(*endpoint, &Answer::json(*shape), &commands) > 0, "{endpoint:?} {shape}");
        }
    });
}

#[test]
#[ignore = "long"]
fn nor_for_a_mirror() {
    let mut registry = registry();
    let workspace = workspace(&registry);
    let mirror = registry.mirror_url();
    let answers = SHAPES.iter().map(|shape| Answer::json(*shape)).chain([Answer::html()]);
    for answer in answers {
        for endpoint in [Endpoint::MirrorIndex, Endpoint::MirrorVersion] {
            registry = registry.answers(endpoint, answer.clone());
            for command in [&["lock", "--platform", "linux_amd64"][..], &["verify"]] {
                let more = ["--no-cache", "--net-mirror", &mirror];
                let run = workspace.tflock(&registry, command.iter().chain(&more));
                knows_nothing(&run, &format!("{endpoint:?} answers {answer:?} to {command:?}"));
            }
            registry = registry.recovered();
        }
    }
}

/// Modules: their requirements are unknown, so everything is.
#[test]
#[ignore = "long"]
fn nor_for_modules() {
    let files = [(
        "main.tf",
        "terraform {\n  required_providers {\n    w = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n",
    )];
    let call = "module \"net\" {\n  source  = \"{{other-host}}/acme/net/aws\"\n  version = \"1.0.0\"\n}\n";
    for answer in SHAPES.iter().map(|shape| Answer::json(*shape)).chain([Answer::html()]) {
        for endpoint in [Endpoint::ModuleVersions, Endpoint::ModuleDownload] {
            let registry = registry().module("acme/net/aws", "1.0.0", &files).answers(endpoint, answer.clone());
            let workspace = Workspace::with_files(&[("main.tf", &format!("{MAIN}{call}"))]);
            for command in [&["lock", "--platform", "linux_amd64"][..], &["verify"]] {
                let run = workspace.tflock(&registry, command.iter().chain(&["--no-cache"]));
                assert_eq!(run.code, Some(4), "{endpoint:?} answers {answer:?} to {command:?}: {run}");
                assert!(run.touched().is_empty(), "{run}");
            }
        }
    }
}

/// A repository of an OCI registry: its tags, its manifests and its blobs.
#[test]
fn nor_for_an_oci_registry() {
    let repository = "/v2/mirror/registry.opentofu.org/acme/widget/";
    for (path, shapes) in [("tags/list", &SHAPES[..]), ("manifests/1.4.0", &SHAPES[..])] {
        for body in shapes.iter().copied().chain([PAGE]) {
            let kind = if body == PAGE { "text/html" } else { "application/json" };
            let mut registry = registry();
            if path != "tags/list" {
                let tags = r#"{"name":"x","tags":["1.4.0"]}"#;
                registry = registry.document(&format!("{repository}tags/list"), "application/json", tags);
            }
            registry = registry.document(&format!("{repository}{path}"), kind, body);
            let main = MAIN
                .replace("{{registry}}/", "")
                .replace("    gadget = {\n      source = \"acme/gadget\"\n    }\n", "");
            let workspace = Workspace::with_files(&[("main.tf", &main)]);
            let source = format!("--source=oci:{}/mirror/${{hostname}}/${{namespace}}/${{type}}", registry.host());
            let run = workspace.tflock(&registry, ["--tool=tofu", "lock", "--platform=linux_amd64", &source]);
            knows_nothing(&run, &format!("{path}: {body}"));
        }
    }
}
