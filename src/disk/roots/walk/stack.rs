//! Terraform stacks: components and nested stacks are calls of modules, and only stacks require providers.
//!
//! Source: `internal/stacks/stackconfig/config.go` of Terraform.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{ModuleNode, Place, Walk};
use crate::addr::ProviderSource;
use crate::config::{ConfigFiles, Module, ModuleCall, RootKind, SourceFile, Text, is_of_component_registry};
use crate::disk::roots::{Tree, TreeError, TreeOptions, TreeWarning, UnreadPart, UnreadReason};
use crate::requirements::module_name;
use crate::version::Constraints;

/// How deep stacks may be nested.
const MOST_NESTED: usize = 20;

/// Reads the stack in a directory; `files` are those of the directory.
pub(in crate::disk::roots) fn load(
    root: &Path,
    files: ConfigFiles,
    options: &TreeOptions,
) -> Result<Arc<Tree>, Vec<TreeError>> {
    let ignored = files.primary.first().map(|name| TreeWarning::NotOfStack(PathBuf::from(name)));
    let mut tree = super::load(root, of_stack(files), options)?;
    if let Some(warning) = ignored {
        Arc::make_mut(&mut tree).warnings.push(warning);
    }
    Ok(tree)
}

/// The files of a directory that a stack consists of.
pub(super) fn of_stack(files: ConfigFiles) -> ConfigFiles {
    let primary = if files.kind == Some(RootKind::Stack) { files.of_kind } else { Vec::new() };
    ConfigFiles { primary, kind: files.kind, ..ConfigFiles::default() }
}

/// True for the call of a nested stack; the names of modules have no colon.
pub(super) fn is_stack(call: &ModuleCall) -> bool {
    call.name.starts_with("stack:")
}

/// True for the call of a component.
pub(super) fn is_component(call: &ModuleCall) -> bool {
    call.name.starts_with("component:")
}

/// A component or nested stack that is not read: its registry has components, whose protocol is not public.
pub(super) fn unread(call: &ModuleCall) -> Option<UnreadPart> {
    let source = call.source.as_ref().filter(|_| is_stack(call) || is_component(call))?;
    let Text::Known(text) = &source.text else { return None };
    if !is_of_component_registry(text) {
        return None;
    }
    let reason = UnreadReason::ComponentRegistry { name: module_name(&call.name), source: text.clone() };
    Some(reason.at(&source.place))
}

/// True if a stack below so many others can contain no further stack.
pub(super) fn is_too_deep(call: &ModuleCall, above: usize) -> bool {
    is_stack(call) && above > MOST_NESTED
}

/// Reads the files of a stack, or of a module.
pub(super) fn decode(
    is_stack: bool,
    [primary, overrides]: [&[SourceFile]; 2],
    options: &TreeOptions,
) -> Result<Module, Vec<TreeError>> {
    let kind = if is_stack { RootKind::Stack } else { RootKind::Module };
    let decoded = Module::decode_as(kind, primary, overrides, options.dialect);
    decoded.map_err(|errors| errors.into_iter().map(TreeError::Config).collect())
}

impl Walk<'_> {
    /// Visits the module of a component. Its providers are passed in by the stack, so it requires nothing itself.
    pub(super) fn component(
        &mut self,
        from: &ModuleNode,
        call: &ModuleCall,
        key: String,
        above: &mut Vec<Place>,
    ) -> u64 {
        let of_stack = std::mem::take(&mut self.needs);
        let size = self.follow(from, call, key, above);
        let needs = std::mem::replace(&mut self.needs, of_stack);
        self.errors.extend(needs.errors.into_iter().map(TreeError::Config));
        let declared = &from.scope.module.required;
        for (addr, requirement) in needs.requirements.iter() {
            let is_this = |source: &ProviderSource| matches!(source, ProviderSource::Provider(known) if known == addr);
            if !declared.values().any(|entry| is_this(&entry.source)) {
                let origins = requirement.origins.iter().cloned();
                origins.for_each(|origin| self.tree.undeclared.add(addr, &Constraints::default(), origin));
            }
        }
        size
    }
}
