//! Where a release was built, as its release workflow attests it and a public log records it.
//!
//! ```text
//! bundle ──[bundle]──► Attestation: subjects, Build ──[judge]──► findings
//!                            │                            ▲
//!                            └──[place]──► BuiltBy, the pin ┘
//! ```
//!
//! A signing key says who signed a release, not where it was built. What decides here is the certificate of an attestation, the
//! files that it lists and the type of its statement, never what the statement goes on to say: that is the workflow's own word.
//! The folder sends no request and reads no files. The word Sigstore is known to it alone. Without the feature `provenance` no bundle
//! is verified, so nothing is attested.

mod attestation;
#[cfg(feature = "provenance")]
mod bundle;
#[cfg(feature = "provenance")]
mod crypto;
mod judge;
mod naming;
mod place;
mod repository;

pub use attestation::{Attestation, AttestedFile, InvalidBundle, LONGEST_BUNDLE, PREDICATE_TYPE};
#[cfg(feature = "provenance")]
pub use bundle::{TrustedRoot, verify};
pub use judge::{Attested, Judged, Question, judge, others};
pub use place::{BadPlace, Difference, learn};
pub(crate) use place::{check_number, check_ref, check_signer, check_trigger, check_workflow};
pub use repository::{BadRepository, Repository};

use std::collections::BTreeSet;

use crate::settings::Date;
use crate::version::Version;

/// Where a release was built: what the certificate of its attestation says.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct Build {
    pub repository: Repository,
    /// The number of the repository. It stays when the repository is renamed, and one that is created again gets another.
    pub repository_id: String,
    /// The number of its owner.
    pub owner_id: String,
    /// The file of the workflow that ran, within the repository.
    pub workflow: String,
    /// The workflow file that signed, with its repository, if it is another one: a reusable workflow.
    pub signer: Option<String>,
    /// What was built, such as `refs/tags/v1.2.3`.
    #[serde(rename = "ref")]
    pub git_ref: String,
    /// What started the workflow, such as `push`.
    pub trigger: String,
    /// The commit that was built.
    pub commit: String,
    /// The page of the run.
    pub run: Option<String>,
}

/// Where the release of a change was built, and the one before it, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildChange {
    pub new: Build,
    pub old: Option<Build>,
}

impl BuildChange {
    /// The page that compares the commits of both releases, if they are of one repository.
    pub fn comparison(&self) -> Option<String> {
        let (old, new) = (self.old.as_ref()?, &self.new);
        let is_comparable = new.repository_id == old.repository_id && new.commit != old.commit;
        let url = || format!("https://github.com/{}/compare/{}...{}", new.repository, old.commit, new.commit);
        is_comparable.then(url)
    }
}

/// The pin: where releases of a provider must have been built.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize)]
pub struct BuiltBy {
    pub repository: Repository,
    pub repository_id: String,
    pub owner_id: String,
    pub workflow: String,
    pub signer: Option<String>,
    /// A ref, or the beginning of refs with a `*` behind it.
    #[serde(rename = "ref")]
    pub git_ref: String,
    /// What may start the workflow; not empty.
    pub triggers: BTreeSet<String>,
    /// The oldest release that was found attested: older ones need only their signer, unless they were signed after the pin was made.
    pub since: Version,
    /// When the pin was made; `None` if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned_on: Option<Date>,
    /// Why the place was changed.
    pub reason: Option<String>,
}

impl Build {
    /// The tag that was built.
    pub fn tag(&self) -> Option<&str> {
        self.git_ref.strip_prefix("refs/tags/")
    }

    /// The page of the commit.
    pub fn commit_url(&self) -> String {
        format!("https://github.com/{}/commit/{}", self.repository, self.commit)
    }
}
