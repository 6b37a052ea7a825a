//! The action: its steps run as shell, with the environment that GitHub sets, against the fixture's registry.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::expression::Contexts;
use crate::support::locked::{LOCK, honest, planted};
use crate::support::proposal::{commit, edit, repository};
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::{TFLOCK, Workspace};
use crate::support::yaml::document;

const TOP: &str = env!("CARGO_MANIFEST_DIR");
const NAME: &str = "tflock-0.1.0-x86_64-unknown-linux-musl";
const RELEASE: &str = "/OWNER/tflock/releases/download/v0.1.0/tflock-0.1.0-x86_64-unknown-linux-musl.tar.gz";

/// A stub of GitHub's own program: attests what the test says, keeps comments in files.
const GH: &str = r#"#!/bin/sh
log=../github; echo "gh $*" >> "$log/calls"
case $* in
  attestation\ verify*) test -e "$log/attested" ;;
  *--paginate*) test -e "$log/forbidden-read" && exit 1; cat "$log/comments" 2>/dev/null || true ;;
  *) test -e "$log/forbidden" && exit 1; echo 7 > "$log/comments"
     for last; do :; done; cp "${last#body=@}" "$log/comment.md" ;;
esac
"#;

/// The entries of a mapping; empty if there is no mapping.
fn pairs(mapping: &Value) -> Vec<(String, String)> {
    let entries = mapping.as_object().into_iter().flatten();
    entries.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

/// A job of a workflow, up to its end.
struct Job {
    workspace: Workspace,
    contexts: Contexts,
    checksums: String,
    /// The steps that ran, each with its run.
    ran: Vec<(String, Run)>,
}

impl Job {
    /// A pull request of these changes, and a release to install.
    fn new(registry: Registry, change: impl FnOnce(&Workspace, &Registry)) -> (Self, Registry) {
        let workspace = repository(&registry);
        change(&workspace, &registry);
        commit(&workspace, "change");
        for folder in ["../github", "../bin", "../runner"] {
            std::fs::create_dir(workspace.path(folder)).unwrap();
        }
        executable(&workspace.path("../bin/gh"), &GH.replace("../github", &real(&workspace, "../github")));
        let (archive, checksum) = release(&workspace);
        let registry = registry.document(RELEASE, "application/gzip", archive);
        let mut contexts = Contexts::default();
        contexts.set("github.action_ref", "v0.1.0");
        contexts.set("github.action_repository", "OWNER/tflock");
        contexts.set("github.event_name", "pull_request");
        contexts.set("github.event.pull_request.number", "12");
        let checksums = format!("{}  other.tar.gz\n{checksum}  {NAME}.tar.gz\n", "0".repeat(64));
        (Self { workspace, contexts, checksums, ran: Vec::new() }, registry)
    }

    fn with(mut self, input: &str, value: &str) -> Self {
        self.contexts.set(&format!("inputs.{input}"), value);
        self
    }

    fn pinned(self) -> Self {
        let checksums = self.checksums.clone();
        self.with("checksums", &checksums)
    }

    fn github(&self, name: &str) -> String {
        std::fs::read_to_string(self.workspace.path("../github").join(name)).unwrap_or_default()
    }

    /// Runs all steps as a runner would: each in a shell of its own, later ones only if they may.
    fn run(mut self, registry: &Registry) -> Self {
        let action = document("action.yml");
        for (name, input) in action["inputs"].as_object().unwrap() {
            let name = format!("inputs.{name}");
            if self.contexts.get(&name).is_empty() {
                self.contexts.set(&name, input["default"].as_str().unwrap());
            }
        }
        let (mut succeeded, mut path) = (true, format!("{}:/usr/bin:/bin", real(&self.workspace, "../bin")));
        for (at, step) in action["runs"]["steps"].as_array().unwrap().iter().enumerate() {
            if !self.contexts.holds(step["if"].as_str(), succeeded) {
                continue;
            }
            let files = ["PATH", "OUTPUT", "STEP_SUMMARY"]
                .map(|file| (file, self.workspace.path("../github").join(format!("{file}-{at}"))));
            let mut workspace = self.workspace;
            for (name, value) in runner(&workspace, registry) {
                workspace = workspace.env(name, &value);
            }
            for (name, file) in &files {
                workspace = workspace.env(&format!("GITHUB_{name}"), file.to_str().unwrap());
            }
            for (name, value) in pairs(&step["env"]) {
                workspace = workspace.env(&name, &self.contexts.fill(&value));
            }
            workspace = workspace.env("PATH", &path);
            assert_eq!(step["shell"].as_str(), Some("bash"));
            let script = ["--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].as_str().unwrap()];
            let run = workspace.program(Path::new("/usr/bin/bash"), registry, script);
            self.workspace = workspace;
            succeeded &= run.code == Some(0);
            let [added, outputs, _] = files.map(|(_, file)| std::fs::read_to_string(file).unwrap_or_default());
            for line in added.lines() {
                path = format!("{line}:{path}");
            }
            for (name, value) in outputs.lines().filter_map(|line| line.split_once('=')) {
                self.contexts.set(&format!("steps.{}.outputs.{name}", step["id"].as_str().unwrap_or_default()), value);
            }
            self.ran.push((step["name"].as_str().unwrap().to_owned(), run));
        }
        self
    }

    /// The exit code of each step that ran.
    fn codes(&self) -> Vec<Option<i32>> {
        self.ran.iter().map(|(_, run)| run.code).collect()
    }

    /// What users see: the log of the second step, the step summary, the comment, the calls of GitHub's program.
    fn seen(&self) -> String {
        let run = &self.ran[1].1;
        // Questions end in any order, and which packages arrive before a refusal is a matter of luck.
        let mut notes: Vec<&str> =
            run.stderr.split_inclusive('\n').filter(|line| !line.starts_with("fetched ")).collect();
        notes.sort_unstable();
        let [summary, comment, calls] = ["STEP_SUMMARY-1", "comment.md", "calls"].map(|file| self.github(file));
        let text = run.filtered(&format!(
            "exit code: {}\n----- log\n{}{}----- summary\n{summary}----- comment\n{comment}----- gh\n{calls}",
            run.code.unwrap(),
            run.stdout,
            notes.concat()
        ));
        let commits = self.workspace.git(["log", "--format=%H"]).stdout;
        let text = commits.lines().fold(text, |text, commit| text.replace(&commit[..10], "<commit>"));
        without_random_names(&text)
    }
}

/// The part of `mktemp` that differs from run to run.
fn without_random_names(text: &str) -> String {
    let mut parts = text.split("tflock-reports-");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "tflock-reports-XXXXXX" + &part[6..])
}

fn real(workspace: &Workspace, path: &str) -> String {
    workspace.path(path).canonicalize().unwrap().display().to_string()
}

/// The variables that a runner sets for every step.
fn runner(workspace: &Workspace, registry: &Registry) -> Vec<(&'static str, String)> {
    vec![
        ("GITHUB_ACTIONS", "true".to_owned()),
        ("CI", "true".to_owned()),
        ("GITHUB_ACTION_PATH", TOP.to_owned()),
        ("GITHUB_SERVER_URL", format!("https://{}", registry.host())),
        ("GITHUB_REPOSITORY", "somebody/infrastructure".to_owned()),
        ("GITHUB_BASE_REF", "main".to_owned()),
        ("RUNNER_OS", "Linux".to_owned()),
        ("RUNNER_ARCH", "X64".to_owned()),
        ("RUNNER_TEMP", real(workspace, "../runner")),
        ("TF_REGISTRY_DISCOVERY_RETRY", "0".to_owned()),
        ("TF_PROVIDER_DOWNLOAD_RETRY", "0".to_owned()),
    ]
}

fn executable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// An archive as the release workflow lays it out, whose program is the one under test; and its checksum.
fn release(workspace: &Workspace) -> (Vec<u8>, String) {
    let folder: PathBuf = workspace.path("../release");
    std::fs::create_dir_all(folder.join(NAME)).unwrap();
    executable(&folder.join(NAME).join("tflock"), &format!("#!/bin/sh\nexec '{TFLOCK}' \"$@\"\n"));
    let script = format!("tar -czf {NAME}.tar.gz {NAME} && sha256sum {NAME}.tar.gz");
    let made =
        workspace.program(Path::new("/bin/sh"), None, ["-c", &format!("cd ../release && {script}")]).ended_with(0);
    let archive = std::fs::read(folder.join(format!("{NAME}.tar.gz"))).unwrap();
    (archive, made.stdout.split(' ').next().unwrap().to_owned())
}

fn more_configuration(workspace: &Workspace, _: &Registry) {
    workspace.write("app/more.tf", "# new\n");
}

fn upgrade(workspace: &Workspace, registry: &Registry) {
    let widget = format!("{}/acme/widget", registry.host());
    let platforms = ["--platform", "linux_amd64", "--platform", "darwin_arm64"];
    let args = ["-C", "app", "upgrade", &widget].into_iter().chain(platforms);
    workspace.tflock(registry, args).ended_with(0);
}

fn poison(workspace: &Workspace, _: &Registry) {
    edit(workspace, &format!("app/{LOCK}"), |text| planted(text, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="));
}

#[test]
#[ignore = "long"]
fn an_honest_change_passes_and_is_explained() {
    let registry = honest().release("acme/widget", "1.4.1", &["linux_amd64", "darwin_arm64"]);
    let (job, registry) = Job::new(registry, upgrade);
    let job = job.pinned().run(&registry);
    assert_eq!(job.codes(), [Some(0); 3], "{:?}", job.ran);
    insta::assert_snapshot!("action_honest", job.seen());
    // The next push replaces the comment, also if there is nothing to report any more.
    commit_back(&job.workspace);
    let again = Job { ran: Vec::new(), ..job }.run(&registry);
    assert_eq!(again.codes(), [Some(0); 3]);
    assert!(
        again.github("calls").lines().last().unwrap().contains("PATCH repos/somebody/infrastructure/issues/comments/7")
    );
    assert!(again.github("comment.md").contains("### Passed\n"));
    let installing = Job { ran: Vec::new(), ..again }.with("install", "true").run(&registry);
    assert_eq!(installing.codes(), [Some(0); 4], "{:?}", installing.ran);
    assert!(installing.ran[3].1.stdout.starts_with("installed "), "{}", installing.ran[3].1);
}

fn commit_back(workspace: &Workspace) {
    workspace.git(["checkout", "--quiet", "refs/remotes/origin/main", "--", "."]);
    commit(workspace, "back");
}

#[test]
fn a_poisoned_change_is_refused_in_log_summary_and_comment() {
    let (job, registry) = Job::new(honest(), poison);
    let job = job.pinned().run(&registry);
    assert_eq!(job.codes(), [Some(0), Some(3), Some(0)], "{:?}", job.ran);
    assert!(job.ran[1].1.stdout.contains("::error file=app/.terraform.lock.hcl,line="), "{}", job.ran[1].1);
    let sarif = std::fs::read_to_string(job.contexts.get("steps.verify.outputs.sarif")).unwrap();
    assert!(sarif.contains("\"unattested-hash\""), "{sarif}");
    insta::assert_snapshot!("action_poisoned", job.seen());
}

#[test]
fn an_outage_is_inconclusive() {
    let (job, registry) = Job::new(honest(), more_configuration);
    let registry = registry.answers(Endpoint::Versions, Answer::status(503));
    let job = job.pinned().run(&registry);
    assert_eq!(job.codes(), [Some(0), Some(4), Some(0)], "{:?}", job.ran);
    insta::assert_snapshot!("action_outage", job.seen());
    // The workflow's author may see it as a note, for entries that did not change.
    let (job, registry) = Job::new(registry, more_configuration);
    let job = job.pinned().with("inconclusive", "warn").run(&registry);
    assert_eq!(job.codes(), [Some(0), Some(0), Some(0)], "{:?}", job.ran);
}

#[test]
#[ignore = "long"]
fn without_changes_no_comment_is_written_and_a_failed_comment_decides_nothing() {
    let (job, registry) = Job::new(honest(), |it, _| it.write("README.md", "new\n"));
    let job = job.pinned().run(&registry);
    assert_eq!(job.codes(), [Some(0); 3]);
    assert!(job.github("comment.md").is_empty() && !job.github("calls").contains("POST"));
    for name in ["forbidden", "forbidden-read"] {
        let (job, registry) = Job::new(honest(), poison);
        job.workspace.write(&format!("../github/{name}"), "");
        let job = job.pinned().run(&registry);
        assert_eq!(job.codes(), [Some(0), Some(3), Some(0)]);
        assert!(job.ran[2].1.stdout.starts_with("::notice title=tflock::no comment: "), "{}", job.ran[2].1);
    }
    let (job, registry) = Job::new(honest(), poison);
    let job = job.pinned().with("comment", "false").run(&registry);
    assert_eq!(job.codes(), [Some(0), Some(3)]);
}

#[test]
fn only_what_was_pinned_or_attested_is_installed() {
    let install = |prepare: fn(Job) -> Job| {
        let (job, registry) = Job::new(honest(), more_configuration);
        let job = prepare(job.with("offline", "true")).run(&registry);
        (job.codes(), job.ran[0].1.stdout.clone(), job.github("calls"))
    };
    let attested = |job: Job| {
        job.workspace.write("../github/attested", "");
        job
    };
    let (codes, _, calls) = install(attested);
    assert_eq!(codes, [Some(0); 3]);
    let wanted = "--repo OWNER/tflock --signer-workflow OWNER/tflock/.github/workflows/release.yml \
                  --source-ref refs/tags/v0.1.0 --deny-self-hosted-runners";
    assert!(calls.contains(wanted), "{calls}");
    let refused = [
        (install(|job| job), "nothing attests"),
        (install(|job| job.with("checksums", &format!("{}  {NAME}.tar.gz", "0".repeat(64)))), "is not what was pinned"),
        (install(|job| job.with("checksums", "0000  other.tar.gz")), "needs one line for tflock-0.1.0-x86_64"),
        (install(|job| job.pinned().with("version", "0.2.0")), "cannot fetch https://"),
        (install(|job| job.pinned().with("version", "../x")), "which release is wanted?"),
    ];
    for ((codes, log, _), message) in refused {
        assert_eq!(codes, [Some(2)], "{log}");
        assert!(log.starts_with("::error title=tflock::") || message == "nothing attests", "{log}");
        assert!(log.contains(message), "{log}");
    }
    let (mut job, registry) = Job::new(honest(), more_configuration);
    job.contexts.set("github.action_ref", "main");
    assert_eq!(job.pinned().run(&registry).codes(), [Some(2)]);
}
