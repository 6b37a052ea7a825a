//! Sentences that the compiler takes apart, so what they say to run is a command of ours, or one of another program.

use std::fmt;

/// Which root modules a command works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// None: files, packages or nothing.
    Nothing,
    /// The working tree that `-C` names.
    Tree,
    /// Those that `-C` names.
    Named,
    /// Those that `-C` names, or `-r` finds.
    Found,
}

/// A subcommand of tflock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subcommand {
    pub name: &'static str,
    pub reach: Reach,
}

/// All that next steps can name.
const SUBCOMMANDS: [(Reach, &[&str]); 4] = [
    (
        Reach::Nothing,
        &[
            "cache",
            "completions",
            "hash",
            "help",
            "man",
            "merge",
            "providers",
            "schema",
            "stacks",
            "textconv",
            "version",
        ],
    ),
    (Reach::Tree, &["git", "trust"]),
    (Reach::Named, &["add", "remove", "setup", "status"]),
    (
        Reach::Found,
        &[
            "audit",
            "diff",
            "explain",
            "fmt",
            "get",
            "install",
            "list",
            "lock",
            "migrate",
            "mirror",
            "outdated",
            "sbom",
            "trust init",
            "upgrade",
            "verify",
            "why",
        ],
    ),
];

/// True for the commands that take packages from a source; `mirror` copies one for where there is none.
pub(super) fn takes_source(name: &str) -> bool {
    ["add", "audit", "diff", "install", "lock", "migrate", "outdated", "sbom", "upgrade", "verify"].contains(&name)
}

/// The subcommand at the beginning of what is typed after `tflock`.
pub const fn subcommand(typed: &str) -> Option<Subcommand> {
    let (mut found, mut reach): (Option<Subcommand>, usize) = (None, 0);
    while reach < SUBCOMMANDS.len() {
        let mut at = 0;
        while at < SUBCOMMANDS[reach].1.len() {
            let name = SUBCOMMANDS[reach].1[at];
            let is_longer = match found {
                Some(found) => found.name.len() < name.len(),
                None => true,
            };
            if is_longer && starts(typed, name) {
                let rest = typed.split_at(name.len()).1;
                if rest.is_empty() || starts(rest, " ") || starts(rest, "`") {
                    found = Some(Subcommand { name, reach: SUBCOMMANDS[reach].0 });
                }
            }
            at += 1;
        }
        reach += 1;
    }
    found
}

/// What only a finding knows, by the word that stands for it in the help of its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hole {
    Address,
    /// With what else is to be typed there.
    Directory,
    Release,
    File,
    Fingerprint,
    Hash,
    ModuleSource,
    Revision,
}

impl Hole {
    const ALL: &'static [Hole] = &[
        Hole::Address,
        Hole::Directory,
        Hole::Release,
        Hole::File,
        Hole::Fingerprint,
        Hole::Hash,
        Hole::ModuleSource,
        Hole::Revision,
    ];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Hole::Address => "ADDR",
            Hole::Directory => "DIR",
            Hole::Release => "ADDR@VERSION",
            Hole::File => "PATH",
            Hole::Fingerprint => "FINGERPRINT",
            Hole::Hash => "HASH",
            Hole::ModuleSource => "SOURCE",
            Hole::Revision => "REV",
        }
    }
}

/// A part of a sentence that the compiler took apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Text(&'static str),
    /// A command begins, of tflock if it is known; its words follow until [`Part::End`].
    Command(Option<Subcommand>),
    Word(&'static str),
    Hole(Hole),
    /// `{}`: a value that is known when the step is made.
    Value,
    End,
}

/// A sentence without values, such as the help of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    pub text: &'static str,
    pub parts: &'static [Part],
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// A sentence without values, as a constant.
#[macro_export]
macro_rules! template {
    ($text:expr) => {
        const {
            $crate::step::Template {
                text: $text,
                parts: const { &$crate::step::parts::<{ $crate::step::count($text) }>($text) },
            }
        }
    };
}

/// A next step: a sentence, and a value for each `{}` in it. Between backticks is a command, in which each value is a word.
#[macro_export]
macro_rules! step {
    (@one $value:expr) => { () };
    ($text:expr $(, $value:expr)* $(,)?) => {{
        const TEMPLATE: $crate::step::Template = $crate::template!($text);
        const _: () = assert!($crate::step::values(TEMPLATE.parts) == <[()]>::len(&[$($crate::step!(@one $value)),*]));
        $crate::step::Step::of(TEMPLATE.parts, [$($crate::step::Fill::value(&$value)),*])
    }};
}

/// How far the compiler has read a sentence.
#[derive(Clone, Copy)]
struct TemplateReader {
    rest: &'static str,
    within: PieceWithin,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceWithin {
    Text,
    /// Code that is no command, such as the name of a file.
    Code,
    Command,
}

impl TemplateReader {
    const fn of(rest: &'static str) -> Self {
        Self { rest, within: PieceWithin::Text }
    }

    /// The next part, and the reader behind it.
    const fn next(self) -> Option<(Part, TemplateReader)> {
        if self.rest.is_empty() {
            return None;
        }
        Some(match self.within {
            PieceWithin::Command => self.word(),
            _ if starts(self.rest, "{}") => (Part::Value, TemplateReader { rest: self.rest.split_at(2).1, ..self }),
            PieceWithin::Text if starts(self.rest, "`") => {
                let (_, behind) = self.rest.split_at(1);
                let (code, _) = behind.split_at(find(behind, "`"));
                assert!(code.len() < behind.len(), "a backtick has no partner");
                if !is_command(code) {
                    return Some(TemplateReader { within: PieceWithin::Code, ..self }.next_code(1));
                }
                let own = starts(code, "tflock ")
                    && !has_word(code, "--help")
                    && !has_word(code, "-C")
                    && !has_word(code, "RULE")
                    && !has_word(code, "COMMAND");
                if !own {
                    return Some((Part::Command(None), TemplateReader { rest: behind, within: PieceWithin::Command }));
                }
                let (_, words) = behind.split_at("tflock ".len());
                let Some(command) = subcommand(words) else { panic!("no such subcommand of tflock") };
                let rest = words.split_at(command.name.len()).1;
                (Part::Command(Some(command)), TemplateReader { rest, within: PieceWithin::Command })
            }
            PieceWithin::Text => {
                let (text, rest) = self.rest.split_at(least(find(self.rest, "`"), find(self.rest, "{}")));
                (Part::Text(text), TemplateReader { rest, ..self })
            }
            PieceWithin::Code => self.next_code(0),
        })
    }

    /// A part of code, from the backtick before it, until the one behind it or a value.
    const fn next_code(self, from: usize) -> (Part, TemplateReader) {
        let (_, behind) = self.rest.split_at(from);
        let (tick, value) = (find(behind, "`"), find(behind, "{}"));
        let (end, within) = if value < tick { (value, PieceWithin::Code) } else { (tick + 1, PieceWithin::Text) };
        let (text, rest) = self.rest.split_at(from + end);
        (Part::Text(text), TemplateReader { rest, within })
    }

    /// A word of a command, or its end.
    pub(super) const fn word(self) -> (Part, TemplateReader) {
        if starts(self.rest, "`") {
            return (Part::End, TemplateReader { rest: self.rest.split_at(1).1, within: PieceWithin::Text });
        }
        let from = if starts(self.rest, " ") { self.rest.split_at(1).1 } else { self.rest };
        let (word, rest) = from.split_at(least(find(from, " "), find(from, "`")));
        let value = find(word, "{}");
        assert!(value == word.len() || word.len() == 2, "a value in a command is a word of its own");
        let part = if value == 0 { Part::Value } else { hole_or_word(word) };
        (part, TemplateReader { rest, ..self })
    }
}

const fn is_command(code: &str) -> bool {
    starts(code, "tflock ") || starts(code, "git ") || starts(code, "docker ") || starts(code, "{} ")
}

const fn hole_or_word(word: &'static str) -> Part {
    let mut at = 0;
    while at < Hole::ALL.len() {
        if starts(word, Hole::ALL[at].word()) && word.len() == Hole::ALL[at].word().len() {
            return Part::Hole(Hole::ALL[at]);
        }
        at += 1;
    }
    Part::Word(word)
}

const fn has_word(code: &str, word: &str) -> bool {
    let mut rest = code;
    loop {
        let (first, behind) = rest.split_at(find(rest, " "));
        if starts(first, word) && first.len() == word.len() {
            return true;
        }
        if behind.is_empty() {
            return false;
        }
        rest = behind.split_at(1).1;
    }
}

const fn least(one: usize, other: usize) -> usize {
    if one < other { one } else { other }
}

const fn starts(text: &str, with: &str) -> bool {
    let (text, with) = (text.as_bytes(), with.as_bytes());
    let mut at = 0;
    while at < with.len() {
        if at >= text.len() || text[at] != with[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Where ASCII text begins in a text; its end if it is not in there.
const fn find(text: &str, what: &str) -> usize {
    let mut at = 0;
    while at < text.len() {
        if text.is_char_boundary(at) && starts(text.split_at(at).1, what) {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// The number of parts of a sentence.
#[doc(hidden)]
pub const fn count(text: &'static str) -> usize {
    let (mut reader, mut count) = (TemplateReader::of(text), 0);
    while let Some((_, next)) = reader.next() {
        (reader, count) = (next, count + 1);
    }
    count
}

/// The parts of a sentence.
#[doc(hidden)]
pub const fn parts<const N: usize>(text: &'static str) -> [Part; N] {
    let (mut reader, mut found, mut at) = (TemplateReader::of(text), [Part::End; N], 0);
    while let Some((part, next)) = reader.next() {
        found[at] = part;
        (reader, at) = (next, at + 1);
    }
    found
}

/// How many values a sentence needs.
#[doc(hidden)]
pub const fn values(parts: &[Part]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < parts.len() {
        if matches!(parts[at], Part::Value) {
            count += 1;
        }
        at += 1;
    }
    count
}
