//! Which tool Terragrunt runs in a unit, by files of the repository. What is installed says nothing.

use std::path::Path;

use crate::config::{UNIT_FILES, VERSION_FILES};
use crate::dialect::Dialect;
use crate::disk::files;
use crate::disk::roots::{self, UnitOptions};
use crate::path::shown;
use crate::path::worktree::WorkTree;

/// The tool of the program that the unit names, else of the nearest directory with files of versions; `None` where these name both.
pub(super) fn of_unit(root: &Path, units: &UnitOptions) -> Option<Dialect> {
    if !files::names_in(root).iter().any(|name| UNIT_FILES.contains(&&**name)) {
        return None;
    }
    roots::program_of_unit(root, units).and_then(|program| of_program(&program)).or_else(|| {
        let tree = WorkTree::of(root);
        let way = tree.directory.strip_prefix(tree.boundary()).ok()?;
        let read = |path: &Path| {
            let bytes = files::read(&tree.boundary().join(path)).ok()??;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        of_version_files(way, &read).map(|(tool, _)| tool)
    })
}

pub fn of_program(program: &str) -> Option<Dialect> {
    let name = program.rsplit(['/', '\\']).next()?;
    match name.strip_suffix(".exe").unwrap_or(name) {
        "terraform" => Some(Dialect::Terraform),
        "tofu" | "opentofu" => Some(Dialect::OpenTofu),
        _ => None,
    }
}

/// The tool that the version files of the nearest directory at or above one name, with the first of these files; `None` where they
/// name both. Paths are relative to the top of the working tree, where `read` looks.
pub fn of_version_files(directory: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<(Dialect, String)> {
    directory
        .ancestors()
        .find_map(|above| {
            let mut named: Vec<(Dialect, String)> = Vec::new();
            for name in VERSION_FILES {
                let path = above.join(name);
                let Some(text) = read(&path) else { continue };
                let tools = match name {
                    ".terraform-version" => vec![Dialect::Terraform],
                    ".opentofu-version" => vec![Dialect::OpenTofu],
                    _ => listed(&text),
                };
                named.extend(tools.into_iter().map(|tool| (tool, shown(&path))));
            }
            (!named.is_empty()).then_some(named)
        })
        .and_then(only)
}

/// The tools in a list of versions.
fn listed(text: &str) -> Vec<Dialect> {
    let first = |line: &str| line.split([' ', '=', '\t']).next().unwrap_or_default().trim_matches('"').to_owned();
    let names: Vec<String> = text.lines().map(|line| first(line.trim())).collect();
    let tools = [("terraform", Dialect::Terraform), ("opentofu", Dialect::OpenTofu)];
    tools.into_iter().filter(|(name, _)| names.iter().any(|it| it == name)).map(|(_, tool)| tool).collect()
}

fn only(named: Vec<(Dialect, String)>) -> Option<(Dialect, String)> {
    let (first, _) = named.first()?;
    let is_one = named.iter().all(|(tool, _)| tool == first);
    named.into_iter().next().filter(|_| is_one)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes files")]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_clear_clue_counts() {
        let folder = tempfile::tempdir().unwrap();
        let unit = folder.path().join("live/a");
        std::fs::create_dir_all(&unit).unwrap();
        let git = std::process::Command::new("git").arg("-C").arg(folder.path()).args(["init", "--quiet"]).status();
        assert!(git.unwrap().success());
        let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
        write(".terraform-version", "1.11.4");
        assert_eq!(of_unit(&unit, &UnitOptions::default()), None);
        write("live/a/terragrunt.hcl", "");
        assert_eq!(of_unit(&unit, &UnitOptions::default()), Some(Dialect::Terraform));
        write("live/.tool-versions", "opentofu 1.10.0\nnodejs 22");
        assert_eq!(of_unit(&unit, &UnitOptions::default()), Some(Dialect::OpenTofu));
        write("live/mise.toml", "[tools]\nterraform = \"1.11\"\n");
        assert_eq!(of_unit(&unit, &UnitOptions::default()), None);
        write("live/a/terragrunt.hcl", "terraform_binary = \"/usr/bin/tofu\"\n");
        assert_eq!(of_unit(&unit, &UnitOptions::default()), Some(Dialect::OpenTofu));
        write("live/a/terragrunt.hcl", "terraform_binary = get_env(\"X\")\n");
        assert_eq!(of_unit(&unit, &UnitOptions::default()), None);
    }
}
