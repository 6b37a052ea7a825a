//! Next steps: sentences with commands in them. A sentence is written as one text, `step!("Run `tflock lock {}`.", address)`,
//! which the compiler takes apart: a command that does not exist, or a value that is not a word of its own, does not compile.
//!
//! A step is written as if typed in the root module. Only the whole run knows where its user is, and gives that as a [`Place`].

#[macro_use]
mod template;

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::slice;
use std::sync::Arc;

use crate::words::shown;
pub use template::{Hole, Part, Reach, Subcommand, Template, count, parts, subcommand, values};

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
    /// The option that chose the source of packages, which the next command needs too.
    pub source: Vec<String>,
    /// The value of `--tool`, likewise.
    pub tool: Option<&'static str>,
}

/// The way from the user to the root modules that a step is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    #[default]
    Here,
    /// A directory that the user named with `-C`.
    Named(PathBuf),
    /// Several directories that the user named so.
    Several(Vec<PathBuf>),
    /// A root module that was found with `-r`.
    Found(PathBuf),
    /// All root modules, with `-r`.
    All,
}

impl Way {
    /// The directories for `-C`.
    fn directories(&self, command: &CommandLine, reach: Reach) -> &[PathBuf] {
        match self {
            Way::Named(directory) if reach != Reach::Nothing => slice::from_ref(directory),
            Way::Several(directories) if reach != Reach::Nothing => directories,
            // A search already begins in the directory of the user.
            Way::Found(directory) if matches!(reach, Reach::Named | Reach::Found) && !command.is_recursive() => {
                slice::from_ref(directory)
            }
            _ => &[],
        }
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

    /// True if it is this subcommand of Git.
    pub fn is_git(&self, name: &str) -> bool {
        let mut words = self.words.iter().filter_map(|word| match word {
            Word::Plain(text) => Some(&**text),
            Word::Value(text) => Some(&**text),
            Word::Hole(_) => None,
        });
        self.subcommand.is_none() && words.next() == Some("git") && words.any(|word| word == name)
    }

    /// True if it has this option.
    pub fn has(&self, option: &str) -> bool {
        self.words.iter().any(|word| matches!(word, Word::Plain(text) if text == option))
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
            let own = self.within.iter().chain(place.way.directories(self, reach));
            let own = own.filter(|directory| !directory.as_os_str().is_empty());
            words.extend(own.flat_map(|directory| ["-C".to_owned(), shell_word(&shown(directory))]));
            words.push(name.to_owned());
            let searches = place.way == Way::All && reach == Reach::Found && !self.is_recursive();
            words.extend(searches.then(|| "-r".to_owned()));
            if reach != Reach::Nothing && !self.has("--tool") {
                words.extend(place.tool.iter().flat_map(|tool| ["--tool", tool].map(str::to_owned)));
            }
            if template::takes_source(name) && !self.words.contains(&Word::Plain(Cow::Borrowed("--source"))) {
                words.extend(place.source.iter().map(|word| shell_word(word)));
            }
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
        self.command_where(|command| command.subcommand.is_some())
    }

    /// The first command of some kind in it that can be typed as it is.
    pub fn command_where(&self, is_wanted: impl Fn(&CommandLine) -> bool) -> Option<String> {
        let place = self.place.as_deref().cloned().unwrap_or_default();
        let is_whole = |command: &&CommandLine| {
            let is_open = |word: &Word| match word {
                Word::Plain(text) => text.bytes().all(|byte| byte.is_ascii_uppercase()),
                Word::Value(_) => false,
                Word::Hole(hole) => *hole != Hole::File || place.file.is_none(),
            };
            is_wanted(command) && !command.words.iter().any(is_open)
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

    /// The same step about an entry that the configuration does not require: without it `lock` completes the entry, and no
    /// command selects another version. `None` if no command needs the requirement.
    pub fn for_unrequired(self) -> Option<Self> {
        let removes = step!("`tflock lock --prune` removes the entry, which the configuration does not require.");
        let selects = |command: &CommandLine| command.is("upgrade") && !command.has("--modules");
        let completes = |command: &CommandLine| {
            command.is("lock") && !["--from-lock", "--prune", "--restore-from"].iter().any(|option| command.has(option))
        };
        if self.commands().any(selects) {
            return Some(removes);
        }
        if !self.commands().any(completes) {
            return None;
        }
        let mut both = step!("{} {}", Value::Step(self), Value::Step(removes));
        for piece in &mut both.pieces {
            if let Piece::Run(command) = piece
                && completes(command)
            {
                command.words.insert(0, Word::Plain(Cow::Borrowed("--from-lock")));
            }
        }
        Some(both)
    }

    /// Its user is at a place.
    pub fn place(&mut self, place: Place) {
        self.place = Some(Arc::new(place));
    }

    /// The same step for all root modules, with -r.
    #[must_use]
    pub fn for_all(mut self) -> Self {
        let place = self.place.as_deref().cloned().unwrap_or_default();
        self.place = Some(Arc::new(Place { way: Way::All, file: None, ..place }));
        self
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
    fn what_needs_a_requirement_is_not_advised_without_one() {
        let text = |step: Step| step.for_unrequired().map(|step| step.to_string());
        let removes = "`tflock lock --prune` removes the entry, which the configuration does not require.";
        let advised =
            step!("Run `tflock lock`, or `tflock lock a --restore-from HEAD`; `tflock lock a --drop-unattested`.");
        let wanted = "Run `tflock lock --from-lock`, or `tflock lock a --restore-from HEAD`; \
                      `tflock lock --from-lock a --drop-unattested`.";
        assert_eq!(text(advised), Some(format!("{wanted} {removes}")));
        assert_eq!(
            text(step!("Find out why; `tflock upgrade {}` selects a different version.", "a")),
            Some(removes.to_owned())
        );
        assert_eq!(
            text(step!("`tflock lock --prune --state FILE`, `tflock upgrade --modules SOURCE`, `tflock fmt`")),
            None
        );
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
        let every = Some(Arc::new(Place { way: Way::All, ..Place::default() }));
        assert_eq!(step!("`tflock lock {}`", words).at(every.clone()), "`tflock lock -r \"a b\"`");
        assert_eq!(step!("`tflock lock {}` `tflock`", Value::Words(Vec::new())).at(every), "`tflock lock -r` `tflock`");
        let mirrored =
            Place { source: ["--source", "net:https://a/ b"].map(str::to_owned).to_vec(), ..Place::default() };
        let step = step!("`tflock lock`, `tflock verify --source origin`, `tflock why`").at(Some(Arc::new(mirrored)));
        let wanted = r#"`tflock lock --source "net:https://a/ b"`, `tflock verify --source origin`, `tflock why`"#;
        assert_eq!(step, wanted);
        let wanted =
            r#"`tflock lock -r --source "net:https://a/ b"`, `tflock verify -r --source origin`, `tflock why -r`"#;
        assert_eq!(step.for_all(), wanted);
        let way = Way::Several(vec!["a".into(), "b".into()]);
        let both = Place { way, tool: Some("tofu"), ..Place::default() };
        let step = step!("`tflock lock`, `tflock fmt -`, `tflock hash PATH`").at(Some(Arc::new(both)));
        let wanted = "`tflock -C a -C b lock --tool tofu`, `tflock -C a -C b fmt --tool tofu -`, `tflock hash PATH`";
        assert_eq!(step, wanted);
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
            let place = Place { way: Way::Named(PathBuf::from(&path)), file: Some(PathBuf::from(&path)), ..Place::default() };
            let step = step!("Say {} to `tflock add {} --replace`, or `git log -- PATH`.", value, value);
            let lines: Vec<_> = step.commands().map(|command| read(&command.words(&place).join(" "))).collect();
            let shown = shown(&PathBuf::from(&path));
            let add = ["tflock", "-C", &shown, "add", &value, "--replace"].map(str::to_owned).to_vec();
            prop_assert_eq!(lines, [add, ["git", "log", "--", &shown].map(str::to_owned).to_vec()]);
        }
    }
}
