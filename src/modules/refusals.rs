//! Which hosts modules may come from, and what is said of packages that cannot be fetched, unpacked or locked.

use std::collections::BTreeSet;

use url::Url;

use super::unpack::UnpackError;
use crate::addr::Hostname;
use crate::config::host_of;
use crate::error::{Error, ErrorKind};
use crate::modulelock::Ambiguity;
use crate::net::NetError;
use crate::settings::allow_module_host;

/// The hosts that modules may come from, by policy; none for any.
pub(super) type ModuleHosts = Option<BTreeSet<Hostname>>;

/// Refuses the host of a URL that policy does not name; a file has none.
pub(super) fn allow_url(hosts: Option<&BTreeSet<Hostname>>, url: &Url) -> Result<(), Error> {
    host_of(url).map_or(Ok(()), |host| allow_module_host(hosts, &host))
}

/// Why a module cannot be fetched; of a host that is skipped the same for all of its modules.
pub(super) fn unfetched(shown: &str, error: NetError) -> Error {
    if error.fault.is_of_host() {
        return error.into();
    }
    let message = format!("cannot fetch the module from {shown}: {}", error.fault);
    let wants_password = error.refused_token() == Some(false);
    let error = Error { message, ..Error::from(error) };
    if !wants_password {
        return error;
    }
    Error { hints: Vec::new(), ..error }.hint("tflock takes passwords for module archives from .netrc, like the tools")
}

/// What a package does that no honest one does.
pub(super) fn refused(source: &str, error: &UnpackError) -> Error {
    let kind = if matches!(error, UnpackError::Disk { .. }) { ErrorKind::Disk } else { ErrorKind::Package };
    Error::new(kind, format!("the module package from {source} is refused: {error}")).about_url(source)
}

/// What the next step is if a file is the reason.
const HELP: &str = "Call a version of the module without it, or keep a copy of the module in the repository.";

/// A package that no spelling of its source makes lockable.
pub(super) fn ambiguous(reason: String) -> Ambiguity {
    Ambiguity { reason, help: HELP.to_owned() }
}
