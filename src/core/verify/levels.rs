//! What settings make of findings: levels and exemptions.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::finding::{Finding, Level};
use crate::settings::{Exemption, Settings};
use crate::version::Version;

/// The finding at the level of the settings; as a note with the reason where it is exempt at a time. `version` is that
/// of the release it is about, if it is about one.
///
/// A level in the settings replaces that of the rule, not one that circumstances or the policy have given.
pub fn leveled(finding: Finding, version: Option<&Version>, (settings, now): (&Settings, SystemTime)) -> Finding {
    let stated = settings.level(finding.rule.id());
    let level = if finding.level == finding.rule.level() { stated.unwrap_or(finding.level) } else { finding.level };
    let finding = Finding { level, ..finding };
    let mut exempt = settings.exemptions.iter().filter(|exemption| covers(exemption, &finding, version, now));
    let Some(exemption) = exempt.next().filter(|_| finding.level > Level::Note) else { return finding };
    let reason = exemption.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let until = exemption.until.map(|until| format!(" until {until}")).unwrap_or_default();
    let message = format!("{} (exempt{until}{reason})", finding.message);
    Finding { level: Level::Note, message, ..finding }
}

fn covers(exemption: &Exemption, finding: &Finding, of: Option<&Version>, now: SystemTime) -> bool {
    let provider = exemption.providers.as_ref();
    let version = exemption.version.as_ref();
    let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    exemption.rule == finding.rule.id()
        && exemption.advisory.as_ref().is_none_or(|id| finding.advisory.as_ref().is_some_and(|ids| ids.has(id)))
        && provider.is_none_or(|scope| finding.address.as_ref().is_some_and(|addr| scope.covers(addr)))
        && version.is_none_or(|version| of == Some(version))
        && exemption.until.is_none_or(|until| i64::try_from(now).is_ok_and(|now| now < until.unix_seconds()))
}
