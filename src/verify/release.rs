//! What is judged about a release as a whole: is it there, who signed it, how old is it.

use super::Judged;
use crate::finding::{Finding, Rule};
use crate::release::signers::verdict;
use crate::release::{Knowledge, Release, mirrors};
use crate::settings::SignatureRule;
use crate::trust::judge::Verdict;
use crate::trust::words::{by, by_signer, not_pinned, refused};

impl Judged<'_> {
    /// Availability, signer and age.
    pub(super) fn release(&self) -> Vec<Finding> {
        match self.knowledge {
            Knowledge::Unasked | Knowledge::Inconclusive(_) => Vec::new(),
            Knowledge::Withdrawn(message) => {
                vec![self.find(Rule::VersionWithdrawn, message).at(self.version_at())]
            }
            Knowledge::Refused(finding) => vec![finding.clone().about(self.addr).at(self.version_at())],
            Knowledge::Revoked(finding, _) => vec![(**finding).clone().about(self.addr).at(self.version_at())],
            Knowledge::Known(release) => {
                let noticed = release.findings.iter().map(|finding| finding.clone().at(self.version_at()));
                let mut findings: Vec<Finding> = noticed.collect();
                findings.extend(self.signer(release));
                findings.extend(self.mirror(release));
                findings.extend(self.age(release));
                findings
            }
        }
    }

    /// What speaks against a release that only a mirror vouches for.
    fn mirror(&self, release: &Release) -> Vec<Finding> {
        let stated = self.subject.settings.policy.signature == Some(SignatureRule::Always);
        let unsigned = mirrors::unsigned(release).filter(|_| stated);
        let findings = mirrors::differs(release, &self.entry.hashes).into_iter().chain(unsigned);
        findings.map(|finding| finding.at(self.version_at())).collect()
    }

    fn signer(&self, release: &Release) -> Option<Finding> {
        let signer = release.signer.as_ref()?;
        let Some(pins) = self.subject.pins else {
            let message = format!("{} is {}; there is no trust file that would remember it", self.name(), by(signer));
            let finding = by_signer(self.find(Rule::SignerNotPinned, message), signer);
            return Some(Self::noted(finding).at(self.version_at()));
        };
        let finding = match verdict(pins, release, signer) {
            Verdict::FirstUse => Some(not_pinned(self.addr, &release.version, signer)),
            verdict => refused(self.addr, &release.version, signer, verdict),
        };
        finding.map(|finding| finding.at(self.version_at()))
    }

    fn age(&self, release: &Release) -> Option<Finding> {
        let wanted = self.subject.settings.policy.minimum_age?;
        let first = self.subject.first_seen.and_then(|seen| seen.get(self.addr)).copied();
        let since = release.signed_at.max(first)?;
        // What lies in the future has no age.
        let age = self.subject.now.duration_since(since).unwrap_or_default();
        if age >= wanted.duration() {
            return None;
        }
        let hours = age.as_secs() / 3600;
        let what = if first == Some(since) {
            format!("was first recorded {hours} h ago, by the history of the base")
        } else {
            format!("was signed {hours} h ago, which is the signer's word")
        };
        let message = format!("{} {what}; the policy wants an age of {wanted}", self.name());
        Some(self.find(Rule::TooYoung, message).at(self.version_at()))
    }
}
