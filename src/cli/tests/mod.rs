//! Whole runs with streams in memory.

mod offline;

use std::cell::RefCell;
use std::io::Read;
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

struct Told {
    code: ExitCode,
    out: String,
    err: String,
}

impl Told {
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
    fn of(&self, words: &[&str]) -> Told {
        let stderr = Page::default();
        let stdin: Box<dyn Read + Send> = Box::new(self.stdin);
        let mut streams = Streams {
            stdin,
            stdout: Box::new(self.stdout.clone()),
            stderr: Box::new(stderr.clone()),
            stdout_is_terminal: self.terminal,
            stderr_is_terminal: self.terminal,
            columns: None,
        };
        let environment = Environment {
            variables: self.variables.iter().copied().collect(),
            directory: ".".into(),
            now: SystemTime::UNIX_EPOCH,
        };
        let words = std::iter::once("tflock").chain(words.iter().copied()).map(OsString::from);
        let code = run(words, &environment, &mut streams);
        Told { code, out: self.stdout.text(), err: stderr.text() }
    }
}

fn told(words: &[&str]) -> Told {
    Run::default().of(words)
}

#[test]
fn help_and_version_are_results() {
    for words in [["--version"], ["-version"], ["-V"]] {
        let told = told(&words);
        let expected = format!("tflock {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!((told.code, told.out.as_str(), told.err.as_str()), (ExitCode::Done, expected.as_str(), ""));
    }
    let told = told(&["lock", "-help"]);
    assert!(told.code == ExitCode::Done && told.out.contains("--accept-republished") && told.err.is_empty());
}

#[test]
fn usage_errors_go_to_standard_error() {
    let told = told(&["lcok"]);
    assert_eq!((told.code, told.out.as_str()), (ExitCode::Failed, ""));
    assert!(told.err.starts_with("error: there is no command \"lcok\"") && told.err.contains("did you mean `lock`?"));
    let told = super::tests::told(&[]);
    assert!(told.code == ExitCode::Failed && told.out.is_empty() && told.err.contains("Usage:"));
}

#[test]
fn usage_errors_as_documents() {
    for words in [&["--format", "json", "lcok"][..], &["-json", "lcok"], &["--format=json", "lcok"]] {
        let told = told(words);
        assert_eq!(told.code, ExitCode::Failed);
        let document = told.json();
        assert_eq!(document["error"]["kind"], "usage");
        assert_eq!(document["error"]["message"], "there is no command \"lcok\"");
        assert_eq!(document["error"]["hints"][0], "did you mean `lock`?");
        assert_eq!(document["command"], serde_json::Value::Null);
    }
    let document = told(&["-json", "lock", "--platform", "linux"]).json();
    assert_eq!(document["command"], "lock");
    assert!(document["error"]["message"].as_str().unwrap().contains("not a platform"), "{document}");
    let document = told(&["-json"]).json();
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
        let told = told(&[command, "--report", &report]);
        assert_eq!((told.code, std::fs::read_to_string(&file).unwrap()), (ExitCode::Failed, "precious\n".to_owned()));
        assert!(
            told.err.starts_with(&format!("error: {command} has no result in the format {format}")),
            "{}",
            told.err
        );
        let told = super::tests::told(&[command, "--format", format]);
        assert!(told.code == ExitCode::Failed && told.err.contains("these have: "), "{}", told.err);
        assert_eq!(super::tests::told(&["-json", command, "--report", &report]).json()["error"]["kind"], "usage");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let closed = |kind| Run { stdout: Page { closed: Some(kind), ..Page::default() }, ..Run::default() };
    for words in [&["man"][..], &["--help"], &["completions", "bash"], &["-json", "man"]] {
        let told = closed(ErrorKind::BrokenPipe).of(words);
        assert_eq!((told.code, told.err.as_str()), (ExitCode::Done, ""), "{words:?}");
        let told = closed(ErrorKind::StorageFull).of(words);
        assert_eq!(told.code, ExitCode::Failed);
        assert!(told.err.starts_with("error: cannot write to standard output: "), "{}", told.err);
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
    let script = told(&["completions", "bash"]);
    assert!(script.code == ExitCode::Done && script.out.contains("_tflock()") && script.err.is_empty());
    let page = told(&["man"]);
    assert!(page.code == ExitCode::Done && page.out.contains(".TH tflock 1"), "{}", page.out);
    assert_eq!(told(&["man", "-json"]).json()["page"], page.out);
}
