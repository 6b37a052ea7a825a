//! Writing a requirement into configuration, and taking one out: texts in, edits out.
//!
//! Texts are spliced by span: whatever is not part of the requirement keeps its bytes, comments, line breaks and layout
//! included; a JSON file is not edited. The one exception is the white space that `terraform fmt` aligns, next to what was put in or taken out, and
//! only where it was aligned before. Before an edit is handed out, the new texts are read again: they must mean what the
//! old ones did, except for the one requirement. The folder knows neither disk nor versions that exist.

mod layout;
mod native;
mod place;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub use place::{Use, change_host};

use super::decode::check_local_name;
use super::{ConfigError, ConfigErrorKind, Location, Module, SourceFile};
use crate::addr::{AddrError, PartError, ProviderAddr, ProviderSource};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::step::Step;
use crate::version::{ConstraintError, Constraints};
use crate::words::shown;
use place::Files;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The path, as it was handed in; for a new file, next to the others.
    pub path: PathBuf,
    /// The text before; `None` if the file is new. Where the file's bytes are not this text, because they are not UTF-8 or
    /// because they changed in the meantime, the edit must not be stored.
    pub old: Option<String>,
    pub new: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddRequest {
    /// The local name. None for the one that the module has for this provider, else the provider's type.
    pub name: Option<String>,
    /// The source address to write.
    pub source: String,
    /// The version constraint to write. `None` writes none, or keeps the old one of a replaced requirement.
    pub constraint: Option<String>,
    /// Replaces an existing requirement that differs: the version of this provider, or the provider with this name.
    pub replace: bool,
}

/// What `add` writes for a new entry.
#[derive(Debug)]
struct Entry {
    name: String,
    source: String,
    constraint: Option<String>,
}

impl Entry {
    fn constraint_value(&self) -> Option<String> {
        self.constraint.as_deref().map(layout::quoted)
    }

    fn json(&self) -> String {
        let version = self.constraint.iter().map(|constraint| format!(", \"version\": {constraint:?}"));
        format!("{:?}: {{\"source\": {:?}{}}}", self.name, self.source, version.collect::<String>())
    }
}

#[derive(Debug)]
struct SourceChange {
    source: Option<String>,
    constraint: Option<String>,
}

/// The meaning of all entries: what must stays unchanged.
type Meaning = BTreeMap<String, (ProviderSource, Option<Constraints>)>;

/// Writes a requirement into the configuration of a root module.
///
/// `files` are the module's files in any order; those that are no configuration of the tool, or that another file
/// shadows, are left alone. The entry goes where `required_providers` is, else into a `terraform` block (the first
/// with `required_version`, else the first), else into a new one at the end of `versions.tf` or its like, which is
/// created if need be. No edits mean that nothing has to change.
pub fn add(files: &[SourceFile], dialect: Dialect, request: &AddRequest) -> Result<Vec<FileEdit>, EditError> {
    let files = Files::select(files, dialect);
    let module = files.decode()?;
    let addr = ProviderAddr::parse(&request.source, dialect)?;
    let constraints = match &request.constraint {
        Some(text) => Some(parse_constraint(text)?),
        None => None,
    };
    let name = local_name(&module, &addr, request)?;
    let mut meaning = meaning(&module);
    let Some(present) = module.required.get(&name) else {
        check_name(&name)?;
        let entry =
            Entry { name: name.clone(), source: request.source.clone(), constraint: request.constraint.clone() };
        meaning.insert(name, (ProviderSource::Provider(addr), constraints));
        return files.checked(files.insert(&entry)?, &meaning);
    };
    if present.dynamic.is_some() {
        return Err(EditError::Evaluated { name, place: present.place.clone() });
    }
    let is_same = present.source == ProviderSource::Provider(addr.clone());
    let is_written = present.version.as_ref().map(|version| &version.text) == request.constraint.as_ref();
    if is_same && is_written {
        return Ok(Vec::new());
    }
    if !request.replace {
        let place = present.place.clone();
        return Err(if is_same {
            let constraint = present.version.as_ref().map(|version| version.text.clone());
            EditError::AlreadyRequired { addr, name, constraint, place }
        } else {
            let taken_by = present.source.to_string();
            EditError::NameTaken { name, source_text: request.source.clone(), taken_by, place }
        });
    }
    let change = SourceChange {
        source: (!is_same).then(|| request.source.clone()),
        constraint: request.constraint.clone().filter(|_| !is_written),
    };
    let constraints = constraints.or_else(|| present.version.as_ref().map(|version| version.terms.clone()));
    meaning.insert(name.clone(), (ProviderSource::Provider(addr), constraints));
    files.checked(files.replace(&name, &change)?, &meaning)
}

/// Takes a provider out of the configuration of a root module: its entries in all files, with their lines and the
/// comments directly above them, and the blocks that are empty then. A file may become empty.
pub fn remove(
    files: &[SourceFile],
    dialect: Dialect,
    addr: &ProviderAddr,
    force: bool,
) -> Result<Vec<FileEdit>, EditError> {
    let files = Files::select(files, dialect);
    let module = files.decode()?;
    let source = ProviderSource::Provider(addr.clone());
    let own = module.required.iter().filter(|(_, required)| required.source == source);
    let names: BTreeSet<String> = own.map(|(name, _)| name.clone()).collect();
    // Which provider an expression means is not known here.
    let is_evaluated = |name: &str, required: &super::RequiredProvider| match &required.dynamic {
        Some(dynamic) => names.contains(name) || names.is_empty() && dynamic.source.is_some(),
        None => false,
    };
    if let Some((name, required)) = module.required.iter().find(|(name, required)| is_evaluated(name, required)) {
        return Err(EditError::Evaluated { name: name.clone(), place: required.place.clone() });
    }
    if names.is_empty() {
        return Err(not_required(&files, &module, addr, &source));
    }
    let uses = place::uses(&module, &files.all(), dialect, &names);
    if !force && !uses.is_empty() {
        return Err(EditError::InUse { addr: addr.clone(), uses });
    }
    let mut meaning = meaning(&module);
    meaning.retain(|name, _| !names.contains(name));
    files.checked(files.remove(&names)?, &meaning)
}

/// The files of a module after edits, for the next edit.
pub fn apply(files: &[SourceFile], edits: &[FileEdit]) -> Vec<SourceFile> {
    let mut files = files.to_vec();
    for edit in edits {
        match files.iter_mut().find(|file| file.path == edit.path) {
            Some(file) => file.text.clone_from(&edit.new),
            None => files.push(SourceFile { path: edit.path.clone(), text: edit.new.clone() }),
        }
    }
    files
}

pub fn edits_between(before: &[SourceFile], after: &[SourceFile]) -> Vec<FileEdit> {
    let edit = |file: &SourceFile| {
        let old = before.iter().find(|old| old.path == file.path).map(|old| old.text.clone());
        (old.as_ref() != Some(&file.text)).then(|| FileEdit { path: file.path.clone(), old, new: file.text.clone() })
    };
    after.iter().filter_map(edit).collect()
}

fn not_required(files: &Files<'_>, module: &Module, addr: &ProviderAddr, source: &ProviderSource) -> EditError {
    let implies = |name: &str| {
        !module.required.contains_key(name) && ProviderSource::implied(name, files.dialect).as_ref() == Ok(source)
    };
    let resources = module.resources.iter().map(|resource| &resource.provider);
    let names = resources.chain(module.providers.iter().map(|config| &config.name));
    let implicit: BTreeSet<String> = names.filter(|name| implies(name)).cloned().collect();
    let uses = place::uses(module, &files.all(), files.dialect, &implicit);
    let required: Vec<String> = module.required.values().map(|required| required.source.to_string()).collect();
    let near = suggest(&addr.to_string(), required.iter().map(String::as_str)).first().map(|near| (*near).to_owned());
    EditError::NotRequired { addr: addr.clone(), uses, near }
}

fn local_name(module: &Module, addr: &ProviderAddr, request: &AddRequest) -> Result<String, EditError> {
    let source = ProviderSource::Provider(addr.clone());
    let is_this = |entry: &(&String, &super::RequiredProvider)| entry.1.source == source;
    let present = module.required.iter().find(is_this);
    match (&request.name, present) {
        (Some(name), Some((other, required))) if !module.required.contains_key(name) => Err(EditError::RequiredAs {
            addr: addr.clone(),
            name: name.clone(),
            other: other.clone(),
            place: required.place.clone(),
        }),
        (Some(name), _) | (None, Some((name, _))) => Ok(name.clone()),
        (None, None) => Ok(addr.type_name().to_owned()),
    }
}

/// A local name must be normalised and, for the sake of references, an identifier.
fn check_name(name: &str) -> Result<(), EditError> {
    match check_local_name(name, 0) {
        Ok(()) if name.starts_with(char::is_alphabetic) => Ok(()),
        Err((_, ConfigErrorKind::LocalName { name, reason })) => Err(EditError::Name { name, reason }),
        _ => Err(EditError::NotAnIdentifier { name: name.to_owned() }),
    }
}

fn parse_constraint(text: &str) -> Result<Constraints, EditError> {
    Constraints::parse_config(text).map_err(|reason| EditError::Constraint { text: text.to_owned(), reason })
}

fn meaning(module: &Module) -> Meaning {
    let entry = |(name, required): (&String, &super::RequiredProvider)| {
        let terms = required.version.as_ref().map(|version| version.terms.clone());
        (name.clone(), (required.source.clone(), terms))
    };
    module.required.iter().map(entry).collect()
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The configuration has errors of its own, two `required_providers` blocks among them.
    #[error("the configuration has errors: {}", .0.first().map_or_else(String::new, ToString::to_string))]
    Configuration(Vec<ConfigError>),
    /// What an expression says is for the user to change.
    #[error("the entry of {name:?} has an expression, and tflock never rewrites one")]
    Evaluated { name: String, place: Location },
    #[error("{name:?} cannot be the local name of a provider: {reason}")]
    Name {
        name: String,
        #[source]
        reason: PartError,
    },
    #[error(
        "{name:?} cannot be the local name of a provider: it must be a lower case identifier that begins with a letter"
    )]
    NotAnIdentifier { name: String },
    #[error(transparent)]
    Source(#[from] AddrError),
    #[error("{}", refused(text, reason))]
    Constraint {
        text: String,
        #[source]
        reason: ConstraintError,
    },
    #[error("cannot add {source_text} as {name:?}: that name already means {taken_by}")]
    NameTaken { name: String, source_text: String, taken_by: String, place: Location },
    #[error("provider {addr} is already required as {name:?} {}", constraint_words(.constraint.as_deref()))]
    AlreadyRequired { addr: ProviderAddr, name: String, constraint: Option<String>, place: Location },
    #[error("cannot add {addr} as {name:?}: it is already required as {other:?}")]
    RequiredAs { addr: ProviderAddr, name: String, other: String, place: Location },
    /// No entry of `required_providers` has this provider.
    #[error("no entry of required_providers has provider {addr}")]
    NotRequired { addr: ProviderAddr, uses: Vec<Use>, near: Option<String> },
    #[error("provider {addr} is still used in {} {}", .uses.len(), if .uses.len() == 1 { "place" } else { "places" })]
    InUse {
        addr: ProviderAddr,
        /// Each use, in the order of the files; never empty.
        uses: Vec<Use>,
    },
    #[error("tflock does not edit JSON configuration")]
    Json { file: std::path::PathBuf, what: String },
    #[error("cannot edit {}: it is laid out in a way that tflock does not know", shown(.file))]
    Layout { file: std::path::PathBuf },
}

/// The text is reported once, whether or not the reason has it.
fn refused(text: &str, reason: &ConstraintError) -> String {
    match reason {
        ConstraintError::Syntax(part) if part == text => format!("{text:?} is not a version constraint"),
        _ => format!("invalid version constraint {text:?}: {reason}"),
    }
}

fn constraint_words(constraint: Option<&str>) -> String {
    constraint.map_or_else(|| "at any version".to_owned(), |constraint| format!("with the constraint {constraint:?}"))
}

impl From<EditError> for Error {
    fn from(error: EditError) -> Self {
        let message = error.to_string();
        let made = |kind| Error::new(kind, message.clone());
        let at = |place: &Location| made(ErrorKind::Configuration).in_file(place.file.to_path_buf()).at(place.position);
        match error {
            EditError::Configuration(errors) => {
                Error::all(errors.into_iter().map(Error::from)).unwrap_or_else(|| made(ErrorKind::Configuration))
            }
            EditError::Name { .. } | EditError::NotAnIdentifier { .. } => {
                made(ErrorKind::Usage).hint("give another local name with --name")
            }
            EditError::Evaluated { place, .. } => at(&place).hint("change the expression, or what it refers to"),
            EditError::Source(_) => made(ErrorKind::Usage),
            EditError::Constraint { text, .. } => {
                let made = made(ErrorKind::Usage);
                match text.as_str() {
                    "" | "latest" | "newest" => made.hint("for the newest release leave out the @ and what follows it"),
                    "~" | "=" | "!" => made
                        .hint("a shell took the rest for a redirection: quote the argument, as in 'acme/widget@~>2.0'"),
                    _ => made.hint("a constraint looks like \"~> 1.2\" or \">= 1.0.0, < 2.0.0\""),
                }
            }
            EditError::NameTaken { place, .. } => at(&place)
                .hint("give the provider another local name with --name")
                .hint("replace the other one with --replace"),
            EditError::AlreadyRequired { place, .. } => at(&place)
                .hint("change the requirement with --replace")
                .hint(step!("take a newer version within it with `tflock upgrade`")),
            EditError::RequiredAs { place, other, .. } => {
                at(&place).hint(format!("leave out --name, or give --name {other}"))
            }
            EditError::NotRequired { addr, uses, near } => {
                let made = made(ErrorKind::Configuration).about(addr);
                if uses.is_empty() && near.is_none() {
                    return made.hint(step!("`tflock why` lists the providers that are required"));
                }
                let made = near.into_iter().fold(made, |made, near| made.hint(Step::meant(near)));
                uses.iter().fold(made, |made, found| made.hint(format!("used by {found}")))
            }
            EditError::InUse { addr, uses } => Error::all(uses.into_iter().map(|found| {
                Error::new(ErrorKind::Configuration, format!("provider {addr} is still used by {}", found.what))
                    .in_file(found.place.file.to_path_buf())
                    .at(found.place.position)
            }))
            .unwrap_or_else(|| made(ErrorKind::Configuration))
            .hint("remove what uses the provider first, or pass --force"),
            EditError::Json { file, what } => {
                made(ErrorKind::Configuration).in_file(file).hint(step!("{}, then run `tflock lock`", what))
            }
            EditError::Layout { file } => {
                made(ErrorKind::Configuration).in_file(file).hint("write the entry of required_providers by hand")
            }
        }
    }
}

/// How many suggestions there are at most.
const MOST: usize = 3;

/// The candidates that a name was probably meant to be, the nearest first, at most three.
///
/// Both are source addresses, short or full, or bare types; letter case does not count. A candidate is near if few
/// letters differ, or if it has the same type under another namespace.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&name, &candidate.to_lowercase())?, candidate)))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().map(|(_, candidate)| candidate).take(MOST).collect()
}

/// The edit distance of two addresses; `None` if too large.
fn distance(name: &str, candidate: &str) -> Option<usize> {
    let (kind, other) = (last_part(name), last_part(candidate));
    if kind.is_empty() {
        return None;
    }
    let kinds = strsim::damerau_levenshtein(kind, other);
    // A bare type says nothing of the namespace.
    let all = if name.contains('/') { strsim::damerau_levenshtein(name, candidate) } else { kinds };
    if kinds == 0 || kinds <= kind.chars().count() / 3 && all <= name.chars().count() / 3 {
        return Some(kinds * 64 + all);
    }
    None
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn near_names_only() {
        let candidates = ["hashicorp/aws", "hashicorp/awscc", "hashicorp/google", "DataDog/datadog", "grafana/grafana"];
        assert_eq!(suggest("hashicrop/aws", candidates), ["hashicorp/aws"]);
        assert_eq!(suggest("hashicorp/datadog", candidates), ["DataDog/datadog"]);
        assert_eq!(suggest("hashicorp/gogle", candidates), ["hashicorp/google"]);
        assert_eq!(suggest("Graffana", candidates), ["grafana/grafana"]);
        assert_eq!(suggest("aws", candidates), ["hashicorp/aws"]);
        assert_eq!(suggest("hashicorp/kubernetes", candidates), [""; 0]);
        assert_eq!(suggest("", candidates), [""; 0]);
    }
}
