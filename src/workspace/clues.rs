//! Detects the tool of a root module.

use std::path::{Path, PathBuf};

use crate::dialect::Dialect;
use crate::disk::{lock_file, roots, text};
use crate::lockfile;
use crate::settings::Variables;

/// The tool by the first clear clue: configuration that only one tool reads; header of the lock file, else its hosts;
/// `.tofu` files; CLI configuration of only one tool. Without a clue, Terraform.
pub(super) fn dialect_by_clues(root: &Path, lock: &[u8], variables: &Variables) -> Dialect {
    let by_files = || has_tofu_files(root).then_some(Dialect::OpenTofu);
    let by_lock = || lockfile::detect_dialect(lock);
    let clue = only_dialect(root).or_else(by_lock).or_else(by_files).or_else(|| of_cli_config(variables));
    clue.unwrap_or(Dialect::Terraform)
}

/// The only tool that reads the configuration of a directory: to the other one, it is empty.
pub(super) fn only_dialect(root: &Path) -> Option<Dialect> {
    roots::is_only_for_tofu(root).then_some(Dialect::OpenTofu)
}

/// The tool with CLI configuration, if only one has it.
fn of_cli_config(variables: &Variables) -> Option<Dialect> {
    let (terraform, tofu) = cli_configs(variables);
    let [terraform, tofu] = [terraform, tofu].map(|files| files.iter().any(|file| file.exists()));
    match (terraform, tofu) {
        (true, false) => Some(Dialect::Terraform),
        (false, true) => Some(Dialect::OpenTofu),
        _ => None,
    }
}

fn has_tofu_files(root: &Path) -> bool {
    #[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the tool compares so")]
    let is_tofu = |name: &str| name.ends_with(".tofu") || name.ends_with(".tofu.json");
    text::names_in(root).iter().any(|name| is_tofu(name))
}

/// The paths of the main CLI configuration files: Terraform's, and those that only OpenTofu reads. Source:
/// `internal/command/cliconfig/config_unix.go` and `config_windows.go` of both tools.
fn cli_configs(variables: &Variables) -> (Vec<PathBuf>, Vec<PathBuf>) {
    if cfg!(windows) {
        let Some(data) = variables.get("APPDATA").map(PathBuf::from) else { return Default::default() };
        return (vec![data.join("terraform.rc")], vec![data.join("tofu.rc")]);
    }
    let home = variables.get("HOME").map(PathBuf::from).or_else(std::env::home_dir);
    let in_home = |name: &str| home.iter().map(|home| home.join(name)).collect::<Vec<_>>();
    let xdg = variables.get("XDG_CONFIG_HOME").map(|dir| Path::new(dir).join("opentofu/tofurc"));
    (in_home(".terraformrc"), in_home(".tofurc").into_iter().chain(xdg).collect())
}

/// The text of the lock file. An unreadable one is no clue; the error is reported when the file is used.
pub(super) fn lock_text(root: &Path) -> Vec<u8> {
    lock_file::read(&root.join(lockfile::FILE_NAME)).ok().flatten().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes files")]
    fn clues_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let (root, home) = (folder.path().join("root"), folder.path().join("home"));
        let write = |path: PathBuf, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let xdg = folder.path().join("xdg");
        let set = [("HOME", home.to_str().unwrap()), ("XDG_CONFIG_HOME", xdg.to_str().unwrap())];
        let dialect = || dialect_by_clues(&root, &lock_text(&root), &Variables::from_iter(set));
        write(root.join("main.tofu"), "");
        write(root.join(lockfile::FILE_NAME), "provider \"registry.terraform.io/a/b\" {\n}\n");
        assert_eq!(dialect(), Dialect::OpenTofu);
        for name in ["main.tofu", lockfile::FILE_NAME] {
            std::fs::remove_file(root.join(name)).unwrap();
        }
        write(root.join("main.tf"), "");
        assert_eq!(dialect(), Dialect::Terraform);
        if cfg!(unix) {
            write(xdg.join("opentofu/tofurc"), "");
            assert_eq!(dialect(), Dialect::OpenTofu);
            write(home.join(".terraformrc"), "");
        }
        assert_eq!(dialect(), Dialect::Terraform);
        write(root.join("more.tofu.json"), "{}");
        assert_eq!(dialect(), Dialect::OpenTofu);
        write(root.join(lockfile::FILE_NAME), "provider \"registry.terraform.io/a/b\" {\n}\n");
        assert_eq!(dialect(), Dialect::Terraform);
    }
}
