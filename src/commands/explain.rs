//! `explain`: explains a rule, a hash or a locked provider.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::Services;
use super::shared::options::Within;
use super::shared::rules::RuleBook;
use super::shared::sources::{Group, PackageSources};
use super::shared::targets::{Targets, Unlocked};
use super::verify::GateRoot;
use super::verify::opening::open;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::finding::Rule;
use crate::hash::PackageHash;
use crate::outcome::{
    Body, Explained, ExplainedEntry, ExplainedHash, ExplainedProvider, HashOrigin, Hashed, ItemRule, Outcome,
    RecordedAt, RecordedHash, ReleaseOfHash,
};
use crate::query::cached;
use crate::query::question::Query;
use crate::query::select::Rules;
use crate::release::{ListedLine, Lookup, Release, ReleaseKey, Releases};
use crate::report::rule_of_change;
use crate::step::Step;
use crate::topics;
use crate::verify::provenance::judge_release;
use crate::version::Version;
use crate::witness::WitnessAnswer;
use crate::workspace::{ProviderNames, RunSettings};

/// Explain a rule, a hash or a provider.
///
/// Shows what a rule means and what to do about it; which entry, version and platform a hash belongs to; or, for a source
/// address, what each hash of its entry belongs to. Does not use the network: it shows what earlier runs learned; with --online it
/// queries the witnesses that the settings name.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock explain\n  tflock explain republished\n  tflock explain settings\n  tflock explain zh:0d1f…\n  tflock explain hashicorp/random\n  tflock explain acme/widget --online"
)]
pub(crate) struct ExplainArgs {
    /// The id of a rule, a topic, a hash with its scheme or the beginning of one, or a provider source address; without it the
    /// rules and topics.
    #[arg(value_name = "RULE|TOPIC|HASH|ADDR")]
    pub(crate) topic: Option<String>,
    /// Look at the lock file of every root module below.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// For a provider: query the `witnesses` of the settings about its archives.
    #[arg(long, conflicts_with = "offline")]
    pub(crate) online: bool,
    #[command(flatten)]
    pub(crate) within: Within,
}

impl ExplainArgs {
    /// True if the answer is in lock files.
    pub(crate) fn reads_lock_files(&self) -> bool {
        let topic = self.topic.as_deref().map(TypedTopic::parse);
        matches!(topic, Some(TypedTopic::Hash(_) | TypedTopic::Address(_)))
    }
}

pub fn explain(args: &ExplainArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let Some(topic) = &args.topic else {
        return Ok(Outcome::of_body("explain", Body::Explained(Explained::Index)));
    };
    let outcome = |explained| Outcome::of_body("explain", Body::Explained(explained));
    Ok(match TypedTopic::parse(topic) {
        TypedTopic::Page(page) => outcome(Explained::Topic(*page)),
        TypedTopic::Rule(rule) => outcome(Explained::Rule(rule)),
        TypedTopic::Item(item) => outcome(Explained::Item(item)),
        TypedTopic::Hash(hash) => {
            let read = read(args.recursive, services)?;
            let hash = read.whole(hash)?;
            outcome(Explained::Hash(read.hash(hash))).with_error(read.unreadable)
        }
        TypedTopic::Address(text) => {
            let read = read(args.recursive, services)?;
            let said = if args.online { Some(read.ask(&text, services)?) } else { None };
            match read.provider(&text, said.as_ref()) {
                Ok(provider) => outcome(Explained::Provider(provider)).with_error(read.unreadable),
                // An unreadable lock file may have it.
                Err(error) => return Err(read.unreadable.unwrap_or(error)),
            }
        }
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TypedTopic {
    Page(&'static topics::Topic),
    Rule(Rule),
    /// A kind of change, by its name in annotations.
    Item(ItemRule),
    Hash(PackageHash),
    Address(String),
}

impl TypedTopic {
    /// Classifies a text: the name of a page, the id of a rule, a hash with its scheme, else a source address.
    fn parse(text: &str) -> Self {
        let rule = Rule::ALL.iter().find(|rule| rule.id() == text);
        let hash = || text.parse::<PackageHash>().ok().filter(|_| !text.contains('/') || text.starts_with("h1:"));
        if let Some(page) = topics::Topic::named(text) {
            return Self::Page(page);
        }
        match (rule, rule_of_change(text), hash()) {
            (Some(rule), ..) => Self::Rule(*rule),
            (None, Some(item), _) => Self::Item(item),
            (None, None, Some(hash)) => Self::Hash(hash),
            (None, None, None) => Self::Address(text.to_owned()),
        }
    }
}

/// What witnesses say of releases of one provider.
type Said = BTreeMap<Version, Vec<WitnessAnswer>>;

struct ReadRoots {
    dialect: Dialect,
    roots: Vec<(PathBuf, GateRoot)>,
    known: Releases,
    /// Why some root modules are missing.
    unreadable: Option<Error>,
}

/// Reads the root modules, as far as possible.
fn read(recursive: bool, services: &Services<'_>) -> Result<ReadRoots, Error> {
    let targets = Targets::with_instances(&services.scope, recursive, Unlocked::Opened)?.or_none()?;
    let runs = targets.all_settings()?;
    let cache = services.open_cache(&targets.directories());
    let opened = open(&targets, None, &services.scope)?.roots;
    let (mut roots, mut errors): (Vec<(PathBuf, GateRoot)>, Vec<Error>) = (Vec::new(), Vec::new());
    for (path, root) in opened {
        match root {
            Ok(root) => {
                // What cannot be read must not be passed over in silence; what can be is explained.
                errors.extend(root.unread().filter(|_| root.settings().lock_file().exists()).cloned());
                errors.extend(root.decoded().err());
                roots.push((path, root));
            }
            // Without a lock file there is nothing to report.
            Err(error) if runs.iter().any(|run| run.path == path && run.lock_file().exists()) => errors.push(error),
            Err(_) => {}
        }
    }
    let known = runs.first().map(|run| self::known(run, &roots, &cache)).unwrap_or_default();
    let dialect = runs.first().map_or(Dialect::Terraform, |run| run.dialect);
    Ok(ReadRoots { dialect, roots, known, unreadable: Error::all(errors) })
}

/// The topic or rule of that name.
pub(crate) fn page(name: &str) -> Option<Explained> {
    match TypedTopic::parse(name) {
        TypedTopic::Page(page) => Some(Explained::Topic(*page)),
        TypedTopic::Rule(rule) => Some(Explained::Rule(rule)),
        TypedTopic::Item(item) => Some(Explained::Item(item)),
        TypedTopic::Hash(_) | TypedTopic::Address(_) => None,
    }
}

/// The topic or rule with a name that is near to a text.
fn near_page(text: &str) -> Option<&'static str> {
    let names = topics::TOPICS.iter().map(|topic| topic.name).chain(Rule::ALL.iter().map(|rule| rule.id()));
    let near = names.min_by_key(|id| strsim::osa_distance(id, text));
    near.filter(|id| strsim::osa_distance(id, text) <= text.len().div_ceil(3).min(4))
}

/// A suggestion for a mistyped topic or rule.
pub(crate) fn near(text: &str) -> Option<Step> {
    Some(step!("did you mean `tflock explain {}`?", near_page(text)?))
}

/// The error for an unknown text, with rules and topics of similar names.
fn unknown(text: &str, reason: &dyn ToString) -> Error {
    let near = near_page(text);
    let mentions = |rule: &&Rule| rule.id().contains(text) || rule.summary().to_lowercase().contains(text);
    // Of many rules that mention a word none is a better suggestion than the others.
    let matching: Vec<&str> = Rule::ALL.iter().filter(mentions).map(|rule| rule.id()).collect();
    let matching = Some(matching).filter(|rules| near.is_none() && text.len() > 3 && (1..=5).contains(&rules.len()));
    let message = format!("{text:?} is neither a rule nor a hash nor a provider: {}", reason.to_string());
    let near = near.map(|id| step!("did you mean `tflock explain {}`?", id));
    let near = near.or_else(|| Some(format!("these rules mention it: {}", matching?.join(", ")).into()));
    let all = step!("`tflock explain` lists all rules and topics");
    Error::new(ErrorKind::Usage, message).hints(near).hint(all)
}

/// What earlier runs recorded about the locked releases of the root modules.
fn known(run: &RunSettings, roots: &[(PathBuf, GateRoot)], cache: &Cache) -> Releases {
    let rules = RuleBook::for_root(run);
    let mut known = Releases::new();
    let locked = roots.iter().flat_map(|(_, root)| root.lock().iter().map(move |entry| (root, entry)));
    for (root, (addr, entry)) in locked {
        let is_placed = root.pins().and_then(|pins| pins.pin(addr)).is_some_and(|(_, pin)| pin.built_by.is_some());
        let recall = || match cached::release(cache, addr, &entry.version, rules.check(addr)) {
            Lookup::Known(release) if is_placed => {
                let attested = Some(Arc::new(cached::attested(cache, &release)));
                Lookup::Known(Arc::new(Release { attested, ..Arc::unwrap_or_clone(release) }))
            }
            known => known,
        };
        known.entry((addr.clone(), entry.version.clone())).or_insert_with(recall);
    }
    known
}

/// How many hashes with the same beginning are named.
const MOST_NAMED: usize = 5;

/// The fewest characters that begin a hash, after its scheme.
const LEAST_PREFIX: usize = 4;

impl ReadRoots {
    /// The one hash that begins with the text of an incomplete one; the text itself if there is none.
    fn whole(&self, hash: PackageHash) -> Result<PackageHash, Error> {
        let text = hash.to_string();
        let start = text.trim_end_matches(['…', '.']);
        let is_long_enough = start.split_once(':').is_some_and(|(_, rest)| rest.len() >= LEAST_PREFIX);
        if hash.is_well_formed() || !is_long_enough {
            return Ok(hash);
        }
        let recorded = self.roots.iter().flat_map(|(_, root)| root.lock().iter()).flat_map(|(_, entry)| &entry.hashes);
        let releases = self.known.values().filter_map(Lookup::release);
        let known = releases.flat_map(|release| {
            release.h1.keys().cloned().chain(release.lines.keys().map(|digest| PackageHash::zh(*digest)))
        });
        let all = recorded.cloned().chain(known).filter(|known| known.to_string().starts_with(start));
        let mut matching = all.collect::<BTreeSet<_>>().into_iter();
        match (matching.next(), matching.len()) {
            (None, _) => Ok(hash),
            (Some(one), 0) => Ok(one),
            (Some(first), others) => {
                let message = format!("{} hashes begin with {start}", others + 1);
                let named = std::iter::once(first).chain(matching).take(MOST_NAMED).map(|hash| hash.to_string());
                let hint = format!("type more of it: {}", named.collect::<Vec<_>>().join(", "));
                Err(Error::new(ErrorKind::Usage, message).hint(hint))
            }
        }
    }

    /// Which entries record a hash, and the version and platform that it belongs to if known.
    fn hash(&self, hash: PackageHash) -> ExplainedHash {
        let of_roots = self
            .roots
            .iter()
            .filter_map(|(_, root)| Some((root.settings().lock_file_shown(), root.lock(), root.spans()?)));
        let recorded = of_roots.flat_map(|(file, lock, spans)| {
            let entries = lock.iter().filter(|(_, entry)| entry.hashes.contains(&hash));
            let recorded = entries.map(|(addr, entry)| {
                let written = spans.entries.get(addr).into_iter().flat_map(|entry| &entry.each_hash);
                let position = written.filter(|(written, _)| *written == hash).map(|(_, position)| *position).next();
                RecordedAt { address: addr.clone(), version: entry.version.clone(), file: file.clone(), position }
            });
            recorded.collect::<Vec<_>>()
        });
        let recorded = recorded.collect();
        let owners = self.known.values().filter_map(Lookup::release).filter(|release| release.has(&hash));
        let releases = owners.filter_map(|release| {
            Some(ReleaseOfHash {
                address: release.address.clone(),
                version: release.version.clone(),
                origin: origin(release, &hash)?,
            })
        });
        let releases = releases.collect();
        ExplainedHash { well_formed: hash.is_well_formed(), hash, recorded, releases }
    }

    /// What the witnesses of a provider say of its locked releases.
    fn ask(&self, text: &str, services: &Services<'_>) -> Result<Said, Error> {
        let mut said = Said::new();
        // An unknown name is reported by what looks for the entries.
        let Ok(addr) = self.resolve(text) else { return Ok(said) };
        let locked: Vec<(&GateRoot, &Version)> =
            self.roots.iter().filter_map(|(_, root)| Some((root, &root.lock().get(&addr)?.version))).collect();
        let directories: Vec<PathBuf> = self.roots.iter().map(|(path, _)| path.clone()).collect();
        services.events_for(Some(self.dialect));
        let cache = Arc::new(services.open_cache(&directories));
        let sources = PackageSources::new(services, &cache);
        let places = locked.iter().map(|of| (of, of.0.settings().source(), std::iter::once(&addr)));
        for Group { members, opened } in sources.groups(places) {
            let Some(session) = opened? else { continue };
            let mut questions: BTreeMap<ReleaseKey, Query> = BTreeMap::new();
            for (root, version) in members {
                let rules = RuleBook::for_root(root.settings());
                // Without a witness there is no question.
                let Some(witnesses) = rules.witnesses(&addr) else { continue };
                let rules = Rules { witnesses: Some(witnesses), ..rules.of(&addr, &[]) };
                let query = Query::of_signer((*version).clone(), rules);
                match questions.entry((addr.clone(), (*version).clone())) {
                    Entry::Occupied(known) => known.into_mut().join(query),
                    Entry::Vacant(none) => drop(none.insert(query)),
                }
            }
            for ((_, version), lookup) in session.block_on(async |sources| sources.lookups(questions).await)? {
                match lookup {
                    Lookup::Known(release) => drop(said.insert(version, release.witnesses())),
                    Lookup::Inconclusive(error) => return Err(error),
                    Lookup::NotRequested | Lookup::Withdrawn(_) | Lookup::Refused(..) => {}
                }
            }
        }
        cache.finish();
        Ok(said)
    }

    /// The entries of a provider with all hashes, and what was `said` of their releases.
    fn provider(&self, text: &str, said: Option<&Said>) -> Result<ExplainedProvider, Error> {
        let addr = self.resolve(text).map_err(|wrong| unknown(text, &wrong))?;
        let of_roots = self.roots.iter().filter_map(|(_, root)| {
            let entry = root.lock().get(&addr)?;
            let release = self.known.get(&(addr.clone(), entry.version.clone())).and_then(Lookup::release);
            let of = |hash: &PackageHash| RecordedHash {
                hash: hash.clone(),
                origin: release.and_then(|release| origin(release, hash)),
            };
            Some(ExplainedEntry {
                entry: recorded(&addr, &entry.version, root.settings().lock_file_shown()),
                hashes: entry.hashes.iter().map(of).collect(),
                signer: release.and_then(|release| release.signer.clone()),
                remembered: root
                    .pins()
                    .and_then(|pins| pins.pin(&addr))
                    .map_or_else(BTreeSet::new, |(_, pin)| pin.signers.clone()),
                build: release.and_then(|it| judge_release(root.pins(), &root.settings().settings, it).build),
                witnesses: said.map(|said| said.get(&entry.version).cloned().unwrap_or_default()),
            })
        });
        let provider = ExplainedProvider { entries: of_roots.collect() };
        if !provider.entries.is_empty() {
            return Ok(provider);
        }
        if !text.contains('/') {
            return Err(unknown(text, &"no lock file here has an entry for it").about(addr));
        }
        let error = Error::new(ErrorKind::NotFound, format!("no lock file here has an entry for {addr}"));
        let near = self.namesakes(&addr).into_iter();
        Err(near.fold(error, |error, near| error.hint(Step::meant(near))).about(addr))
    }

    /// Resolves the name of a provider in the root modules.
    fn resolve(&self, text: &str) -> Result<ProviderAddr, Error> {
        let all: Vec<ProviderNames<'_>> = self.roots.iter().map(|(_, root)| root.names()).collect();
        let nothing = ProviderNames { requirements: None, lock: None, dialect: self.dialect };
        all.iter().find(|names| names.knows(text)).unwrap_or(&nothing).resolve(text)
    }

    /// The locked providers of the same type as one that is not locked.
    fn namesakes(&self, addr: &ProviderAddr) -> BTreeSet<ProviderAddr> {
        let locked = self.roots.iter().flat_map(|(_, root)| root.lock().iter()).map(|(locked, _)| locked);
        locked.filter(|locked| locked.type_name() == addr.type_name()).cloned().collect()
    }
}

fn recorded(addr: &ProviderAddr, version: &Version, file: PathBuf) -> RecordedAt {
    RecordedAt { address: addr.clone(), version: version.clone(), file, position: None }
}

/// What the hash is computed from; `None` if the release does not have it.
fn origin(release: &Release, hash: &PackageHash) -> Option<HashOrigin> {
    if let Some(contents) = release.h1.get(hash) {
        return Some(HashOrigin { covers: Hashed::Contents, platforms: contents.platforms.keys().cloned().collect() });
    }
    Some(match release.lines.get(&hash.zh_digest()?)? {
        ListedLine::Archive(platforms) => HashOrigin { covers: Hashed::Archive, platforms: platforms.clone() },
        ListedLine::Other => HashOrigin { covers: Hashed::OtherFile, platforms: BTreeSet::new() },
    })
}
