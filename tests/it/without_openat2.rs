//! How often the file system is read if the system cannot refuse symbolic links itself, as on macOS and Windows.
#![cfg(target_os = "linux")]

use std::path::Path;

use crate::support::tools::found;
use crate::support::workspace::Workspace;

/// The calls of `statx` in a run over so many modules, each of which calls the next one twice.
fn looks(modules: usize, strace: &Path) -> usize {
    let call = |name: &str, at: usize| format!("module \"{name}\" {{\n  source = \"../m{at}\"\n}}\n");
    let workspace = Workspace::with_files(&[("m0/main.tf", &call("a", 1))]);
    for at in 1..modules {
        workspace.write(&format!("m{at}/main.tf"), &(call("a", at + 1) + &call("b", at + 1)));
    }
    workspace.write(&format!("m{modules}/main.tf"), "terraform {}\n");
    let log = workspace.path("log");
    let mut args =
        ["-f", "-e", "trace=statx,openat2", "-e", "inject=openat2:error=ENOSYS", "-o"].map(str::to_owned).to_vec();
    args.push(log.display().to_string());
    args.extend([env!("CARGO_BIN_EXE_tflock"), "-C", "m0", "why", "--offline"].map(str::to_owned));
    workspace.program(strace, None, args).ended_with(0);
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("ENOSYS"), "openat2 was not refused");
    log.lines().filter(|line| line.contains("statx(")).count()
}

#[test]
fn each_directory_is_looked_at_once() {
    let Some(strace) = found("strace") else { return };
    // Without memory it was 601,009 for 40 modules.
    let (few, many) = (looks(6, &strace), looks(12, &strace));
    assert!(many < 400 && many - few < 6 * 8, "{few} {many}");
}
