//! `explain` for people.

use std::fmt::Write;

use crate::evidence::Evidence;
use crate::exit_code::ExitCode;
use crate::finding::{Class, Level, Rule};
use crate::hash::PackageHash;
use crate::outcome::{Explained, ExplainedEntry, ExplainedHash, ExplainedProvider, HashOrigin, RecordedAt};
use crate::platform::Platform;
use crate::report::slashed;
use crate::trust::pins::Signer;
use crate::trust::words::by;

pub(super) fn explained(explained: &Explained) -> String {
    match explained {
        Explained::Rule(rule) => self::rule(*rule),
        Explained::Hash(hash) => self::hash(hash),
        Explained::Provider(provider) => self::provider(provider),
    }
}

/// A rule: its meaning, what it does to the exit code, and the remedy.
fn rule(rule: Rule) -> String {
    let level = match rule.level() {
        Level::Note => "note",
        Level::Warn => "warn",
        Level::Deny => "deny",
    };
    let class = match rule.class() {
        Class::Trust => "trust",
        Class::Policy => "policy",
        Class::Other => "other",
    };
    format!(
        "{}\n\n{}\n\nlevel:  {level}, unless a `level` block in .tflock.hcl says otherwise\nclass:  {class}; exit code \
         {} at level deny\nremedy: {}\n",
        rule.id(),
        rule.summary(),
        ExitCode::of_class(rule.class()) as u8,
        rule.help(),
    )
}

// Writing to a string cannot fail, here and below.
fn hash(explained: &ExplainedHash) -> String {
    let mut text = format!("{}\n", explained.hash);
    if !explained.well_formed {
        text.push_str("  no package can have it: it is not written as a hash of its scheme\n");
    }
    for RecordedAt { address, version, file, position } in &explained.recorded {
        let line = position.map(|position| format!(":{}", position.line)).unwrap_or_default();
        let _ = writeln!(text, "  recorded for {address} {version} in {}{line}", slashed(file));
    }
    if explained.recorded.is_empty() {
        text.push_str("  recorded in no lock file of this repository\n");
    }
    for release in &explained.releases {
        let (what, why) = origin(&release.origin);
        let (addr, version) = (&release.address, &release.version);
        let _ = writeln!(text, "  {what} of {addr} {version}{why}{}", signed(release.signer.as_ref()));
    }
    if explained.releases.is_empty() {
        text.push_str("  where it comes from is not known here; `tflock verify` asks the registry\n");
    }
    text
}

fn provider(provider: &ExplainedProvider) -> String {
    let mut text = String::new();
    for ExplainedEntry { entry, signer, hashes } in &provider.entries {
        let _ = writeln!(text, "{} {} in {}", entry.address, entry.version, slashed(&entry.file));
        if let Some(signer) = signer {
            let _ = writeln!(text, "  {}", self::signer(signer));
        }
        for (hash, from) in hashes {
            let from = from.as_ref().map(origin).map_or("not known here".to_owned(), |(what, why)| what + &why);
            let _ = writeln!(text, "  {hash}  {from}");
        }
    }
    for entry in &provider.elsewhere {
        let _ = writeln!(text, "{} {} also in {}", entry.address, entry.version, slashed(&entry.file));
    }
    text
}

/// What a hash is a hash of, and why that is believed.
fn origin(origin: &HashOrigin) -> (String, String) {
    match origin {
        HashOrigin::Contents { platform, evidence, archive } => {
            let platform = platform.as_ref().map_or("an unknown platform", Platform::as_str);
            let archive = archive.as_ref().map_or("its archive", PackageHash::as_str);
            let why = match evidence {
                Evidence::Signed(_) => ", signed".to_owned(),
                Evidence::ReportedByOrigin => format!(", reported by the registry for {archive}"),
                Evidence::ReportedByMirror => format!(", reported by a mirror for {archive}"),
                Evidence::Computed => format!(", computed here from {archive}"),
                Evidence::Recorded => ", recorded before".to_owned(),
            };
            (format!("the files of the package for {platform}"), why)
        }
        HashOrigin::Archive { platform: Some(platform) } => (format!("the archive for {platform}"), String::new()),
        HashOrigin::Archive { platform: None } => ("an archive".to_owned(), String::new()),
        HashOrigin::OtherFile => ("another file in the checksums, such as a manifest".to_owned(), String::new()),
    }
}

fn signed(signer: Option<&Signer>) -> String {
    signer.map(|signer| format!("; {}", self::signer(signer))).unwrap_or_default()
}

fn signer(signer: &Signer) -> String {
    format!("checksums {}", by(signer))
}
