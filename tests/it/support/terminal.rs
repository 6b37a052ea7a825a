//! A program on a terminal: what people see at any moment, and the keys they press.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::tools::found;
use super::workspace::Workspace;
use crate::support::registry::Registry;

/// How long anything may take before the test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal of 24 lines, made by `script` of util-linux.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    keys: ChildStdin,
    arrives: Receiver<Vec<u8>>,
    seen: Vec<u8>,
}

impl Terminal {
    /// Starts a program with words as a shell takes them. None, and a line on stderr, where there is no such `script`.
    pub fn start(workspace: &Workspace, registry: &Registry, columns: u16, words: &str) -> Option<Self> {
        let script = found("script")?;
        let version = Command::new(&script).arg("--version").output().ok()?;
        if !String::from_utf8_lossy(&version.stdout).contains("util-linux") {
            let _ = writeln!(std::io::stderr(), "skipped: {} is not the one of util-linux", script.display());
            return None;
        }
        let line = format!("stty rows 24 columns {columns}; exec {words}");
        let args = ["--quiet", "--return", "--flush", "--command", &line, "/dev/null"];
        let mut child = workspace.command(&script, registry, args).stderr(Stdio::inherit()).spawn().unwrap();
        let keys = child.stdin.take().unwrap();
        let mut output = child.stdout.take().unwrap();
        let (send, arrives) = channel();
        // It ends with the program, whose terminal is closed then.
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Some(Self { child, keys, arrives, seen: Vec::new() })
    }

    /// The screen, as soon as it shows all these texts.
    #[track_caller]
    pub fn showing(&mut self, texts: &[&str]) -> String {
        let began = Instant::now();
        loop {
            self.seen.extend(self.arrives.try_iter().flatten());
            let screen = screen(&String::from_utf8_lossy(&self.seen));
            if texts.iter().all(|text| screen.contains(text)) {
                return screen;
            }
            let left = PATIENCE.saturating_sub(began.elapsed());
            match self.arrives.recv_timeout(left) {
                Ok(bytes) => self.seen.extend(bytes),
                Err(error) => {
                    panic!("{texts:?} are not shown: {error}\n{screen}\n{:?}", String::from_utf8_lossy(&self.seen))
                }
            }
        }
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// The exit code, and what is left on the screen.
    pub fn end(mut self) -> (Option<i32>, String) {
        let began = Instant::now();
        while let Ok(bytes) = self.arrives.recv_timeout(PATIENCE.saturating_sub(began.elapsed())) {
            self.seen.extend(bytes);
        }
        (self.child.wait().unwrap().code(), screen(&String::from_utf8_lossy(&self.seen)))
    }
}

/// What a terminal that was sent this shows, without the empty end of the screen.
fn screen(sent: &str) -> String {
    let (mut lines, mut row, mut column) = (vec![Vec::new()], 0_usize, 0_usize);
    let mut rest = sent.chars();
    while let Some(next) = rest.next() {
        match next {
            '\r' => column = 0,
            '\n' => row += 1,
            '\x1b' => {
                let mut count = String::new();
                let kind = rest.by_ref().find(|c| {
                    count.extend((!c.is_ascii_alphabetic() && *c != '[').then_some(*c));
                    c.is_ascii_alphabetic()
                });
                let way = count.parse().unwrap_or(1);
                match (kind.unwrap_or_default(), count.as_str()) {
                    ('A', _) => row = row.saturating_sub(way),
                    ('B', _) => row += way,
                    ('C', _) => column += way,
                    ('D', _) => column = column.saturating_sub(way),
                    ('K', "2") => lines[row].clear(),
                    ('K', _) => lines[row].truncate(column),
                    _ => {}
                }
            }
            shown => {
                let line: &mut Vec<char> = &mut lines[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = shown;
                column += 1;
            }
        }
        lines.resize(lines.len().max(row + 1), Vec::new());
    }
    let lines = lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

#[test]
fn a_terminal_shows_what_was_not_overwritten() {
    assert_eq!(screen("one\r\ntwo\r\x1b[2Kthree\x1b[1A\rO\x1b[K"), "O\nthree");
    assert_eq!(screen("\x1b[?25labc\x1b[2D\x1b[1mX\x1b[0m\r\n"), "aXc");
}
