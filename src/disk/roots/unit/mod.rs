//! Units of Terragrunt: the module at the source of a unit, the directory of the unit over it, and generated files over both. Nothing
//! of it is written to disk; the walk through the modules sees the files as Terragrunt would assemble them.

mod assembly;
mod facts;
mod files;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::{Assignment, Tree, TreeError, TreeOptions, UnreadPart, walk};
use crate::addr::Hostname;
use crate::config::{ConfigError, ConfigFiles, Location, RootKind, UNIT_FILES};
use crate::dialect::Dialect;
use crate::path::lexical;
use crate::path::links::FileRefusal;
use crate::path::worktree::WorkTree;
use crate::terragrunt::{self, Environment, Files, ParsedFiles, Unit, UnitRequest, Unread, VariableArgument, Vouched};

pub(super) use assembly::{AssembledFiles, Assembly, is_test};
pub use facts::{UnitFacts, facts_of_unit, identity_of_unit};
pub use files::place_of;
use files::{Record, RepositoryFiles, UnitFiles, path_of};
pub(super) use source::CALL;

/// What units need to know besides their files.
#[derive(Debug, Clone, Default)]
pub struct UnitOptions {
    /// What the settings and the command line say of the environment.
    pub environment: Environment,
    /// What the settings vouch for.
    pub vouched: Vouched,
    /// The hosts that modules with computed sources may come from; `None` for any.
    pub hosts: Option<BTreeSet<Hostname>>,
    pub memo: Arc<UnitMemo>,
    /// How many root modules share what may be computed in a run.
    pub roots: usize,
    /// True if a change is judged.
    pub compares: bool,
    pub kept: KeptUnit,
}

/// What the unit says, where its modules are read again once they were fetched; kept for one root module, if at all.
#[derive(Debug, Clone, Default)]
pub struct KeptUnit(Option<Arc<OnceLock<ReadUnit>>>);

impl KeptUnit {
    pub(super) fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// Reads a unit, unless that was done.
    fn read(&self, root: &Path, files: &ConfigFiles, options: &UnitOptions) -> Result<ReadUnit, Vec<TreeError>> {
        let Some(kept) = &self.0 else { return read(root, files, options) };
        if let Some(unit) = kept.get() {
            return Ok(unit.clone());
        }
        let unit = read(root, files, options)?;
        Ok(kept.get_or_init(|| unit).clone())
    }
}

/// What units of one run share.
#[derive(Debug, Default)]
pub struct UnitMemo {
    parsed: ParsedFiles,
    repositories: RepositoryFiles,
}

/// The program that Terragrunt runs in a unit, where its files say so.
pub fn program_of_unit(root: &Path, options: &UnitOptions) -> Option<String> {
    let files = super::list(root, Dialect::Terraform).ok()?;
    read(root, &files, options).ok()?.unit.program
}

/// What a unit refers to in its working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitReferences {
    /// The directory of its module, relative to the unit, if that is in the working tree.
    pub module: Option<String>,
    /// The files that it includes, relative to the unit.
    pub includes: Vec<PathBuf>,
    /// True if its module may be any directory.
    pub has_unknown_module: bool,
    /// Why not all of its requirements can be known, and where; `None` if they can.
    pub unread: Option<String>,
    /// True if it names a module, or includes a file.
    pub refers: bool,
    /// True if stacks generate units from it.
    pub is_template: bool,
}

impl UnitReferences {
    /// True if a lock file of its own can be written: all that it requires can be known, and not only stacks use it.
    pub fn may_be_locked(&self) -> bool {
        self.unread.is_none() && !self.is_template
    }
}

/// What the unit in a directory refers to.
pub fn references_of_unit(root: &Path, options: &UnitOptions) -> UnitReferences {
    let read = super::list(root, Dialect::Terraform).ok().and_then(|files| read(root, &files, options).ok());
    let Some(ReadUnit { unit, relocate, .. }) = read else {
        let unread = Some("its files cannot be read".to_owned());
        return UnitReferences { has_unknown_module: true, refers: true, unread, ..UnitReferences::default() };
    };
    let known = unit.source.as_ref().map(|source| source.address.as_ref().map(|address| (address, &source.place)));
    let module = known.flatten().and_then(|(address, place)| source::local_module(address, &relocate.place, place));
    let include = |path: &String| PathBuf::from(terragrunt::relative(&relocate.place, path));
    UnitReferences {
        module,
        includes: unit.includes.iter().map(include).collect(),
        has_unknown_module: known == Some(None) || unit.is_unread(),
        unread: unit.unread.first().map(|part| format!("{} ({})", part.reason, part.place)),
        refers: unit.source.is_some() || !unit.includes.is_empty() || unit.is_unread(),
        is_template: unit.is_template,
    }
}

/// What the files of a unit say, and what was read for it.
#[derive(Debug, Clone)]
struct ReadUnit {
    unit: Unit,
    record: Record,
    relocate: Relocation,
}

fn read(root: &Path, files: &ConfigFiles, options: &UnitOptions) -> Result<ReadUnit, Vec<TreeError>> {
    let tree = WorkTree::of(root);
    // By its name as it can be shown, another unit would be read.
    if tree.directory.to_str().is_none() {
        return Err(vec![TreeError::Refused { path: root.to_owned(), reason: FileRefusal::Name }]);
    }
    let (relocate, unit_files) = Relocation::with_files(&tree, options);
    let unit = evaluate(&relocate, name_of(files), &unit_files, options)?;
    Ok(ReadUnit { unit, record: unit_files.into_record(), relocate })
}

fn name_of(files: &ConfigFiles) -> &str {
    files.of_kind.last().map_or(UNIT_FILES[0], String::as_str)
}

fn evaluate(
    relocate: &Relocation,
    name: &str,
    files: &dyn Files,
    options: &UnitOptions,
) -> Result<Unit, Vec<TreeError>> {
    let path = format!("{}/{name}", relocate.place);
    Unit::read(&request(relocate, &path, files, options)).map_err(|errors| relocate.errors(errors))
}

fn request<'a>(
    relocate: &'a Relocation,
    path: &'a str,
    files: &'a dyn Files,
    options: &'a UnitOptions,
) -> UnitRequest<'a> {
    UnitRequest {
        path,
        top: &relocate.top,
        files,
        environment: &options.environment,
        vouched: &options.vouched,
        parsed: &options.memo.parsed,
        roots: options.roots,
        compares: options.compares,
    }
}

/// Reads the unit in a directory, and assembles its modules.
pub(super) fn load(root: &Path, files: &ConfigFiles, options: &TreeOptions) -> Result<Arc<Tree>, Vec<TreeError>> {
    let ReadUnit { unit, record, relocate } = options.units.kept.read(root, files, &options.units)?;
    let unread = unit.unread.iter().map(|part| relocate.part(part)).collect();
    let notes = unit.notes.iter().map(|note| relocate.part(note)).collect();
    let holes = unit.holes.iter().map(|hole| relocate.part(&hole.part)).collect();
    let facts = UnitFacts::of(&unit, &relocate);
    let options = with_variables(&unit, options);
    let assembly = Assembly::new(unit, unread, &relocate, options.dialect);
    let mut tree = walk::unit::load(root, assembly, &options)?;
    tree.kind = RootKind::Unit;
    tree.holes = holes;
    tree.notes = notes;
    let named = facts.holes.iter().flat_map(|hole| &hole.files);
    tree.looked_for.extend(named.map(|file| PathBuf::from(terragrunt::relative(&relocate.place, file))));
    tree.unit = Some(facts);
    tree.complete &= tree.unread_parts.is_empty() && tree.holes.is_empty();
    relocate.add(record, &mut tree);
    Ok(Arc::new(tree))
}

/// Adds what a unit reads to what is known of it where its modules cannot be read: its files, and where its module is.
pub(super) fn add_paths(tree: &mut Tree, root: &Path, options: &UnitOptions) {
    let Ok(files) = super::list(root, Dialect::Terraform) else { return };
    let (work_tree, name) = (WorkTree::of(root), name_of(&files));
    let (relocate, unit_files) = Relocation::with_files(&work_tree, options);
    if let Ok(unit) = evaluate(&relocate, name, &unit_files, options) {
        tree.unit = Some(UnitFacts::of(&unit, &relocate));
        let known = unit.source.as_ref().and_then(|source| Some((source.address.as_deref()?, &source.place)));
        let module = known.and_then(|(address, place)| source::local_module(address, &relocate.place, place));
        tree.local_modules.extend(module.map(|module| lexical(Path::new(""), Path::new(&module))));
    }
    relocate.add(unit_files.into_record(), tree);
}

/// What sets the variables of the module: nothing of the process.
fn with_variables(unit: &Unit, options: &TreeOptions) -> TreeOptions {
    let assigned = unit.variables.arguments.iter().map(|argument| match argument {
        VariableArgument::Value(name, text) => Assignment::Value(name.clone(), text.clone()),
        VariableArgument::File(file) => Assignment::File(Ok(file.clone())),
    });
    let assigned = assigned.chain(options.assigned.iter().cloned()).collect();
    let (variables, inputs) = (BTreeMap::new(), unit.variables.environment.clone());
    TreeOptions { variables, inputs, assigned, workspace: None, ..options.clone() }
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// From places relative to the top of the working tree to those relative to the unit.
#[derive(Debug, Clone)]
struct Relocation {
    top: String,
    place: String,
    is_in_repository: bool,
}

impl Relocation {
    fn of(tree: &WorkTree) -> Self {
        Self { top: path_of(tree.boundary()), place: path_of(&tree.directory), is_in_repository: tree.top.is_some() }
    }

    /// The same, and the files that the unit may read.
    fn with_files(tree: &WorkTree, options: &UnitOptions) -> (Self, UnitFiles) {
        (Self::of(tree), UnitFiles::new(tree.boundary(), &options.memo.repositories))
    }

    /// Adds what was read to a tree.
    fn add(&self, record: Record, tree: &mut Tree) {
        let from_root = |path: String| PathBuf::from(terragrunt::relative(&self.place, &path));
        tree.files_read.extend(record.read.into_iter().map(from_root));
        tree.texts_read.extend(record.texts.into_iter().map(from_root));
        tree.looked_for.extend(record.asked.into_iter().map(from_root));
        tree.looked_for.extend(UNIT_FILES.map(PathBuf::from));
        tree.listed.extend(record.listed.into_iter().map(from_root));
    }

    fn file(&self, file: &Path) -> PathBuf {
        terragrunt::relative(&self.place, &format!("{}/{}", self.top, slashed(file))).into()
    }

    /// Why a directory, by its path from the unit, is not a part of the repository; `None` if it is.
    fn refusal(&self, directory: &Path) -> Option<String> {
        let place = lexical(Path::new(&self.place), directory);
        files::part_of(Path::new(&self.top), place).err().filter(|_| self.is_in_repository)
    }

    fn location(&self, place: &Location) -> Location {
        Location { file: self.file(&place.file).into(), position: place.position }
    }

    fn part(&self, part: &Unread) -> UnreadPart {
        UnreadPart { reason: part.reason.clone(), place: self.location(&part.place) }
    }

    fn errors(&self, errors: Vec<ConfigError>) -> Vec<TreeError> {
        let placed = |error: ConfigError| {
            let kind = error.kind.moved(|place| self.location(&place));
            ConfigError { file: self.file(&error.file), kind, ..error }
        };
        errors.into_iter().map(|error| TreeError::Config(placed(error))).collect()
    }
}
