//! What progress may show of a run.

use std::fmt;
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::platform::Platform;
use crate::release::ReleaseKey;
use crate::version::Version;

/// One package: what is downloaded or read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PackageKey {
    pub address: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
}

impl PackageKey {
    pub fn of((address, version): &ReleaseKey, platform: &Platform) -> Self {
        Self { address: address.clone(), version: version.clone(), platform: platform.clone() }
    }

    pub fn release(&self) -> ReleaseKey {
        (self.address.clone(), self.version.clone())
    }
}

impl fmt::Display for PackageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} for {}", self.address, self.version, self.platform)
    }
}

/// Something that happened during a run. Events of one package come in order, those of several interleave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// So many more requests are planned.
    Questions {
        count: usize,
    },
    /// One of them is answered, or given up.
    Answered,
    /// The user is asked on the same terminal.
    Asking,
    /// The package is to be downloaded, as soon as its server has a place for it.
    PackageWanted {
        package: PackageKey,
    },
    /// The package is on its way.
    PackageStarted {
        package: PackageKey,
        /// Its size in bytes, if the server reported it.
        total: Option<u64>,
    },
    PackageBytes {
        package: PackageKey,
        /// How many bytes came since the last event of this package.
        bytes: u64,
    },
    PackageRestarted {
        package: PackageKey,
    },
    /// The package is there whole, or given up.
    PackageDone {
        package: PackageKey,
        /// False if it was given up; the reason travels as an error.
        ok: bool,
        /// True if it was read from disk, not downloaded.
        local: bool,
    },
    /// Whose default registry goes without saying from now on; `None` if the root modules differ.
    Tool {
        dialect: Option<Dialect>,
    },
    Request {
        /// The address without secrets.
        url: String,
    },
    /// Something worth a line, such as a retry; the text may come from a registry.
    Note {
        /// One line, lower case, no full stop.
        text: String,
    },
    /// A line that only `-v` prints.
    Detail {
        text: String,
    },
}

/// Where events go. Cheap to clone; may be called from any thread.
#[derive(Clone)]
pub struct Events(Option<Arc<dyn Fn(Event) + Send + Sync>>);

impl Events {
    /// Events go to a callback, which must not block.
    pub fn to(callback: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(callback)))
    }

    pub fn ignored() -> Self {
        Self(None)
    }

    pub fn emit(&self, event: Event) {
        if let Some(callback) = &self.0 {
            callback(event);
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Events(to a callback)" } else { "Events(ignored)" })
    }
}
