//! What the gate compares of a unit with what it was at the base.

use std::path::Path;

use super::{ReadUnit, Relocation, UnitOptions, evaluate, read, slashed, source};
use crate::dialect::Dialect;
use crate::disk::roots::{self, TreeError};
use crate::path::lexical;
use crate::path::worktree::WorkTree;
use crate::terragrunt::{self, Files, Unit, Unread};

/// What a unit itself says. Places are relative to the top of the working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitFacts {
    /// The source of its module: a path from the top, or an address; *unknown* where it is not known.
    pub source: Option<String>,
    /// What is not known and may change what is required.
    pub unread: Vec<Unread>,
}

impl UnitFacts {
    pub(super) fn of(unit: &Unit, relocate: &Relocation) -> Self {
        Self { source: source_of(unit, relocate), unread: unit.unread.clone() }
    }

    /// Adds what the same unit says with other values of the environment.
    pub(in crate::disk::roots) fn add(&mut self, other: &Self) {
        roots::add_new(&mut self.unread, &other.unread);
    }

    /// True if something is not read that was read before, or for another reason.
    pub fn is_read_less_than(&self, before: &Self) -> bool {
        let was_unread = |part: &Unread| {
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

fn source_of(unit: &Unit, relocate: &Relocation) -> Option<String> {
    let source = unit.source.as_ref()?;
    let Some(address) = &source.address else { return Some("unknown".to_owned()) };
    Some(match source::local_module(address, &relocate.place, &source.place) {
        Some(path) => {
            terragrunt::relative(&relocate.top, &slashed(&lexical(Path::new(&relocate.place), Path::new(&path))))
        }
        None => source.version.as_ref().map_or_else(|| address.clone(), |version| format!("{address} {version}")),
    })
}
