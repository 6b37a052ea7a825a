//! A requirement to add, and what it writes into the configuration and the requirements of a root module.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::config::SourceFile;
use crate::config::edit::{self, AddRequest, EditError, FileEdit};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::requirements::{Origin, OriginKind, Requirements};
use crate::version::{Constraints, Version};

/// How `add` writes requirements.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct AddFlags {
    /// The local name, for one provider. Default: its type.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Require exactly the version that is selected.
    #[arg(long)]
    pub pin: bool,
    /// Change an existing requirement.
    #[arg(long)]
    pub replace: bool,
    /// Leave the configuration unchanged.
    #[arg(long, conflicts_with_all = ["name", "replace"])]
    pub lock_only: bool,
    /// Write the configuration only, as in a child module.
    #[arg(long, conflicts_with_all = ["lock_only", "pin"])]
    pub no_lock: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    pub source: String,
    pub constraint: Option<String>,
    pub flags: AddFlags,
}

impl Addition {
    /// The same; with `no_lock` of the configuration only.
    #[must_use]
    pub fn without_lock(mut self, no_lock: bool) -> Self {
        self.flags.no_lock |= no_lock;
        self
    }

    pub fn address(&self, dialect: Dialect) -> Result<ProviderAddr, Error> {
        ProviderAddr::parse(&self.source, dialect)
            .map_err(|problem| Error::new(ErrorKind::Usage, format!("invalid provider address: {problem}")))
            .map_err(|error| error.hint("write it as in required_providers, such as hashicorp/aws"))
    }

    /// True if the constraint depends on the selected version.
    pub(super) fn wants_version(&self) -> bool {
        self.flags.pin || self.constraint.is_none() && !self.flags.lock_only && !self.flags.no_lock
    }

    fn constraint_for(&self, version: &Version) -> String {
        // Only an exact constraint allows a pre-release.
        let exact = self.flags.pin || version.is_prerelease();
        if exact { version.to_string() } else { Constraints::compatible_with(version).to_string() }
    }

    pub(super) fn request(&self, addr: &ProviderAddr, constraint: Option<&str>) -> AddRequest {
        // The tools accept a bare type as an address, but users write the namespace too.
        let source = if self.source.contains('/') {
            self.source.clone()
        } else {
            format!("{}/{}", addr.namespace(), addr.type_name())
        };
        let constraint = constraint.map(str::to_owned);
        AddRequest { name: self.flags.name.clone(), source, constraint, replace: self.flags.replace }
    }
}

#[derive(Debug, Clone)]
pub struct Pending {
    pub(crate) files: Vec<SourceFile>,
    pub(crate) dialect: Dialect,
    pub(super) additions: Vec<(ProviderAddr, Addition)>,
}

impl Pending {
    /// The edits of configuration for the selected versions, and the resulting requirements.
    pub fn complete(
        &self,
        requirements: &Requirements,
        selected: &BTreeMap<&ProviderAddr, &Version>,
    ) -> Result<(Vec<FileEdit>, Requirements), Error> {
        let (mut edited, mut requirements) = (self.files.clone(), requirements.clone());
        for (addr, addition) in &self.additions {
            let version = selected.get(addr).filter(|_| addition.wants_version());
            let constraint = version.map(|version| addition.constraint_for(version)).or(addition.constraint.clone());
            if !addition.flags.lock_only {
                let edits = edit::add(&edited, self.dialect, &addition.request(addr, constraint.as_deref()))?;
                edited = edit::apply(&edited, &edits);
            }
            require(&mut requirements, addr, addition, constraint)?;
        }
        Ok((edit::edits_between(&self.files, &edited), requirements))
    }
}

/// Replaces a requirement of the root module.
pub(super) fn require(
    requirements: &mut Requirements,
    addr: &ProviderAddr,
    addition: &Addition,
    constraint: Option<String>,
) -> Result<(), Error> {
    let terms = constraint.as_deref().map(Constraints::parse_config).transpose();
    let terms =
        terms.map_err(|reason| EditError::Constraint { text: constraint.clone().unwrap_or_default(), reason })?;
    if !addition.flags.lock_only {
        requirements.remove_origins(addr, is_entry);
    }
    requirements.add(addr, &terms.unwrap_or_default(), origin(addition, addr, constraint));
    Ok(())
}

/// True for an entry of `required_providers` of the root module itself.
pub(super) fn is_entry(origin: &Origin) -> bool {
    origin.module.is_empty() && origin.kind == OriginKind::RequiredProviders
}

fn origin(addition: &Addition, addr: &ProviderAddr, constraint: Option<String>) -> Origin {
    Origin {
        module: String::new(),
        file: PathBuf::new(),
        position: Position::default(),
        kind: OriginKind::RequiredProviders,
        local_name: addition.flags.name.clone().unwrap_or_else(|| addr.type_name().to_owned()),
        constraint,
        in_tests: false,
        is_evaluated: false,
        block: None,
    }
}
