//! Which tool Terragrunt runs in a unit, by files of the repository. What is installed says nothing.

use std::path::Path;

use crate::config::UNIT_FILES;
use crate::dialect::Dialect;
use crate::disk::{files, roots};
use crate::path::worktree::WorkTree;

/// The tool of the program that the unit names, else of the nearest directory with files of versions; `None` where these name both.
pub(super) fn of_unit(root: &Path) -> Option<Dialect> {
    if !files::names_in(root).iter().any(|name| UNIT_FILES.contains(&&**name)) {
        return None;
    }
    roots::program_of_unit(root).and_then(|program| of_program(&program)).or_else(|| {
        let tree = WorkTree::of(root);
        let above = tree.directory.ancestors().take_while(|directory| directory.starts_with(tree.boundary()));
        above.map(of_version_files).find(|tools| tools.contains(&true)).and_then(only)
    })
}

fn of_program(program: &str) -> Option<Dialect> {
    let name = program.rsplit(['/', '\\']).next()?;
    match name.strip_suffix(".exe").unwrap_or(name) {
        "terraform" => Some(Dialect::Terraform),
        "tofu" | "opentofu" => Some(Dialect::OpenTofu),
        _ => None,
    }
}

/// Whether files of versions in a directory name Terraform, and whether they name OpenTofu.
fn of_version_files(directory: &Path) -> [bool; 2] {
    let text = |name: &str| {
        let bytes = files::read(&directory.join(name)).ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let listed = [text(".tool-versions"), text("mise.toml"), text(".mise.toml")].join("\n");
    let lists = |tool: &str| {
        let first = |line: &str| line.split([' ', '=', '\t']).next().unwrap_or_default().trim_matches('"').to_owned();
        listed.lines().any(|line| first(line.trim()) == tool)
    };
    let is_there = |name: &str| files::is_there(&directory.join(name));
    [is_there(".terraform-version") || lists("terraform"), is_there(".opentofu-version") || lists("opentofu")]
}

fn only(tools: [bool; 2]) -> Option<Dialect> {
    match tools {
        [true, false] => Some(Dialect::Terraform),
        [false, true] => Some(Dialect::OpenTofu),
        _ => None,
    }
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
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
        write(".terraform-version", "1.11.4");
        assert_eq!(of_unit(&unit), None);
        write("live/a/terragrunt.hcl", "");
        assert_eq!(of_unit(&unit), Some(Dialect::Terraform));
        write("live/.tool-versions", "opentofu 1.10.0\nnodejs 22");
        assert_eq!(of_unit(&unit), Some(Dialect::OpenTofu));
        write("live/mise.toml", "[tools]\nterraform = \"1.11\"\n");
        assert_eq!(of_unit(&unit), None);
        write("live/a/terragrunt.hcl", "terraform_binary = \"/usr/bin/tofu\"\n");
        assert_eq!(of_unit(&unit), Some(Dialect::OpenTofu));
        write("live/a/terragrunt.hcl", "terraform_binary = get_env(\"X\")\n");
        assert_eq!(of_unit(&unit), None);
    }
}
