//! The walk through a tree of modules.

mod locate;
pub(super) mod stack;
pub(super) mod unit;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::error::{AutomaticFiles, ModuleProblem, TreeError};
use super::{FetchedModule, Tree, TreeOptions, TreeWarning, UnlistedPaths, UnreadPart, UnreadReason};
use crate::config::{
    ConfigFiles, Inputs, Manifest, Module, ModuleCall, ModuleScope, Needs, ProviderProblem, RootKind, SourceFile,
    Surroundings, TestFile,
};
use crate::dialect::Dialect;
use crate::disk::roots;
use crate::disk::roots::unit::Assembly;
use crate::path::links::is_absence;
use crate::path::shown;
use crate::requirements::module_name;
use crate::value::Unevaluated;

/// Deeper trees are taken for endless ones.
const DEPTH: usize = 128;

/// So many errors of one root module are enough: a file of a few megabytes could have hundreds of thousands.
const MOST_ERRORS: usize = 1_000;

/// Beyond so many missing modules no path is listed: the tree is not complete anyway.
const MOST_MISSING: usize = 100;

/// How many directories, each with values of its variables, are visited once paths are not listed any more.
const MOST_SIGHTS: usize = 20_000;

/// How many bytes of a path count as much as one module call, of which each requirement keeps the path.
const KEY: usize = 256;

pub(super) fn load(root: &Path, files: ConfigFiles, options: &TreeOptions) -> Result<Arc<Tree>, Vec<TreeError>> {
    let (first, tests) = Texts::of_root(root, files, options).map_err(|error| vec![*error])?;
    let variables = AutomaticFiles::read(root, &first.files.variables);
    let errors = variables.errors(options);
    if !errors.is_empty() {
        return Err(errors);
    }
    let lacks_tests = options.test_directory.as_ref().filter(|directory| !root.join(directory).is_dir());
    // What test files need is elsewhere.
    let is_alone = tests.is_empty() && lacks_tests.is_none();
    let tests: Vec<TestText> = tests.into_iter().map(|path| roots::text(root, path)).collect();
    let likeness = is_alone.then(|| first.likeness());
    let kind = first.files.kind.unwrap_or_default();
    let mut walk = Walk { root_texts: Some(first), ..Walk::new(root, options, (kind, variables)) };
    walk.tree.warnings.extend(lacks_tests.cloned().map(TreeWarning::NoTestDirectory));
    match likeness {
        Some(likeness) => options.trees[options.dialect as usize].get_or_make(&likeness, || walk.tree_of_root(tests)),
        None => walk.tree_of_root(tests).map(|(tree, _)| tree),
    }
}

/// A test file, or why it cannot be read.
type TestText = Result<SourceFile, Box<TreeError>>;

struct Texts {
    files: ConfigFiles,
    primary: Vec<SourceFile>,
    overrides: Vec<SourceFile>,
}

impl Texts {
    fn of_root(root: &Path, files: ConfigFiles, options: &TreeOptions) -> Result<(Self, Vec<PathBuf>), Box<TreeError>> {
        let unreadable = |error: io::Error| roots::unreadable(root.to_owned(), &error);
        let is_stack = files.kind == Some(RootKind::Stack);
        let tests = if is_stack { Ok(Vec::new()) } else { roots::test_files(root, &files.tests, options) };
        let tests = tests.map_err(unreadable)?;
        if files.kind.is_none() && (tests.is_empty() || options.dialect == Dialect::OpenTofu) {
            let is_ignored = roots::is_only_for_tofu(root);
            let error = if is_ignored { TreeError::OnlyForTofu } else { TreeError::NoConfiguration };
            return Err(Box::new(error(root.to_owned())));
        }
        Ok((Self::of(root, Path::new(""), files)?, tests))
    }

    fn of(root: &Path, dir: &Path, files: ConfigFiles) -> Result<Self, Box<TreeError>> {
        let primary = roots::texts(root, dir, &files.primary)?;
        let overrides = roots::texts(root, dir, &files.overrides)?;
        Ok(Self { files, primary, overrides })
    }

    /// Equal for directories with equal configuration.
    fn likeness(&self) -> Vec<u8> {
        let mut likeness = vec![u8::from(self.files.differs_by_tool)];
        for SourceFile { path, text } in self.primary.iter().chain(&self.overrides) {
            let name = path.to_string_lossy();
            for part in [&*name, text] {
                likeness.extend(part.len().to_le_bytes());
                likeness.extend(part.as_bytes());
            }
        }
        likeness
    }
}

struct Walk<'o> {
    root: &'o Path,
    options: &'o TreeOptions,
    /// How the directories of a unit are assembled.
    assembly: Assembly,
    /// The directory of the root module, as shown: for a unit with a source, that of its module.
    root_dir: PathBuf,
    manifest: OnceCell<Manifest>,
    variables: AutomaticFiles,
    /// What sources may depend on, read when the first one does.
    surroundings: OnceCell<Surroundings>,
    /// By directory, of fetched ones as shown; empty for those with errors.
    modules: HashMap<Place, Option<Rc<Module>>>,
    needs: Needs,
    errors: Vec<TreeError>,
    /// What the walk has found so far.
    tree: Tree,
    /// What the root module says, until it is taken in.
    root_texts: Option<Texts>,
    /// Module calls and their requirements, each counted by path.
    listed: usize,
    /// The number of paths of module calls below the visited ones.
    sizes: HashMap<Sight, u64>,
    /// Which of them are not listed.
    unlisted: UnlistedPaths,
}

/// All that decides what a directory contributes where nothing is installed below: the directory, and the values of its
/// variables.
type Sight = (Place, Vec<Option<String>>);

/// A directory, and whether it is read as a stack: one may be a component and a nested stack.
type Place = (PathBuf, bool);

struct ModuleNode {
    dir: PathBuf,
    is_stack: bool,
    /// The path of call names joined by dots.
    key: String,
    scope: Rc<ModuleScope>,
    /// The package that it is in, if that was fetched.
    package: Option<Rc<CallPackage>>,
}

/// Where the variables of a called module are set. The runs of tests are no calls of the module that they are followed from.
fn inputs(from: &ModuleNode, call: &ModuleCall) -> Inputs {
    match from.scope.module.calls.get(&call.name) {
        Some(own) if std::ptr::eq(own, call) => Inputs::Call(Rc::clone(&from.scope), call.name.clone()),
        _ => Inputs::None,
    }
}

/// Each part that is not read, however many paths lead to it.
fn once_each(mut parts: Vec<UnreadPart>) -> Vec<UnreadPart> {
    let mut known = HashSet::new();
    parts.retain(|part| known.insert((Arc::clone(&part.place.file), part.place.position, part.reason.clone())));
    parts
}

struct CallPackage {
    fetched: FetchedModule,
    call: String,
}

struct LocatedModule {
    dir: PathBuf,
    package: Option<Rc<CallPackage>>,
}

impl LocatedModule {
    /// A path in its package, as reports show it.
    fn shown_path(&self, path: &Path) -> PathBuf {
        self.package.as_ref().map_or_else(|| path.to_owned(), |package| package.fetched.shown_path(path))
    }
}

impl<'o> Walk<'o> {
    fn new(root: &'o Path, options: &'o TreeOptions, (kind, variables): (RootKind, AutomaticFiles)) -> Self {
        Self {
            root,
            options,
            assembly: Assembly::default(),
            root_dir: PathBuf::new(),
            manifest: OnceCell::new(),
            variables,
            surroundings: OnceCell::new(),
            modules: HashMap::new(),
            needs: Needs::default(),
            errors: Vec::new(),
            tree: Tree { kind, ..Tree::default() },
            root_texts: None,
            listed: 0,
            sizes: HashMap::new(),
            unlisted: UnlistedPaths::default(),
        }
    }

    /// True if nothing but the directory of the root module, and no variable, had a say.
    fn has_seen_one_directory_only(&self) -> bool {
        let nowhere_else =
            self.modules.len() == 1 && self.tree.missing.is_empty() && self.tree.remote_modules.is_empty();
        nowhere_else && self.manifest.get().is_none() && self.surroundings.get().is_none()
    }

    /// The tree of a root module, and whether any other one with equal configuration has the same.
    fn tree_of_root(mut self, tests: Vec<TestText>) -> Result<(Arc<Tree>, bool), Vec<TreeError>> {
        self.whole_tree(&LocatedModule { dir: PathBuf::new(), package: None }, tests);
        let is_shared = self.has_seen_one_directory_only();
        Ok((Arc::new(self.finish()?), is_shared))
    }

    fn whole_tree(&mut self, place: &LocatedModule, tests: Vec<TestText>) {
        let Some(module) = self.module(place, None) else { return };
        let scope = Rc::new(ModuleScope::new(module, Some(".".to_owned()), Inputs::Root));
        let (dir, package) = (place.dir.clone(), place.package.clone());
        let root = ModuleNode { dir, is_stack: self.is_stack(None), key: String::new(), scope, package };
        self.visit(&root, &mut Vec::new());
        self.needs.in_tests = true;
        self.tests(&root, tests);
        if self.unlisted.count > 0 {
            self.tree.warnings.push(TreeWarning::ManyPaths(std::mem::take(&mut self.unlisted)));
        }
    }

    fn finish(mut self) -> Result<Tree, Vec<TreeError>> {
        self.errors.extend(std::mem::take(&mut self.needs.errors).into_iter().map(TreeError::Config));
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let Self { mut tree, needs, .. } = self;
        let constrained = needs.constrained_built_in.into_iter();
        tree.warnings.extend(constrained.map(|(place, address)| TreeWarning::ConstrainedBuiltIn { place, address }));
        if self.surroundings.get().is_some() {
            tree.files_read.extend(self.variables.names);
        }
        Ok(Tree {
            complete: tree.missing.is_empty() && tree.unread_parts.is_empty(),
            unread_parts: once_each(tree.unread_parts),
            requirements: needs.requirements,
            built_in: needs.built_in,
            ..tree
        })
    }

    /// Adds what a module and those below it need. `above` are the directories from the root module down to this one.
    /// Gives the number of paths from here on, its own among them.
    fn visit(&mut self, node: &ModuleNode, above: &mut Vec<Place>) -> u64 {
        let sight = (!self.lists_paths()).then(|| self.sight(node));
        if let Some(sight) = &sight
            && let Some(size) = self.sizes.get(sight).copied().filter(|_| !self.manifest().has_below(&node.key))
        {
            self.unlisted.add(&node.key, size);
            return size;
        }
        let Some(module) = self.with_providers(node) else { return 1 };
        let requirements = module.required.len() + module.providers.len() + module.resources.len();
        self.listed += (1 + requirements) * (1 + node.key.len() / KEY);
        module.contribute(&node.key, self.options.dialect, &mut self.needs);
        above.push((node.dir.clone(), node.is_stack));
        let mut size: u64 = 1;
        for call in module.calls.values() {
            if self.errors.len() >= MOST_ERRORS {
                break;
            }
            if let Some(unread) = stack::unread(call) {
                self.tree.unread_parts.push(unread);
                continue;
            }
            let key = if node.key.is_empty() { call.name.clone() } else { format!("{}.{}", node.key, call.name) };
            let below = if stack::is_component(call) {
                self.component(node, call, key, above)
            } else {
                self.follow(node, call, key, above)
            };
            size = size.saturating_add(below);
        }
        above.pop();
        if !self.lists_paths() {
            let sight = sight.unwrap_or_else(|| self.sight(node));
            self.sizes.insert(sight, size);
        }
        size
    }

    /// True as long as a directory is visited by each path to it; later it is visited once more at most, so two calls in each of
    /// 24 modules do not make 16 million paths. What fails does so once: with an error nothing is listed.
    fn lists_paths(&self) -> bool {
        self.errors.is_empty() && self.tree.missing.len() < MOST_MISSING && self.listed <= self.options.listed
    }

    /// The module with the values of its entries of `required_providers`; `None` if the tool refuses one or a variable is not
    /// set, which is reported.
    fn with_providers(&mut self, node: &ModuleNode) -> Option<Rc<Module>> {
        let module = &node.scope.module;
        if module.required.values().all(|required| required.dynamic.is_none()) {
            return Some(Rc::clone(module));
        }
        let (module, problems) = node.scope.with_providers(self.surroundings());
        let errors = self.errors.len();
        for problem in problems {
            match problem {
                ProviderProblem::Invalid(error) => self.errors.push(TreeError::Config(*error)),
                ProviderProblem::Unevaluated { name, argument, place, reason: reason @ Unevaluated::Limit { .. } } => {
                    self.tree.unread_parts.push(UnreadReason::Provider { name, argument, reason }.at(&place));
                }
                ProviderProblem::Unevaluated { name, argument, place, reason } => {
                    let dialect = self.options.dialect;
                    self.errors.push(TreeError::Provider { name, argument, place, dialect, reason });
                }
            }
        }
        (self.errors.len() == errors).then(|| Rc::new(module))
    }

    fn sight(&self, node: &ModuleNode) -> Sight {
        let value = |name: &String| node.scope.variable(name, self.surroundings()).ok().flatten();
        let place = (node.dir.clone(), node.is_stack);
        (place, node.scope.module.names.variables.keys().map(value).collect())
    }

    /// True if the module of a call is a stack; without a call, if the root module is.
    fn is_stack(&self, call: Option<&ModuleCall>) -> bool {
        call.map_or(self.tree.kind == RootKind::Stack, stack::is_stack)
    }

    fn surroundings(&self) -> &Surroundings {
        self.surroundings.get_or_init(|| self.variables.surroundings(self.root, self.options))
    }

    /// Finds the module of a call, and goes there. Gives the number of paths from there on.
    fn follow(&mut self, from: &ModuleNode, call: &ModuleCall, key: String, above: &mut Vec<Place>) -> u64 {
        if self.sizes.len() >= MOST_SIGHTS {
            self.tree.unread_parts.push(UnreadReason::TooManyModules { name: module_name(&call.name) }.at(&call.place));
            return 1;
        }
        let is_stack = stack::is_stack(call);
        let found = self.locate(from, call, &key).and_then(|found| {
            let is_above = |found: &LocatedModule| above.contains(&(found.dir.clone(), is_stack));
            if found.as_ref().is_some_and(is_above) || above.len() >= DEPTH || stack::is_too_deep(call, above.len()) {
                return Err(ModuleProblem::Cycle);
            }
            Ok(found)
        });
        match found {
            Ok(Some(found)) => {
                if let Some(module) = self.module(&found, Some((call, &key))) {
                    let LocatedModule { dir, package } = found;
                    let directory = package.is_none().then(|| dir.to_string_lossy().replace('\\', "/"));
                    let scope = Rc::new(ModuleScope::new(module, directory, inputs(from, call)));
                    return self.visit(&ModuleNode { dir, is_stack, key, scope, package }, above);
                }
            }
            Ok(None) => {}
            Err(problem) => self.fail(call, key, problem),
        }
        1
    }

    fn manifest(&mut self) -> &Manifest {
        if self.manifest.get().is_none() {
            let manifest = roots::manifest(self.root, self.options.data_dir.as_deref()).unwrap_or_else(|error| {
                self.errors.push(*error);
                Manifest::default()
            });
            let _ = self.manifest.set(manifest);
        }
        self.manifest.get_or_init(Manifest::default)
    }

    /// The module in a directory, read once; `None` if it has errors, which are recorded.
    fn module(&mut self, place: &LocatedModule, call: Option<(&ModuleCall, &str)>) -> Option<Rc<Module>> {
        let shown = (place.shown_path(&place.dir), self.is_stack(call.map(|(call, _)| call)));
        if let Some(known) = self.modules.get(&shown) {
            return known.clone();
        }
        let module = match self.read_module(place, call) {
            Ok(module) => Some(Rc::new(module)),
            Err(errors) => {
                self.errors.extend(errors);
                None
            }
        };
        self.modules.insert(shown, module.clone());
        module
    }

    fn read_module(
        &mut self,
        place: &LocatedModule,
        call: Option<(&ModuleCall, &str)>,
    ) -> Result<Module, Vec<TreeError>> {
        let dir = &place.dir;
        let is_stack = self.is_stack(call.map(|(call, _)| call));
        let texts = match self.root_texts.take().filter(|_| call.is_none()).map(Ok).or_else(|| self.assembled(dir)) {
            Some(texts) => texts?,
            None => match roots::list(&self.root.join(dir), self.options.dialect) {
                Ok(files) => {
                    let files = if is_stack { stack::of_stack(files) } else { files };
                    Texts::of(self.root, dir, files).map_err(|error| vec![*error])?
                }
                Err(error) => return Err(vec![self.unreadable(dir, &error, call)]),
            },
        };
        let Texts { files, mut primary, mut overrides } = texts;
        self.tree.differs_by_tool |= files.differs_by_tool;
        if let (true, Some((call, key))) = (files.is_empty(), call) {
            let submodule = roots::submodule_of(self.root, dir);
            let only_for_tofu = roots::is_only_for_tofu(&self.root.join(dir));
            let (place, key) = (call.place.clone(), key.to_owned());
            self.tree.warnings.push(TreeWarning::EmptyModule { place, key, submodule, only_for_tofu });
        }
        for file in primary.iter_mut().chain(&mut overrides) {
            match &place.package {
                Some(_) if file.path.is_absolute() => file.path = place.shown_path(&file.path),
                _ => self.tree.files_read.push(file.path.clone()),
            }
        }
        stack::decode(is_stack, [&primary, &overrides], self.options)
    }

    fn unreadable(&self, dir: &Path, error: &io::Error, call: Option<(&ModuleCall, &str)>) -> TreeError {
        match (error.kind(), call) {
            (kind, Some((call, key))) if is_absence(kind) => {
                let directory = shown(dir);
                let submodule = roots::submodule_of(self.root, dir);
                self.problem(call, key.to_owned(), ModuleProblem::NoDirectory { directory, submodule })
            }
            _ => roots::unreadable(dir.to_owned(), error),
        }
    }

    fn fail(&mut self, call: &ModuleCall, key: String, problem: ModuleProblem) {
        let error = self.problem(call, key, problem);
        self.errors.push(error);
    }

    fn problem(&self, call: &ModuleCall, key: String, problem: ModuleProblem) -> TreeError {
        let place = match (&problem, &call.source) {
            (ModuleProblem::Source(_) | ModuleProblem::NotStatic(_), Some(source)) => source.place.clone(),
            _ => call.place.clone(),
        };
        TreeError::Module { key, place, dialect: self.options.dialect, problem }
    }

    /// The modules that the runs of test files are made of and, for OpenTofu, the providers that test files configure.
    fn tests(&mut self, root: &ModuleNode, files: Vec<TestText>) {
        for file in files {
            let file = match file {
                Ok(file) => file,
                Err(error) => {
                    self.errors.push(*error);
                    continue;
                }
            };
            match TestFile::decode(&file.path, &file.text, self.options.dialect) {
                Ok(test) => self.test(root, &test),
                Err(errors) => self.errors.extend(errors.into_iter().map(TreeError::Config)),
            }
            self.tree.files_read.push(file.path);
        }
    }

    fn test(&mut self, root: &ModuleNode, test: &TestFile) {
        if self.options.dialect == Dialect::OpenTofu {
            for config in &test.providers {
                root.scope.module.contribute_config(config, &test.key, self.options.dialect, &mut self.needs);
            }
        }
        for call in &test.calls {
            self.follow(root, call, format!("{}.{}", test.key, call.name), &mut Vec::new());
        }
    }
}
