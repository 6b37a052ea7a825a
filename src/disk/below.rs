//! Directories below one that have a lock file or configuration, which local modules each of them calls, and whether it has a backend.
//!
//! What git tracks is found whatever gitignore says; what it does not track follows gitignore. The folders in which the
//! tools keep what they install are left out. Which of the directories is a root module is not decided here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::files;
use super::roots::{UnitOptions, UnitReferences, join, references_of_unit};
use super::walk::{Walk, WalkOptions};
use crate::config::{
    ConfigFiles, Inputs, Module, ModuleScope, ModuleSource, Purpose, RootKind, SourceFile, Surroundings, Syntax, Text,
    is_root_configuration,
};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::git::{ChangedFiles, TrackedQuestion};
use crate::lockfile::LockName;
use crate::path::{TOOL_FOLDERS, shown};
use crate::trust::pins;

/// What Terragrunt generates from a stack.
const GENERATED: &str = ".terragrunt-stack";

/// What the search walks past: these, and what Terragrunt generates, unless git tracks it.
const WALKED_PAST: [&str; 3] = [".terraform", ".terragrunt-cache", GENERATED];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurveyedDirectory {
    pub path: PathBuf,
    /// Its lock files, the ordinary one first.
    pub locks: Vec<LockName>,
    /// What a root module here is; `None` without configuration.
    pub kind: Option<RootKind>,
    /// The configuration of a module or a stack, in the order of loading.
    pub configuration: Vec<String>,
}

impl SurveyedDirectory {
    /// True if it lacks no lock file: no Atmos runs units of Terragrunt.
    pub fn has_lock(&self) -> bool {
        let is_enough = |name: &LockName| !name.is_instance() || self.kind != Some(RootKind::Unit);
        self.locks.iter().any(is_enough)
    }
}

#[derive(Debug, Default)]
pub struct Survey {
    pub places: Vec<SurveyedDirectory>,
    /// The trust files, of which a working tree has one at most.
    pub trust_files: Vec<PathBuf>,
    pub unreadable: Vec<Error>,
}

/// Looks for what matters to root modules; `changes` may know what git tracks.
pub fn survey(start: &Path, changes: Option<&ChangedFiles>) -> Result<Survey, Error> {
    let failed = |path: &Path, reason: &dyn std::fmt::Display| {
        let message = format!("cannot look for root modules in {}: {reason}", shown(path));
        Error::new(ErrorKind::Disk, message).in_file(path)
    };
    std::fs::read_dir(start).map_err(|reason| failed(start, &reason))?;
    let known = changes.and_then(|changes| changes.tracked_below(start));
    // Git answers while we walk.
    let tracked = known.map_or_else(|| TrackedQuestion::send(start), TrackedQuestion::answered);
    let walk = Walk::below(
        start,
        &WalkOptions { skipped: &WALKED_PAST, names_repositories: false, excludes: None, is_wanted: &matters },
    );
    let mut names: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for path in walk.files {
        note(&mut names, &path);
    }
    let unreadable = walk.unreadable.into_iter().map(|(path, reason)| failed(&path, &reason.kind())).collect();
    let mut generated: BTreeSet<PathBuf> = BTreeSet::new();
    for path in tracked.answer() {
        if matters(&path) && !is_skipped(&path) && start.join(&path).is_file() {
            generated.extend(generated_above(&path).map(Path::to_owned));
            note(&mut names, &path);
        }
    }
    // What is new beside generated files that are tracked counts as it does elsewhere.
    let around: BTreeSet<&Path> = generated.iter().filter_map(|folder| folder.parent()).collect();
    for place in around {
        let options =
            WalkOptions { skipped: &TOOL_FOLDERS, names_repositories: false, excludes: None, is_wanted: &matters };
        let files = Walk::below(&start.join(place), &options).files.into_iter().map(|path| place.join(path));
        for path in files.filter(|path| generated_above(path).all(|folder| generated.contains(folder))) {
            note(&mut names, &path);
        }
    }
    let trusting = names.iter().filter(|(_, names)| names.iter().any(|name| name == pins::FILE_NAME));
    let trust_files = trusting.map(|(path, _)| path.join(pins::FILE_NAME)).collect();
    let places = names.into_iter().filter_map(|(path, names)| place(path, names)).collect();
    Ok(Survey { places, trust_files, unreadable })
}

/// The folders above a file that hold what Terragrunt generates.
fn generated_above(path: &Path) -> impl Iterator<Item = &Path> {
    path.ancestors().skip(1).filter(|above| above.file_name().is_some_and(|name| name == GENERATED))
}

fn is_skipped(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().to_str().is_some_and(|name| TOOL_FOLDERS.contains(&name)))
}

fn matters(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name == pins::FILE_NAME || LockName::of(name).is_some() || is_root_configuration(name))
}

/// Keeps the names that matter, each once.
fn note(names: &mut BTreeMap<PathBuf, Vec<String>>, path: &Path) {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return };
    if matters(path) {
        let of_place = names.entry(path.parent().unwrap_or(Path::new("")).to_owned()).or_default();
        if !of_place.iter().any(|known| known == name) {
            of_place.push(name.to_owned());
        }
    }
}

fn place(path: PathBuf, names: Vec<String>) -> Option<SurveyedDirectory> {
    let mut locks: Vec<LockName> = names.iter().filter_map(|name| LockName::of(name)).collect();
    locks.sort_unstable();
    let others: Vec<String> = names.into_iter().filter(|name| LockName::of(name).is_none()).collect();
    // Only Terraform has stacks. All else that it reads OpenTofu reads too, except for what its own files shadow.
    let of_terraform = RootKind::of(others.iter().map(String::as_str), Dialect::Terraform);
    let of_stack = others.iter().filter(|name| RootKind::Stack.is_configuration(name)).cloned().collect();
    let files = ConfigFiles::select(others, Dialect::OpenTofu);
    let kind = of_terraform.max(files.kind);
    let configuration = match kind {
        Some(RootKind::Stack) => of_stack,
        _ => files.primary.into_iter().chain(files.overrides).collect(),
    };
    (!locks.is_empty() || kind.is_some()).then_some(SurveyedDirectory { path, locks, kind, configuration })
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    pub local_modules: Vec<PathBuf>,
    /// True if there is a `backend` or `cloud` block.
    pub has_backend: bool,
    /// True if a provider is configured, as root modules do.
    pub configures_providers: bool,
    /// True if it may call any directory, since its sources are not read.
    pub has_unread_sources: bool,
    /// True if a file cannot be read, which is an error where this is a root module.
    pub has_errors: bool,
    /// The files that a unit includes.
    pub included: Vec<PathBuf>,
    /// What a unit refers to, if it names a module or includes a file, or has configuration of its own.
    pub unit: Option<UnitReferences>,
}

pub fn calls(start: &Path, place: &SurveyedDirectory, units: &UnitOptions) -> Calls {
    let is_stack = place.kind == Some(RootKind::Stack);
    let mut calls = if place.kind == Some(RootKind::Unit) {
        calls_of_unit(place, references_of_unit(&start.join(&place.path), units))
    } else {
        Calls::default()
    };
    let (mut modules, mut has_refused) = (Vec::new(), false);
    for name in &place.configuration {
        let bytes = match files::read(&start.join(&place.path).join(name)) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => continue,
            Err(_) => {
                calls.has_errors = true;
                continue;
            }
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        calls.configures_providers |= text.lines().any(|line| line.starts_with("provider \""));
        let words = if is_stack { ["component", "stack"].as_slice() } else { &["module", "backend", "cloud"] };
        if Syntax::of(name) == Syntax::Native && !words.iter().any(|word| text.contains(word)) {
            continue;
        }
        let file = SourceFile { path: PathBuf::from(name), text };
        // By itself each, as most files call nothing. OpenTofu takes whatever Terraform takes, where only calls count.
        match Module::decode_as(place.kind.unwrap_or_default(), &[file], &[], Dialect::OpenTofu) {
            Ok(module) => modules.push(module),
            Err(_) => has_refused = true,
        }
    }
    // An override says less than a whole block.
    if has_refused {
        let whole = whole_module(start, place);
        calls.has_errors |= whole.is_none();
        modules.extend(whole);
    }
    for module in modules {
        calls.has_backend |= module.backend.is_some();
        let scope = ModuleScope::new(Rc::new(module), Some(".".to_owned()), Inputs::Root);
        let surroundings = Surroundings::new(Dialect::OpenTofu);
        for call in scope.module.calls.values() {
            let source = match call.source.as_ref().map(|source| &source.text) {
                Some(Text::Known(source)) => source.clone(),
                // What the file says by itself.
                Some(Text::Expression(source)) => match scope.evaluate(source, Purpose::Source, &surroundings) {
                    Ok(Some(source)) => source,
                    _ => continue,
                },
                None => continue,
            };
            if let Ok(ModuleSource::Local(path)) =
                ModuleSource::parse(&source, call.version.is_some(), Dialect::OpenTofu)
            {
                calls.local_modules.push(join(&place.path, &path));
            }
        }
    }
    calls.has_unread_sources |= calls.has_errors;
    calls
}

/// The module that all files of a directory make; `None` if one of them has an error.
fn whole_module(start: &Path, place: &SurveyedDirectory) -> Option<Module> {
    let selected = ConfigFiles::select(place.configuration.iter().cloned(), Dialect::OpenTofu);
    let read = |names: &[String]| -> Option<Vec<SourceFile>> {
        let file = |name: &String| {
            let bytes = files::read(&start.join(&place.path).join(name)).ok()??;
            Some(SourceFile { path: PathBuf::from(name), text: String::from_utf8_lossy(&bytes).into_owned() })
        };
        names.iter().map(file).collect()
    };
    let primary = if place.kind == Some(RootKind::Stack) { &selected.of_kind } else { &selected.primary };
    let (primary, overrides) = (read(primary)?, read(&selected.overrides)?);
    Module::decode_as(place.kind.unwrap_or_default(), &primary, &overrides, Dialect::OpenTofu).ok()
}

fn calls_of_unit(place: &SurveyedDirectory, unit: UnitReferences) -> Calls {
    Calls {
        local_modules: unit.module.iter().map(|module| join(&place.path, module)).collect(),
        has_unread_sources: unit.has_unknown_module,
        included: unit.includes.iter().map(|path| join(&place.path, &path.to_string_lossy())).collect(),
        unit: (unit.refers || !place.configuration.is_empty()).then_some(unit),
        ..Calls::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(top: &Path, path: &str, text: &str) {
        std::fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
        std::fs::write(top.join(path), text).unwrap();
    }

    fn git(top: &Path, args: &[&str]) {
        let status = std::process::Command::new("git").arg("-C").arg(top).args(args).status().unwrap();
        assert!(status.success());
    }

    fn found(start: &Path) -> Vec<(String, bool, usize)> {
        let places = survey(start, None).unwrap().places.into_iter();
        places.map(|it| (crate::path::shown(&it.path), it.has_lock(), it.configuration.len())).collect()
    }

    #[test]
    fn folders_of_the_tools_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for place in ["a", "b/c", ".hidden", "a/.terraform/modules/x", "a/.terragrunt-cache/y"] {
            write(top, &format!("{place}/.terraform.lock.hcl"), "");
        }
        write(top, "m/main.tf", "");
        write(top, "m/.#main.tf", "");
        write(top, "m/notes.txt", "");
        write(top, "t/x.tofu", "");
        let expected = [(".hidden", true, 0), ("a", true, 0), ("b/c", true, 0), ("m", false, 1), ("t", false, 1)];
        assert_eq!(found(top), expected.map(|(path, lock, files)| (path.to_owned(), lock, files)));
        assert_eq!(found(&top.join("b/c")), [(String::new(), true, 0)]);
        assert!(survey(&top.join("nowhere"), None).is_err());
    }

    #[test]
    fn what_is_tracked_is_never_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for place in ["kept", "old", "new", "sub dir/é"] {
            write(top, &format!("{place}/.terraform.lock.hcl"), "");
            write(top, &format!("{place}/main.tf"), "");
        }
        git(top, &["init", "--quiet"]);
        git(top, &["add", "--force", "old", "sub dir"]);
        write(top, ".gitignore", "old/\nnew/\nsub dir/\n");
        let paths = |start: &Path| found(start).into_iter().map(|(path, ..)| path).collect::<Vec<_>>();
        assert_eq!(paths(top), ["kept", "old", "sub dir/é"]);
        assert_eq!(paths(&top.join("sub dir")), ["é"]);
        // Beside what Terragrunt generated and git tracks, a new lock file is found; elsewhere there it is not.
        write(top, "live/.terragrunt-stack/a/terragrunt.hcl", "");
        write(top, "live/.terragrunt-stack/a/.terragrunt-stack/b/.terraform.lock.hcl", "");
        write(top, "other/.terragrunt-stack/a/.terraform.lock.hcl", "");
        git(top, &["add", "live/.terragrunt-stack/a/terragrunt.hcl"]);
        write(top, "live/.terragrunt-stack/a/.terraform.lock.hcl", "");
        let generated = |(path, has_lock, _): &(String, bool, usize)| path.contains("terragrunt-stack") && *has_lock;
        let stacks: Vec<_> = found(top).into_iter().filter(generated).map(|(path, ..)| path).collect();
        assert_eq!(stacks, ["live/.terragrunt-stack/a"]);
        write(top, ".gitignore", "old/\nnew/\nsub dir/\n.terragrunt-stack/\n");
        assert!(!found(top).iter().any(generated));
        std::fs::remove_dir_all(top.join("live")).unwrap();
        std::fs::remove_dir_all(top.join("other")).unwrap();
        // What is tracked but gone is nowhere.
        std::fs::remove_dir_all(top.join("old")).unwrap();
        assert_eq!(paths(top), ["kept", "sub dir/é"]);
    }
}

#[cfg(test)]
mod calls_tests {
    use super::*;

    #[test]
    fn local_modules_are_named_from_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            std::fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(path), text).unwrap();
        };
        write("env/prod/main.tf", "module \"a\" {\n  source = \"../../modules/a\"\n}\n");
        write("env/prod/b.tf.json", r#"{"module": {"b": {"source": "./b"}}, "terraform": {"backend": {"s3": {}}}}"#);
        write("env/prod/other.tf", "module \"c\" {\n  source = \"acme/c/lab\"\n}\n");
        write("env/prod/paths.tofu", "module \"p\" {\n  source = \"${path.module}/p\"\n}\n");
        write("env/prod/wrong.tf", "module {");
        let place = SurveyedDirectory {
            path: "env/prod".into(),
            locks: Vec::new(),
            kind: Some(RootKind::Module),
            configuration: ["main.tf", "b.tf.json", "other.tf", "wrong.tf"].map(str::to_owned).to_vec(),
        };
        let found = calls(folder.path(), &place, &UnitOptions::default());
        assert_eq!(found.local_modules, [Path::new("modules/a"), Path::new("env/prod/b")]);
        assert!(found.has_backend);
        write("env/prod/computed.tofu", "module \"c\" {\n  source = var.unknown\n}\n");
        std::fs::create_dir(folder.path().join("env/prod/directory.tf")).unwrap();
        let of = |name: &str| {
            let place = SurveyedDirectory { configuration: vec![name.to_owned()], ..place.clone() };
            let found = calls(folder.path(), &place, &UnitOptions::default());
            (found.has_unread_sources, found.has_errors)
        };
        for (name, expected) in [
            ("main.tf", (false, false)),
            ("other.tf", (false, false)),
            ("removed.tf", (false, false)),
            ("wrong.tf", (true, true)),
            ("directory.tf", (true, true)),
            ("computed.tofu", (false, false)),
        ] {
            assert_eq!(of(name), expected, "{name}");
        }
    }
}
