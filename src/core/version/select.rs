//! Which version is chosen.

use super::{Constraints, Version};

/// The newest version that the constraints allow.
///
/// Versions that differ in build metadata only have one precedence; the tools' choice among them is not defined. Here
/// the greatest metadata wins, in the order in which the tools sort constraints.
pub fn newest_allowed<'a>(
    versions: impl IntoIterator<Item = &'a Version>,
    constraints: &Constraints,
) -> Option<&'a Version> {
    versions.into_iter().filter(|version| constraints.allows(version)).max()
}
