//! Follows what commands advise, in a copy of the world in which they do: with `TFLOCK_TEST_FOLLOW=DIR` each command that any
//! test makes the program name is run there once, and the one that named it again. `DIR` gets a line for each.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha256};

use super::registry::Registry;
use super::run::{Invocation, Run};

/// What users fill in, as far as every world has a value for it.
const FILLED: [(&str, &str); 1] = [("TEXT", "because")];

/// The commands of the program that a text names between backticks.
pub fn commands(text: &str) -> BTreeSet<String> {
    let parts =
        text.split('`').skip(1).step_by(2).filter(|words| words.starts_with("tflock ") && !words.contains('\n'));
    parts.map(|words| words.replace("\\\"", "\"")).collect()
}

/// The words of a command as a shell splits them: plain, or in quotes as a whole.
pub fn words(command: &str) -> Vec<String> {
    let (mut words, mut rest) = (Vec::new(), command.trim());
    while let Some(first) = rest.chars().next() {
        let (word, after) = if first == '"' || first == '\'' {
            rest[1..].split_once(first).unwrap_or((&rest[1..], ""))
        } else {
            rest.split_once(' ').unwrap_or((rest, ""))
        };
        words.push(FILLED.iter().find(|(open, _)| *open == word).map_or(word, |(_, value)| value).to_owned());
        rest = after.trim_start();
    }
    words
}

/// Whether a word is one that users put something in place of.
pub fn is_open(word: &str) -> bool {
    word.len() > 2 && word != "HEAD" && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'@')
}

/// Runs what a run advised.
pub fn follow(invocation: &Invocation<'_>, run: &Run, records: &Path) {
    if invocation.program.file_stem().is_none_or(|name| name != "tflock") {
        return;
    }
    let host = invocation.registry.map(Registry::host).unwrap_or_default();
    let raise: Vec<String> = invocation.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    for advised in commands(&format!("{}\n{}", run.stdout, run.stderr)) {
        let shown = |text: &str| {
            let text = text.replace(&*invocation.sandbox.to_string_lossy(), "<sandbox>");
            if host.is_empty() { text } else { text.replace(&host, "<host>") }
        };
        let key = format!("{}\t{:?}\t{}", shown(&raise.join(" ")), run.code, shown(&advised));
        let name: String = Sha256::digest(&key).iter().take(12).fold(String::new(), |mut name, byte| {
            write!(name, "{byte:02x}").unwrap();
            name
        });
        let record = records.join(name);
        if std::fs::File::create_new(&record).is_err() {
            continue;
        }
        let next = words(&advised).split_off(1);
        let outcome = if next.iter().any(|word| is_open(word)) {
            "open".to_owned()
        } else {
            let copy = super::tempdir();
            let done = Command::new("cp").arg("-a").arg(invocation.sandbox.join(".")).arg(copy.path()).status();
            assert!(done.unwrap().success());
            let then = again(invocation, copy.path(), &next);
            let last = again(invocation, copy.path(), &raise);
            let gone = !commands(&format!("{}\n{}", last.1, last.2)).contains(&advised);
            let said: Vec<&str> = then.2.lines().filter(|line| line.starts_with("error: ")).take(2).collect();
            format!("{:?}\t{:?}\t{}\t{}", then.0, last.0, if gone { "gone" } else { "stays" }, shown(&said.join(" ")))
        };
        std::fs::write(record, format!("{key}\t{outcome}\n")).unwrap();
    }
}

/// The exit code and the streams of the program in a copy of the world.
fn again(invocation: &Invocation<'_>, copy: &Path, args: &[String]) -> (Option<i32>, String, String) {
    let moved = |text: &str| text.replace(&*invocation.sandbox.to_string_lossy(), &copy.to_string_lossy());
    let below = invocation.directory.strip_prefix(invocation.sandbox).unwrap();
    let process = Invocation {
        program: invocation.program.clone(),
        args: args.iter().map(|arg| moved(arg).into()).collect(),
        sandbox: copy,
        directory: copy.join(below),
        registry: invocation.registry,
        environment: invocation.environment.iter().map(|(name, value)| (name.clone(), moved(value))).collect(),
        input: invocation.input.clone(),
        user: None,
        is_owner_kept: false,
    };
    let output = process.command().stdin(std::process::Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}
