//! What `localterraform.com` means in a root module. Its configuration is read for that only where an address has the name.

use std::collections::BTreeSet;
use std::path::Path;

use super::{list, texts};
use crate::addr::Hostname;
use crate::config::{Module, RootKind, StandIn};
use crate::dialect::Dialect;

/// What besides the configuration decides it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandInTerms {
    /// `TF_CLOUD_HOSTNAME`, if it is not empty.
    pub cloud_hostname: Option<String>,
    /// The hosts that it may mean, since a change could choose the host; `None` for any.
    pub hosts: Option<BTreeSet<Hostname>>,
}

impl StandInTerms {
    /// `None` if the configuration cannot be read, or does not say it.
    pub fn of_root(&self, root: &Path, dialect: Dialect) -> Option<StandIn> {
        let files = list(root, dialect).ok().filter(|files| files.kind == Some(RootKind::Module))?;
        let read = |names: &[String]| texts(root, Path::new(""), names).ok();
        let module = Module::decode(&read(&files.primary)?, &read(&files.overrides)?, dialect).ok()?;
        let found = module.backend?.stand_in(dialect, self.cloud_hostname.as_deref())?;
        self.hosts.as_ref().is_none_or(|hosts| hosts.contains(&found.host)).then_some(found)
    }
}
