//! Whether a release was built where its provider's releases are built, by the pin and the settings.

use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::provenance::{Judged, Question, judge};
use crate::release::Release;
use crate::settings::{Date, Settings};
use crate::trust::pins::Pins;

/// Judges a release by what is remembered of its provider and what the settings demand. Releases that are older than the first
/// attested one need only their signer, unless the settings demand provenance of all, or they were signed after the pin was made: a
/// line of releases that goes on below the pin must not be the way around it.
pub fn judge_release(pins: Option<&Pins>, settings: &Settings, release: &Release) -> Judged {
    let (addr, version) = (&release.address, &release.version);
    let is_required = settings.requires_provenance(addr);
    let pin = pins.and_then(|pins| pins.pin(addr)).and_then(|(_, pin)| pin.built_by.as_deref());
    let Some(pin) = pin else {
        let message =
            format!("the settings demand provenance of {addr} {version}, and no place is pinned where it is built");
        let finding = Finding::new(Rule::ProvenanceMissing, message).about(addr).of_version(version);
        let finding = finding.remedied_by(step!(
            "`tflock trust add {} {}` looks it up and pins it.",
            addr.to_string(),
            format!("--provenance={version}")
        ));
        return Judged { findings: is_required.then_some(finding).into_iter().collect(), ..Judged::default() };
    };
    let signed_on = release.signed_at.map(Date::of);
    let is_later = signed_on.zip(pin.pinned_on).is_some_and(|(signed, pinned)| signed > pinned);
    if *version < pin.since && !is_required && !is_later {
        return Judged::default();
    }
    let archives = release.named_archives();
    match &release.attested {
        Some(attested) => judge(&Question { addr, version, archives: &archives, pin }, attested),
        // What an earlier run saw of it, and nobody asked on.
        None if !release.current => Judged::default(),
        None => {
            let message = format!("the provenance of {addr} {version} was not checked");
            let error = Error::new(ErrorKind::Unavailable, message).about(addr.clone());
            Judged { unknown: Some(error), ..Judged::default() }
        }
    }
}
