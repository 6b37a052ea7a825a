//! Whether the witnesses of a release agree with its source, and whether the settings demand one.

use std::time::{Duration, SystemTime};

use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::provenance::Judged;
use crate::release::Release;
use crate::settings::Settings;
use crate::witness::Opinion;

/// How old a release is that every place should know.
const SETTLED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Judges a release by what its witnesses said; nothing where none was asked.
pub fn judge_witnesses(settings: &Settings, release: &Release, now: SystemTime) -> Judged {
    let Some(testimonies) = &release.witnessed else { return Judged::default() };
    let (addr, version) = (&release.address, &release.version);
    let archives = release.named_archives();
    let about = |finding: Finding| finding.about(addr).of_version(version);
    let (mut findings, mut agrees) = (Vec::new(), false);
    for testimony in testimonies.iter() {
        match testimony.opinion(&archives) {
            Opinion::Agrees(_) => agrees = true,
            Opinion::Differs { file, here, there } => {
                let message = format!(
                    "{file} of {addr} {version} is {} at {} and {} at {}: its publisher replaced it after one of them read it, \
                     or this run is served a different file than others",
                    here.to_hex(),
                    addr.host(),
                    there.to_hex(),
                    testimony.place
                );
                findings.push(about(Finding::new(Rule::WitnessDiffers, message)));
            }
            Opinion::Silent => {}
        }
    }
    if agrees || !findings.is_empty() || !settings.policy.demands_witness(addr) {
        return Judged { findings, ..Judged::default() };
    }
    let why = testimonies.iter().find_map(|testimony| Some((&testimony.place, testimony.files.as_ref().err()?)));
    let age = release.signed_at.and_then(|signed| now.duration_since(signed).ok());
    let is_young = age.is_some_and(|age| age < SETTLED);
    let unknown = match why {
        Some((place, error)) => Some(format!("{place} gave no answer: {}", error.message)),
        None if is_young && !testimonies.is_empty() => Some("the release is younger than 7 days".to_owned()),
        None => None,
    };
    if let Some(why) = unknown {
        let message =
            format!("no witness has the archives of {addr} {version} yet, and the settings demand one: {why}");
        let error = Error::new(ErrorKind::Unavailable, message).about(addr.clone());
        return Judged { unknown: Some(error), ..Judged::default() };
    }
    let places: Vec<String> = testimonies.iter().map(|testimony| testimony.place.to_string()).collect();
    let message = if places.is_empty() {
        format!("the settings demand a witness of {addr} {version}, and name none that can have its archives")
    } else {
        format!("the settings demand a witness of {addr} {version}, and {} has no archive of it", places.join(" and "))
    };
    Judged { findings: vec![about(Finding::new(Rule::WitnessMissing, message))], ..Judged::default() }
}
