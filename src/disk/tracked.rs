//! Packages under version control: what the tools would install without asking anybody.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The directories of a root module whose packages the tools take before those of any registry.
const PLACES: [&str; 2] = ["terraform.d/plugins", ".terraform"];

/// Those of them that git tracks, relative to the root module, each with the first file.
///
/// Git is only asked if one of them is there; where there is no git or no work tree, nothing is tracked.
pub fn packages(root: &Path) -> Vec<(PathBuf, PathBuf)> {
    let there: Vec<&str> = PLACES.into_iter().filter(|place| root.join(place).symlink_metadata().is_ok()).collect();
    if there.is_empty() {
        return Vec::new();
    }
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["ls-files", "-z", "--cached", "--"])
        .args(&there)
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    let first = |place: &str| text.split('\0').find(|file| Path::new(file).starts_with(place)).map(PathBuf::from);
    there.into_iter().filter_map(|place| Some((PathBuf::from(place), first(place)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_git_tracks_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("terraform.d/plugins/x")).unwrap();
        std::fs::create_dir_all(root.join(".terraform")).unwrap();
        std::fs::write(root.join("terraform.d/plugins/x/y"), "").unwrap();
        std::fs::write(root.join(".terraform/z"), "").unwrap();
        let git = |args: &[&str]| {
            let status = Command::new("git").arg("-C").arg(root).args(args).stdout(Stdio::null()).status().unwrap();
            assert!(status.success());
        };
        git(&["init", "--quiet"]);
        assert_eq!(packages(root), []);
        git(&["add", "terraform.d"]);
        assert_eq!(packages(root), [("terraform.d/plugins".into(), "terraform.d/plugins/x/y".into())]);
    }
}
