//! Whether directories may require a provider. Each directory is read once, however many others call it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::config::{ConfigFiles, Module, ModuleSource, RootKind, SourceFile, Text};
use crate::dialect::Dialect;
use crate::disk::files;
use crate::disk::roots::{MissingModules, TreeOptions, load_tree, test_directory};
use crate::path::{lexical, worktree};

/// What requires no provider that is installed: the one inside of the tools.
const BUILT_IN: &str = "terraform";
const BUILT_IN_SOURCES: &str = "terraform.io/builtin/";

/// Deeper trees are taken for endless ones.
const DEPTH: usize = 128;

/// What the files of one directory say.
enum OwnFiles {
    Require,
    /// Nothing but calls of these local modules.
    Call(Vec<PathBuf>),
    /// Only the whole tree shows it.
    Unclear,
}

/// The answers of a run, by directory.
#[derive(Debug, Default)]
pub struct ProviderUse(HashMap<PathBuf, bool>);

impl ProviderUse {
    /// False only if it is known that no provider is required; then `init` writes no lock file either.
    pub fn may_require(&mut self, directory: &Path) -> bool {
        self.visit(worktree::absolute(directory), 0)
    }

    fn visit(&mut self, place: PathBuf, depth: usize) -> bool {
        if let Some(known) = self.0.get(&place) {
            return *known;
        }
        // Until it is known: a module that calls itself cannot be read.
        self.0.insert(place.clone(), true);
        let may_require = match read(&place) {
            OwnFiles::Require => true,
            OwnFiles::Unclear => whole_tree_may_require(&place),
            OwnFiles::Call(_) if depth == DEPTH => true,
            OwnFiles::Call(modules) => modules.iter().any(|module| self.visit(lexical(&place, module), depth + 1)),
        };
        self.0.insert(place, may_require);
        may_require
    }
}

/// Reads as OpenTofu does, which accepts all that Terraform accepts; only the number of providers matters.
fn whole_tree_may_require(root: &Path) -> bool {
    let options = TreeOptions { missing: MissingModules::Skip, listed: 0, ..TreeOptions::new(Dialect::OpenTofu) };
    load_tree(root, &options).map_or(true, |tree| !tree.complete || !tree.requirements.is_empty())
}

fn read(place: &Path) -> OwnFiles {
    let tests = [place.to_owned(), place.join(test_directory(None))].into_iter().flat_map(|at| files::names_in(&at));
    if !ConfigFiles::select_tests(tests, Dialect::OpenTofu).is_empty() {
        return OwnFiles::Require;
    }
    let names = files::names_in(place);
    let selected = ConfigFiles::select(names.clone(), Dialect::OpenTofu);
    let of_terraform = RootKind::of(names.iter().map(String::as_str), Dialect::Terraform);
    if of_terraform.max(selected.kind) != Some(RootKind::Module) {
        return OwnFiles::Unclear;
    }
    let text = |name: &String| {
        let text = String::from_utf8(files::read(&place.join(name)).ok()??).ok()?;
        Some(SourceFile { path: PathBuf::from(name), text })
    };
    let read_all = |names: &[String]| names.iter().map(text).collect::<Option<Vec<_>>>();
    let (Some(primary), Some(overrides)) = (read_all(&selected.primary), read_all(&selected.overrides)) else {
        return OwnFiles::Require;
    };
    Module::decode(&primary, &overrides, Dialect::OpenTofu).map_or(OwnFiles::Require, |module| of_module(&module))
}

fn of_module(module: &Module) -> OwnFiles {
    let is_built_in = |source: &Option<String>| source.as_ref().is_some_and(|text| text.starts_with(BUILT_IN_SOURCES));
    let requires = module.required.values().any(|required| !is_built_in(&required.source_text))
        || module.providers.iter().any(|provider| provider.name != BUILT_IN)
        || module.resources.iter().any(|resource| resource.provider != BUILT_IN);
    if requires {
        return OwnFiles::Require;
    }
    if !module.required.is_empty() || !module.imports.is_empty() {
        return OwnFiles::Unclear;
    }
    let local = module.calls.values().map(|call| match &call.source.as_ref()?.text {
        Text::Known(source) => match ModuleSource::parse(source, call.version.is_some(), Dialect::OpenTofu).ok()? {
            ModuleSource::Local(path) => Some(PathBuf::from(path)),
            _ => None,
        },
        Text::Expression(_) => None,
    });
    local.collect::<Option<Vec<_>>>().map_or(OwnFiles::Unclear, OwnFiles::Call)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write the files of directories")]
mod tests {
    use super::*;

    #[test]
    fn directories_answer_for_those_that_call_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            std::fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(path), text).unwrap();
        };
        let call = |path: &str| format!("module \"m\" {{\n  source = \"{path}\"\n}}\n");
        let nothing = "locals {}\nresource \"terraform_data\" \"x\" {}\n";
        for at in 0..20 {
            write(&format!("plain{at}/main.tf"), &call(&format!("../plain{}", at + 1)));
            write(&format!("needs{at}/main.tf"), &call(&format!("../needs{}", at + 1)));
        }
        write("plain20/main.tf", nothing);
        write("needs20/main.tf", "resource \"null_resource\" \"x\" {}\n");
        write("missing/main.tf", &call("./nowhere"));
        write("remote/main.tf", &call("acme/x/lab"));
        write("above/main.tf", &call("../remote"));
        write("ring/main.tf", &call("../ring"));
        write("broken/main.tf", "locals {");
        write("tested/main.tf", nothing);
        write("tested/tests/x.tftest.hcl", "run \"x\" {}\n");
        write(
            "built_in/main.tf",
            "terraform {\n  required_providers {\n    terraform = {\n      source = \"terraform.io/builtin/terraform\"\n    }\n  }\n}\n",
        );
        let mut known = ProviderUse::default();
        for (directory, expected) in [
            ("plain0", false),
            ("plain20", false),
            ("needs0", true),
            ("needs20", true),
            ("missing", true),
            ("remote", true),
            ("above", true),
            ("ring", true),
            ("broken", true),
            ("tested", true),
            ("built_in", false),
            ("empty", true),
        ] {
            let place = folder.path().join(directory);
            assert_eq!(known.may_require(&place), expected, "{directory}");
            assert!(expected || !whole_tree_may_require(&place), "{directory}");
        }
        // Each was read once, however its callers name it.
        let chains = (0..=20).flat_map(|at| ["plain", "needs"].map(|name| format!("{name}{at}")));
        let others = ["missing", "missing/nowhere", "remote", "above", "ring", "broken", "tested", "built_in", "empty"];
        let mut expected: Vec<PathBuf> =
            chains.chain(others.map(str::to_owned)).map(|name| folder.path().join(name)).collect();
        let mut read: Vec<PathBuf> = known.0.into_keys().collect();
        expected.sort();
        read.sort();
        assert_eq!(read, expected);
    }
}
