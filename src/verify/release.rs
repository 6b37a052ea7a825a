//! What is judged about a release as a whole: is it there, who signed it, how old is it.

use std::collections::BTreeSet;

use super::{Judged, Knowledge, Release};
use crate::finding::{Finding, Rule};
use crate::trust::judge::{Verdict, denied, judge};
use crate::trust::pins::Signer;

impl Judged<'_> {
    /// Availability, signer and age.
    pub(super) fn release(&self) -> Vec<Finding> {
        match self.knowledge {
            Knowledge::Unasked | Knowledge::Inconclusive(_) => Vec::new(),
            Knowledge::Withdrawn(message) => {
                vec![self.find(Rule::VersionWithdrawn, message).at(self.version_at())]
            }
            Knowledge::Refused(finding) => vec![finding.clone().about(self.addr).at(self.version_at())],
            Knowledge::Known(release) => {
                let noticed = release.findings.iter().map(|finding| finding.clone().at(self.version_at()));
                let mut findings: Vec<Finding> = noticed.collect();
                findings.extend(self.signer(release));
                findings.extend(self.age(release));
                findings
            }
        }
    }

    fn signer(&self, release: &Release) -> Option<Finding> {
        let name = self.name();
        let signer = shown(&release.signer);
        let Some(pins) = self.subject.pins else {
            let message = format!("{name} is {signer}; there is no trust file that would remember it");
            return Some(Self::noted(self.find(Rule::SignerNotPinned, message)).at(self.version_at()));
        };
        let of_subkey = denied(pins, release.subkey.as_ref());
        let verdict = of_subkey.unwrap_or_else(|| judge(pins, self.addr, &release.version, &release.signer));
        let (rule, message) = match verdict {
            Verdict::Known(_) => return None,
            Verdict::FirstUse => {
                (Rule::SignerNotPinned, format!("{name} is {signer}, but no signer of this provider is remembered"))
            }
            Verdict::KeyChanged { pin, accepted } => {
                (Rule::SignerChanged, format!("{name} is {signer}; {pin} is pinned to {}", all(&accepted)))
            }
            Verdict::Retired { pin, accepted } => {
                let what = "a signer that was replaced since and does not count for this version";
                (Rule::SignerChanged, format!("{name} is {signer}, {what}; {pin} is pinned to {}", all(&accepted)))
            }
            Verdict::UnsignedAfterSigned { pin, accepted } => {
                (Rule::UnsignedAfterSigned, format!("{name} is not signed; {pin} is pinned to {}", all(&accepted)))
            }
            Verdict::Denied { key, reason } => {
                (Rule::SignerDenied, format!("{name} is signed by {key}, which is denied: {reason}"))
            }
        };
        Some(self.find(rule, message).at(self.version_at()))
    }

    fn age(&self, release: &Release) -> Option<Finding> {
        let wanted = self.subject.settings.policy.minimum_age?;
        // What lies in the future has no age.
        let age = self.subject.now.duration_since(release.signed_at?).unwrap_or_default();
        if age >= wanted.duration() {
            return None;
        }
        let message =
            format!("{} was signed {} h ago; the policy wants an age of {wanted}", self.name(), age.as_secs() / 3600);
        Some(self.find(Rule::TooYoung, message).at(self.version_at()))
    }
}

fn shown(signer: &Signer) -> String {
    match signer {
        Signer::Key(key) => format!("signed by {key}"),
        Signer::Unsigned => "not signed".to_owned(),
    }
}

pub(super) fn all(signers: &BTreeSet<Signer>) -> String {
    let texts: Vec<String> = signers.iter().map(ToString::to_string).collect();
    texts.join(", ")
}
