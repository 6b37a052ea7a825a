//! Where the module of a call is: next door, where it was installed, or where it was fetched to.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::{CallPackage, LocatedModule, ModuleNode, Walk};
use crate::config::{ModuleCall, ModuleSource, Purpose, Text};
use crate::disk::roots::error::ModuleProblem;
use crate::disk::roots::{
    self, FetchedModule, LocalModuleCall, MissingModule, MissingModules, ModuleLookup, ModuleRequest, RemoteModuleCall,
    TreeWarning, UnreadReason,
};
use crate::error::{Error, ErrorKind};
use crate::path::links;
use crate::redact;
use crate::requirements::module_name;
use crate::value::Unevaluated;
use crate::version::{ModuleConstraints, ModuleVersion};

struct WantedModule<'c> {
    call: &'c ModuleCall,
    key: &'c str,
    /// `None` if only the list of installed modules shows it.
    source: Option<ModuleSource>,
    constraints: Option<ModuleConstraints>,
}

/// Where a module is installed, and its version if it is of a registry.
type InstalledPlace = (PathBuf, Option<ModuleVersion>);

/// The address of a module, unless it is remote and contains a value of the environment: no server gets to know one.
fn not_secret(address: String) -> Result<String, Unevaluated> {
    match redact::not_sent(&address).filter(|_| !address.starts_with('.')) {
        Some(reason) => Err(Unevaluated::limit(reason)),
        None => Ok(address),
    }
}

impl Walk<'_> {
    /// The directory of a called module; `None` if it is missing and that is accepted, or reported already.
    pub(super) fn locate(
        &mut self,
        from: &ModuleNode,
        call: &ModuleCall,
        key: &str,
    ) -> Result<Option<LocatedModule>, ModuleProblem> {
        let Some(source) = &call.source else { return Ok(None) };
        let is_installed =
            from.package.is_none() && self.options.modules != ModuleLookup::None && self.manifest().get(key).is_some();
        let text = match &source.text {
            Text::Known(text) => text.clone(),
            Text::Expression(expression) => {
                let text = from.scope.evaluate(expression, Purpose::Source, self.surroundings()).and_then(not_null);
                match text.and_then(|text| if is_installed { Ok(text) } else { not_secret(text) }) {
                    Ok(text) => text,
                    Err(problem) => {
                        let wanted = WantedModule { call, key, source: None, constraints: None };
                        return self.undetermined(&wanted, ModuleProblem::NotStatic(problem), is_installed);
                    }
                }
            }
        };
        let constraints = self.constraints(from, call);
        let has_version = !matches!(constraints, Ok(None));
        let source = ModuleSource::parse(&text, has_version, self.options.dialect)?;
        let ModuleSource::Local(path) = &source else {
            return match constraints {
                Ok(constraints) => self.remote(&WantedModule { call, key, source: Some(source), constraints }),
                Err(problem) => {
                    let wanted = WantedModule { call, key, source: Some(source), constraints: None };
                    self.undetermined(&wanted, problem, is_installed)
                }
            };
        };
        self.local(from, path, key)
    }

    /// A module by its path. `None` if it is in the package of a missing call, which is reported already.
    fn local(&mut self, from: &ModuleNode, path: &str, key: &str) -> Result<Option<LocatedModule>, ModuleProblem> {
        let mut written = roots::join(&from.dir, path);
        let mut package = from.package.clone();
        if package.is_none()
            && let Some((call, within)) = self.in_installed(&written)
        {
            if self.tree.missing.iter().any(|module| module.key == call) {
                return Ok(None);
            }
            let fetched =
                self.tree.remote_modules.iter().find(|known| known.key == call).and_then(|it| it.fetched.clone());
            if let Some(fetched) = fetched {
                written = fetched.package.join(within);
                package = Some(Rc::new(CallPackage { fetched, call }));
            }
        }
        let dir = match &package {
            Some(package) => real_in(&package.fetched.package, &written),
            None => Some(links::without_links(self.root, &written)),
        };
        let is_outside = |dir: &PathBuf| {
            package.is_none() && self.assembly.package.as_ref().is_some_and(|top| !dir.starts_with(top))
        };
        let Some(dir) = dir.filter(|dir| !is_outside(dir)) else {
            return Err(ModuleProblem::OutsidePackage(path.to_owned()));
        };
        if package.is_none() {
            self.assembly.note_link(self.root, &written);
            // What leads there counts as well.
            self.tree.local_modules.extend([written.clone(), dir.clone()]);
        }
        self.tree.local_calls.push(LocalModuleCall {
            key: key.to_owned(),
            source: path.to_owned(),
            dir: dir.clone(),
            way: written,
            of_package: package.as_ref().map(|package| package.call.clone()),
        });
        Ok(Some(LocatedModule { dir, package }))
    }

    /// The call whose package is installed at a place, and the way from there: what a call before it installs is there when
    /// the tools come to it.
    fn in_installed(&self, place: &Path) -> Option<(String, PathBuf)> {
        let data_dir = self.options.data_dir.as_deref().unwrap_or(Path::new(".terraform"));
        let mut names = place.strip_prefix(data_dir.join("modules")).ok()?.components();
        let call = names.next()?.as_os_str().to_str()?.to_owned();
        Some((call, names.as_path().to_owned()))
    }

    /// A module whose source or version only the tool can know: where it was installed, unless the tool refuses it.
    fn undetermined(
        &mut self,
        wanted: &WantedModule<'_>,
        problem: ModuleProblem,
        is_installed: bool,
    ) -> Result<Option<LocatedModule>, ModuleProblem> {
        if let (false, Some((argument, reason @ Unevaluated::Limit { .. }))) = (is_installed, problem.unevaluated()) {
            let (name, reason) = (module_name(&wanted.call.name), reason.clone());
            let place = match (argument, &wanted.call.source, &wanted.call.version) {
                ("version", _, Some(version)) => &version.place,
                (_, Some(source), _) => &source.place,
                _ => &wanted.call.place,
            };
            self.tree.unread_parts.push(UnreadReason::ModuleCall { name, argument, reason }.at(place));
            return Ok(None);
        }
        if problem.is_refused() || !is_installed && self.options.missing == MissingModules::Refuse {
            return Err(problem);
        }
        let call = wanted.call;
        let place = call.source.as_ref().map_or(&call.place, |source| &source.place).clone();
        if is_installed {
            let key = wanted.key.to_owned();
            self.tree.warnings.push(TreeWarning::UncheckedRecord { place, key, reason: problem });
            return self.remote(wanted);
        }
        let reason = Error::new(ErrorKind::NotInstalled, problem.to_string());
        let reason = reason.hints(problem.next_steps(self.options.dialect));
        self.tree.missing.push(MissingModule {
            key: wanted.key.to_owned(),
            source: String::new(),
            version: None,
            place,
            request: None,
            reason: Some(reason),
        });
        Ok(None)
    }

    fn constraints(&self, from: &ModuleNode, call: &ModuleCall) -> Result<Option<ModuleConstraints>, ModuleProblem> {
        let Some(version) = &call.version else { return Ok(None) };
        let Text::Expression(expression) = &version.text else { return Ok(version.constraints.clone()) };
        let value = from.scope.evaluate(expression, Purpose::Version, self.surroundings());
        match value.map_err(ModuleProblem::VersionNotStatic)? {
            Some(text) => text.parse().map(Some).map_err(|_| ModuleProblem::Version(text)),
            // `version = null` means no constraint.
            None => Ok(None),
        }
    }

    /// A module that is not local: where it is installed, else where it was fetched to. `None` if it is missing and that is
    /// accepted.
    fn remote(&mut self, wanted: &WantedModule<'_>) -> Result<Option<LocatedModule>, ModuleProblem> {
        let request = wanted.source.as_ref().map(|source| self.request(wanted, source));
        let fetched = request.as_ref().filter(|_| self.options.modules == ModuleLookup::Auto);
        let answer = fetched.and_then(|request| self.options.fetched.get(request)).cloned();
        let installed = match self.options.modules {
            ModuleLookup::None => None,
            ModuleLookup::Installed => self.installed(wanted)?,
            // Locked content counts; installed content only if no request may be sent.
            ModuleLookup::Auto if self.options.pins.is_some() && !self.may_be_installed(answer.as_ref()) => None,
            ModuleLookup::Auto => self.installed(wanted).unwrap_or_default(),
        };
        if let Some((dir, version)) = installed {
            self.note(wanted, (dir.clone(), version), None);
            return Ok(Some(LocatedModule { dir, package: None }));
        }
        let reason = match answer {
            Some(Ok(fetched)) => {
                let dir = fetched.dir.clone();
                self.note(wanted, (dir.clone(), fetched.version.clone()), Some(fetched.clone()));
                let package = CallPackage { fetched, call: wanted.key.to_owned() };
                return Ok(Some(LocatedModule { dir, package: Some(Rc::new(package)) }));
            }
            Some(Err(reason)) => Some(reason),
            None => None,
        };
        let shown = wanted.source.as_ref().map(ToString::to_string).unwrap_or_default();
        let accepted = self.options.missing == MissingModules::Skip || self.options.modules == ModuleLookup::None;
        match reason {
            Some(reason) if !accepted => Err(ModuleProblem::NotFetched(Box::new(reason))),
            None if !accepted => Err(ModuleProblem::NotInstalled(shown)),
            reason => {
                let version = wanted.constraints.as_ref().map(|constraints| constraints.as_str().to_owned());
                let (key, place) = (wanted.key.to_owned(), wanted.call.place.clone());
                self.tree.missing.push(MissingModule { key, source: shown, version, place, request, reason });
                Ok(None)
            }
        }
    }

    fn note(&mut self, wanted: &WantedModule<'_>, (dir, version): InstalledPlace, fetched: Option<FetchedModule>) {
        self.tree.remote_modules.push(RemoteModuleCall {
            key: wanted.key.to_owned(),
            source: wanted.source.as_ref().map(ToString::to_string).unwrap_or_default(),
            address: wanted.source.clone(),
            constraints: wanted.constraints.clone(),
            version,
            dir,
            fetched,
            place: wanted.call.place.clone(),
        });
    }

    fn request(&self, wanted: &WantedModule<'_>, source: &ModuleSource) -> ModuleRequest {
        let constraints = wanted.constraints.as_ref();
        let pin = self.options.pins.as_ref().and_then(|pins| pins.pin(source, wanted.key, constraints));
        ModuleRequest { source: source.clone(), constraints: constraints.cloned(), pin }
    }

    /// True if a module that is locked may be taken from where it is installed, by what came of fetching it.
    fn may_be_installed(&self, answer: Option<&Result<FetchedModule, Error>>) -> bool {
        match answer {
            Some(Ok(_)) => false,
            Some(Err(reason)) => reason.kind == ErrorKind::Offline,
            None => !self.options.fetching,
        }
    }

    /// The directory that `modules.json` gives, if its record is still true.
    fn installed(&mut self, wanted: &WantedModule<'_>) -> Result<Option<InstalledPlace>, ModuleProblem> {
        let (dialect, either) = (self.options.dialect, self.options.of_either_tool);
        let Some(record) = self.manifest().get(wanted.key) else { return Ok(None) };
        let is_recorded = |source: &ModuleSource| source.matches_record(&record.source, dialect);
        let is_installed = |source: &ModuleSource| {
            is_recorded(source) || either && source.of_other_tool(dialect).as_ref().is_some_and(is_recorded)
        };
        if let Some(source) = wanted.source.as_ref().filter(|source| !is_installed(source)) {
            let installed = redact::module_source(&record.source);
            return Err(ModuleProblem::SourceChanged { installed, source_text: source.to_string() });
        }
        if let Some(constraints) = &wanted.constraints
            && !record.version.as_ref().is_some_and(|version| constraints.allows(version))
        {
            let installed = record.version.as_ref().map(|version| version.as_str().to_owned()).unwrap_or_default();
            return Err(ModuleProblem::VersionChanged { installed, constraint: constraints.as_str().to_owned() });
        }
        Ok(Some((roots::join(Path::new(""), &record.dir), record.version.clone())))
    }
}

fn not_null(text: Option<String>) -> Result<String, Unevaluated> {
    text.ok_or_else(|| Unevaluated::refused("it is null"))
}

fn real_in(package: &Path, dir: &Path) -> Option<PathBuf> {
    let dir = links::without_links(package, dir.strip_prefix(package).ok()?);
    (!dir.starts_with("..")).then(|| package.join(dir))
}
