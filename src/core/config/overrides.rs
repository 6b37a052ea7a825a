//! From files to a module: primary files are put together, override files are merged into them.
//!
//! Source: `internal/configs/module.go` (`appendFile`, `mergeFile`), `internal/configs/module_merge.go`.

use std::collections::HashMap;
use std::collections::btree_map::Entry;

use super::decode::Parts;
use super::error::{ConfigError, ConfigErrorKind};
use super::module::{Location, Module, ModuleCall, ProviderConfig, Resource};

pub(super) fn assemble(primaries: Vec<Parts>, overrides: Vec<Parts>, errors: &mut Vec<ConfigError>) -> Module {
    let mut assembly = OverrideAssembly { module: Module::default(), seen: Seen::default(), errors };
    for parts in primaries {
        assembly.append(parts);
    }
    for parts in overrides {
        assembly.merge(parts);
    }
    assembly.check_state_store();
    assembly.module
}

struct OverrideAssembly<'e> {
    module: Module,
    seen: Seen,
    errors: &'e mut Vec<ConfigError>,
}

/// What is where in the lists of a module.
#[derive(Default)]
struct Seen {
    required: Option<Location>,
    state_store: Option<(Location, String)>,
    providers: HashMap<(String, Option<String>), usize>,
    resources: HashMap<(&'static str, String, String), usize>,
}

impl OverrideAssembly<'_> {
    fn append(&mut self, parts: Parts) {
        for (place, entries) in parts.required {
            if let Some(earlier) = &self.seen.required {
                let earlier = earlier.clone();
                self.fail(&place, ConfigErrorKind::DuplicateRequiredProviders(earlier));
                continue;
            }
            self.seen.required = Some(place);
            self.module.required.extend(entries);
        }
        for config in parts.providers {
            self.append_provider(config);
        }
        for resource in parts.resources {
            self.append_resource(resource);
        }
        for call in parts.calls {
            self.append_call(call);
        }
        self.module.imports.extend(parts.imports);
        self.seen.state_store = parts.state_store.or(self.seen.state_store.take());
        self.module.backend = parts.backend.or(self.module.backend.take());
        self.module.names.variables.extend(parts.names.variables);
        self.module.names.locals.extend(parts.names.locals);
    }

    fn append_provider(&mut self, config: ProviderConfig) {
        let key = (config.name.clone(), config.alias.clone());
        let count = self.module.providers.len();
        if let Some(earlier) = self.seen.providers.insert(key, count) {
            let earlier = self.module.providers[earlier].place.clone();
            let what = describe(&config);
            self.fail(&config.place, ConfigErrorKind::Duplicate { what, earlier });
        }
        self.module.providers.push(config);
    }

    fn append_resource(&mut self, resource: Resource) {
        let count = self.module.resources.len();
        if let Some(earlier) = self.seen.resources.insert(key(&resource), count) {
            let earlier = self.module.resources[earlier].place.clone();
            let what = format!("{} {:?} {:?}", resource.mode.as_str(), resource.kind, resource.name);
            self.fail(&resource.place, ConfigErrorKind::Duplicate { what, earlier });
        }
        self.module.resources.push(resource);
    }

    fn append_call(&mut self, call: ModuleCall) {
        match self.module.calls.entry(call.name.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(call);
            }
            Entry::Occupied(entry) => {
                let earlier = entry.get().place.clone();
                let what = format!("module {:?}", call.name.replace(':', "."));
                self.fail(&call.place, ConfigErrorKind::Duplicate { what, earlier });
            }
        }
    }

    fn merge(&mut self, parts: Parts) {
        for (_, entries) in parts.required {
            // A whole entry takes the place of the one before.
            self.module.required.extend(entries);
        }
        for config in parts.providers {
            self.merge_provider(config);
        }
        for resource in parts.resources {
            self.merge_resource(resource);
        }
        for call in parts.calls {
            self.merge_call(call);
        }
        for import in parts.imports {
            self.fail(&import.place, ConfigErrorKind::NotInOverride("import"));
        }
        if let Some(check) = parts.check {
            self.fail(&check, ConfigErrorKind::NotInOverride("check"));
        }
        if let Some(language) = parts.language {
            self.fail(&language, ConfigErrorKind::NotInOverride("language"));
        }
        self.seen.state_store = parts.state_store.or(self.seen.state_store.take());
        self.module.backend = parts.backend.or(self.module.backend.take());
        self.module.names.locals.extend(parts.names.locals);
        for (name, variable) in parts.names.variables {
            let merged = self.module.names.variables.entry(name).or_insert_with(|| variable.clone());
            merged.kind = variable.kind.or(merged.kind.take());
            merged.default = variable.default.or(merged.default.take());
            merged.sensitive = variable.sensitive.or(merged.sensitive);
            merged.ephemeral = variable.ephemeral.or(merged.ephemeral);
            merged.nullable = variable.nullable.or(merged.nullable);
            merged.constant = variable.constant.or(merged.constant);
        }
    }

    /// The provider of a `state_store` block is declared or built in: the block itself requires none.
    fn check_state_store(&mut self) {
        let Some((place, name)) = self.seen.state_store.take() else { return };
        if name != "terraform" && !self.module.required.contains_key(&name) {
            self.fail(&place, ConfigErrorKind::StateStoreProvider(name));
        }
    }

    fn merge_provider(&mut self, config: ProviderConfig) {
        match self.seen.providers.get(&(config.name.clone(), config.alias.clone())) {
            Some(at) => {
                let base = &mut self.module.providers[*at];
                if config.version.is_some() {
                    base.version = config.version;
                    base.place = config.place;
                }
            }
            // An unwritten default configuration is there all the same, and empty.
            None if config.alias.is_none() => self.append_provider(config),
            None => {
                let what = describe(&config);
                self.fail(&config.place, ConfigErrorKind::MissingBase(what));
            }
        }
    }

    fn merge_resource(&mut self, resource: Resource) {
        match self.seen.resources.get(&key(&resource)) {
            Some(at) if resource.explicit => {
                let base = &mut self.module.resources[*at];
                base.provider = resource.provider;
                base.explicit = true;
                base.place = resource.place;
            }
            Some(_) => {}
            None => {
                let what = format!("{} {:?} {:?}", resource.mode.as_str(), resource.kind, resource.name);
                self.fail(&resource.place, ConfigErrorKind::MissingBase(what));
            }
        }
    }

    fn merge_call(&mut self, call: ModuleCall) {
        let Some(base) = self.module.calls.get_mut(&call.name) else {
            let what = format!("module {:?}", call.name);
            return self.fail(&call.place, ConfigErrorKind::MissingBase(what));
        };
        base.source = call.source.or(base.source.take());
        base.version = call.version.or(base.version.take());
        base.inputs.extend(call.inputs);
    }

    fn fail(&mut self, place: &Location, kind: ConfigErrorKind) {
        self.errors.push(ConfigError {
            file: place.file.to_path_buf(),
            position: place.position,
            line: String::new(),
            kind,
        });
    }
}

fn key(resource: &Resource) -> (&'static str, String, String) {
    (resource.mode.as_str(), resource.kind.clone(), resource.name.clone())
}

fn describe(config: &ProviderConfig) -> String {
    match &config.alias {
        Some(alias) => format!("provider {:?} with the alias {alias:?}", config.name),
        None => format!("provider {:?}", config.name),
    }
}
