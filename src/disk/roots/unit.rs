//! Units of Terragrunt: what their files say is not evaluated yet, so their requirements are unknown.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Tree, TreeError, TreeOptions, UnreadPart};
use crate::config::{ConfigFiles, Location, RootKind, UNIT_FILES};
use crate::finding::Position;

/// Names the files of a unit, and that they were not read.
pub(super) fn load(_: &Path, files: &ConfigFiles, _: &TreeOptions) -> Result<Arc<Tree>, Vec<TreeError>> {
    let name = files.of_kind.last().map_or(UNIT_FILES[0], String::as_str);
    let part = UnreadPart {
        reason: format!("tflock does not evaluate {name}"),
        place: Location { file: Path::new(name).into(), position: Position::default() },
    };
    let of_module = files.primary.iter().chain(&files.overrides);
    Ok(Arc::new(Tree {
        kind: RootKind::Unit,
        complete: false,
        unread_parts: vec![part],
        files_read: files.of_kind.iter().chain(of_module).map(PathBuf::from).collect(),
        looked_for: UNIT_FILES.map(PathBuf::from).to_vec(),
        ..Tree::default()
    }))
}
