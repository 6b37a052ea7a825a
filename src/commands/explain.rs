//! `explain`: what a rule means, where a hash comes from, what is known of a locked provider.

use std::fmt::Write;
use std::path::PathBuf;

use super::verify::{Known, Root};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::evidence::Evidence;
use crate::finding::{Class, Level, Rule};
use crate::hash::PackageHash;
use crate::lockfile::LockEntry;
use crate::trust::pins::Signer;
use crate::verify::{Knowledge, Line, Release};

/// What is to be explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topic {
    /// A rule.
    Rule(Rule),
    /// A hash.
    Hash(PackageHash),
    /// A provider, as typed.
    Address(String),
}

impl Topic {
    /// Tells what a text means: the id of a rule, a hash with its scheme, else a source address.
    pub fn parse(text: &str) -> Self {
        let rule = Rule::ALL.iter().find(|rule| rule.id() == text);
        let hash = || text.parse::<PackageHash>().ok().filter(|_| !text.contains('/') || text.starts_with("h1:"));
        match (rule, hash()) {
            (Some(rule), _) => Self::Rule(*rule),
            (None, Some(hash)) => Self::Hash(hash),
            (None, None) => Self::Address(text.to_owned()),
        }
    }
}

/// A rule: its meaning, what it does to the exit code, and the remedy.
pub fn rule(rule: Rule) -> String {
    let level = match rule.level() {
        Level::Note => "note",
        Level::Warn => "warn",
        Level::Deny => "deny",
    };
    let (class, code) = match rule.class() {
        Class::Trust => ("trust", 3),
        Class::Policy => ("policy", 3),
        Class::Other => ("other", 1),
    };
    format!(
        "{}\n\n{}\n\nlevel:  {level}, unless a `level` block in .tflock.hcl says otherwise\nclass:  {class}; exit code \
         {code} at level deny\nremedy: {}\n",
        rule.id(),
        rule.summary(),
        rule.help(),
    )
}

/// The rules whose ids are near to a text that names none.
///
/// # Errors
///
/// None but the one that says so.
pub fn unknown(text: &str, reason: &dyn ToString) -> Error {
    let near = Rule::ALL.iter().map(|rule| rule.id()).min_by_key(|id| strsim::osa_distance(id, text));
    let message = format!("{text:?} is neither a rule nor a hash nor a provider: {}", reason.to_string());
    let near = near.filter(|id| strsim::osa_distance(id, text) <= 4).map(|id| format!("did you mean the rule {id}?"));
    near.into_iter().fold(Error::new(ErrorKind::Usage, message), Error::hint)
}

/// Where a hash stands, and where it comes from as far as that is known here.
pub fn hash(hash: &PackageHash, roots: &[(PathBuf, Root)], known: &Known) -> String {
    let mut text = format!("{hash}\n");
    let mut recorded = false;
    for (_, root) in roots {
        let file = root.settings().lock_file_shown();
        for (addr, entry) in root.lock().iter().filter(|(_, entry)| entry.hashes.contains(hash)) {
            recorded = true;
            let line = root.line_of(addr, hash).map(|line| format!(":{line}")).unwrap_or_default();
            let _ = writeln!(text, "  recorded for {addr} {} in {}{line}", entry.version, file.display());
        }
    }
    if !recorded {
        text.push_str("  recorded in none of these lock files\n");
    }
    let owners: Vec<&Release> = known.values().filter_map(release).filter(|release| release.owns(hash)).collect();
    for release in &owners {
        let _ = writeln!(
            text,
            "  {} of {} {}, {}",
            origin(release, hash),
            release.address,
            release.version,
            signer(&release.signer)
        );
    }
    if owners.is_empty() {
        text.push_str("  where it comes from is not known here; `tflock verify` asks the registry\n");
    }
    text
}

/// The entries of a provider, hash by hash.
pub fn address(addr: &ProviderAddr, roots: &[(PathBuf, Root)], known: &Known) -> Option<String> {
    let mut text = String::new();
    for (_, root) in roots {
        let Some(entry) = root.lock().get(addr) else { continue };
        let _ = writeln!(text, "{addr} {} in {}", entry.version, root.settings().lock_file_shown().display());
        let release = known.get(&(addr.clone(), entry.version.clone())).and_then(release);
        if let Some(release) = release {
            let _ = writeln!(text, "  {}", signer(&release.signer));
        }
        each_hash(&mut text, entry, release);
    }
    (!text.is_empty()).then_some(text)
}

fn each_hash(text: &mut String, entry: &LockEntry, release: Option<&Release>) {
    for hash in &entry.hashes {
        let from = release.and_then(|release| described(release, hash)).unwrap_or_else(|| "not known here".to_owned());
        // Writing to a string cannot fail, here and above.
        let _ = writeln!(text, "  {hash}  {from}");
    }
}

fn release(knowledge: &Knowledge) -> Option<&Release> {
    match knowledge {
        Knowledge::Known(release) => Some(release),
        _ => None,
    }
}

fn origin(release: &Release, hash: &PackageHash) -> String {
    described(release, hash).unwrap_or_else(|| "a package".to_owned())
}

fn described(release: &Release, hash: &PackageHash) -> Option<String> {
    if let Some(vouched) = release.h1.get(hash) {
        let platform = vouched.platform.as_ref().map_or("unknown platform".to_owned(), ToString::to_string);
        let why = match &vouched.evidence {
            Evidence::Signed(_) => "signed",
            Evidence::ReportedByOrigin => "reported by the registry",
            Evidence::ReportedByMirror => "reported by a mirror",
            Evidence::Computed => "computed here from the archive",
            Evidence::Recorded => "recorded before",
        };
        return Some(format!("the files of the package for {platform}, {why}"));
    }
    match release.lines.get(&hash.zh_digest()?)? {
        Line::Archive(Some(platform)) => Some(format!("the archive for {platform}")),
        Line::Archive(None) => Some("an archive".to_owned()),
        Line::Other => Some("another file in the checksums, such as a manifest".to_owned()),
    }
}

fn signer(signer: &Signer) -> String {
    match signer {
        Signer::Key(key) => format!("checksums signed by {key}"),
        Signer::Unsigned => "checksums not signed".to_owned(),
    }
}
