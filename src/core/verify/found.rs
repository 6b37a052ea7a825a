//! Where a finding becomes complete: its level by the settings, what exempts it, and the revision that its next step names.
//! Afterwards `verify` adds only the next steps of one root module, and whether `--fix` repairs it.

use std::time::{SystemTime, UNIX_EPOCH};

use super::Compared;
use crate::finding::{Finding, Level, Rule};
use crate::settings::{Exemption, Settings};
use crate::step::Hole;
use crate::version::Version;

/// Rules that settings cannot relax when a command writes: each has its own option to accept it, or none.
const UNMOVED: [Rule; 11] = [
    Rule::LockFileAltered,
    Rule::Republished,
    Rule::MirrorDiffers,
    Rule::SignerChanged,
    Rule::UnsignedAfterSigned,
    Rule::SignerDenied,
    Rule::FirstUseForbidden,
    Rule::ProvenanceChanged,
    Rule::ProvenanceVersion,
    Rule::ProvenanceInvalid,
    Rule::ProvenanceMissing,
];

/// Why the level that settings state for one of them does not count.
const NOT_LOWERED: &str = "the settings lower its level for commands that check, not for those that write";

/// What makes the findings of one place complete.
#[derive(Debug, Clone, Copy)]
pub struct Completion<'a> {
    /// The settings that apply there.
    pub settings: &'a Settings,
    /// The time of the run, which ends exemptions.
    pub now: SystemTime,
    /// What the change is judged by; `None` if no change is judged.
    pub base: Option<&'a Compared>,
    /// True for commands that write lock files.
    pub is_writing: bool,
}

impl<'a> Completion<'a> {
    /// For a command that checks what is there, without a change.
    pub fn checking(settings: &'a Settings, now: SystemTime) -> Self {
        Self { settings, now, base: None, is_writing: false }
    }

    /// For a command that writes.
    pub fn writing(settings: &'a Settings, now: SystemTime) -> Self {
        Self { is_writing: true, ..Self::checking(settings, now) }
    }

    /// The finding at its final level: as a note with the reason where it is exempt. `version` is that of the release it is about,
    /// if it is about one.
    ///
    /// A level in the settings replaces that of the rule, not one that circumstances or the policy have given.
    pub fn complete(&self, finding: Finding, version: Option<&Version>) -> Finding {
        if finding.is_settled() {
            return finding;
        }
        let finding = match self.base {
            Some(base) => finding.filled(Hole::Revision, base.short()),
            None => finding,
        };
        let mut stated = self.settings.level(finding.rule.id());
        if self.is_writing && finding.level() == Level::Deny && UNMOVED.contains(&finding.rule) {
            let is_lower = stated.is_some_and(|level| level < Level::Deny);
            let finding = if is_lower { finding.remarked(NOT_LOWERED) } else { finding };
            return finding.settled(None);
        }
        if self.is_writing && finding.rule == Rule::RequirementsUnread {
            // Hashes are completed however much was read.
            stated = stated.map(|level| level.min(Level::Warn));
        }
        let finding = finding.settled(stated);
        if finding.level() == Level::Note {
            return finding;
        }
        match self.settings.exemptions.iter().find(|exemption| self.covers(exemption, &finding, version)) {
            Some(exemption) => finding.let_pass(&reason(exemption)),
            None => finding,
        }
    }

    /// All of some findings, which are about no release.
    pub fn complete_all(&self, findings: Vec<Finding>) -> Vec<Finding> {
        findings.into_iter().map(|finding| self.complete(finding, None)).collect()
    }

    fn covers(&self, exemption: &Exemption, finding: &Finding, of: Option<&Version>) -> bool {
        let provider = exemption.providers.as_ref();
        let version = exemption.version.as_ref();
        let now = self.now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        exemption.rule == finding.rule.id()
            && exemption.advisory.as_ref().is_none_or(|id| finding.advisory.as_ref().is_some_and(|ids| ids.has(id)))
            && provider.is_none_or(|scope| finding.address.as_ref().is_some_and(|addr| scope.covers(addr)))
            && version.is_none_or(|version| of == Some(version))
            && exemption.until.is_none_or(|until| i64::try_from(now).is_ok_and(|now| now < until.unix_seconds()))
    }
}

fn reason(exemption: &Exemption) -> String {
    let reason = exemption.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let until = exemption.until.map(|until| format!(" until {until}")).unwrap_or_default();
    format!("exempt{until}{reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_lower_no_refusal_of_a_command_that_writes_and_it_says_so() {
        let text = "level \"signer-changed\" {\n  is = \"warn\"\n}\n";
        let settings = crate::settings::decode(text, ".tflock.hcl".as_ref()).unwrap();
        let found = || Finding::new(Rule::SignerChanged, "x");
        let checked = Completion::checking(&settings, UNIX_EPOCH).complete(found(), None);
        assert_eq!((checked.level(), checked.message()), (Level::Warn, "x"));
        let written = Completion::writing(&settings, UNIX_EPOCH).complete(found(), None);
        assert!(written.level() == Level::Deny && written.message().contains(NOT_LOWERED), "{written:?}");
        let same = crate::settings::decode("level \"signer-changed\" {\n  is = \"deny\"\n}\n", ".tflock.hcl".as_ref())
            .unwrap();
        assert_eq!(Completion::writing(&same, UNIX_EPOCH).complete(found(), None).message(), "x");
        let unstated = Completion::writing(&Settings::default(), UNIX_EPOCH).complete(found(), None);
        assert_eq!((unstated.level(), unstated.message()), (Level::Deny, "x"));
    }

    /// The level that circumstances give counts, even if it is that of the rule.
    #[test]
    fn settings_move_the_level_of_a_rule_and_no_other() {
        let text = "level \"mirror-only\" {\n  is = \"note\"\n}\n";
        let settings = crate::settings::decode(text, ".tflock.hcl".as_ref()).unwrap();
        let completion = Completion::checking(&settings, UNIX_EPOCH);
        let level = |finding: Finding| completion.complete(finding, None).level();
        let found = || Finding::new(Rule::MirrorOnly, "x");
        assert_eq!(level(found()), Level::Note);
        assert_eq!(level(found().unless_stated(Level::Deny)), Level::Note);
        for given in [Level::Note, Level::Warn, Level::Deny] {
            assert_eq!(level(found().at_level(given)), given);
        }
        assert_eq!(completion.complete(completion.complete(found(), None), None), completion.complete(found(), None));
    }
}
