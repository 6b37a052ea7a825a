//! What others computed: entries of the index that were imported. They spare downloads where rules let them, and are
//! held to what is computed here.

use std::sync::Arc;

use super::Gatherer;
use crate::addr::ProviderAddr;
use crate::engine::facts::Selected;
use crate::engine::rules::Rules;
use crate::evidence::Evidence;
use crate::finding::{Finding, Rule};
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;
use crate::release::Vouched;
use crate::version::Version;

/// What imported entries are reported by.
const IMPORT: &str = "import";

impl Gatherer {
    /// The `h1:` of an archive as an import reports it; none where the rules want none.
    pub(super) fn reported_h1(&self, zh: &Sha256Digest, rules: &Rules) -> Option<PackageHash> {
        self.cache.imported_h1_of(zh).map(|(h1, _)| h1).filter(|_| rules.imported)
    }

    /// Says of the packages of a release whose `h1:` is the word of an index that it is.
    pub(super) fn attribute_to_indexes(&self, known: &mut Selected, rules: &Rules) {
        for (platform, package) in known.packages.iter().filter(|(_, package)| !package.computed) {
            let Some((zh, own)) = package.zh.zip(package.h1.as_ref()) else { continue };
            if self.reported_h1(&zh, rules).as_ref() == Some(own) {
                let (platform, evidence) = (Some(platform.clone()), Evidence::ReportedByIndex(Arc::from(IMPORT)));
                known.release.h1.entry(own.clone()).or_insert(Vouched { platform, evidence });
            }
        }
    }

    /// Where what others report of archives is not what was computed here.
    pub(super) fn against_reports(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        archives: impl Iterator<Item = (Platform, Sha256Digest)>,
    ) -> Vec<Finding> {
        let contradiction = |(platform, zh): (Platform, Sha256Digest)| {
            let ((own, _), (reported, _)) = (self.cache.h1_of(&zh)?, self.cache.imported_h1_of(&zh)?);
            let message = format!(
                "an import gives {reported} for the archive of {addr} {version} for {platform}, which has {own}"
            );
            (own != reported).then(|| Finding::new(Rule::IndexDiffers, message).about(addr))
        };
        archives.filter_map(contradiction).collect()
    }
}
