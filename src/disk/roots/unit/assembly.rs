//! The files of the directories that Terragrunt assembles: of the module, of the unit, and generated ones. A file replaces another
//! one of the same name.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

use super::Relocation;
use super::source::SourceCall;
use crate::config::{ConfigFiles, Location, SourceFile, UNIT_FILES};
use crate::dialect::Dialect;
use crate::disk::roots::{self, TreeError, UnreadPart};
use crate::finding::Position;
use crate::path::links::{self, is_absence};
use crate::path::shown;
use crate::terragrunt::{Action, CopyPattern, Existing, GeneratedFile, SIGNATURE, Unit, is_manifest, may_begin_with};

/// How a unit is assembled.
#[derive(Debug, Default)]
pub(in crate::disk::roots) struct Assembly {
    /// The source, unless the unit is its own module.
    pub(in crate::disk::roots) source: Option<SourceCall>,
    /// The directory of the module, relative to the unit or absolute; empty if that is the unit.
    pub(in crate::disk::roots) module: PathBuf,
    /// The directory that calls of local modules must not leave, if the module is in the working tree.
    pub(in crate::disk::roots) package: Option<PathBuf>,
    /// False if nothing is known of the files of the module.
    pub(in crate::disk::roots) has_module: bool,
    generated: Vec<(GeneratedFile, Location)>,
    /// Where each generated file that is used comes from.
    pub(in crate::disk::roots) places: HashMap<PathBuf, Location>,
    pub(in crate::disk::roots) unread: Vec<UnreadPart>,
    /// Why variables of the module have values that are not known, if so: this counts if a source depends on one.
    pub(in crate::disk::roots) unknown_variables: Option<UnreadPart>,
    dialect: Option<Dialect>,
    left_out: Vec<CopyPattern>,
    hidden: Vec<CopyPattern>,
    /// The directories where files were looked for, or would have been if they existed.
    pub(in crate::disk::roots) searched: BTreeSet<PathBuf>,
    /// Directories that links lead to, and where in the unit files over their copies would be.
    links: Vec<(PathBuf, PathBuf)>,
    /// The source, or the file of the unit.
    place: Option<Location>,
}

/// The texts of an assembled directory.
pub(in crate::disk::roots) struct AssembledFiles {
    pub(in crate::disk::roots) files: ConfigFiles,
    pub(in crate::disk::roots) primary: Vec<SourceFile>,
    pub(in crate::disk::roots) overrides: Vec<SourceFile>,
    /// The files of variables.
    pub(in crate::disk::roots) variables: Vec<SourceFile>,
    pub(in crate::disk::roots) tests: Vec<SourceFile>,
}

/// Where a file of an assembled directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Module,
    Unit,
    Generated(usize),
}

impl Assembly {
    pub(super) fn new(unit: Unit, unread: Vec<UnreadPart>, relocate: &Relocation, dialect: Dialect) -> Self {
        let unknown_variables = unit.variables.unknown.as_ref().map(|part| relocate.part(part));
        let is_known = unread.is_empty() || unit.source.is_some() || !unit.generated.is_empty();
        let generated = unit.generated.into_iter().map(|file| {
            let place = relocate.location(&file.place);
            (file, place)
        });
        let generated = generated.collect();
        let mut assembly = Self {
            generated,
            unread,
            unknown_variables,
            has_module: is_known,
            dialect: Some(dialect),
            left_out: relocated(unit.left_out, relocate),
            hidden: relocated(unit.hidden, relocate),
            ..Self::default()
        };
        let Some(source) = unit.source else { return assembly };
        let place = relocate.location(&source.place);
        assembly.has_module = source.address.is_some();
        assembly.place = Some(place.clone());
        let parsed = source
            .address
            .map(|address| SourceCall::parse(&address, source.version.as_deref(), &relocate.place, &place));
        let refused: Option<String> = parsed.as_ref().and_then(|parsed| {
            let package = parsed.as_ref().ok()?.package.as_ref()?;
            Some(format!("its module is in {}, {}", shown(package), relocate.refusal(package)?))
        });
        match parsed {
            Some(Ok(call)) if refused.is_none() => {
                assembly.source = Some(SourceCall { is_computed: source.is_computed, ..call });
            }
            Some(Ok(_)) => {
                assembly.has_module = false;
                assembly.unread.extend(refused.map(|reason| UnreadPart { reason, place }));
            }
            Some(Err(reason)) => assembly.lose_module(reason, place),
            None => {}
        }
        assembly
    }

    /// Notes that there is no configuration: Terragrunt refuses to run then. Where parts are not read, they may have it.
    pub(in crate::disk::roots) fn note_emptiness(&mut self) {
        if self.unread.is_empty() {
            self.note("there is no configuration in the directory that Terragrunt assembles".to_owned());
        }
    }

    /// Notes a directory of the module that a link leads to: its copy is a directory of its own, in which paths lead elsewhere, and
    /// over which the unit may have files.
    pub(in crate::disk::roots) fn note_link(&mut self, root: &Path, way: &Path) {
        let below = |(target, copy): &(PathBuf, PathBuf)| Some(copy.join(way.strip_prefix(target).ok()?));
        let copies: Vec<PathBuf> = self.links.iter().filter_map(below).collect();
        self.searched.extend(copies);
        let Some(package) = &self.package else { return };
        let Ok(within) = way.strip_prefix(package) else { return };
        let target = links::without_links(root, way);
        if target == links::without_links(root, package).join(within) {
            return;
        }
        self.note(format!("a link is on the way to {}, and Terragrunt copies what it leads to", shown(within)));
        if let Ok(copy) = way.strip_prefix(&self.module) {
            self.searched.insert(copy.to_owned());
            self.links.push((target, copy.to_owned()));
        }
    }

    /// Notes a list of files in the directory of the module, which Terragrunt removes from its copy.
    pub(in crate::disk::roots) fn note_manifest(&mut self, root: &Path) {
        // What cannot be listed is an error when it is assembled.
        let names = roots::file_names(&root.join(&self.module), |name| is_manifest(&name)).unwrap_or_default();
        if let Some(name) = names.iter().find(|name| is_manifest(name)) {
            self.note(format!("the module has {name}, a list of files that Terragrunt removes"));
        }
    }

    /// Notes what is not known of the module, once.
    fn note(&mut self, reason: String) {
        let of_unit = Location { file: Path::new(UNIT_FILES[0]).into(), position: Position::default() };
        let part = UnreadPart { reason, place: self.place.clone().unwrap_or(of_unit) };
        if !self.unread.contains(&part) {
            self.unread.push(part);
        }
    }

    /// Notes that nothing is known of the files of the module.
    pub(in crate::disk::roots) fn lose_module(&mut self, reason: String, place: Location) {
        self.has_module = false;
        self.unread.push(UnreadPart { reason, place });
    }

    /// Notes that nothing is known of the files in a directory of the unit.
    fn lose_directory(&mut self, directory: &Path, error: &std::io::Error) {
        let reason = format!("the directory {} of the unit is not read: {error}", shown(directory));
        let place = Location { file: Path::new(UNIT_FILES[0]).into(), position: Position::default() };
        self.unread.push(UnreadPart { reason, place });
    }

    /// The files of a directory of the assembled modules; `None` if it is not one of them.
    pub(in crate::disk::roots) fn files_in(
        &mut self,
        root: &Path,
        dir: &Path,
    ) -> Option<Result<AssembledFiles, Vec<TreeError>>> {
        let within = dir.strip_prefix(&self.module).ok().map(Path::to_owned);
        self.note_copies(root, dir, within.as_deref());
        let within = within?;
        // A directory is there too if something is generated in one below it.
        let is_generated = self.generated.iter().any(|(file, _)| directory_of(&file.path).starts_with(&within));
        // Whatever it is there: it may be a link.
        let is_of_unit = !self.module.as_os_str().is_empty() && root.join(&within).symlink_metadata().is_ok();
        let is_top = within.as_os_str().is_empty();
        self.searched.extend([dir.to_owned(), within.clone()]);
        if is_hidden(&within) || !(is_top || is_generated || is_of_unit) {
            return None;
        }
        Some(self.assemble(root, dir, &within))
    }

    /// Notes files of a directory that may not be copied, or may, only because patterns say so. `within` is the way to it from the
    /// module, if it is below that.
    fn note_copies(&mut self, root: &Path, dir: &Path, within: Option<&Path>) {
        // Files of a module that git or a registry gives are not copied one by one.
        let of_module = self.package.as_ref().and_then(|package| Some((dir, dir.strip_prefix(package).ok()?)));
        let is_copied = !self.module.as_os_str().is_empty() || self.package.is_none();
        let of_unit = within.filter(|_| is_copied).map(|within| (within, within));
        let has_patterns = !self.left_out.is_empty() || !self.hidden.is_empty();
        for (dir, within) in of_module.into_iter().chain(of_unit).filter(|_| has_patterns) {
            // What cannot be listed is unread when it is assembled.
            let names = roots::file_names(&root.join(dir), |name| counts(&name)).unwrap_or_default();
            for path in names.iter().filter(|name| counts(name)).map(|name| shown(&within.join(name))) {
                let is_hidden = path.starts_with('.') || path.contains("/.");
                let (patterns, verb) = if is_hidden {
                    (&self.hidden, "include_in_copy may copy")
                } else {
                    (&self.left_out, "exclude_from_copy may leave out")
                };
                let found = patterns.iter().find(|it| may_begin_with(&it.pattern, &path));
                let part = found.map(|it| UnreadPart { reason: format!("{verb} {path}"), place: it.place.clone() });
                self.unread.extend(part.filter(|part| !self.unread.contains(part)));
            }
        }
        if let Some((_, hidden)) = of_module.filter(|(_, way)| is_hidden(way)) {
            self.note(format!("{} is hidden: Terragrunt copies what include_in_copy names", shown(hidden)));
        }
    }

    fn assemble(&mut self, root: &Path, dir: &Path, within: &Path) -> Result<AssembledFiles, Vec<TreeError>> {
        let unreadable = |dir: &Path, error: &std::io::Error| vec![roots::unreadable(dir.to_owned(), error)];
        let mut layers = BTreeMap::new();
        if self.has_module {
            match roots::file_names(&root.join(dir), |name| counts(&name)) {
                Ok(names) => {
                    let copied = self.copied(dir, within);
                    let names = names.into_iter().filter(|name| !self.may_be_left_out(copied.as_deref(), name));
                    layers.extend(names.map(|name| (name, Layer::Module)));
                }
                Err(error) if is_absence(error.kind()) && !within.as_os_str().is_empty() => {}
                Err(error) => return Err(unreadable(dir, &error)),
            }
        }
        let has_own_layer = !self.module.as_os_str().is_empty() || !self.has_module;
        if has_own_layer {
            match roots::file_names(&root.join(within), |name| counts(&name)) {
                Ok(names) => {
                    let names = names.into_iter().filter(|name| !name.starts_with('.'));
                    let names = names.filter(|name| !self.may_be_left_out(Some(within), name));
                    layers.extend(names.map(|name| (name, Layer::Unit)));
                }
                Err(error) if is_absence(error.kind()) => {}
                Err(error) => self.lose_directory(within, &error),
            }
        }
        layers.retain(|name, _| !UNIT_FILES.contains(&&**name));
        for at in 0..self.generated.len() {
            if directory_of(&self.generated[at].0.path) == within {
                self.generate(root, [dir, within], at, &mut layers);
            }
        }
        let files = ConfigFiles::select(layers.keys().cloned(), self.dialect.unwrap_or(Dialect::Terraform));
        let read = |names: &[String]| {
            let text = |name: &String| self.text(root, [dir, within], name, layers.get(name).copied());
            names.iter().map(text).collect::<Result<Vec<_>, _>>().map_err(|error| vec![*error])
        };
        let (primary, overrides) = (read(&files.primary)?, read(&files.overrides)?);
        let variables = read(&files.variables)?;
        let dialect = self.dialect.unwrap_or(Dialect::Terraform);
        let is_top = within.as_os_str().is_empty();
        let tests =
            if is_top { files.tests.clone() } else { ConfigFiles::select_tests(layers.keys().cloned(), dialect) };
        let tests = read(&tests)?;
        for (name, layer) in &layers {
            if let Layer::Generated(at) = layer {
                self.places.insert(dir.join(name), self.generated[*at].1.clone());
            }
        }
        Ok(AssembledFiles { files, primary, overrides, variables, tests })
    }

    /// Where Terragrunt copies a directory of the module from, as patterns see it; `None` for what it does not copy file by file.
    fn copied(&self, dir: &Path, within: &Path) -> Option<PathBuf> {
        match &self.package {
            Some(package) => dir.strip_prefix(package).ok().map(Path::to_owned),
            None => self.module.as_os_str().is_empty().then(|| within.to_owned()),
        }
    }

    /// True for a file that may not be copied: then it says nothing certain of what is required.
    fn may_be_left_out(&self, place: Option<&Path>, name: &str) -> bool {
        let Some(place) = place else { return false };
        let path = shown(&place.join(name));
        self.left_out.iter().any(|it| may_begin_with(&it.pattern, &path))
    }

    /// The text of a file: of the module or the unit, by the directories of both, or generated.
    fn text(
        &self,
        root: &Path,
        [dir, within]: [&Path; 2],
        name: &str,
        layer: Option<Layer>,
    ) -> Result<SourceFile, Box<TreeError>> {
        match layer {
            Some(Layer::Generated(at)) => {
                let text = self.generated[at].0.contents.clone().unwrap_or_default();
                Ok(SourceFile { path: dir.join(name), text })
            }
            Some(Layer::Unit) => roots::text(root, within.join(name)),
            _ => roots::text(root, dir.join(name)),
        }
    }

    /// Does what a `generate` block does to the files of its directory.
    fn generate(&mut self, root: &Path, dirs: [&Path; 2], at: usize, layers: &mut BTreeMap<String, Layer>) {
        let (file, place) = &self.generated[at];
        let name = file.path.rsplit('/').next().unwrap_or_default().to_owned();
        let existing = layers.get(&name).copied();
        let is_signed = || {
            let [dir, within] = dirs;
            let path = root.join(if existing == Some(Layer::Unit) { within } else { dir }).join(&name);
            let is_link = !matches!(existing, Some(Layer::Generated(_))) && path.is_symlink();
            let text = self.text(root, dirs, &name, existing).map(|file| file.text).unwrap_or_default();
            !is_link && text.lines().next().is_some_and(|line| line.trim_end().ends_with(SIGNATURE))
        };
        let is_done = match (file.action, existing) {
            (Action::Write(Some(Existing::Kept)), Some(_)) | (Action::Remove(_), None) => return,
            // A file of the module may be there, and may stay.
            (Action::Write(policy), None) => self.has_module || policy == Some(Existing::Replaced),
            (Action::Write(Some(Existing::Replaced)) | Action::Remove(false), Some(_)) => true,
            (Action::Write(Some(Existing::ReplacedIfGenerated)) | Action::Remove(true), Some(_)) => is_signed(),
            (Action::Write(None), Some(_)) => false,
        };
        match file.action {
            Action::Write(_) if is_done => drop(layers.insert(name, Layer::Generated(at))),
            Action::Remove(_) if is_done => drop(layers.remove(&name)),
            _ if existing.is_some() => {
                let path = shown(Path::new(&file.path));
                let reason = format!("Terragrunt does not generate {path}, as another file of that name exists");
                let part = UnreadPart { reason, place: place.clone() };
                self.unread.push(part);
            }
            _ => {}
        }
    }
}

/// True for the way to what is hidden, or is in a hidden directory.
fn is_hidden(way: &Path) -> bool {
    way.components().any(|name| matches!(name, Component::Normal(name) if name.as_encoded_bytes().starts_with(b".")))
}

fn relocated(patterns: Vec<CopyPattern>, relocate: &Relocation) -> Vec<CopyPattern> {
    patterns.into_iter().map(|it| CopyPattern { place: relocate.location(&it.place), ..it }).collect()
}

/// True for the names of files that one of the tools reads.
fn counts(name: &str) -> bool {
    let is_selected = |dialect| ConfigFiles::select([name.to_owned()], dialect) != ConfigFiles::default();
    [Dialect::Terraform, Dialect::OpenTofu].into_iter().any(is_selected) || is_test(name)
}

/// True for the names of files that are tests in a directory of tests.
pub(in crate::disk::roots) fn is_test(name: &str) -> bool {
    let is_selected = |dialect| !ConfigFiles::select_tests([name.to_owned()], dialect).is_empty();
    [Dialect::Terraform, Dialect::OpenTofu].into_iter().any(is_selected)
}

fn directory_of(path: &str) -> &Path {
    Path::new(path).parent().unwrap_or(Path::new(""))
}
