//! What a configuration needs: providers, their merged constraints, and which modules require them.
//!
//! Source: `internal/configs/config.go`, `ProviderRequirements`.
//!
//! The providers that a state needs.
//!
//! Source: `internal/states/statefile/read.go`, `version4.go` and `version3_upgrade.go`, `internal/addrs/provider_config.go`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

pub use providers as providers_in_state;
pub use translation as state_translation;

use crate::addr::{ProviderAddr, ProviderSource, default_host};
use crate::dialect::Dialect;
use crate::finding::Position;
use crate::lockfile::{LockEntry, LockFile};
use crate::version::{Constraints, ModuleVersion};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirements {
    providers: BTreeMap<ProviderAddr, Requirement>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirement {
    /// The terms of all modules together.
    pub constraints: Constraints,
    /// Who requires it, in the order of the module tree; empty if only a lock file was read.
    pub origins: Vec<Origin>,
}

impl Requirement {
    fn add(&mut self, constraints: &Constraints, origin: Origin) {
        if !constraints.is_empty() {
            self.constraints = self.constraints.and(constraints);
        }
        self.origins.push(origin);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Origin {
    /// The module's path of call names joined by dots; empty for the root module.
    pub module: String,
    /// The file, relative to the directory that the command was pointed at.
    #[serde(serialize_with = "crate::words::path")]
    pub file: PathBuf,
    #[serde(flatten)]
    pub position: Position,
    pub kind: OriginKind,
    /// The name that the module uses for the provider.
    pub local_name: String,
    pub constraint: Option<String>,
    /// True if a test file requires it, or a module that only runs of test files use.
    #[serde(skip)]
    pub in_tests: bool,
    /// True if the constraint is the value of an expression.
    #[serde(skip)]
    pub is_evaluated: bool,
    /// The type and name of a block that implies the provider: `"aws_vpc" "this"`.
    #[serde(skip)]
    pub block: Option<String>,
}

/// A module by the names of the calls that lead to it, joined by points: `module.net`, and `component.net` in a stack, whose calls
/// are named `component:NAME` and `stack:NAME`, with `removed:` and a number for those of `removed` blocks.
pub fn module_name(calls: &str) -> String {
    if !is_in_stack(calls) {
        return format!("module.{calls}");
    }
    let of_removed = |calls: String, kind| calls.replace(&format!("{kind}:{REMOVED}"), "removed block ");
    ["component", "stack"].into_iter().fold(calls.to_owned(), of_removed).replace(':', ".")
}

/// The beginning of the names of `removed` blocks of a stack, which no component has.
pub const REMOVED: &str = "removed:";

/// True if the calls that lead to a module begin in a stack. The names of other calls have no colon.
pub fn is_in_stack(calls: &str) -> bool {
    calls.contains(':')
}

/// Files of components and stacks; the second suffix of each is that of Terraform up to 1.13, which later versions ignore.
pub const STACKS: [[&str; 2]; 2] = [[".tfcomponent.hcl", ".tfstack.hcl"], [".tfcomponent.json", ".tfstack.json"]];

/// True for the names of such files.
pub fn is_of_stack(name: &str) -> bool {
    STACKS.iter().flatten().any(|suffix| name.ends_with(suffix))
}

impl Origin {
    /// Who requires it, for users: `the root module`, `the stack`, `module.NAME`, `tests`.
    pub fn caller(&self) -> String {
        match self.module.as_str() {
            _ if self.in_tests => "tests".to_owned(),
            "" if is_of_stack(&self.file.to_string_lossy()) => "the stack".to_owned(),
            "" => "the root module".to_owned(),
            module => module_name(module),
        }
    }

    /// True if the constraint is written as plain text in `required_providers` of the root module, where it can be rewritten.
    pub fn is_rewritable(&self) -> bool {
        let is_json = self.file.extension().is_some_and(|extension| extension == "json");
        self.module.is_empty() && self.kind == OriginKind::RequiredProviders && !self.is_evaluated && !is_json
    }

    /// What the constraint means; no terms if there is none.
    pub fn constraints(&self) -> Constraints {
        self.constraint.as_deref().and_then(|text| Constraints::parse_config(text).ok()).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OriginKind {
    /// An entry of `required_providers`.
    RequiredProviders,
    /// A `provider` block.
    ProviderBlock,
    /// A `resource` block.
    Resource,
    /// A `data` block, also one inside `check`.
    Data,
    /// An `ephemeral` block.
    Ephemeral,
    /// An `action` block.
    Action,
    /// An `import` block.
    Import,
}

impl OriginKind {
    pub fn as_str(self) -> &'static str {
        match self {
            OriginKind::RequiredProviders => "required_providers",
            OriginKind::ProviderBlock => "provider",
            OriginKind::Resource => "resource",
            OriginKind::Data => "data",
            OriginKind::Ephemeral => "ephemeral",
            OriginKind::Action => "action",
            OriginKind::Import => "import",
        }
    }
}

impl Requirements {
    pub fn new() -> Self {
        Self::default()
    }

    /// What the entries of a lock file say that was required when it was written.
    pub fn of_entries(lock: &LockFile) -> Self {
        let mut requirements = Self::new();
        lock.iter().for_each(|(addr, entry)| requirements.add_entry(addr, entry));
        requirements
    }

    /// The same with other names of the files.
    #[must_use]
    pub fn renamed(mut self, name: impl Fn(&Path) -> PathBuf) -> Self {
        let origins = self.providers.values_mut().flat_map(|requirement| &mut requirement.origins);
        for origin in origins.filter(|origin| !origin.file.as_os_str().is_empty()) {
            origin.file = name(&origin.file);
        }
        self
    }

    /// Adds one place that requires a provider, with its parsed constraint.
    pub fn add(&mut self, addr: &ProviderAddr, constraints: &Constraints, origin: Origin) {
        // There are many origins and few providers.
        if let Some(requirement) = self.providers.get_mut(addr) {
            return requirement.add(constraints, origin);
        }
        self.providers.entry(addr.clone()).or_default().add(constraints, origin);
    }

    /// Adds all places of others that are not among these.
    pub fn add_all(&mut self, others: &Self) {
        for (addr, requirement) in others.iter() {
            let known = |origin: &&Origin| self.get(addr).is_some_and(|own| own.origins.contains(origin));
            let new: Vec<Origin> = requirement.origins.iter().filter(|origin| !known(origin)).cloned().collect();
            for origin in new {
                self.add(addr, &origin.constraints(), origin);
            }
        }
    }

    /// Adds what the entry of a lock file says, for a provider that is not known to be required.
    pub fn add_entry(&mut self, addr: &ProviderAddr, entry: &LockEntry) {
        let requirement = self.providers.entry(addr.clone()).or_default();
        requirement.constraints = requirement.constraints.and(&entry.constraints);
    }

    /// Removes places that require a provider; the constraints are those of the others. Without any left, the
    /// provider is not needed.
    pub fn remove_origins(&mut self, addr: &ProviderAddr, lost: impl Fn(&Origin) -> bool) {
        let Some(requirement) = self.providers.remove(addr) else { return };
        for origin in requirement.origins.into_iter().filter(|origin| !lost(origin)) {
            self.add(addr, &origin.constraints(), origin);
        }
    }

    /// Makes places require a different provider.
    pub fn move_origins(&mut self, from: &ProviderAddr, to: &ProviderAddr, moved: impl Fn(&Origin) -> bool) {
        let origins = self.get(from).map(|requirement| requirement.origins.clone()).unwrap_or_default();
        self.remove_origins(from, &moved);
        for origin in origins.into_iter().filter(moved) {
            self.add(to, &origin.constraints(), origin);
        }
    }

    /// Changes where origins are.
    pub fn relocate(&mut self, change: impl Fn(&mut Origin)) {
        self.providers.values_mut().flat_map(|requirement| &mut requirement.origins).for_each(change);
    }

    pub fn get(&self, addr: &ProviderAddr) -> Option<&Requirement> {
        self.providers.get(addr)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ProviderAddr, &Requirement)> {
        self.providers.iter()
    }

    /// Each provider with each module that requires it, by dotted path.
    pub fn modules(&self) -> BTreeSet<(ProviderAddr, String)> {
        let of = |(addr, it): (&ProviderAddr, &Requirement)| {
            let modules: BTreeSet<&String> = it.origins.iter().map(|origin| &origin.module).collect();
            modules.into_iter().map(|module| (addr.clone(), module.clone())).collect::<Vec<_>>()
        };
        self.providers.iter().flat_map(of).collect()
    }

    pub fn len(&self) -> usize {
        self.providers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }
}

/// The providers that a state needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateProviders {
    pub addresses: BTreeSet<ProviderAddr>,
    /// The types of providers without an address, as Terraform 0.12 wrote them: which providers are meant is not known.
    types: BTreeSet<String>,
}

impl StateProviders {
    /// True if the state needs the provider, or may.
    pub fn need(&self, addr: &ProviderAddr) -> bool {
        self.addresses.contains(addr) || self.types.contains(addr.type_name())
    }

    /// The same providers at the addresses that OpenTofu takes them for, with the requirements of the configuration.
    #[must_use]
    pub fn translated(self, required: Option<&Requirements>) -> Self {
        let is_required = |addr: &ProviderAddr| required.is_some_and(|required| required.get(addr).is_some());
        let translate = |addr: ProviderAddr| translation(&addr).filter(|_| !is_required(&addr)).unwrap_or(addr);
        Self { addresses: self.addresses.into_iter().map(translate).collect(), ..self }
    }
}

/// The address that OpenTofu takes one of Terraform's registry in a state for, unless the configuration requires that
/// very address; `None` for other addresses.
///
/// Source: opentofu `internal/tofumigrate/tofumigrate.go`.
pub fn translation(addr: &ProviderAddr) -> Option<ProviderAddr> {
    (*addr.host() == default_host(Dialect::Terraform)).then(|| addr.at(default_host(Dialect::OpenTofu)))
}

/// The providers of all resources in a state, as the file or `state pull` gives it, which prints nothing where there is no
/// state.
pub fn providers(text: &[u8], dialect: Dialect) -> Result<StateProviders, String> {
    let mut found = StateProviders::default();
    if text.trim_ascii().is_empty() {
        return Ok(found);
    }
    let state: Value = serde_json::from_slice(text)
        .map_err(|error| format!("the state is not the JSON document that it should be: {error}"))?;
    check(&state)?;
    match field(&state, "version").as_u64() {
        Some(4) => {
            for resource in items(&state, "resources") {
                check_resource(resource)?;
                found.add(text_of(resource, "provider"), dialect);
            }
        }
        Some(1..=3) => {
            for module in items(&state, "modules") {
                for (address, resource) in field(module, "resources").as_object().into_iter().flatten() {
                    found.add_old(address, text_of(resource, "provider"))?;
                }
            }
        }
        Some(version) => return Err(format!("the state has format version {version}, but only 1 to 4 can be read")),
        None => return Err("the state has no \"version\" that is a whole number".to_owned()),
    }
    Ok(found)
}

impl StateProviders {
    /// Takes in the provider of a resource. The tools pass over what is no address.
    fn add(&mut self, provider: &str, dialect: Dialect) {
        let local = provider.rsplit_once("module.").map_or(provider, |(_, rest)| rest);
        let local = local.find("provider").map_or(local, |at| &local[at..]);
        let is_end = |rest: &str| rest.is_empty() || rest.starts_with('.');
        let quoted = local.strip_prefix("provider[\"").and_then(|rest| rest.split_once("\"]"));
        let is_in_module = local.len() == provider.len() || provider.starts_with("module.");
        match quoted {
            Some((source, rest)) if is_in_module && is_end(rest) => match ProviderSource::parse(source, dialect) {
                Ok(ProviderSource::Provider(addr)) => self.addresses.extend([addr]),
                Ok(ProviderSource::Legacy(_)) => self.types.extend(source.rsplit('/').next().map(str::to_owned)),
                Ok(ProviderSource::BuiltIn(_)) | Err(_) => {}
            },
            _ => self.types.extend(old_type(local).filter(|_| is_in_module).map(str::to_owned)),
        }
    }

    /// The same of a resource before Terraform 0.12, which may name none: then its type does.
    fn add_old(&mut self, address: &str, provider: &str) -> Result<(), String> {
        let parts: Vec<&str> = address.strip_prefix("data.").unwrap_or(address).split('.').collect();
        let kind = match parts[..] {
            [kind, _] => kind,
            [kind, _, index] if index.parse::<i64>().is_ok() => kind,
            _ => {
                return Err(format!(
                    "the state names the resource {address:?}, which is not of the form TYPE.NAME[.INDEX]"
                ));
            }
        };
        let implied = || kind.split('_').next().unwrap_or(kind);
        let named = match provider {
            "" => implied(),
            _ => old_type(provider.rfind("provider.").map_or(provider, |at| &provider[at..]))
                .unwrap_or_else(|| provider.split('.').next().unwrap_or(provider)),
        };
        self.types.insert(named.to_owned());
        Ok(())
    }
}

/// The type in `provider.TYPE` and `provider.TYPE.ALIAS`.
fn old_type(provider: &str) -> Option<&str> {
    provider.strip_prefix("provider.")?.split('.').next()
}

fn check(state: &Value) -> Result<(), String> {
    let is_count = |value: &Value| value.is_null() || value.is_u64();
    let version = text_of(state, "terraform_version");
    // The tools do not read it in the first format.
    let is_read = !version.is_empty() && field(state, "version") != 1;
    if is_read && version.parse::<ModuleVersion>().is_err() {
        return Err(format!("the state names the version {version:?} of the tool, which is not a version"));
    }
    if is_count(field(state, "serial")) {
        Ok(())
    } else {
        Err("the \"serial\" of the state is not a whole number".to_owned())
    }
}

fn check_resource(resource: &Value) -> Result<(), String> {
    let (mode, module) = (text_of(resource, "mode"), text_of(resource, "module"));
    if !matches!(mode, "managed" | "data") {
        return Err(format!("the state has a resource of the mode {mode:?}, which is not \"managed\" or \"data\""));
    }
    if !module.is_empty() && !module.starts_with("module.") {
        return Err(format!("the state names the module {module:?}, which does not begin with \"module.\""));
    }
    let is_key =
        |instance: &Value| matches!(field(instance, "index_key"), Value::Null | Value::String(_) | Value::Number(_));
    if !items(resource, "instances").iter().all(is_key) {
        return Err("the state has an instance whose key is not a text or a number".to_owned());
    }
    Ok(())
}

/// A field of an object. The tools ignore the case of its name.
fn field<'a>(object: &'a Value, name: &str) -> &'a Value {
    let any_case =
        || object.as_object()?.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    object.get(name).or_else(any_case).unwrap_or(&Value::Null)
}

fn text_of<'a>(object: &'a Value, name: &str) -> &'a str {
    field(object, name).as_str().unwrap_or_default()
}

fn items<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    field(object, name).as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
