//! Units of Terragrunt: which module a unit is made of, and what Terragrunt generates for it.
//!
//! Files come through [`Files`]; nothing is started, and neither the environment nor the network is looked at. What Terragrunt alone
//! could evaluate is unknown, and so is what depends on it. What that may change is [`Unit::unread`].
//!
//! Source: terragrunt `pkg/config`, `internal/codegen`.

mod context;
#[cfg(test)]
mod facts_tests;
mod file;
mod files;
mod fileset;
mod functions;
mod generate;
mod holes;
mod identity;
mod include;
mod init;
mod origin;
mod origin_text;
mod place;
mod programs;
mod reads;
mod stack;
mod table;
#[cfg(test)]
mod tests;
mod unread;
mod variables;

use crate::config::ConfigError;
use crate::evaluate::Failure;
use crate::evaluate::syntax::NodeKind;
use crate::finding::{Location, Position};
use crate::lockfile;
use file::ConfigFile;
use include::{Merged, Source};
use place::{BlockPart, Part, Session};

pub use files::{DirectoryEntry, EntryKind, Files, Found, join, relative};
pub use fileset::may_begin_with;
pub use generate::{Action, Existing, GeneratedFile, SIGNATURE};
pub use identity::UnitDescription;
pub use place::{Environment, ParsedFiles, UnitRequest, Vouched};
pub use stack::{Beside, STACK_FILES, generated_beside};
pub use unread::{Hole, Influence, Unread};
pub use variables::{UnitVariables, VariableArgument};

/// What the files of a unit say. Places are relative to the top of the working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unit {
    /// Where the module is; `None` if it is the directory of the unit itself.
    pub source: Option<UnitSource>,
    /// What is generated, in order; of equal paths the later one counts.
    pub generated: Vec<GeneratedFile>,
    /// The files that it includes, absolute.
    pub includes: Vec<String>,
    /// The program that Terragrunt runs, where it is known.
    pub program: Option<String>,
    /// The directory in which Terragrunt makes working directories, if it is said and known.
    pub download_dir: Option<String>,
    /// What sets variables of the module.
    pub variables: UnitVariables,
    /// What is not known and may change what is required.
    pub unread: Vec<Unread>,
    /// What is not known and changes nothing of it.
    pub holes: Vec<Hole>,
    /// What was assumed.
    pub notes: Vec<Unread>,
    /// What starts programs, if a change is judged.
    pub programs: Vec<Influence>,
    /// What changes how `init` installs.
    pub init_overrides: Vec<Influence>,
    /// Why the unit's own lock file is not copied to the working directory, if so: that of the module is used then.
    pub lock_file_left_out: Option<Unread>,
    /// Patterns of files that may not be copied to the working directory.
    pub left_out: Vec<CopyPattern>,
    /// Patterns of hidden files that may be copied.
    pub hidden: Vec<CopyPattern>,
    /// True if it uses values of a stack, and no file has them: stacks generate units from it.
    pub is_template: bool,
}

/// A pattern of files in `exclude_from_copy` or `include_in_copy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyPattern {
    pub pattern: String,
    /// The argument that has it.
    pub place: Location,
}

/// Where the module of a unit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitSource {
    /// The address, which is relative to the directory of the unit if it is a path; `None` if it is unknown.
    pub address: Option<String>,
    /// The constraint on the version of a module of a registry.
    pub version: Option<String>,
    /// False if the address is written as it is.
    pub is_computed: bool,
    /// Where it is written.
    pub place: Location,
}

/// True for the names of lists of files that Terragrunt wrote, and removes before it writes them again.
pub fn is_manifest(name: &str) -> bool {
    name.starts_with(".terragrunt-") && name.ends_with("-manifest")
}

/// The source of a module that a file has as it is, if it has one.
pub fn literal_source(path: &std::path::Path, text: &str) -> Option<String> {
    let file = ConfigFile::decode(path, text).ok()?;
    match file.terraform?.arguments.get("source")?.parse().ok()?.kind {
        NodeKind::Text(source) => Some(source),
        _ => None,
    }
}

impl Unit {
    /// Reads a unit.
    ///
    /// The default of a variable of the environment, or of a feature, counts only where nothing sets it. Where one is used, all is
    /// evaluated once more without defaults, and what is then unknown is unread.
    ///
    /// # Errors
    ///
    /// What is wrong with the text of a file.
    pub fn read(request: &UnitRequest<'_>) -> Result<Self, Vec<ConfigError>> {
        let (mut unit, used_default) = Self::evaluate(request, true)?;
        if used_default {
            let (without_defaults, _) = Self::evaluate(request, false)?;
            let is_new = |part: &Unread| !unit.unread.contains(part);
            let unread: Vec<Unread> = without_defaults.unread.into_iter().filter(is_new).collect();
            unit.unread.extend(unread);
            unit.holes = without_defaults.holes;
        }
        Ok(unit)
    }

    fn evaluate(request: &UnitRequest<'_>, takes_defaults: bool) -> Result<(Self, bool), Vec<ConfigError>> {
        let session = Session::new(request, takes_defaults);
        let names = session.open(request.path.to_owned(), None, 0);
        let merged = names.and_then(|names| Ok((names.merged()?, names)));
        let mut unit = match merged {
            Ok((merged, names)) => {
                session.notes.borrow_mut().extend(merged.hooks_of_init());
                let unit = merged.unit();
                let mut programs = Vec::new();
                if session.compares {
                    programs.extend(names.run_commands());
                    programs.extend(merged.programs());
                }
                Unit { programs, ..unit }
            }
            Err(failure) => {
                let file = session.shown(request.path);
                let place = Location { file: std::path::Path::new(&file).into(), position: Position::default() };
                Self { unread: vec![Unread::of(failure.into(), &place)], ..Self::default() }
            }
        };
        unit.unread.extend(session.strange.take());
        unit.notes = session.notes.take();
        unit.is_template = session.lacks_values.get();
        let errors = session.errors.take();
        if errors.is_empty() { Ok((unit, session.used_default.get())) } else { Err(errors) }
    }

    /// True if nothing but the name of the unit is known.
    pub fn is_unread(&self) -> bool {
        !self.unread.is_empty() && self.source.is_none() && self.generated.is_empty()
    }
}

/// The patterns of some lists; what is not known of them is unread.
fn copy_patterns(lists: &[Part<'_>], unread: &mut Vec<Unread>) -> Vec<CopyPattern> {
    let mut patterns = Vec::new();
    for part in lists {
        let place = &part.expression.place;
        match part.names.known(&part.expression) {
            Ok(list) => {
                let texts = list
                    .elements()
                    .into_iter()
                    .flat_map(|all| all.iter())
                    .filter_map(|element| element.as_text().map(str::to_owned));
                patterns.extend(texts.map(|pattern| CopyPattern { pattern, place: place.clone() }));
            }
            Err(part) => unread.push(part),
        }
    }
    patterns
}

impl BlockPart<'_> {
    /// True for a hook of a command that runs before `init` reads the configuration, or of one that is not known.
    fn may_run_at_init(&self) -> bool {
        const BEFORE_INIT: [&str; 3] = ["init", "init-from-module", "terragrunt-read-config"];
        if self.block.kind == "error_hook" {
            return false;
        }
        match self.block.arguments.get("commands").map(|commands| self.names.known(commands)) {
            Some(Ok(commands)) => commands.elements().is_some_and(|all| {
                all.iter().any(|command| command.as_text().is_some_and(|command| BEFORE_INIT.contains(&command)))
            }),
            Some(Err(_)) => true,
            None => false,
        }
    }
}

impl Merged<'_> {
    fn unit(&self) -> Unit {
        let mut unit = Unit::default();
        unit.unread.extend(self.unread.iter().map(|(reason, place)| Unread::of(reason.clone(), place)));
        unit.source = self.source().and_then(|source| self.unit_source(source, &mut unit.unread));
        unit.generated = self.generated(&mut unit.unread, &mut unit.holes);
        let program = self.texts.get("terraform_binary").and_then(|part| part.optional_text().ok().flatten());
        unit.program = program;
        unit.download_dir = self.texts.get("download_dir").and_then(|part| part.optional_text().ok().flatten());
        unit.includes.clone_from(&self.includes);
        unit.variables = self.variables();
        unit.init_overrides = self.init_overrides();
        unit.left_out = copy_patterns(&self.left_out, &mut unit.unread);
        let of_lock_file = unit.left_out.iter().find(|it| may_begin_with(&it.pattern, lockfile::FILE_NAME));
        unit.lock_file_left_out = of_lock_file.map(|it| Unread {
            reason: format!("exclude_from_copy leaves out {}", lockfile::FILE_NAME),
            place: it.place.clone(),
        });
        unit.hidden = copy_patterns(&self.hidden, &mut unit.unread);
        unit
    }

    /// Notes on hooks that run before `init` reads the configuration, which they may change.
    fn hooks_of_init(&self) -> Vec<Unread> {
        let hooks = self.hooks.iter().filter(|hook| hook.may_run_at_init()).map(|hook| Unread {
            reason: format!("the hook {:?} runs at init, and what it changes is not read", hook.block.label),
            place: hook.block.place.clone(),
        });
        hooks.collect()
    }

    fn unit_source(&self, source: &Source<'_>, unread: &mut Vec<Unread>) -> Option<UnitSource> {
        let expression = &source.part.expression;
        let place = expression.place.clone();
        let mut keep = |text: Result<Option<String>, Failure>, part: &Part<'_>| match text {
            Ok(text) => text,
            Err(failure) => {
                unread.push(Unread::of(failure.into(), &part.expression.place));
                None
            }
        };
        let version = self.version.as_ref().and_then(|version| keep(version.optional_text(), version));
        let is_computed = !expression.parse().is_ok_and(|node| matches!(node.kind, NodeKind::Text(_)));
        let address = source.text();
        let is_absent = matches!(address.as_ref().map(|address| address.as_deref()), Ok(None | Some("")));
        let address = keep(address, &source.part);
        (!is_absent).then_some(UnitSource { address, version, is_computed, place })
    }
}
