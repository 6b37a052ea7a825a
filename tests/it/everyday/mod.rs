//! What people meet in a working week: what the program said of it before it was mended, and what it says now.
//!
//! `testdata/everyday` has what an earlier program said to the same commands in the same worlds. To record it, where such a
//! program is at hand (`git show 0d7c7b1:README.md` is the page that belonged to it):
//!
//! ```sh
//! TFLOCK_BEFORE=PROGRAM TFLOCK_README_BEFORE=PAGE cargo nextest run --test it --run-ignored only -E 'test(record_what_was_said)'
//! ```

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::{TESTDATA, TFLOCK, Workspace};

mod asking;
mod many;
mod reading;
#[cfg(unix)]
mod waiting;

/// Of a longer answer only so many lines are kept, and their number.
const KEPT: usize = 20;

/// The programs that are asked, and what they answered.
struct Told {
    program: PathBuf,
    readme: PathBuf,
    answers: Vec<Answer>,
}

/// What was asked, and what came.
struct Answer {
    /// `$ tflock lock -r`, or what else is shown.
    question: String,
    /// All lines of it.
    lines: usize,
    text: String,
}

impl Told {
    fn by(program: PathBuf, readme: PathBuf) -> Self {
        Self { program, readme, answers: Vec::new() }
    }

    /// What a command prints is part of the topic. Words are separated by spaces; `{{registry}}` may stand in them.
    fn says<'r>(&mut self, workspace: &Workspace, registry: impl Into<Option<&'r Registry>>, words: &str) -> Run {
        let run = self.run(workspace, registry.into(), words);
        let (mut fetched, other): (Vec<&str>, Vec<&str>) =
            run.stderr.split_inclusive('\n').partition(|line| line.starts_with("fetched "));
        fetched.sort_unstable();
        // Whether a download ends before its run is refused is a matter of luck.
        let fetched = if run.code == Some(0) { fetched.concat() } else { String::new() };
        let mut text = format!("{}{fetched}{}", run.stdout, other.concat());
        if run.code != Some(0) {
            writeln!(text, "[exit {}]", run.code.unwrap()).unwrap();
        }
        let words = words.replace("{{registry}}", "localhost:PORT");
        self.shows(&format!("$ tflock {}", run.filtered(&words)), &run.filtered(&text));
        run
    }

    /// A step on the way, which succeeds and is not part of the topic.
    fn does<'r>(&self, workspace: &Workspace, registry: impl Into<Option<&'r Registry>>, words: &str) -> Run {
        self.run(workspace, registry.into(), words).ended_with(0)
    }

    /// Something else than the output of a command.
    fn shows(&mut self, question: &str, text: &str) {
        let kept: Vec<&str> = text.lines().take(KEPT).map(str::trim_end).collect();
        self.answers.push(Answer { question: question.to_owned(), lines: text.lines().count(), text: kept.join("\n") });
    }

    fn run(&self, workspace: &Workspace, registry: Option<&Registry>, words: &str) -> Run {
        let host = registry.map(Registry::host).unwrap_or_default();
        let words: Vec<String> = words.split_whitespace().map(|word| word.replace("{{registry}}", &host)).collect();
        workspace.program(&self.program, registry, words)
    }

    /// One text, which [`read`] takes apart again.
    fn record(&self) -> String {
        let mut record = String::new();
        for Answer { question, lines, text } in &self.answers {
            writeln!(record, "{lines} lines of {question}").unwrap();
            text.lines().for_each(|line| writeln!(record, "{}", format!("  {line}").trim_end()).unwrap());
        }
        record
    }
}

fn read(record: &str) -> Vec<Answer> {
    let mut answers: Vec<Answer> = Vec::new();
    for line in record.lines() {
        let head = line.split_once(" lines of ").filter(|_| !line.starts_with(' '));
        match (head, answers.last_mut()) {
            (Some((lines, question)), _) => {
                let (question, lines) = (question.to_owned(), lines.parse().unwrap());
                answers.push(Answer { question, lines, text: String::new() });
            }
            (None, Some(answer)) => writeln!(answer.text, "{}", line.strip_prefix("  ").unwrap_or(line)).unwrap(),
            (None, None) => panic!("not recorded by this test: {line}"),
        }
    }
    answers
}

fn recorded(topic: &str) -> PathBuf {
    Path::new(TESTDATA).join(format!("everyday/{}.txt", topic.replace('_', "-")))
}

fn readme() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

/// Both sides of a topic, question by question. What is longer now than a small screen is shown up to there.
fn compared(topic: &str, scenario: fn(&mut Told)) {
    let mut now = Told::by(TFLOCK.into(), readme());
    scenario(&mut now);
    if now.answers.is_empty() {
        // What the scenario needs is not there, and it said so.
        return;
    }
    let before = read(&std::fs::read_to_string(recorded(topic)).unwrap());
    let mut shown = String::new();
    assert_eq!(before.len(), now.answers.len(), "the scenario asks something else than was recorded");
    for (before, now) in before.iter().zip(&now.answers) {
        assert_eq!(before.question, now.question, "the scenario asks something else than was recorded");
        assert_ne!(before.text.trim_end(), now.text.trim_end(), "{}: as before", now.question);
        writeln!(shown, "{}", now.question).unwrap();
        for (mark, Answer { text, lines, .. }) in [('<', before), ('>', now)] {
            text.trim_end()
                .lines()
                .for_each(|line| writeln!(shown, "{}", format!("{mark} {line}").trim_end()).unwrap());
            match lines {
                0 => writeln!(shown, "{mark} (nothing)").unwrap(),
                more if *more > KEPT => writeln!(shown, "{mark} ... {more} lines").unwrap(),
                _ => {}
            }
        }
        shown.push('\n');
    }
    insta::assert_snapshot!(topic, shown);
}

macro_rules! topics {
    ($($(#[$only:meta])? $topic:ident: $scenario:path),* $(,)?) => {
        $($(#[$only])?
        #[test]
        fn $topic() {
            compared(stringify!($topic), $scenario);
        })*

        const TOPICS: &[(&str, fn(&mut Told))] = &[$($(#[$only])? (stringify!($topic), $scenario)),*];
    };
}

topics! {
    many_root_modules: many::root_modules,
    step_summary: many::step_summary,
    paths: many::paths,
    advised_commands: many::advised_commands,
    above_root_modules: many::above_root_modules,
    first_day: many::first_day,
    names: asking::names,
    one_refused_provider: asking::one_refused_provider,
    whose_key: asking::whose_key,
    connections: asking::connections,
    error_texts: asking::error_texts,
    empty_cache: asking::empty_cache,
    one_document_for_packages: asking::one_document_for_packages,
    changes: reading::changes,
    finding_out: reading::finding_out,
    readme_page: reading::readme_page,
    conflicts: reading::conflicts,
    small_things: reading::small_things,
    #[cfg(unix)]
    waiting: waiting::waiting,
}

#[test]
#[ignore = "asks an earlier program"]
fn record_what_was_said_before() {
    let [program, readme] = ["TFLOCK_BEFORE", "TFLOCK_README_BEFORE"].map(|name| std::env::var_os(name).unwrap());
    for (topic, scenario) in TOPICS {
        let mut before = Told::by(program.clone().into(), readme.clone().into());
        scenario(&mut before);
        std::fs::write(recorded(topic), before.record()).unwrap();
    }
}
