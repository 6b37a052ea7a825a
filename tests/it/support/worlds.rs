//! Worlds and commands that many tests begin with.

use super::registry::Registry;

/// The platforms that releases have unless a test says otherwise.
pub const PLATFORMS: &[&str] = &["linux_amd64", "darwin_arm64"];

/// `tflock lock` for one platform, whatever machine the test runs on.
pub const LOCK: [&str; 3] = ["lock", "--platform", "linux_amd64"];

/// The same for both platforms.
pub const LOCK_BOTH: [&str; 5] = ["lock", "--platform", "linux_amd64", "--platform", "darwin_arm64"];

/// A dependency lock file without entries.
pub const EMPTY_LOCK: &str =
    "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n";

/// A registry with one release, `acme/widget` 1.4.0, as the cases of `testdata/modules` want it.
pub fn widget() -> Registry {
    Registry::start().release("acme/widget", "1.4.0", PLATFORMS)
}

/// The same and `acme/gadget` 2.0.0.
pub fn widget_and_gadget() -> Registry {
    widget().release("acme/gadget", "2.0.0", PLATFORMS)
}

/// The lines of a lock file that record hashes.
pub fn hashes(lock_file: &str) -> Vec<&str> {
    lock_file.lines().map(str::trim).filter(|line| line.starts_with('"') && line.contains(':')).collect()
}
