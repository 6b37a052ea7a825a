//! What is judged about a release as a whole: is it there, who signed it, how old is it.

use super::hashes::status;
use super::{Judged, policy};
use crate::finding::{Finding, Level, Rule};
use crate::hash::PackageHash;
use crate::release::hashes::Status;
use crate::release::signers::verdict;
use crate::release::{Lookup, Release, mirrors};
use crate::settings::{Basis, SignatureRule};
use crate::trust::judge::{Verdict, judge};
use crate::trust::pins::Signer;
use crate::trust::words::{all, by, by_signer, not_pinned, refused};

/// What to do where the word of a mirror does not suffice.
const SIGNED_COPIES: &str = "If the origin registry is reachable, verify with `--source origin`; or let the mirror keep the copies of the signed documents that `tflock mirror` writes, and the trust file the signer.";

impl Judged<'_> {
    pub(super) fn release(&self) -> Vec<Finding> {
        match self.knowledge {
            Lookup::NotRequested | Lookup::Inconclusive(_) => Vec::new(),
            Lookup::Withdrawn(message) => {
                vec![self.find(Rule::VersionWithdrawn, message).at(self.version_at())]
            }
            Lookup::Refused(finding, _) => vec![finding.clone().about(self.addr).at(self.version_at())],
            Lookup::Known(release) => {
                let noticed = release.findings.iter().map(|finding| finding.clone().at(self.version_at()));
                let mut findings: Vec<Finding> = noticed.collect();
                findings.extend(self.signer(release));
                findings.extend(self.publisher(release));
                findings.extend(self.mirror(release));
                findings.extend(self.age(release));
                findings
            }
        }
    }

    /// Objections to a release that only a mirror attests.
    fn mirror(&self, release: &Release) -> Vec<Finding> {
        let stated = self.subject.settings.stated_signature(self.addr.host()) == Some(SignatureRule::Always);
        let unsigned = mirrors::unsigned(release).filter(|_| stated);
        let unproven = unsigned.or_else(|| self.mirror_only(release));
        let findings = mirrors::differs(release, &self.entry.hashes).into_iter().chain(unproven);
        findings.map(|finding| finding.at(self.version_at())).collect()
    }

    /// What came with a change and rests on the word of a mirror alone: refused where the change could have filled the mirror,
    /// and where the trust file says by whom releases are signed. What a key signed that no trust file remembers is the word
    /// of who has the key.
    fn mirror_only(&self, release: &Release) -> Option<Finding> {
        let within = self.facts.is_served_within(self.addr);
        let is_word = |hash: &&PackageHash| {
            let is_word = mirrors::is_mirror_report(release, hash) || (within && self.subject.pins.is_none());
            is_word && matches!(status(self.knowledge, hash), Status::Proven(_))
        };
        let what = match self.came().filter(is_word).count() {
            0 => return None,
            1 => "1 hash".to_owned(),
            count => format!("{count} hashes"),
        };
        let pinned = self.subject.pins.map(|pins| judge(pins, self.addr, &self.entry.version, &Signer::Unsigned));
        let refused = match pinned {
            _ if within => ", which is inside the working tree, so this change could have filled it".to_owned(),
            None | Some(Verdict::Known(_)) => String::new(),
            Some(Verdict::UnsignedAfterSigned { pin, accepted }) => {
                format!(", which has no copy of the signature; {pin} is pinned to {}", all(&accepted))
            }
            Some(_) => ", which has no copy of a signature, and no signer of this provider is remembered".to_owned(),
        };
        let message = format!("{what} of {} came since the base and only a mirror attests them{refused}", self.name());
        let finding = self.find(Rule::MirrorOnly, message);
        if refused.is_empty() {
            return Some(finding);
        }
        Some(Finding { level: Level::Deny, ..finding }.remedied_by(SIGNED_COPIES))
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

    /// Under a base for changed entries only: what was there before is no matter of the change.
    fn publisher(&self, release: &Release) -> Option<Finding> {
        let signer = release.signer.as_ref()?;
        let is_concerned = self.subject.before.is_none() || self.is_changed();
        let unexpected = || policy::unexpected_publisher(self.subject.pins, self.addr, signer);
        let finding = is_concerned.then(unexpected).flatten()?;
        Some(finding.of_version(&self.entry.version).at(self.version_at()))
    }

    fn age(&self, release: &Release) -> Option<Finding> {
        let objection = self.objections(release.signed_at).into_iter().find(|it| it.basis == Basis::Date)?;
        Some(objection.finding(self.addr).of_version(&self.entry.version).at(self.version_at()))
    }
}
