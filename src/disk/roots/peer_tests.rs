//! The configurations of `testdata/`, compared with the real program where it is at hand.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::tests::copy;
use super::{TreeOptions, load_tree};
use crate::dialect::Dialect;

fn configurations(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/configurations").join(kind);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn required(root: &Path) -> Result<BTreeSet<String>, String> {
    let tree = load_tree(root, &TreeOptions::new(Dialect::Terraform)).map_err(|errors| format!("{errors:?}"))?;
    let providers = tree.requirements.iter().map(|(addr, _)| addr.to_string());
    Ok(providers.chain(tree.built_in.iter().cloned()).collect())
}

/// A fresh copy, in which the program may write.
struct Peer(tempfile::TempDir);

impl Peer {
    fn new(configuration: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        copy(configuration, dir.path());
        Self(dir)
    }

    /// Standard output of a run that succeeds; none if the program fails.
    fn run(&self, command: &str) -> Option<String> {
        let output = Command::new("terraform")
            .args([command, "-no-color"])
            .current_dir(self.0.path())
            .env("CHECKPOINT_DISABLE", "1")
            .env_remove("TF_CLI_CONFIG_FILE")
            .env_remove("TF_DATA_DIR")
            .output()
            .unwrap();
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The addresses that `terraform providers` lists.
    fn required(&self) -> Option<BTreeSet<String>> {
        if fs::read_dir(self.0.path()).unwrap().any(|entry| entry.unwrap().file_type().unwrap().is_dir()) {
            self.run("get")?;
        }
        let text = self.run("providers")?;
        let address = |line: &str| Some(line.split_once("provider[")?.1.split_once(']')?.0.to_owned());
        Some(text.lines().filter_map(address).collect())
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn has_terraform() -> bool {
    let found = Command::new("terraform").arg("version").output().is_ok();
    if !found {
        eprintln!("skipped: terraform is not here");
    }
    found
}

#[test]
#[ignore = "long"]
fn the_addresses_of_configurations_are_those_of_terraform() {
    for configuration in configurations("accepted") {
        let ours = required(&configuration).unwrap_or_else(|errors| panic!("{}: {errors}", configuration.display()));
        assert!(!ours.is_empty(), "{}", configuration.display());
        if has_terraform() {
            assert_eq!(Some(ours), Peer::new(&configuration).required(), "{}", configuration.display());
        }
    }
}

#[test]
fn what_terraform_refuses_is_refused() {
    let configurations = configurations("refused");
    for configuration in &configurations {
        assert!(required(configuration).is_err(), "{}", configuration.display());
    }
    if !has_terraform() {
        return;
    }
    // One process each: two at a time take half as long.
    let (first, second) = configurations.split_at(configurations.len() / 2);
    std::thread::scope(|scope| {
        for half in [first, second] {
            scope.spawn(move || {
                for configuration in half {
                    let peer = Peer::new(configuration);
                    let accepted = peer.run("get").is_some() && peer.run("providers").is_some();
                    assert!(!accepted, "terraform accepts {}", configuration.display());
                }
            });
        }
    });
}
