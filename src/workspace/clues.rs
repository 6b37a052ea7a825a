//! What tells which tool a root module is for, where nobody says it.

use std::path::{Path, PathBuf};

use crate::dialect::Dialect;
use crate::disk::{lock_file, text};
use crate::lockfile;
use crate::settings::Variables;

/// What tells which tool a root module is for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clues {
    /// The tool whose lock file it is, by header, else by hosts.
    lock_file: Option<Dialect>,
    /// True if there are `.tofu` files.
    tofu_files: bool,
    /// True if there is CLI configuration of Terraform.
    terraform_config: bool,
    /// True if there is CLI configuration that only OpenTofu reads.
    tofu_config: bool,
}

impl Clues {
    /// Looks around.
    pub(super) fn gather(root: &Path, lock: &[u8], variables: &Variables) -> Self {
        let (terraform, tofu) = cli_configs(variables);
        Self {
            lock_file: lockfile::detect_dialect(lock),
            tofu_files: has_tofu_files(root),
            terraform_config: terraform.iter().any(|file| file.exists()),
            tofu_config: tofu.iter().any(|file| file.exists()),
        }
    }

    /// The tool, by the first clue that is clear; Terraform if none is.
    pub(super) fn dialect(self) -> Dialect {
        let config = match (self.tofu_config, self.terraform_config) {
            (true, false) => Some(Dialect::OpenTofu),
            (false, true) => Some(Dialect::Terraform),
            _ => None,
        };
        let files = self.tofu_files.then_some(Dialect::OpenTofu);
        self.lock_file.or(files).or(config).unwrap_or(Dialect::Terraform)
    }
}

fn has_tofu_files(root: &Path) -> bool {
    #[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the tool compares so")]
    let is_tofu = |name: &str| name.ends_with(".tofu") || name.ends_with(".tofu.json");
    text::names_in(root).iter().any(|name| is_tofu(name))
}

/// Where the main files of CLI configuration lie: Terraform's, and those that only OpenTofu reads.
///
/// Source: `internal/command/cliconfig/config_unix.go` and `config_windows.go` of both tools.
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

/// The text of the lock file. If it cannot be read, it is no clue; whoever needs it will tell.
pub(super) fn lock_text(root: &Path) -> Vec<u8> {
    lock_file::read(&root.join(lockfile::FILE_NAME)).ok().flatten().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_clear_clue_counts() {
        use Dialect::{OpenTofu, Terraform};
        let none = Clues::default();
        assert_eq!(none.dialect(), Terraform);
        let config = Clues { tofu_config: true, ..none };
        assert_eq!(config.dialect(), OpenTofu);
        assert_eq!(Clues { terraform_config: true, ..config }.dialect(), Terraform);
        let files = Clues { tofu_files: true, terraform_config: true, ..none };
        assert_eq!(files.dialect(), OpenTofu);
        assert_eq!(Clues { lock_file: Some(Terraform), ..files }.dialect(), Terraform);
    }

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
        let dialect = || Clues::gather(&root, &lock_text(&root), &Variables::from_iter(set)).dialect();
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
