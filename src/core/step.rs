//! Next steps: sentences with commands in them. A sentence is written as one text, `step!("Run `tflock lock {}`.", address)`,
//! which the compiler takes apart: a command that does not exist, or a value that is not a word of its own, does not compile.
//!
//! A step is written as if typed in the root module. Only the whole run knows where its user is, and gives that as a [`Place`].

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::documents::shown;

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
        &["cache", "completions", "hash", "help", "man", "merge", "providers", "schema", "textconv", "version"],
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

    const fn word(self) -> &'static str {
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
    const fn word(self) -> (Part, TemplateReader) {
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

/// What is in the place of `{}`.
#[derive(Debug, Clone)]
pub enum Value {
    /// A text; in a command, one word.
    Text(String),
    /// Any number of words of a command.
    Words(Vec<String>),
    Step(Step),
}

/// What can be in the place of `{}`.
pub trait Fill {
    fn value(&self) -> Value;
}

impl<T: fmt::Display + ?Sized> Fill for T {
    fn value(&self) -> Value {
        Value::Text(self.to_string())
    }
}

impl Fill for Value {
    fn value(&self) -> Value {
        self.clone()
    }
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// As it is typed.
    Plain(Cow<'static, str>),
    /// Any text, which a shell must take for one word.
    Value(String),
    Hole(Hole),
}

/// A command that is part of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandLine {
    /// That of tflock; else the first word names the program.
    pub subcommand: Option<Subcommand>,
    /// The directories that it names itself, wherever its user is.
    pub within: Vec<PathBuf>,
    pub words: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Piece {
    Text(Cow<'static, str>),
    Run(CommandLine),
    /// A name that may be meant.
    Meant(String),
}

/// Where the user typed the command of this run, and so types the next ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub way: Way,
    /// The file that the step is about, as its user can name it.
    pub file: Option<PathBuf>,
}

/// The way from the user to the root modules that a step is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    #[default]
    Here,
    /// A directory that the user named with `-C`.
    Named(PathBuf),
    /// A root module that was found with `-r`.
    Found(PathBuf),
    /// All root modules, with `-r`.
    All,
}

impl Way {
    /// The directory for `-C`.
    fn directory(&self, command: &CommandLine, reach: Reach) -> Option<String> {
        let directory = match self {
            Way::Named(directory) if reach != Reach::Nothing => directory,
            // A search already begins in the directory of the user.
            Way::Found(directory) if matches!(reach, Reach::Named | Reach::Found) && !command.is_recursive() => {
                directory
            }
            _ => return None,
        };
        (!directory.as_os_str().is_empty()).then(|| shell_word(&shown(directory)))
    }
}

impl CommandLine {
    /// A subcommand of tflock with its options, for directories that it names.
    pub fn of(name: &str, options: &[&'static str], within: &[PathBuf]) -> Self {
        let words = options.iter().map(|option| Word::Plain(Cow::Borrowed(option))).collect();
        Self { subcommand: subcommand(name), within: within.to_vec(), words }
    }

    /// True if it is this subcommand of tflock.
    pub fn is(&self, name: &str) -> bool {
        self.subcommand.is_some_and(|it| it.name == name)
    }

    fn is_recursive(&self) -> bool {
        let is = |text: &str| ["-r", "--recursive"].contains(&text);
        self.words.iter().any(|word| match word {
            Word::Plain(text) => is(text),
            Word::Value(text) => is(text),
            Word::Hole(_) => false,
        })
    }

    fn words(&self, place: &Place) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(Subcommand { name, reach }) = self.subcommand {
            words.push("tflock".to_owned());
            let own = self.within.iter().map(|directory| shell_word(&shown(directory)));
            words.extend(own.flat_map(|it| ["-C".to_owned(), it]));
            words.extend(place.way.directory(self, reach).into_iter().flat_map(|it| ["-C".to_owned(), it]));
            words.push(name.to_owned());
            let searches = place.way == Way::All && reach == Reach::Found && !self.is_recursive();
            words.extend(searches.then(|| "-r".to_owned()));
        }
        words.extend(self.words.iter().map(|word| match (word, &place.file) {
            (Word::Plain(text), _) => text.to_string(),
            (Word::Value(text), _) => shell_word(text),
            (Word::Hole(Hole::File), Some(file)) => shell_word(&shown(file)),
            (Word::Hole(hole), _) => hole.word().to_owned(),
        }));
        words
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(&Place::default()).join(" "))
    }
}

/// What to do next, as a sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    pieces: Vec<Piece>,
    place: Option<Arc<Place>>,
}

impl Step {
    /// A step from what the compiler took apart, with its values.
    #[doc(hidden)]
    pub fn of(parts: &[Part], values: impl IntoIterator<Item = Value>) -> Self {
        let (mut pieces, mut values) = (Vec::new(), values.into_iter());
        let mut command: Option<CommandLine> = None;
        for part in parts {
            let value = if *part == Part::Value { values.next() } else { None };
            match (part, &mut command) {
                (Part::Command(subcommand), _) => {
                    command = Some(CommandLine { subcommand: *subcommand, ..CommandLine::default() });
                }
                (Part::End, _) => pieces.extend(command.take().map(Piece::Run)),
                (Part::Text(text), _) => pieces.push(Piece::Text(Cow::Borrowed(text))),
                (Part::Word(text), Some(command)) => command.words.push(Word::Plain(Cow::Borrowed(text))),
                (Part::Hole(hole), Some(command)) => command.words.push(Word::Hole(*hole)),
                (Part::Value, Some(command)) => match value {
                    Some(Value::Words(words)) => command.words.extend(words.into_iter().map(Word::Value)),
                    Some(Value::Text(text)) => command.words.push(Word::Value(text)),
                    Some(Value::Step(step)) => command.words.push(Word::Value(step.to_string())),
                    None => {}
                },
                (Part::Value, None) => match value {
                    Some(Value::Step(step)) => pieces.extend(step.pieces),
                    Some(Value::Text(text)) => pieces.push(Piece::Text(Cow::Owned(text))),
                    Some(Value::Words(words)) => pieces.push(Piece::Text(Cow::Owned(words.join(" ")))),
                    None => {}
                },
                (Part::Word(_) | Part::Hole(_), None) => {}
            }
        }
        Self { pieces, place: None }
    }

    /// A sentence without commands.
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self { pieces: vec![Piece::Text(text.into())], place: None }
    }

    /// `did you mean NAME?`
    pub fn meant(name: impl fmt::Display) -> Self {
        Self { pieces: vec![Piece::Meant(name.to_string())], place: None }
    }

    /// True if it asks whether a name is meant.
    pub fn is_meant(&self) -> bool {
        matches!(self.pieces[..], [Piece::Meant(_)])
    }

    /// The commands in it.
    pub fn commands(&self) -> impl Iterator<Item = &CommandLine> {
        self.pieces.iter().filter_map(|piece| if let Piece::Run(command) = piece { Some(command) } else { None })
    }

    /// The first command of tflock in it that can be typed as it is, without a word to fill in.
    pub fn command(&self) -> Option<String> {
        let place = self.place.as_deref().cloned().unwrap_or_default();
        let is_whole = |command: &&CommandLine| {
            let is_open = |word: &Word| match word {
                Word::Plain(text) => text.bytes().all(|byte| byte.is_ascii_uppercase()),
                Word::Value(_) => false,
                Word::Hole(hole) => *hole != Hole::File || place.file.is_none(),
            };
            command.subcommand.is_some() && !command.words.iter().any(is_open)
        };
        self.commands().find(is_whole).map(|command| command.words(&place).join(" "))
    }

    /// The same step with the value of a hole.
    #[must_use]
    pub fn filled(self, hole: Hole, value: impl fmt::Display) -> Self {
        self.filled_by(hole, &[value.to_string()])
    }

    /// The same step with words in the place of a hole.
    #[must_use]
    pub fn filled_by(mut self, hole: Hole, values: &[String]) -> Self {
        for piece in &mut self.pieces {
            if let Piece::Run(command) = piece {
                let open = |word: &Word| *word == Word::Hole(hole);
                while let Some(at) = command.words.iter().position(open) {
                    command.words.splice(at..=at, values.iter().cloned().map(Word::Value));
                }
            }
        }
        self
    }

    /// True if a command in it needs the file that it is about.
    pub fn is_about_file(&self) -> bool {
        self.commands().any(|command| command.words.contains(&Word::Hole(Hole::File)))
    }

    /// Its user is at a place.
    pub fn place(&mut self, place: Place) {
        self.place = Some(Arc::new(place));
    }

    /// The same step for a user at a place.
    #[must_use]
    pub fn at(mut self, place: Option<Arc<Place>>) -> Self {
        self.place = place;
        self
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.as_deref().cloned().unwrap_or_default();
        self.pieces.iter().try_for_each(|piece| match piece {
            Piece::Text(text) => f.write_str(text),
            Piece::Run(command) => write!(f, "`{}`", command.words(&place).join(" ")),
            Piece::Meant(name) => write!(f, "did you mean {name}?"),
        })
    }
}

impl From<Template> for Step {
    fn from(template: Template) -> Self {
        Self::of(template.parts, [])
    }
}

/// A sentence without commands; one with them is written with `step!`.
impl From<&str> for Step {
    fn from(text: &str) -> Self {
        Self::text(text.to_owned())
    }
}

/// A sentence without commands; one with them is written with `step!`.
impl From<String> for Step {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl PartialEq<&str> for Step {
    fn eq(&self, other: &&str) -> bool {
        let text = self.to_string();
        text == *other
    }
}

/// A word as a shell takes it for one: in double quotes, which POSIX shells, cmd and PowerShell understand, unless a shell
/// reads something in the word even there.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%=".contains(c);
    let is_read = |c: char| "$`\"\\!%".contains(c) || c.is_control();
    if !text.is_empty() && !text.starts_with('@') && text.chars().all(is_plain) {
        text.to_owned()
    } else if !text.contains(is_read) {
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_quoted_for_every_shell() {
        let rows = [
            ("envs/prod", "envs/prod"),
            ("acme/widget@1.0.0", "acme/widget@1.0.0"),
            ("a b", "\"a b\""),
            ("", "\"\""),
            ("acme/widget@~> 1.0", "\"acme/widget@~> 1.0\""),
            ("a,b", "\"a,b\""),
            ("it's", "\"it's\""),
            ("$HOME", "'$HOME'"),
            ("a\\b", "'a\\b'"),
            ("it's $x", "'it'\\''s $x'"),
        ];
        for (text, word) in rows {
            assert_eq!(shell_word(text), word);
        }
    }

    #[test]
    fn the_compiler_takes_a_sentence_apart() {
        let step =
            step!("Run `tflock trust init`, or `git log -- PATH`; `{} init` reads `{}` too, and {}", "tofu", "a b", 1);
        assert_eq!(
            step.to_string(),
            "Run `tflock trust init`, or `git log -- PATH`; `tofu init` reads `a b` too, and 1"
        );
        let subcommands: Vec<_> = step.commands().map(|it| it.subcommand.map(|it| it.name)).collect();
        assert_eq!(subcommands, [Some("trust init"), None, None]);
        assert!(step.is_about_file() && !step.is_meant() && Step::meant("x").is_meant());
        let words = Value::Words(["-r", "a b"].map(str::to_owned).to_vec());
        let every = Some(Arc::new(Place { way: Way::All, file: None }));
        assert_eq!(step!("`tflock lock {}`", words).at(every.clone()), "`tflock lock -r \"a b\"`");
        assert_eq!(step!("`tflock lock {}` `tflock`", Value::Words(Vec::new())).at(every), "`tflock lock -r` `tflock`");
        let whole = step!("`tflock trust add ADDR`, `git log`, `tflock trust list --reason TEXT`, `tflock lock -r`");
        assert_eq!(whole.command().as_deref(), Some("tflock lock -r"));
        let mirror = Step::from(template!("`tflock mirror DIR`: {}")).filled_by(Hole::Directory, &["m".to_owned()]);
        assert_eq!(mirror, "`tflock mirror m`: ");
    }

    /// The words that a POSIX shell reads.
    fn read(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        let mut rest = line.chars();
        while let Some(c) = rest.next() {
            match (quote, c) {
                (None, ' ') => words.extend(word.take()),
                (None, '\'' | '"') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (Some(open), _) if open == c => quote = None,
                (None, '\\') => word.get_or_insert_default().extend(rest.next()),
                _ => word.get_or_insert_default().push(c),
            }
        }
        words.into_iter().chain(word).collect()
    }

    proptest! {
        #[test]
        fn any_value_is_one_word(value in any::<String>(), path in "[a/ `'\"\\\\$\n\t!%~é-]{1,9}") {
            let place = Place { way: Way::Named(PathBuf::from(&path)), file: Some(PathBuf::from(&path)) };
            let step = step!("Say {} to `tflock add {} --replace`, or `git log -- PATH`.", value, value);
            let lines: Vec<_> = step.commands().map(|command| read(&command.words(&place).join(" "))).collect();
            let shown = shown(&PathBuf::from(&path));
            let add = ["tflock", "-C", &shown, "add", &value, "--replace"].map(str::to_owned).to_vec();
            prop_assert_eq!(lines, [add, ["git", "log", "--", &shown].map(str::to_owned).to_vec()]);
        }
    }
}
