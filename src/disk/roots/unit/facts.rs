//! What the gate compares of a unit with what it was at the base.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{ReadUnit, Relocation, UnitOptions, evaluate, name_of, place_of, read, request, slashed, source};
use crate::dialect::Dialect;
use crate::disk::roots::{self, TreeError, UnreadPart};
use crate::path::lexical;
use crate::path::worktree::WorkTree;
use crate::terragrunt::{self, Files, Hole, Influence, Unit, Unread};

/// What a unit itself says. Files are relative to the unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitFacts {
    /// The source of its module: a path from the top, or an address; *unknown* where it is not known.
    pub source: Option<String>,
    /// The directory of its module from the top of the working tree, if that is where it is.
    pub module: Option<String>,
    /// The directory in which Terragrunt makes working directories, relative to the unit or absolute, if it is said and known.
    pub download_dir: Option<String>,
    /// What was assumed.
    pub notes: Vec<UnreadPart>,
    /// What is not known and may change what is required.
    pub unread: Vec<UnreadPart>,
    /// Values in generated files that are not known.
    pub holes: Vec<Hole>,
    /// What starts programs.
    pub programs: Vec<Influence>,
    /// What changes how `init` installs.
    pub init_overrides: Vec<Influence>,
    /// Why Terragrunt does not use the lock file next to the unit, if so.
    pub lock_file_left_out: Option<UnreadPart>,
    /// The files that it includes, from the top of the working tree.
    pub includes: Vec<String>,
    /// The tool that it names as `terraform_binary`, if that is known.
    pub program: Option<String>,
    /// True for a unit that only stacks use.
    pub is_template: bool,
}

impl UnitFacts {
    pub(super) fn of(unit: &Unit, relocate: &Relocation) -> Self {
        let influence = |all: &[Influence]| -> Vec<Influence> {
            all.iter().map(|it| Influence { place: relocate.location(&it.place), ..it.clone() }).collect()
        };
        let hole = |hole: &Hole| Hole {
            part: Unread { place: relocate.location(&hole.part.place), ..hole.part.clone() },
            ..hole.clone()
        };
        Self {
            source: source_of(unit, relocate),
            module: module_of(unit, relocate),
            download_dir: unit.download_dir.clone(),
            notes: unit.notes.iter().map(|part| relocate.part(part)).collect(),
            unread: unit.unread.iter().map(|part| relocate.part(part)).collect(),
            holes: unit.holes.iter().map(hole).collect(),
            programs: influence(&unit.programs),
            init_overrides: influence(&unit.init_overrides),
            lock_file_left_out: unit.lock_file_left_out.as_ref().map(|part| relocate.part(part)),
            includes: unit.includes.iter().map(|path| terragrunt::relative(&relocate.top, path)).collect(),
            program: unit.program.clone(),
            is_template: unit.is_template,
        }
    }

    /// Adds what the same unit says with other values of the environment.
    pub(in crate::disk::roots) fn add(&mut self, other: &Self) {
        let Self {
            // They are compared with those of the base, in its environment.
            source: _,
            module: _,
            download_dir,
            notes,
            unread,
            holes,
            programs,
            init_overrides,
            lock_file_left_out,
            includes,
            program,
            is_template,
        } = other;
        roots::add_new(&mut self.notes, notes);
        roots::add_new(&mut self.unread, unread);
        roots::add_new(&mut self.holes, holes);
        roots::add_new(&mut self.programs, programs);
        roots::add_new(&mut self.init_overrides, init_overrides);
        roots::add_new(&mut self.includes, includes);
        let own = |own: &mut Option<String>, other: &Option<String>| *own = own.take().or_else(|| other.clone());
        own(&mut self.download_dir, download_dir);
        own(&mut self.program, program);
        self.lock_file_left_out = self.lock_file_left_out.take().or_else(|| lock_file_left_out.clone());
        self.is_template &= is_template;
    }

    /// True if something is not read that was read before, or for another reason.
    pub fn is_read_less_than(&self, before: &Self) -> bool {
        let was_unread = |part: &UnreadPart| {
            before.unread.iter().any(|old| old.reason == part.reason && old.place.file == part.place.file)
        };
        !self.unread.iter().all(was_unread)
    }
}

/// What the unit in a directory says. `of` are other files than those of the working tree, and the name of that of the unit. An error if
/// the unit cannot be read.
pub fn facts_of_unit(
    root: &Path,
    of: Option<(&dyn Files, &str)>,
    options: &UnitOptions,
) -> Result<UnitFacts, Vec<TreeError>> {
    let relocate = Relocation::of(&WorkTree::of(root));
    let unit = if let Some((files, name)) = of {
        evaluate(&relocate, name, files, options)?
    } else {
        let files = roots::list(root, Dialect::Terraform);
        let ReadUnit { unit, .. } =
            read(root, &files.map_err(|error| vec![roots::unreadable(root.to_owned(), &error)])?, options)?;
        unit
    };
    Ok(UnitFacts::of(&unit, &relocate))
}

/// What a unit is compared by that is not read whole.
#[derive(Debug, Default)]
pub struct UnitIdentity {
    /// `None` if that is not known.
    pub text: Option<String>,
    /// The files whose contents decide what is not read, absolute.
    pub files: Vec<PathBuf>,
    /// Each path that was looked at for it: what it says is a part of the text.
    pub asked: BTreeSet<PathBuf>,
}

/// What the unit in a directory is compared by; `of` as in [`facts_of_unit`].
pub fn identity_of_unit(
    root: &Path,
    of: Option<(&dyn Files, &str)>,
    with_variables: bool,
    options: &UnitOptions,
) -> UnitIdentity {
    let tree = WorkTree::of(root);
    let (relocate, own) = Relocation::with_files(&tree, options);
    let listed = of.is_none().then(|| roots::list(root, Dialect::Terraform));
    let name = match (&of, &listed) {
        (Some((_, name)), _) => name,
        (_, Some(Ok(files))) => name_of(files),
        _ => return UnitIdentity::default(),
    };
    let path = format!("{}/{name}", relocate.place);
    let request = request(&relocate, &path, of.map_or(&own, |(files, _)| files), options);
    let identity = terragrunt::UnitDescription::of(&request, with_variables);
    let place = |path: &String| place_of(tree.boundary(), path);
    UnitIdentity {
        text: identity.text,
        files: identity.files.iter().filter_map(place).collect(),
        asked: own.into_record().asked.into_iter().map(PathBuf::from).collect(),
    }
}

fn source_of(unit: &Unit, relocate: &Relocation) -> Option<String> {
    let source = unit.source.as_ref()?;
    let Some(address) = &source.address else { return Some("unknown".to_owned()) };
    let with_version = || source.version.as_ref().map_or_else(|| address.clone(), |it| format!("{address} {it}"));
    Some(module_of(unit, relocate).unwrap_or_else(with_version))
}

fn module_of(unit: &Unit, relocate: &Relocation) -> Option<String> {
    let source = unit.source.as_ref()?;
    let path = source::local_module(source.address.as_ref()?, &relocate.place, &source.place)?;
    let place = lexical(Path::new(&relocate.place), Path::new(&path));
    Some(terragrunt::relative(&relocate.top, &slashed(&place)))
}
