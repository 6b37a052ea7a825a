//! Commands that send nothing: those whose help says so, and each command with `--offline`. Every server of this world is one that only
//! counts connections, and the proxy to all others is the same one, so no name needs to be resolved.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::run::Run;
use crate::support::workspace::Workspace;

struct Wire {
    address: String,
    connections: Arc<AtomicUsize>,
}

impl Wire {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        std::thread::spawn(move || listener.incoming().for_each(|_| _ = counted.fetch_add(1, Ordering::SeqCst)));
        Self { address, connections }
    }

    fn connections(&self) -> usize {
        self.connections.swap(0, Ordering::SeqCst)
    }
}

const HASH: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

fn lock(address: &str) -> String {
    format!("provider \"{address}\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \"{HASH}\",\n  ]\n}}\n")
}

fn main(address: &str, module: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    x = {{\n      source = \"{address}\"\n    }}\n  }}\n}}\n\nmodule \"m\" {{\n  source = \
         \"{module}\"\n}}\n"
    )
}

/// Root modules with providers and modules from everywhere, and settings that let requests be sent wherever they can.
fn world(wire: &Wire) -> Workspace {
    let (host, own) = (&wire.address, format!("{}/acme/widget", wire.address));
    let roots = [
        ("a", &*own, format!("{host}/acme/net/lab")),
        ("b", &own, format!("git::https://{host}/net.git")),
        ("c", "registry.terraform.io/hashicorp/null", "terraform-aws-modules/vpc/aws".to_owned()),
        ("d", "registry.opentofu.org/hashicorp/null", format!("https://{host}/net.zip")),
        ("e", &own, "github.com/acme/net".to_owned()),
    ];
    let workspace = Workspace::with_files(&[(
        ".tflock.hcl",
        "platforms = [\"linux_amd64\"]\n\nprovenance {\n  required = [\"hashicorp/*\"]\n}\n\npolicy {\n  minimum_age = \"7d\"\n}\n",
    )]);
    for (root, address, module) in roots {
        workspace.write(&format!("{root}/main.tf"), &main(address, &module));
        workspace.write(&format!("{root}/.terraform.lock.hcl"), &lock(address));
    }
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "world"]);
    let text = workspace.read("a/.terraform.lock.hcl");
    workspace.write("a/.terraform.lock.hcl", &text.replace("1.0.0", "1.1.0"));
    let proxy = format!("http://{host}");
    let index = format!("https://{host}/index");
    workspace.env("HTTPS_PROXY", &proxy).env("HTTP_PROXY", &proxy).env("TFLOCK_INDEX", &index)
}

/// Commands that send nothing by themselves.
const SILENT: &[&[&str]] = &[
    &[],
    &["status"],
    &["status", "--format", "json"],
    &["-C", "a", "status"],
    &["setup", "--dry-run"],
    &["list", "-r"],
    &["list", "-r", "--by", "root"],
    &["-C", "a", "list"],
    &["explain"],
    &["explain", "-r", "hashicorp/null"],
    &["explain", "-r", HASH],
    &["explain", "republished"],
    &["diff"],
    &["diff", "-r"],
    &["diff", "-r", "HEAD", "--format", "markdown"],
    &["fmt", "-r", "--check"],
    &["hash", "a"],
    &["textconv", "a/.terraform.lock.hcl"],
    &["merge", "--resolve", "a/.terraform.lock.hcl"],
    &["git", "status"],
    &["cache", "dir"],
    &["cache", "stats"],
    &["cache", "prune"],
    &["trust", "list"],
    &["trust", "forget", "hashicorp/null"],
    &["trust", "add", "hashicorp/null", "unsigned"],
    &["mirror", "-r", "--check", "copies"],
    &["schema"],
    &["version"],
    &["help"],
    &["completions", "bash"],
    &["man"],
];

/// Commands that may send something, without `--offline`.
const ONLINE: &[&[&str]] = &[
    &["lock", "-r"],
    &["lock", "-r", "--check"],
    &["lock", "-r", "--create"],
    &["lock", "-r", "--lock-modules"],
    &["verify", "-r"],
    &["verify", "-r", "--base", "HEAD"],
    &["verify", "-r", "--fix"],
    &["verify", "-r", "--deep"],
    &["-C", "a", "verify", "--source", "configured"],
    &["-C", "a", "add", "acme/other"],
    &["-C", "a", "remove", "x"],
    &["upgrade", "-r"],
    &["outdated", "-r"],
    &["outdated", "-r", "--modules"],
    &["why", "-r"],
    &["list", "-r", "--modules"],
    &["get", "-r"],
    &["install", "-r"],
    &["mirror", "-r", "copies"],
    &["-C", "c", "migrate", "--to", "tofu"],
    &["sbom", "-r"],
    &["audit", "-r"],
    &["trust", "init", "-r"],
    &["trust", "init", "-r", "--provenance"],
    &["trust", "add", "hashicorp/null", "--provenance"],
    &["trust", "rotate", "hashicorp/null", "--provenance", "--reason", "moved"],
    &["cache", "import"],
    &["cache", "export"],
];

/// The first words of commands, without options.
fn names(rows: &[&[&str]]) -> Vec<String> {
    let first =
        |row: &&[&str]| row.iter().find(|word| word.len() > 1 && !word.starts_with('-')).map(ToString::to_string);
    rows.iter().filter_map(first).collect()
}

#[test]
#[ignore = "long"]
fn nothing_is_sent_without_the_network() {
    let wire = Wire::new();
    let mut loud: Vec<String> = Vec::new();
    let workspace = world(&wire);
    let mut run = |args: &[&str]| -> Run {
        let run = workspace.tflock(None, args);
        let sent = wire.connections();
        if sent > 0 {
            loud.push(format!("{args:?} opened {sent} connections: {run}"));
        }
        run
    };
    for args in SILENT {
        let done = run(args);
        assert!(!done.stderr.contains("unexpected argument"), "{args:?}: {done}");
    }
    let status = run(&["status"]);
    assert!(status.stdout.contains("5 root modules not checked: "), "{status}");
    for args in ONLINE {
        let words: Vec<&str> = args.iter().copied().chain(["--offline"]).collect();
        let done = run(&words);
        assert!(!done.stderr.contains("unexpected argument"), "{args:?}: {done}");
        workspace.git(["checkout", "--quiet", "--", "."]);
    }
    assert!(loud.is_empty(), "{}", loud.join("\n----------\n"));
    // The wire would have noticed.
    let control = workspace.tflock(None, ["-C", "c", "lock"]);
    assert!(wire.connections() > 0, "{control}");
}

#[test]
fn every_command_is_tried() {
    let help = Workspace::with_files(&[]).tflock(None, ["help", "--all"]).ended_with(0).stdout;
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 20, "{help}");
    let tried: Vec<String> = names(SILENT).into_iter().chain(names(ONLINE)).collect();
    let missing: Vec<&&str> = commands.iter().filter(|command| !tried.iter().any(|it| it == **command)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
