//! The modules of a unit of Terragrunt: from its source on, with the files of the unit and generated ones over those of the module.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::{LocatedModule, ModuleNode, Texts, Walk};
use crate::config::{ConfigFiles, Inputs, Module, ModuleCall, ModuleScope, ModuleSource, RootKind, SourceFile, Text};
use crate::disk::files;
use crate::disk::roots::error::AutomaticFiles;
use crate::disk::roots::unit::{AssembledFiles, Assembly, is_test};
use crate::disk::roots::{self, Tree, TreeError, TreeOptions};
use crate::lockfile;
use crate::path::lexical;
use crate::path::links::is_absence;

/// Reads the modules of a unit.
pub(in crate::disk::roots) fn load(
    root: &Path,
    assembly: Assembly,
    options: &TreeOptions,
) -> Result<Tree, Vec<TreeError>> {
    let mut walk = Walk { assembly, ..Walk::new(root, options, (RootKind::Unit, AutomaticFiles::default())) };
    let located = walk.locate_source();
    if let Some(located) = &located {
        walk.read_source(located)?;
    }
    let shown = |path: &Path| located.as_ref().map_or_else(|| path.to_owned(), |located| located.shown_path(path));
    let places = std::mem::take(&mut walk.assembly.places).into_iter();
    let places: HashMap<_, _> = places.map(|(path, place)| (shown(&path), place)).collect();
    let mut unread = std::mem::take(&mut walk.assembly.unread);
    let unknown = walk.assembly.unknown_variables.take();
    let uses_variables = walk.surroundings.get().is_some();
    unread.extend(unknown.filter(|_| uses_variables));
    let has_module = walk.assembly.has_module;
    let lock_of_module = located.as_ref().map(|located| located.dir.join(lockfile::FILE_NAME));
    walk.tree.looked_for.extend(lock_of_module.clone().filter(|path| *path != Path::new(lockfile::FILE_NAME)));
    walk.tree.searched.append(&mut walk.assembly.searched);
    let of_module = lock_of_module.filter(|_| !files::is_there(&root.join(lockfile::FILE_NAME)));
    let mut tree = walk.finish().map_err(|errors| {
        let errors = errors.into_iter();
        let moved = errors.map(|error| error.moved(|place| places.get(&*place.file).cloned().unwrap_or(place)));
        moved.collect::<Vec<_>>()
    })?;
    if let Some(path) = of_module {
        let read = files::read(&root.join(&path)).map_err(|error| vec![roots::unreadable(path.clone(), &error)])?;
        tree.lock_of_module = read.map(|bytes| (path, bytes));
    }
    tree.unread_parts = unread;
    tree.needs_no_variables = has_module && !uses_variables && tree.missing.is_empty();
    tree.requirements.relocate(|origin| {
        if let Some(place) = places.get(&origin.file) {
            origin.file = place.file.to_path_buf();
            origin.position = place.position;
        }
    });
    Ok(tree)
}

/// Why a module with a computed source is not fetched.
pub fn unlisted_host(host: &str) -> String {
    format!("its source is computed, and the settings do not name {host} in module_hosts")
}

impl Walk<'_> {
    /// The module of the unit: the unit itself if it has no source, or if its source is not known; `None` with an error.
    fn locate_source(&mut self) -> Option<LocatedModule> {
        let own = LocatedModule { dir: PathBuf::new(), package: None };
        let Some(source) = self.assembly.source.take() else { return Some(own) };
        let call = source.call;
        if source.is_computed {
            self.tree.computed_host = self.host_of(&call);
        }
        if let Some(host) = self.tree.computed_host.clone().filter(|host| self.is_unlisted(host)) {
            self.assembly.lose_module(unlisted_host(&host), call.place);
            return Some(own);
        }
        let scope = Rc::new(ModuleScope::new(Rc::new(Module::default()), None, Inputs::None));
        let unit = ModuleNode { dir: PathBuf::new(), is_stack: false, key: String::new(), scope, package: None };
        let key = call.name.clone();
        match self.locate(&unit, &call, &key) {
            Ok(Some(located)) if located.package.is_some() || self.root.join(&located.dir).is_dir() => {
                self.assembly.module.clone_from(&located.dir);
                self.assembly.package = source.package;
                self.assembly.note_manifest(self.root);
                if let Some(call) = self.tree.local_calls.last() {
                    self.assembly.note_link(self.root, &call.way);
                }
                Some(located)
            }
            Ok(Some(located)) => {
                let directory = located.dir.to_string_lossy().replace('\\', "/");
                self.tree.looked_for.push(located.dir);
                let reason = format!("its module is in {directory}, which the repository does not have");
                self.assembly.lose_module(reason, call.place);
                Some(own)
            }
            Ok(None) => {
                self.assembly.has_module = false;
                Some(own)
            }
            Err(problem) => {
                self.fail(&call, key, problem);
                None
            }
        }
    }

    fn host_of(&self, call: &ModuleCall) -> Option<String> {
        let Text::Known(text) = &call.source.as_ref()?.text else { return None };
        ModuleSource::parse(text, call.version.is_some(), self.options.dialect).ok()?.host()
    }

    /// True if modules with computed sources must not come from a host.
    fn is_unlisted(&self, host: &str) -> bool {
        self.options.units.hosts.as_ref().is_some_and(|hosts| !hosts.iter().any(|listed| listed.as_ascii() == host))
    }

    fn read_source(&mut self, located: &LocatedModule) -> Result<(), Vec<TreeError>> {
        self.root_dir = located.shown_path(&located.dir);
        let mut tests = Vec::new();
        if let Some(assembled) = self.assembly.files_in(self.root, &located.dir) {
            let AssembledFiles { files, primary, overrides, variables, tests: own } = assembled?;
            if primary.is_empty() && overrides.is_empty() && self.assembly.has_module {
                self.assembly.note_emptiness();
            }
            tests = own.into_iter().chain(self.tests_below(&located.dir)?).map(Ok).collect();
            self.variables = AutomaticFiles::of(variables.into_iter().map(Ok));
            let errors = self.variables.errors(self.options);
            if !errors.is_empty() {
                return Err(errors);
            }
            self.root_texts = Some(Texts { files, primary, overrides });
        }
        self.whole_tree(located, tests);
        Ok(())
    }

    /// The files in the directory of tests of the module: its own, those of the unit over them, and generated ones.
    fn tests_below(&mut self, module: &Path) -> Result<Vec<SourceFile>, Vec<TreeError>> {
        let directory = lexical(Path::new(""), self.options.test_directory());
        if directory == Path::new("") {
            return Ok(Vec::new());
        }
        let dir = module.join(directory);
        self.tree.searched.insert(dir.clone());
        if let Some(assembled) = self.assembly.files_in(self.root, &dir) {
            return Ok(assembled?.tests);
        }
        let names = match roots::file_names(&self.root.join(&dir), |name| is_test(&name)) {
            Ok(names) => names,
            Err(error) if is_absence(error.kind()) => Vec::new(),
            Err(error) => return Err(vec![roots::unreadable(dir, &error)]),
        };
        let names = ConfigFiles::select_tests(names, self.options.dialect);
        roots::texts(self.root, &dir, &names).map_err(|error| vec![*error])
    }

    /// The files of a directory of the assembled modules; `None` if it is not one of them.
    pub(super) fn assembled(&mut self, dir: &Path) -> Option<Result<Texts, Vec<TreeError>>> {
        if self.tree.kind != RootKind::Unit {
            return None;
        }
        let assembled = self.assembly.files_in(self.root, dir)?;
        Some(assembled.map(|AssembledFiles { files, primary, overrides, .. }| Texts { files, primary, overrides }))
    }
}
