//! What sources offer: versions of registries, tags of repositories. No package is fetched.

use super::address::Method;
use super::fetch::{Fetcher, address_of};
use super::git_package;
use super::wanted::Wanted;
use crate::config::{ModuleSource, RegistryModule};
use crate::error::Error;
use crate::modulelock::Offered;

impl Fetcher {
    /// What the source of a call offers now, each requested once a run.
    pub async fn offered(&self, wanted: &Wanted) -> Result<Offered, Error> {
        match &wanted.source {
            ModuleSource::Registry(module) => {
                let package = RegistryModule { subdir: String::new(), ..module.clone() };
                Ok(Offered::Versions(self.listed(&package, wanted, true).await?.to_vec()))
            }
            ModuleSource::Remote(module) => {
                let address = address_of(module, wanted)?;
                if address.method != Method::Git {
                    return Ok(Offered::Fixed);
                }
                self.online(&address.package())?;
                let (access, key) = (self.git_access(wanted), wanted.shared(address.url.as_str()));
                let work = move || git_package::offered(&access, &address);
                self.offers.answer(key, self.by_git(work)).await
            }
            ModuleSource::Local(_) => Ok(Offered::Fixed),
        }
    }
}
