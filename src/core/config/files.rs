//! Which files of a directory are configuration, by their names alone.
//!
//! Source: `internal/configs/parser_config_dir.go`, and for OpenTofu `internal/configs/parser_file_matcher.go`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::kind::{RootKind, is_root_configuration};
use crate::dialect::Dialect;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path, relative to the root module; its suffix gives the syntax.
    pub path: PathBuf,
    /// The text. Bytes that are not UTF-8 matter to the tools only outside of comments, and are replaced.
    pub text: String,
}

/// The names of one directory's configuration files, each list in the order of loading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigFiles {
    /// Loaded first.
    pub primary: Vec<String>,
    /// Merged into what the primary files say.
    pub overrides: Vec<String>,
    pub tests: Vec<String>,
    /// The files of variables that the tools read without being told.
    pub variables: Vec<String>,
    pub differs_by_tool: bool,
    /// What a root module here is; `None` without configuration.
    pub kind: Option<RootKind>,
    /// The configuration of the root module, if it is not that of a module.
    pub of_kind: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    Native,
    /// The mapping of it into JSON.
    Json,
}

impl Syntax {
    pub fn of(name: &str) -> Self {
        if Path::new(name).extension().is_some_and(|extension| extension == "json") {
            Syntax::Json
        } else {
            Syntax::Native
        }
    }
}

/// Suffixes of configuration, each OpenTofu one behind the one of Terraform that it shadows.
pub(super) const CONFIGURATION: [(&str, &str); 2] = [(".tf", ".tofu"), (".tf.json", ".tofu.json")];
pub(super) const TESTS: [(&str, &str); 2] = [(".tftest.hcl", ".tofutest.hcl"), (".tftest.json", ".tofutest.json")];

const VARIABLES: [&str; 2] = [".tfvars", ".tfvars.json"];

/// True for the names of files that either tool reads as configuration of a module; test files are none.
pub fn is_configuration(name: &str) -> bool {
    suffix(name, &CONFIGURATION, Dialect::OpenTofu).is_some()
}

/// True for the names of configuration files of a module that only OpenTofu reads.
pub fn is_of_tofu(name: &str) -> bool {
    CONFIGURATION.iter().any(|(_, tofu)| name.ends_with(tofu))
}

/// True for the names of files that may be read for a root module: configuration, tests and values of variables.
pub fn is_read(name: &str) -> bool {
    let is_test = suffix(name, &TESTS, Dialect::OpenTofu).is_some();
    is_root_configuration(name) || is_test || VARIABLES.iter().any(|suffix| name.ends_with(suffix))
}

impl ConfigFiles {
    /// Sorts the names of a directory's files into their parts; those that are no configuration are dropped.
    pub fn select(names: impl IntoIterator<Item = String>, dialect: Dialect) -> Self {
        let names: Vec<String> = names.into_iter().collect();
        let kind = RootKind::of(names.iter().map(String::as_str), dialect);
        let mut files = Self { kind, ..Self::default() };
        for name in names {
            if is_automatic_variable_file(&name) {
                files.variables.push(name);
                continue;
            }
            if is_ignored(&name) {
                continue;
            }
            if kind.is_some_and(|kind| kind != RootKind::Module && kind.is_configuration(&name)) {
                files.of_kind.push(name);
                continue;
            }
            files.differs_by_tool |= CONFIGURATION.iter().chain(&TESTS).any(|(_, tofu)| name.ends_with(tofu));
            if suffix(&name, &TESTS, dialect).is_some() {
                files.tests.push(name);
            } else if let Some(suffix) = suffix(&name, &CONFIGURATION, dialect) {
                let base = &name[..name.len() - suffix.len()];
                let list = if base == "override" || base.ends_with("_override") {
                    &mut files.overrides
                } else {
                    &mut files.primary
                };
                list.push(name);
            }
        }
        for (list, pairs) in
            [(&mut files.primary, &CONFIGURATION), (&mut files.overrides, &CONFIGURATION), (&mut files.tests, &TESTS)]
        {
            list.sort();
            drop_shadowed(list, pairs);
        }
        sort_variable_files(&mut files.variables);
        files.of_kind.sort();
        files
    }

    /// The test files of a directory of tests, in the order of loading. For Terraform 1.13 and later their ending alone decides,
    /// so hidden ones and those of editors count.
    ///
    /// Source: `internal/configs/parser_config_dir.go`; as recorded with Terraform 1.17-dev.
    pub fn select_tests(names: impl IntoIterator<Item = String>, dialect: Dialect) -> Vec<String> {
        if dialect == Dialect::OpenTofu {
            return Self::select(names, dialect).tests;
        }
        let mut tests: Vec<String> = names.into_iter().filter(|name| suffix(name, &TESTS, dialect).is_some()).collect();
        tests.sort();
        tests
    }

    /// True if some names of a directory are those of configuration, and only `OpenTofu` reads it.
    pub fn is_only_for_tofu(names: &[&str]) -> bool {
        let kind = |dialect| RootKind::of(names.iter().copied(), dialect);
        kind(Dialect::Terraform).is_none() && kind(Dialect::OpenTofu).is_some()
    }

    /// True if nothing here is configuration; test files do not count.
    pub fn is_empty(&self) -> bool {
        self.primary.is_empty() && self.overrides.is_empty()
    }
}

pub(super) fn suffix(name: &str, pairs: &[(&'static str, &'static str)], dialect: Dialect) -> Option<&'static str> {
    pairs.iter().find_map(|(terraform, tofu)| {
        if name.ends_with(terraform) {
            Some(*terraform)
        } else {
            (dialect == Dialect::OpenTofu && name.ends_with(tofu)).then_some(*tofu)
        }
    })
}

/// Read before the other files of variables.
const FIRST: [&str; 2] = ["terraform.tfvars", "terraform.tfvars.json"];

/// True for the names of files of variables that the tools read without being told.
pub(crate) fn is_automatic_variable_file(name: &str) -> bool {
    FIRST.contains(&name) || name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json")
}

/// Sorts them in the order of reading.
fn sort_variable_files(names: &mut [String]) {
    names.sort_by_cached_key(|name| (!FIRST.contains(&name.as_str()), name.clone()));
}

/// Files of editors and hidden ones.
pub(super) fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

fn drop_shadowed(names: &mut Vec<String>, pairs: &[(&str, &str)]) {
    let all: HashSet<String> = names.iter().cloned().collect();
    names.retain(|name| {
        !pairs.iter().any(|(terraform, tofu)| {
            name.strip_suffix(terraform).is_some_and(|base| all.contains(&format!("{base}{tofu}")))
        })
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(names: &[&str], dialect: Dialect) -> ConfigFiles {
        ConfigFiles::select(names.iter().map(|name| (*name).to_owned()), dialect)
    }

    #[test]
    fn suffixes_belong_to_a_tool() {
        let names =
            ["z.tf", "a.tf.json", "x.tofu", "y.tofu.json", "notes.txt", "t.tftest.hcl", "u.tofutest.json", "tf"];
        let files = select(&names, Dialect::Terraform);
        assert_eq!(
            (files.primary, files.tests),
            (vec!["a.tf.json".into(), "z.tf".into()], vec!["t.tftest.hcl".into()])
        );
        let files = select(&names, Dialect::OpenTofu);
        assert_eq!(files.primary, ["a.tf.json", "x.tofu", "y.tofu.json", "z.tf"]);
        assert_eq!(files.tests, ["t.tftest.hcl", "u.tofutest.json"]);
    }

    #[test]
    fn files_of_every_list_count_as_read() {
        let names =
            ["a.tf", "a.tofu.json", "override.tofu", "t.tftest.hcl", "t.tofutest.json", "notes.tf.txt", "x.hcl"];
        for name in names {
            let lists = |dialect| select(&[name], dialect);
            let listed = [Dialect::Terraform, Dialect::OpenTofu].map(lists);
            assert_eq!(is_read(name), listed.iter().any(|files| *files != ConfigFiles::default()), "{name}");
            assert_eq!(is_configuration(name), listed.iter().any(|files| !files.is_empty()), "{name}");
        }
        assert!(is_read("terraform.tfvars") && is_read("x.auto.tfvars.json") && !is_configuration("x.tfvars"));
    }

    #[test]
    fn files_of_editors_are_ignored() {
        let tests = [".x.tftest.hcl", "#y.tftest.json#", "z.tftest.hcl~", "#a.tftest.hcl", "b.tofutest.hcl", "c.tf"];
        let in_tests = |dialect| ConfigFiles::select_tests(tests.map(str::to_owned), dialect);
        assert_eq!(in_tests(Dialect::Terraform), ["#a.tftest.hcl", ".x.tftest.hcl"]);
        assert_eq!(in_tests(Dialect::OpenTofu), ["#a.tftest.hcl", "b.tofutest.hcl"]);
        assert_eq!(select(&tests, Dialect::Terraform).tests, ["#a.tftest.hcl"]);
        assert_eq!(select(&[".hidden.tf", "bak.tf~", "#e.tf#", "#f.tf"], Dialect::Terraform).primary, ["#f.tf"]);
    }

    #[test]
    fn overrides_are_known_by_their_base_name() {
        let names = ["override.tf", "x_override.tf.json", "xoverride.tf", "override_x.tf", "_override.tf"];
        let files = select(&names, Dialect::Terraform);
        assert_eq!(files.overrides, ["_override.tf", "override.tf", "x_override.tf.json"]);
        assert_eq!(files.primary, ["override_x.tf", "xoverride.tf"]);
    }

    #[test]
    fn tofu_files_shadow_within_one_syntax_and_list() {
        let names =
            ["a.tf", "a.tofu", "b.tf", "b.tofu.json", "c.tf.json", "c.tofu.json", "override.tf", "override.tofu"];
        let files = select(&names, Dialect::OpenTofu);
        assert_eq!(files.primary, ["a.tofu", "b.tf", "b.tofu.json", "c.tofu.json"]);
        assert_eq!(files.overrides, ["override.tofu"]);
        assert_eq!(select(&names, Dialect::Terraform).primary, ["a.tf", "b.tf", "c.tf.json"]);
    }
}
