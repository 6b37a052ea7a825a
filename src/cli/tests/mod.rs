//! Whole runs with streams in memory.

mod offline;

use std::cell::RefCell;
use std::io::{ErrorKind, Read};
use std::rc::Rc;
use std::time::SystemTime;

use super::*;

/// A stream that can be read after the run; closed, it is not read.
#[derive(Clone, Default)]
struct Page {
    bytes: Rc<RefCell<Vec<u8>>>,
    closed: Option<ErrorKind>,
}

impl Page {
    fn text(&self) -> String {
        String::from_utf8(self.bytes.borrow().clone()).unwrap()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(kind) = self.closed {
            return Err(kind.into());
        }
        self.bytes.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.closed.map_or(Ok(()), |kind| Err(kind.into()))
    }
}

struct Ran {
    code: ExitCode,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> serde_json::Value {
        assert_eq!(self.err, "");
        serde_json::from_str(&self.out).unwrap()
    }
}

#[derive(Default)]
struct Run {
    variables: Vec<(&'static str, &'static str)>,
    stdin: &'static [u8],
    stdout: Page,
    terminal: bool,
}

impl Run {
    fn of(&self, words: &[&str]) -> Ran {
        let stderr = Page::default();
        let stdin: Box<dyn Read + Send> = Box::new(self.stdin);
        let mut streams = Streams {
            stdin,
            stdout: Box::new(self.stdout.clone()),
            stderr: Box::new(stderr.clone()),
            stdin_is_terminal: false,
            stdout_is_terminal: self.terminal,
            stderr_is_terminal: self.terminal,
            columns: None,
            catch_signals: false,
        };
        let environment = Environment {
            variables: self.variables.iter().copied().collect(),
            directory: ".".into(),
            now: SystemTime::UNIX_EPOCH,
        };
        let words = std::iter::once("tflock").chain(words.iter().copied()).map(OsString::from);
        let code = run(words, &environment, &mut streams);
        Ran { code, out: self.stdout.text(), err: stderr.text() }
    }
}

fn ran(words: &[&str]) -> Ran {
    Run::default().of(words)
}

#[test]
fn help_and_version_are_results() {
    for words in [["--version"], ["-version"], ["-V"]] {
        let ran = ran(&words);
        let expected = format!("tflock {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (ExitCode::Done, expected.as_str(), ""));
    }
    let ran = ran(&["lock", "-help"]);
    assert!(ran.code == ExitCode::Done && ran.out.contains("--accept-republished") && ran.err.is_empty());
}

#[test]
fn an_option_is_named_as_it_was_typed() {
    for option in ["-upgrade", "--upgrade", "-plattform=linux_amd64", "--plattform"] {
        let name = option.split('=').next().unwrap_or_default();
        let said = format!("unexpected argument '{name}' found");
        assert!(ran(&["lock", option]).err.contains(&said), "{option}");
        assert!(ran(&["lock", option, "-json"]).out.contains(&said), "{option}");
    }
}

#[test]
fn usage_errors_go_to_standard_error() {
    let ran = ran(&["lcok"]);
    assert_eq!((ran.code, ran.out.as_str()), (ExitCode::Failed, ""));
    assert!(ran.err.starts_with("error: there is no command \"lcok\"") && ran.err.contains("did you mean `lock`?"));
    let ran = super::tests::ran(&["-q"]);
    assert!(ran.code == ExitCode::Failed && ran.out.is_empty() && ran.err.contains("Usage:"));
}

#[test]
fn usage_errors_as_documents() {
    for words in [&["--format", "json", "lcok"][..], &["-json", "lcok"], &["--format=json", "lcok"]] {
        let ran = ran(words);
        assert_eq!(ran.code, ExitCode::Failed);
        let document = ran.json();
        assert_eq!(document["error"]["kind"], "usage");
        assert_eq!(document["error"]["message"], "there is no command \"lcok\"");
        assert_eq!(document["error"]["hints"][0], "did you mean `lock`?");
        assert_eq!(document["command"], serde_json::Value::Null);
    }
    let document = ran(&["-json", "lock", "--platform", "linux"]).json();
    assert_eq!(document["command"], "lock");
    assert!(document["error"]["message"].as_str().unwrap().contains("not a platform"), "{document}");
    let document = ran(&["-json"]).json();
    assert_eq!(document["error"]["message"], "a command is missing");
}

/// A command that has no result in a format does nothing, and above all writes no file.
#[test]
fn formats_that_a_command_does_not_have() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kept");
    std::fs::write(&file, "precious\n").unwrap();
    for (format, command) in [
        ("commit", "verify"),
        ("commit", "version"),
        ("github", "fmt"),
        ("gitlab", "list"),
        ("sarif", "outdated"),
        ("github", "get"),
    ] {
        let report = format!("{format}={}", file.display());
        let ran = ran(&[command, "--report", &report]);
        assert_eq!((ran.code, std::fs::read_to_string(&file).unwrap()), (ExitCode::Failed, "precious\n".to_owned()));
        assert!(ran.err.starts_with(&format!("error: {command} has no result in the format {format}")), "{}", ran.err);
        let ran = super::tests::ran(&[command, "--format", format]);
        assert!(ran.code == ExitCode::Failed && ran.err.contains("these have: "), "{}", ran.err);
        assert_eq!(super::tests::ran(&["-json", command, "--report", &report]).json()["error"]["kind"], "usage");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let closed = |kind| Run { stdout: Page { closed: Some(kind), ..Page::default() }, ..Run::default() };
    for words in [&["man"][..], &["--help"], &["completions", "bash"], &["-json", "man"]] {
        let ran = closed(ErrorKind::BrokenPipe).of(words);
        assert_eq!((ran.code, ran.err.as_str()), (ExitCode::Done, ""), "{words:?}");
        let ran = closed(ErrorKind::StorageFull).of(words);
        assert_eq!(ran.code, ExitCode::Failed);
        assert!(ran.err.starts_with("error: cannot write to standard output: "), "{}", ran.err);
    }
}

#[test]
fn colour_on_terminals_only() {
    let run = |terminal, variables: &[(&'static str, &'static str)], more: &[&str]| {
        let words = [&["lock", "--net-mirror", "x"], more].concat();
        Run { terminal, variables: variables.to_vec(), ..Run::default() }.of(&words).err.contains('\x1b')
    };
    assert!(run(true, &[], &[]));
    assert!(!run(false, &[], &[]) && !run(true, &[("NO_COLOR", "1")], &[]) && !run(true, &[], &["-no-color"]));
    assert!(run(false, &[("NO_COLOR", "1")], &["--color=always"]) && run(true, &[("NO_COLOR", "")], &[]));
}

#[test]
fn completions_and_manual_are_text() {
    let script = ran(&["completions", "bash"]);
    assert!(script.code == ExitCode::Done && script.out.contains("_tflock()") && script.err.is_empty());
    let page = ran(&["man"]);
    assert!(page.code == ExitCode::Done && page.out.contains(".TH tflock 1"), "{}", page.out);
    assert_eq!(ran(&["man", "-json"]).json()["page"], page.out);
}
