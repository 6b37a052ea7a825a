//! The place of a build: read from a certificate, compared with a pin, learned from releases.

use std::collections::BTreeSet;
use std::fmt;

use super::repository::{BadRepository, Repository};
use super::{Build, BuiltBy};
use crate::version::Version;

/// What starts a workflow for the changes of strangers: anyone can have it run.
const OF_STRANGERS: [&str; 2] = ["pull_request", "pull_request_target"];

/// What no pin can say, or no certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPlace {
    #[error(transparent)]
    Repository(#[from] BadRepository),
    #[error("{0:?} is not the file of a workflow: expected .github/workflows/NAME.yml")]
    Workflow(String),
    #[error("{0:?} is not the workflow of a repository: expected github.com/OWNER/NAME/.github/workflows/NAME.yml")]
    Signer(String),
    #[error("{0:?} is not a ref that releases may be built from: expected refs/tags/*, a tag or a branch")]
    Ref(String),
    #[error("{0:?} cannot start a release: anyone can have such a workflow run")]
    Trigger(String),
    #[error("{0:?} is not the number of a repository or an owner")]
    Number(String),
    #[error("the certificate does not say {0}")]
    Claim(&'static str),
    #[error("the certificate names {0:?} as the issuer, not GitHub")]
    Issuer(String),
}

/// One way in which a build differs from the pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What differs, in words.
    pub what: &'static str,
    pub pinned: String,
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, pinned is {}", self.what, self.found, self.pinned)
    }
}

impl Build {
    /// Why no pin can accept such a build, if that is so.
    pub fn objection(&self) -> Option<BadPlace> {
        check_trigger(&self.trigger).and(check_ref(&self.git_ref)).err()
    }
}

/// The repository and the file of a workflow: `[https://]github.com/OWNER/NAME/.github/workflows/release.yml`.
pub(super) fn split(url: &str) -> Option<(Repository, &str)> {
    let path = url.strip_prefix("https://").unwrap_or(url);
    let at = path.find("/.github/workflows/")?;
    let (repository, file) = (path[..at].parse().ok()?, &path[at + 1..]);
    check_workflow(file).ok()?;
    Some((repository, file))
}

pub(crate) fn check_workflow(file: &str) -> Result<(), BadPlace> {
    let name = file.strip_prefix(".github/workflows/").unwrap_or_default();
    let is_file = !name.is_empty() && !name.contains(['/', '@', '\\']) && !name.contains(char::is_control);
    if is_file { Ok(()) } else { Err(BadPlace::Workflow(file.to_owned())) }
}

pub(crate) fn check_signer(signer: &str) -> Result<(), BadPlace> {
    let is_plain = !signer.contains('@') && !signer.starts_with("https:");
    split(signer).filter(|_| is_plain).map(|_| ()).ok_or_else(|| BadPlace::Signer(signer.to_owned()))
}

pub(crate) fn check_trigger(trigger: &str) -> Result<(), BadPlace> {
    let is_word = !trigger.is_empty() && trigger.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if is_word && !OF_STRANGERS.contains(&trigger) { Ok(()) } else { Err(BadPlace::Trigger(trigger.to_owned())) }
}

/// A tag or a branch. What is built for a pull request is anyone's.
pub(crate) fn check_ref(git_ref: &str) -> Result<(), BadPlace> {
    let name = git_ref.strip_prefix("refs/tags/").or(git_ref.strip_prefix("refs/heads/")).unwrap_or_default();
    let is_sound = !name.is_empty() && !name.contains(|c: char| c.is_control() || c == ' ');
    let stars = name.matches('*').count();
    let at_end = stars == 0 || stars == 1 && name.ends_with('*');
    if is_sound && at_end { Ok(()) } else { Err(BadPlace::Ref(git_ref.to_owned())) }
}

pub(crate) fn check_number(number: &str) -> Result<(), BadPlace> {
    let is_number = (1..=20).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    if is_number { Ok(()) } else { Err(BadPlace::Number(number.to_owned())) }
}

impl BuiltBy {
    /// In what a build differs from the pin; nothing if it is the pinned place. Another name of the same repository is no
    /// difference.
    pub fn differences(&self, build: &Build) -> Vec<Difference> {
        let differs = |what, is_same: bool, pinned: &str, found: &str| {
            (!is_same).then(|| Difference { what, pinned: pinned.to_owned(), found: found.to_owned() })
        };
        let number = |what, pinned: &str, found: &str| differs(what, pinned == found, pinned, found);
        // The names say where to look; the numbers decide.
        let [pinned, found] = [(&self.repository, &self.repository_id), (&build.repository, &build.repository_id)]
            .map(|(name, number)| format!("github.com/{name} (number {number})"));
        let signers = [&self.signer, &build.signer].map(|it| it.as_deref().unwrap_or("the workflow itself"));
        let triggers: Vec<&str> = self.triggers.iter().map(String::as_str).collect();
        let all = [
            differs("the repository", self.repository_id == build.repository_id, &pinned, &found),
            number("the number of its owner", &self.owner_id, &build.owner_id),
            differs("the workflow", self.workflow == build.workflow, &self.workflow, &build.workflow),
            differs("the signing workflow", self.signs(build), signers[0], signers[1]),
            differs("the ref", self.allows_ref(&build.git_ref), &self.git_ref, &build.git_ref),
            differs("the trigger", self.triggers.contains(&build.trigger), &triggers.join(" or "), &build.trigger),
        ];
        all.into_iter().flatten().collect()
    }

    /// True if another pin accepts the same builds, or fewer because it is older; why it was changed does not matter.
    pub fn is_same_place(&self, other: &Self) -> bool {
        let plain = |pin: &Self| Self { reason: None, pinned_on: None, ..pin.clone() };
        let is_older = match (self.pinned_on, other.pinned_on) {
            (Some(own), Some(other)) => other <= own,
            (own, _) => own.is_none(),
        };
        plain(self) == plain(other) && is_older
    }

    /// True if the repository is the pinned one by its numbers, and has another name now.
    pub fn is_renamed(&self, build: &Build) -> bool {
        !self.repository.is(&build.repository)
    }

    /// The workflow that signed, with its repository: the pinned repository may have another name now.
    fn signs(&self, build: &Build) -> bool {
        let (Some(pinned), Some(found)) = (&self.signer, &build.signer) else {
            return self.signer == build.signer;
        };
        let (Some((pinned, file)), Some((found, found_file))) = (split(pinned), split(found)) else { return false };
        let is_own = pinned.is(&self.repository) && found.is(&build.repository);
        file == found_file && (is_own || pinned.is(&found))
    }

    fn allows_ref(&self, git_ref: &str) -> bool {
        if check_ref(git_ref).is_err() || git_ref.contains('*') {
            return false;
        }
        match self.git_ref.strip_suffix('*') {
            Some(start) => git_ref.starts_with(start),
            None => git_ref == self.git_ref,
        }
    }
}

/// The place that some releases have in common.
///
/// # Errors
///
/// The places, if they were built in different ones.
pub fn learn<'b>(builds: impl IntoIterator<Item = (&'b Version, &'b Build)>) -> Result<Option<BuiltBy>, Vec<String>> {
    let mut builds: Vec<(&Version, &Build)> = builds.into_iter().collect();
    builds.sort_by_key(|(version, _)| *version);
    let (Some((since, _)), Some((_, newest))) = (builds.first(), builds.last()) else { return Ok(None) };
    let is_tag = |build: &Build| build.tag().is_some();
    let same = |build: &Build| {
        build.repository_id == newest.repository_id
            && build.owner_id == newest.owner_id
            && build.workflow == newest.workflow
            && (build.signer == newest.signer || build.repository != newest.repository)
            && (build.git_ref == newest.git_ref || is_tag(build) && is_tag(newest))
    };
    if !builds.iter().all(|(_, build)| same(build)) {
        let places = builds.iter().map(|(version, build)| format!("{version}: {}", build.place()));
        return Err(places.collect());
    }
    let triggers: BTreeSet<String> = builds.iter().map(|(_, build)| build.trigger.clone()).collect();
    Ok(Some(BuiltBy {
        repository: newest.repository.clone(),
        repository_id: newest.repository_id.clone(),
        owner_id: newest.owner_id.clone(),
        workflow: newest.workflow.clone(),
        signer: newest.signer.clone(),
        git_ref: if is_tag(newest) { "refs/tags/*".to_owned() } else { newest.git_ref.clone() },
        triggers,
        since: (*since).clone(),
        pinned_on: None,
        reason: None,
    }))
}

impl fmt::Display for BuiltBy {
    /// The place in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { repository, repository_id, owner_id, workflow, git_ref, since, .. } = self;
        let pinned_on = self.pinned_on.map(|date| format!(", pinned on {date}")).unwrap_or_default();
        let signer = self.signer.as_ref().map(|signer| format!(" signed by {signer}")).unwrap_or_default();
        let triggers: Vec<&str> = self.triggers.iter().map(String::as_str).collect();
        write!(
            f,
            "{workflow}{signer} of github.com/{repository} (number {repository_id}, owner {owner_id}) from {git_ref} on {} since {since}{pinned_on}",
            triggers.join(" or ")
        )
    }
}

impl Build {
    /// The place in one line.
    pub fn place(&self) -> String {
        let signer = self.signer.as_ref().map(|signer| format!(", signed by {signer}")).unwrap_or_default();
        let Self { repository, repository_id, workflow, git_ref, trigger, .. } = self;
        format!("github.com/{repository} (number {repository_id}), {workflow}{signer}, {git_ref}, {trigger}")
    }
}
