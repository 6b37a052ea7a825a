//! Was a release built where its provider's releases are built?

use std::collections::{BTreeMap, BTreeSet};

use super::attestation::{Attestation, InvalidBundle};
use super::naming::{Conventional, NamedVersion, without_extension};
use super::place::Difference;
use super::{Build, BuiltBy};
use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::hash::Sha256Digest;
use crate::version::Version;
use crate::words::{counted, first_of};

/// What is known of the attestations of a release.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attested {
    /// The verified ones.
    pub attestations: Vec<Attestation>,
    /// Why others prove nothing, each with the archive that it was found for.
    pub invalid: Vec<(Sha256Digest, InvalidBundle)>,
    /// The archives for which all attestations are known.
    pub asked: BTreeSet<Sha256Digest>,
    /// Why not all archives could be asked about.
    pub unanswered: Option<Error>,
}

/// The day from which the newest of Sigstore's keys counts.
#[cfg(feature = "provenance")]
fn day_of_keys() -> &'static str {
    super::TrustedRoot::in_use().date()
}

/// Nothing is verified here, so nothing is invalid.
#[cfg(not(feature = "provenance"))]
fn day_of_keys() -> &'static str {
    "no day"
}

/// What is judged: the archives of a release, and the pin of its provider.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub addr: &'a ProviderAddr,
    pub version: &'a Version,
    /// The archives by their names in the signed checksums.
    pub archives: &'a BTreeSet<(String, Sha256Digest)>,
    pub pin: &'a BuiltBy,
}

/// What follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// Where the release was built, if all is well.
    pub build: Option<Build>,
    pub findings: Vec<Finding>,
    /// Why it is not known.
    pub unknown: Option<Error>,
}

/// What was found for one archive; ordered by what is reported first.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Proof<'a> {
    Built(&'a Build),
    /// The same, under an unusual name.
    Unnamed(&'a Build, &'a str),
    Changed(String),
    /// As what it is attested.
    Other(String),
    Invalid(&'a InvalidBundle),
    Missing,
}

impl Attested {
    /// Takes in a bundle that was found for an archive.
    pub fn take_in(&mut self, verified: Result<Option<Attestation>, InvalidBundle>, archive: &Sha256Digest) {
        match verified {
            Ok(attestation) => self.attestations.extend(attestation),
            Err(invalid) => self.invalid.push((*archive, invalid)),
        }
    }

    /// The archives that no attestation lists.
    pub fn uncovered<'a>(
        &'a self,
        archives: &'a BTreeSet<(String, Sha256Digest)>,
    ) -> impl Iterator<Item = &'a Sha256Digest> {
        let listed = |digest: &Sha256Digest| {
            self.attestations.iter().flat_map(|it| &it.subjects).any(|subject| subject.digest == *digest)
        };
        archives.iter().map(|(_, digest)| digest).filter(move |digest| !listed(digest))
    }

    /// Where the release was built, as far as attestations say that of all its archives under their names: each place once.
    pub fn builds(&self, version: &Version, archives: &BTreeSet<(String, Sha256Digest)>) -> Vec<&Build> {
        let lists_all = |(attestation, build): &(&Attestation, &Build)| {
            archives.iter().all(|(name, digest)| {
                let mut of_it = attestation.subjects.iter().filter(|subject| subject.digest == *digest);
                of_it.any(|subject| {
                    matches!(named(build, version, name, &subject.name), Proof::Built(_) | Proof::Unnamed(..))
                })
            })
        };
        let built = self.attestations.iter().filter_map(|it| Some((it, it.build.as_ref().ok()?)));
        let sound = built.filter(|(_, build)| build.objection().is_none()).filter(lists_all);
        let mut builds: Vec<&Build> = sound.map(|(_, build)| build).collect();
        builds.sort();
        builds.dedup_by_key(|build| build.place());
        builds
    }
}

/// Judges the archives of a release by a pin.
pub fn judge(question: &Question<'_>, attested: &Attested) -> Judged {
    let Question { addr, version, archives, pin } = *question;
    let mut judged = Judged::default();
    let name = format!("{addr} {version}");
    let find = |rule, message: String| Finding::new(rule, message).about(addr).of_version(version);
    let (mut open, mut unasked) = (false, Vec::new());
    let mut against = Against::new();
    for (archive, digest) in archives {
        match prove(question, attested, archive, digest) {
            Proof::Built(build) => drop(judged.build.get_or_insert_with(|| build.clone())),
            Proof::Unnamed(build, subject) => {
                judged.build.get_or_insert_with(|| build.clone());
                let message = format!(
                    "{archive} of {name} is attested as {subject:?}, which is not the usual name of its archive"
                );
                judged.findings.push(find(Rule::ProvenanceVersion, message).at_level(Level::Warn));
            }
            Proof::Changed(why) => object(&mut against, Rule::ProvenanceChanged, archive, why),
            Proof::Other(why) => object(&mut against, Rule::ProvenanceVersion, archive, why),
            Proof::Invalid(why) => object(&mut against, Rule::ProvenanceInvalid, archive, why.to_string()),
            Proof::Missing if attested.unanswered.is_some() => open = true,
            Proof::Missing if !attested.asked.contains(digest) => unasked.push(archive.as_str()),
            Proof::Missing => object(&mut against, Rule::ProvenanceMissing, archive, String::new()),
        }
    }
    // Nobody asks on once something is wrong; but what nobody asked about proves nothing.
    if against.is_empty() {
        for archive in unasked {
            object(&mut against, Rule::ProvenanceMissing, archive, String::new());
        }
    }
    if archives.is_empty() && attested.unanswered.is_none() {
        judged.findings.push(find(Rule::ProvenanceMissing, format!("the source of {name} names no archive of it")));
    }
    if !against.is_empty() {
        judged.build = None;
    }
    for (rule, (names, why)) in against {
        let which = if names.len() == archives.len() { String::new() } else { format!(" ({})", first_of(&names, 3)) };
        let message = match rule {
            Rule::ProvenanceChanged => format!("{name} was not built where it is pinned{which}: {why}"),
            Rule::ProvenanceVersion => format!("{name} is attested as something else{which}: {why}"),
            Rule::ProvenanceInvalid => format!(
                "an attestation of {name} does not verify{which}: {why}; judged by Sigstore's keys of {}",
                day_of_keys()
            ),
            _ => format!(
                "nothing attests where {} of {name} {} built: {}",
                counted(names.len(), "archive"),
                if names.len() == 1 { "was" } else { "were" },
                first_of(&names, 3)
            ),
        };
        judged.findings.push(find(rule, message));
    }
    if let (true, Some(error)) = (open || archives.is_empty(), &attested.unanswered) {
        judged.build = None;
        judged.unknown = Some(error.clone());
        let message = format!("where {name} was built could not be found out");
        judged.findings.push(find(Rule::ProvenanceUnknown, message));
    }
    if let Some(build) = judged.build.as_ref().filter(|build| pin.is_renamed(build)) {
        let message = format!(
            "the repository that {addr} is built from is now github.com/{}, pinned as github.com/{}; \
             `tflock trust rotate {addr} --provenance --reason TEXT` records the new name",
            build.repository, pin.repository
        );
        judged.findings.push(find(Rule::ProvenanceChanged, message).at_level(Level::Note));
    }
    judged
}

/// Why the other attestations of an accepted release do not match; nothing if the release is not accepted.
pub fn others(question: &Question<'_>, attested: &Attested) -> BTreeSet<String> {
    if judge(question, attested).build.is_none() {
        return BTreeSet::new();
    }
    let of_archives = question.archives.iter();
    let proofs = of_archives.flat_map(|(archive, digest)| proofs(question, attested, archive, digest));
    let why = |proof| match proof {
        Proof::Changed(why) | Proof::Other(why) => Some(why),
        Proof::Invalid(invalid) => Some(invalid.to_string()),
        Proof::Built(_) | Proof::Unnamed(..) | Proof::Missing => None,
    };
    proofs.filter_map(why).collect()
}

/// The archives that a rule is broken for, with why it is for the first of them.
type Against<'a> = BTreeMap<Rule, (Vec<&'a str>, String)>;

fn object<'a>(against: &mut Against<'a>, rule: Rule, archive: &'a str, why: String) {
    against.entry(rule).or_insert((Vec::new(), why)).0.push(archive);
}

impl Proof<'_> {
    fn rank(&self) -> u8 {
        match self {
            Proof::Built(_) => 5,
            Proof::Unnamed(..) => 4,
            Proof::Changed(_) => 3,
            Proof::Other(_) => 2,
            Proof::Invalid(_) => 1,
            Proof::Missing => 0,
        }
    }
}

/// The best that attestations say of one archive; if none says that it is as it must be, the worst.
fn prove<'a>(question: &Question<'_>, attested: &'a Attested, archive: &str, digest: &Sha256Digest) -> Proof<'a> {
    let better = |best: Proof<'a>, proof: Proof<'a>| if proof.rank() > best.rank() { proof } else { best };
    proofs(question, attested, archive, digest).into_iter().fold(Proof::Missing, better)
}

/// What each attestation says of one archive.
fn proofs<'a>(question: &Question<'_>, attested: &'a Attested, archive: &str, digest: &Sha256Digest) -> Vec<Proof<'a>> {
    let listing = attested.attestations.iter().flat_map(|attestation| {
        let subjects = attestation.subjects.iter().filter(|subject| subject.digest == *digest);
        subjects.map(|subject| (&attestation.build, subject))
    });
    let said = listing.map(|(build, subject)| match build {
        Err(bad) => Proof::Changed(bad.to_string()),
        Ok(build) => match question.pin.differences(build)[..] {
            [] => named(build, question.version, archive, &subject.name),
            ref differences => Proof::Changed(listed(differences)),
        },
    });
    let invalid = attested.invalid.iter().filter(|(of, _)| of == digest).map(|(_, invalid)| Proof::Invalid(invalid));
    said.chain(invalid).collect()
}

fn listed(differences: &[Difference]) -> String {
    differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Whether an archive of the pinned place is attested as what it is offered as. Its name or the tag must say the version, and
/// neither may say another one.
fn named<'a>(build: &'a Build, version: &Version, archive: &str, subject: &'a str) -> Proof<'a> {
    // What was built may be in a directory.
    let file = subject.rsplit('/').next().unwrap_or(subject);
    let of_tag = build.tag().and_then(NamedVersion::last_in);
    let of_name = NamedVersion::last_in(without_extension(file));
    let is_another = |named: &Option<NamedVersion>| named.as_ref().is_some_and(|named| !named.is(version));
    if let Some(tag) = build.tag().filter(|_| is_another(&of_tag)) {
        return Proof::Other(format!("it was built from the tag {tag}"));
    }
    let is_of_another = match (Conventional::of(file), Conventional::of(archive)) {
        (Some(attested), Some(offered)) => attested != offered,
        _ => is_another(&of_name),
    };
    if is_of_another {
        return Proof::Other(format!("{archive} is attested as {subject}"));
    }
    if of_tag.is_none() && of_name.is_none() {
        let git_ref = &build.git_ref;
        return Proof::Other(format!(
            "{archive} is attested as {subject}, and neither that nor {git_ref} names a version"
        ));
    }
    if file == archive { Proof::Built(build) } else { Proof::Unnamed(build, subject) }
}

#[cfg(test)]
mod tests;
