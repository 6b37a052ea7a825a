//! `explain`: what a rule means, where a hash comes from, what is known of a locked provider.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use super::Services;
use super::targets::{Targets, Unlocked};
use super::verify::bases::Bases;
use super::verify::opening::open;
use super::verify::{Known, Root};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::disk::{below, lock_file, worktree};
use crate::engine::recollect::recollect;
use crate::error::{Error, ErrorKind};
use crate::evidence::Evidence;
use crate::finding::{Class, Level, Rule};
use crate::hash::PackageHash;
use crate::lockfile::{self, Decoded, LockEntry, LockFile, Spans};
use crate::outcome::{Body, Outcome};
use crate::platform::Platform;
use crate::trust::pins::Signer;
use crate::verify::{Knowledge, Line, Release, is_well_formed};
use crate::workspace::RunSettings;

/// What `explain` is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// A rule, a hash or a provider, as typed.
    pub topic: String,
    /// Every root module below.
    pub recursive: bool,
}

/// Explains a rule, a hash or a provider, without asking anybody.
///
/// # Errors
///
/// A topic that is none of these; what is wrong with the settings of root modules.
pub fn explain(request: &Request, services: &Services<'_>) -> Result<Outcome, Error> {
    let text = match Topic::parse(&request.topic) {
        Topic::Rule(rule) => self::rule(rule),
        Topic::Hash(hash) => {
            let Read { roots, others, known, .. } = read(request.recursive, services)?;
            self::hash(&hash, (&roots, &others), &known)
        }
        Topic::Address(text) => of_address(&text, &read(request.recursive, services)?)?,
    };
    Ok(Outcome::of_body("explain", Body::Text(text)))
}

/// What is known without asking.
struct Read {
    dialect: Dialect,
    roots: Vec<(PathBuf, Root)>,
    others: Vec<Other>,
    known: Known,
}

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

fn of_address(text: &str, Read { dialect, roots, others, known }: &Read) -> Result<String, Error> {
    let addr = ProviderAddr::parse(text, *dialect).map_err(|wrong| unknown(text, &wrong))?;
    address(&addr, (roots, others), known).ok_or_else(|| {
        if text.contains('/') {
            let message = format!("no lock file of this repository has an entry for {addr}");
            let error = Error::new(ErrorKind::NotFound, message);
            let near = namesakes(&addr, (roots, others)).into_iter();
            near.fold(error, |error, near| error.hint(format!("did you mean {near}?")))
        } else {
            unknown(text, &"no lock file here has an entry for it")
        }
    })
}

/// The root modules and the other lock files of the repository, as far as they can be read.
fn read(recursive: bool, services: &Services<'_>) -> Result<Read, Error> {
    let targets = Targets::of(&services.scope, recursive, Unlocked::Opened)?.or_none()?;
    let runs = targets.all_settings()?;
    let cache = services.open_cache(&targets.directories());
    let opened = open(&targets, &Bases::default(), &services.scope)?.roots;
    let roots: Vec<(PathBuf, Root)> = opened.into_iter().filter_map(|(path, root)| Some((path, root.ok()?))).collect();
    let others = self::others(&runs, &roots)?;
    let known = runs.first().map(|run| self::known(run, (&roots, &others), &cache)).unwrap_or_default();
    let dialect = runs.first().map_or(Dialect::Terraform, |run| run.dialect);
    Ok(Read { dialect, roots, others, known })
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

/// A lock file of the repository that the run is not about.
#[derive(Debug, Clone)]
pub struct Other {
    shown: PathBuf,
    lock: LockFile,
    spans: Spans,
}

/// The other lock files of the work trees of a run, as far as they can be read.
///
/// # Errors
///
/// What keeps a work tree from being searched.
pub fn others(runs: &[RunSettings], roots: &[(PathBuf, Root)]) -> Result<Vec<Other>, Error> {
    let own: BTreeSet<PathBuf> = roots.iter().map(|(_, root)| worktree::absolute(&root.settings().root)).collect();
    let tops: BTreeSet<&PathBuf> = runs.iter().map(|run| &run.boundary).collect();
    let mut others = Vec::new();
    for top in tops {
        let locked = below::survey(top)?.places.into_iter().filter(|place| place.has_lock);
        let roots = locked.map(|place| top.join(place.path));
        for root in roots.filter(|root| !own.contains(&worktree::absolute(root))) {
            let Some(bytes) = lock_file::read(&root.join(lockfile::FILE_NAME))? else { continue };
            let dialect = lockfile::detect_dialect(&bytes).unwrap_or(Dialect::Terraform);
            let Ok(Decoded { lock, spans, .. }) = lockfile::decode(&bytes, dialect) else { continue };
            let shown = root.strip_prefix(top).unwrap_or(&root).join(lockfile::FILE_NAME);
            others.push(Other { shown, lock, spans });
        }
    }
    Ok(others)
}

/// What earlier runs left about the releases that are locked: by the root modules, and elsewhere in the repository.
pub fn known(run: &RunSettings, (roots, others): (&[(PathBuf, Root)], &[Other]), cache: &Cache) -> Known {
    let mut known = Known::new();
    let of_others = others.iter().flat_map(|other| other.lock.iter());
    for (addr, entry) in roots.iter().flat_map(|(_, root)| root.lock().iter()).chain(of_others) {
        let recall = || recollect(cache, addr, &entry.version, (run.signature_for(addr), run.now));
        known.entry((addr.clone(), entry.version.clone())).or_insert_with(recall);
    }
    known
}

/// The locked providers that are called as one that is not locked.
pub fn namesakes(addr: &ProviderAddr, (roots, others): (&[(PathBuf, Root)], &[Other])) -> BTreeSet<ProviderAddr> {
    let locks = roots.iter().map(|(_, root)| root.lock()).chain(others.iter().map(|other| &other.lock));
    locks
        .flat_map(LockFile::iter)
        .map(|(locked, _)| locked)
        .filter(|locked| locked.kind() == addr.kind())
        .cloned()
        .collect()
}

/// Where a hash stands in the repository, and where it comes from as far as that is known here.
pub fn hash(hash: &PackageHash, (roots, others): (&[(PathBuf, Root)], &[Other]), known: &Known) -> String {
    let mut text = format!("{hash}\n");
    let of_roots =
        roots.iter().filter_map(|(_, root)| Some((root.settings().lock_file_shown(), root.lock(), root.spans()?)));
    let of_others = others.iter().map(|other| (other.shown.clone(), &other.lock, &other.spans));
    if !is_well_formed(hash) {
        text.push_str("  no package can have it: it is not written as a hash of its scheme\n");
    }
    let mut recorded = false;
    for (file, lock, spans) in of_roots.chain(of_others) {
        for (addr, entry) in lock.iter().filter(|(_, entry)| entry.hashes.contains(hash)) {
            recorded = true;
            let lines = spans.entries.get(addr).into_iter().flat_map(|entry| &entry.each_hash);
            let line =
                lines.filter(|(written, _)| written == hash).map(|(_, position)| format!(":{}", position.line)).next();
            let (version, line) = (&entry.version, line.unwrap_or_default());
            let _ = writeln!(text, "  recorded for {addr} {version} in {}{line}", file.display());
        }
    }
    if !recorded {
        text.push_str("  recorded in no lock file of this repository\n");
    }
    let owners: Vec<&Release> = known.values().filter_map(release).filter(|release| release.has(hash)).collect();
    for release in &owners {
        let (addr, version) = (&release.address, &release.version);
        if let Some((what, why)) = described(release, hash) {
            let _ = writeln!(text, "  {what} of {addr} {version}{why}; {}", signer(&release.signer));
        }
    }
    if owners.is_empty() {
        text.push_str("  where it comes from is not known here; `tflock verify` asks the registry\n");
    }
    text
}

/// The entries of a provider, hash by hash, and who else in the repository has it.
pub fn address(addr: &ProviderAddr, (roots, others): (&[(PathBuf, Root)], &[Other]), known: &Known) -> Option<String> {
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
    for other in others {
        let Some(entry) = other.lock.get(addr) else { continue };
        let _ = writeln!(text, "{addr} {} also in {}", entry.version, other.shown.display());
    }
    (!text.is_empty()).then_some(text)
}

fn each_hash(text: &mut String, entry: &LockEntry, release: Option<&Release>) {
    for hash in &entry.hashes {
        let from = release.and_then(|release| described(release, hash));
        let from = from.map_or("not known here".to_owned(), |(what, why)| what + &why);
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

/// What a hash is a hash of, and why that is believed.
fn described(release: &Release, hash: &PackageHash) -> Option<(String, String)> {
    if let Some(vouched) = release.h1.get(hash) {
        let platform = vouched.platform.as_ref().map_or("an unknown platform", Platform::as_str);
        let of_platform = |line: &Line| matches!(line, Line::Archive(of) if *of == vouched.platform);
        let archive = release.lines.iter().find(|(_, line)| of_platform(line));
        let archive = archive.map_or("its archive".to_owned(), |(digest, _)| PackageHash::zh(*digest).to_string());
        let why = match &vouched.evidence {
            Evidence::Signed(_) => ", signed".to_owned(),
            Evidence::ReportedByOrigin => format!(", reported by the registry for {archive}"),
            Evidence::ReportedByMirror => format!(", reported by a mirror for {archive}"),
            Evidence::Computed => format!(", computed here from {archive}"),
            Evidence::Recorded => ", recorded before".to_owned(),
        };
        return Some((format!("the files of the package for {platform}"), why));
    }
    let what = match release.lines.get(&hash.zh_digest()?)? {
        Line::Archive(Some(platform)) => format!("the archive for {platform}"),
        Line::Archive(None) => "an archive".to_owned(),
        Line::Other => "another file in the checksums, such as a manifest".to_owned(),
    };
    Some((what, String::new()))
}

fn signer(signer: &Signer) -> String {
    match signer {
        Signer::Key(key) => format!("checksums signed by {key}"),
        Signer::Unsigned => "checksums not signed".to_owned(),
    }
}
