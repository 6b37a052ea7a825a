//! Groups of equal items: findings and changes of several root modules, each once, with the root modules. Every format
//! renders these; a single root module is a group of one.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::path::Path;

use crate::addr::ProviderAddr;
use crate::config::RootKind;
use crate::diff::{Change, ChangeKind, Explanation, Formatting, RequiredBy, Risk, TextChange};
use crate::diff::{constraints, explain, headline, risk};
use crate::error::Error;
use crate::finding::{Level, Position, Rule};
use crate::hash::PackageHash;
use crate::modulelock::ModuleChange;
use crate::outcome::{Body, NotCounted, Outcome, Review, RootOutcome};
use crate::report::change::{signed, versions};
use crate::report::style::{Detail, Style};
use crate::report::{printable, shown};
use crate::requirements::Origin;
use crate::trust::Verdict;
use crate::words::{counted, first_of, nonzero};

/// How many root modules are named; more are only counted.
pub(super) const MOST_NAMES: usize = 3;

/// How many changed requirements are named for a change of several root modules.
const MOST_PLACES: usize = 3;

/// How many different parts of the headlines of one change are shown.
const MOST_PARTS: usize = 6;

/// Items with equal keys, in order of first appearance.
pub(super) fn grouped<K: Hash + Eq + Clone, T>(items: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut places = HashMap::new();
    for (key, item) in items {
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(item);
    }
    groups
}

/// Equal items with the root modules that have them, each root module once, however often it has the item.
pub(super) fn shared_items<'a, K: Hash + Eq + Clone>(
    items: impl IntoIterator<Item = (&'a Path, K)>,
) -> Vec<(K, Vec<&'a Path>)> {
    let mut groups = grouped(items.into_iter().map(|(path, item)| (item, path)));
    for (_, paths) in &mut groups {
        paths.dedup();
    }
    groups
}

/// Items of root modules with equal keys: the first of each, with the root modules.
pub(super) fn firsts<'a, K: Hash + Eq + Clone, T: Copy>(
    items: impl IntoIterator<Item = (&'a Path, K, T)>,
) -> Vec<(K, T, Vec<&'a Path>)> {
    let groups = grouped(items.into_iter().map(|(path, key, item)| (key, (path, item))));
    let first = groups.into_iter().map(|(key, items)| {
        let mut paths: Vec<&Path> = items.iter().map(|(path, _)| *path).collect();
        paths.dedup();
        (key, items[0].1, paths)
    });
    first.collect()
}

#[derive(Clone, Copy, Default)]
pub(super) struct RootSummary {
    all: usize,
    verbose: bool,
    /// False for a run about one root module, which texts need not name.
    pub(super) many: bool,
    /// True if root modules were searched for.
    pub(super) recursive: bool,
}

impl RootSummary {
    pub(super) fn of(outcome: &Outcome, style: Style) -> Self {
        let mut paths: Vec<&Path> = outcome.roots.iter().map(|it| it.path.as_path()).collect();
        paths.dedup();
        let Outcome { many, recursive, .. } = *outcome;
        Self { all: paths.len(), verbose: style.detail == Detail::Verbose, many, recursive }
    }

    /// `live/a, live/b`, `23 root modules`, `all 30 root modules`.
    pub(super) fn label(self, paths: &[&Path]) -> String {
        match paths.len() {
            ..=MOST_NAMES => names(paths),
            count if count == self.all => format!("all {}", root_modules(count)),
            count => root_modules(count),
        }
    }

    /// The same for the cell of a table: every name with -v, and nothing if the run is about one root module.
    pub(super) fn table_cell(self, paths: &[&Path]) -> String {
        match (self.many, self.verbose) {
            (false, _) => String::new(),
            (true, true) => names(paths),
            (true, false) => self.label(paths),
        }
    }

    /// The same for a heading: names, but not if it is about all root modules.
    pub(super) fn heading(self, paths: &[&Path]) -> String {
        match paths.len() {
            count if count == self.all => self.table_cell(paths),
            _ => names(paths),
        }
    }

    /// The label, and with -v every name.
    pub(super) fn each(self, paths: &[&Path]) -> String {
        if self.verbose { names(paths) } else { self.label(paths) }
    }

    /// A line with every name, if the label only counts them and -v is given.
    pub(super) fn names_below(self, paths: &[&Path]) -> Option<String> {
        (self.verbose && paths.len() > MOST_NAMES).then(|| format!("    in {}\n", names(paths)))
    }
}

/// `1 root module`, `30 root modules`.
pub(super) fn root_modules(count: usize) -> String {
    counted(count, "root module")
}

/// `45 units`, or `45 root modules, 1 stack and 2 units among them`; what is not counted is named after the number.
pub(super) fn root_modules_of(kinds: &BTreeMap<RootKind, usize>, count: usize, not_counted: NotCounted) -> String {
    match kinds.first_key_value() {
        Some((kind, all)) if *all == count => format!("{count} {}{not_counted}", kind.noun(count)),
        _ => format!("{}{not_counted}{}", root_modules(count), among(kinds)),
    }
}

/// `, 1 stack and 2 units among them`; nothing if all are modules.
pub(super) fn among(kinds: &BTreeMap<RootKind, usize>) -> String {
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {}", kind.noun(*count))).collect();
    if kinds.is_empty() { String::new() } else { format!(", {} among them", kinds.join(" and ")) }
}

/// The root modules of an outcome that are no modules, counted.
pub(super) fn kinds(outcome: &Outcome) -> BTreeMap<RootKind, usize> {
    let paths: BTreeSet<&Path> = outcome.roots.iter().map(|root| root.path.as_path()).collect();
    let mut kinds = BTreeMap::new();
    for kind in paths.into_iter().filter_map(|path| outcome.kinds.get(path)).filter(|kind| **kind != RootKind::Module) {
        *kinds.entry(*kind).or_default() += 1;
    }
    kinds
}

fn names(paths: &[&Path]) -> String {
    first_names(paths, usize::MAX)
}

/// The first names of many: `a, b, c and 15 more`.
pub(super) fn first_names(paths: &[&Path], most: usize) -> String {
    first_of(&paths.iter().map(|path| name(path)).collect::<Vec<_>>(), most)
}

pub(super) fn name(path: &Path) -> String {
    let path = shown(path);
    if path.is_empty() { ".".to_owned() } else { printable(&path).into_owned() }
}

/// The changed or compared lock files of a run, and their changes.
pub(super) struct Changed<'a> {
    pub(super) files: Vec<File<'a>>,
    /// Most dangerous first.
    pub(super) groups: Vec<ChangeGroup<'a>>,
    /// New checksums that were not checked because no server was queried.
    pub(super) unchecked: usize,
}

pub(super) struct File<'a> {
    pub(super) root: &'a Path,
    pub(super) path: &'a Path,
    pub(super) changed: bool,
    /// The result of `diff`; `None` for a file that the run itself changes.
    pub(super) review: Option<&'a Review>,
    pub(super) modules: &'a [ModuleChange],
}

pub(super) struct ChangeGroup<'a> {
    /// The change of the first lock file, with the hashes of all.
    pub(super) change: Cow<'a, Change>,
    pub(super) risk: Risk,
    /// What happened, for all root modules.
    pub(super) headline: String,
    /// The parts of the headlines, each with the number of root modules.
    parts: Vec<(String, usize)>,
    /// How the recorded constraints changed, each with the number of root modules.
    constraints: Vec<(String, usize)>,
    pub(super) places: Vec<Occurrence<'a>>,
    /// The rules of the findings about the provider, at least warnings.
    pub(super) rules: BTreeSet<Rule>,
    /// What requires the provider, and in how many root modules.
    required_by: BTreeMap<String, usize>,
    /// How many other changed requirements there are.
    more_places: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Occurrence<'a> {
    pub(super) root: &'a Path,
    pub(super) file: &'a Path,
    pub(super) position: Option<Position>,
}

/// What makes two changes one: the release, and the verdict on it.
#[derive(PartialEq, Eq, Hash)]
struct ChangeKey<'a> {
    address: &'a ProviderAddr,
    moved_from: Option<&'a ProviderAddr>,
    versions: String,
    kind: ChangeKind,
    risk: Risk,
    signed: Option<String>,
    /// Empty unless they are dangerous: then each root module may have others.
    hashes: Vec<&'a PackageHash>,
}

impl<'a> ChangeKey<'a> {
    fn of(change: &'a Change, risk: Risk) -> Self {
        let hashes = change.hashes_added.iter().map(|added| &added.hash).chain(&change.hashes_removed);
        Self {
            address: &change.address,
            moved_from: change.moved_from.as_ref(),
            versions: versions(change),
            kind: change.kind,
            risk,
            signed: signed(change),
            hashes: hashes.filter(|_| risk == Risk::Dangerous).collect(),
        }
    }
}

/// Counts a text among others.
fn count(texts: &mut Vec<(String, usize)>, text: String) {
    match texts.iter_mut().find(|(known, _)| *known == text) {
        Some((_, count)) => *count += 1,
        None => texts.push((text, 1)),
    }
}

impl<'a> Changed<'a> {
    pub(super) fn of(roots: impl IntoIterator<Item = &'a RootOutcome>) -> Self {
        let mut all = Self { files: Vec::new(), groups: Vec::new(), unchecked: 0 };
        let mut known: HashMap<ChangeKey<'a>, usize> = HashMap::new();
        for root in roots {
            let (changes, path, differs, review, modules) = match &root.body {
                Ok(Body::Changes(it)) => (&it.changes, &it.path, it.changed, None, &it.modules),
                Ok(Body::Review(it)) => (&it.changes, &it.path, it.changed, Some(it), &it.modules),
                _ => continue,
            };
            all.files.push(File { root: &root.path, path, changed: differs, review, modules });
            let mut rules: HashMap<&ProviderAddr, Vec<Rule>> = HashMap::new();
            for finding in root.findings.iter().filter(|finding| finding.level() > Level::Note) {
                finding.address.iter().for_each(|address| rules.entry(address).or_default().push(finding.rule));
            }
            for change in changes {
                let place = Occurrence { root: &root.path, file: path, position: change.position };
                all.unchecked += unchecked(change);
                let risk = risk(change);
                let key = ChangeKey::of(change, risk);
                let at = if let Some(at) = known.get(&key) {
                    all.groups[*at].join(change, place);
                    *at
                } else {
                    all.groups.push(ChangeGroup {
                        change: Cow::Borrowed(change),
                        risk,
                        headline: String::new(),
                        parts: Vec::new(),
                        constraints: Vec::new(),
                        places: vec![place],
                        rules: BTreeSet::new(),
                        required_by: BTreeMap::new(),
                        more_places: 0,
                    });
                    known.insert(key, all.groups.len() - 1);
                    all.groups.len() - 1
                };
                let group = &mut all.groups[at];
                group.describe(change);
                group.rules.extend(rules.get(&change.address).into_iter().flatten());
                for place in requirements(&change.required_by) {
                    *group.required_by.entry(place).or_default() += 1;
                }
            }
        }
        all.groups.iter_mut().for_each(|group| group.headline = group.summary());
        all.groups.sort_by_cached_key(|group| {
            let kind = group.change.kind;
            let [replaced, downgraded] = [ChangeKind::HashesReplaced, ChangeKind::Downgraded].map(|it| kind == it);
            (Reverse(group.risk), !replaced, !downgraded, group.change.address.clone(), versions(&group.change))
        });
        all
    }

    /// The number of changed providers by risk, and of new checksums that were not queried.
    pub(super) fn total(&self) -> String {
        let files =
            if self.files.len() > 1 { format!("{} lock files changed; ", self.files.len()) } else { String::new() };
        let mut risks: BTreeMap<&ProviderAddr, Risk> = BTreeMap::new();
        for group in &self.groups {
            let known = risks.entry(&group.change.address).or_insert(group.risk);
            *known = group.risk.max(*known);
        }
        if risks.is_empty() {
            let is_text = |text: TextChange| text.formatting == Formatting::Changed || text.header.is_some();
            let is_unknown = self.texts().any(|(_, text)| text.formatting == Formatting::Unknown);
            let text = match (self.texts().any(|(_, text)| is_text(text)), self.files.iter().any(|file| file.changed)) {
                _ if is_unknown => "not compared in full, since a text is refused",
                (true, _) => "no provider changed, only the text",
                (false, true) => "no provider changed",
                (false, false) => "nothing changed",
            };
            return files + text;
        }
        let counts = [Risk::Dangerous, Risk::Notable, Risk::Routine]
            .map(|risk| (risks.values().filter(|it| **it == risk).count(), risk.as_str()));
        let providers = counted(risks.len(), "provider");
        let unchecked = match self.unchecked {
            0 => String::new(),
            count => format!("; {} not checked", counted(count, "new checksum")),
        };
        format!("{files}{providers} changed: {}{unchecked}", nonzero(counts))
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = (&'a Path, TextChange)> {
        self.files.iter().filter_map(|file| Some((file.root, file.review?.text)))
    }

    pub(super) fn unanswered(&self) -> impl Iterator<Item = &'a Error> {
        self.files.iter().filter_map(|file| file.review).flat_map(|review| &review.inconclusive)
    }

    /// Each change of a module lock once, with its root modules.
    pub(super) fn modules(&self) -> Vec<(&'a ModuleChange, Vec<&'a Path>)> {
        let all = self.files.iter().flat_map(|file| file.modules.iter().map(|change| (file.root, change)));
        let keyed = all.map(|(root, change)| (root, (change.key.to_string(), change.sentence()), change));
        firsts(keyed).into_iter().map(|(_, change, paths)| (change, paths)).collect()
    }

    pub(super) fn sides(&self) -> Vec<(&'a [String; 2], Vec<&'a Path>)> {
        shared_items(self.files.iter().filter_map(|file| Some((file.path, &file.review?.sides))))
    }
}

impl<'a> ChangeGroup<'a> {
    pub(super) fn roots(&self) -> Vec<&'a Path> {
        self.places.iter().map(|place| place.root).collect()
    }

    /// Adds what happened in one more root module.
    fn describe(&mut self, change: &Change) {
        let (mut parts, constraints) = (headline(change), constraints(change));
        // They differ between root modules more often than all else.
        parts.retain(|part| Some(part) != constraints.as_ref());
        for part in parts {
            count(&mut self.parts, part);
        }
        if let Some(text) = constraints {
            count(&mut self.constraints, text);
        }
    }

    /// The worst of what happened.
    pub(super) fn first_part(&self) -> &str {
        self.parts.first().map_or(&self.headline, |(text, _)| text)
    }

    /// What happened: parts that hold for some root modules only have their number.
    fn summary(&self) -> String {
        let all = self.places.len();
        let in_roots = |count: usize| if count == all { String::new() } else { format!(" in {}", root_modules(count)) };
        let part = |(text, count): &(String, usize)| text.clone() + &in_roots(*count);
        let mut parts: Vec<String> = self.parts.iter().take(MOST_PARTS).map(part).collect();
        parts.extend(match &self.constraints[..] {
            [] => None,
            [one] => Some(part(one)),
            several => {
                let changed = several.iter().map(|(_, count)| count).sum();
                Some(format!("constraints changed in {}", root_modules(changed)))
            }
        });
        parts.join("; ")
    }

    /// What requires the provider, the most shared first: `modules/net/main.tf:4 (module.net), app/main.tf:3 and 58 more`.
    pub(super) fn required_by(&self) -> String {
        let mut places: Vec<(&String, usize)> = self.required_by.iter().map(|(place, count)| (place, *count)).collect();
        places.sort_by_key(|(_, count)| Reverse(*count));
        // Where each root module has a place of its own, one is an example of all.
        let most = if places.len() > MOST_PLACES && places[0].1 == 1 { 1 } else { MOST_PLACES };
        first_of(&places.iter().map(|(place, _)| place).collect::<Vec<_>>(), most)
    }

    /// True if the hashes themselves changed, and not only because of another version.
    pub(super) fn is_about_hashes(&self) -> bool {
        let kind = self.change.kind;
        self.risk == Risk::Dangerous || matches!(kind, ChangeKind::HashesChanged | ChangeKind::HashesReplaced)
    }

    fn join(&mut self, other: &Change, place: Occurrence<'a>) {
        self.places.push(place);
        let own = self.change.to_mut();
        let known: BTreeSet<&PackageHash> = own.hashes_added.iter().map(|added| &added.hash).collect();
        let added = other.hashes_added.iter().filter(|added| !known.contains(&added.hash)).cloned().collect::<Vec<_>>();
        own.hashes_added.extend(added);
        if own.hashes_removed != other.hashes_removed {
            let known: BTreeSet<&PackageHash> = own.hashes_removed.iter().collect();
            let removed = other.hashes_removed.iter().filter(|hash| !known.contains(hash)).cloned().collect::<Vec<_>>();
            own.hashes_removed.extend(removed);
        }
        for (hash, judged) in &other.judged {
            own.judged.entry(hash.clone()).or_insert_with(|| judged.clone());
        }
        for request in &other.callers {
            if own.callers.len() < MOST_PLACES {
                own.callers.push(request.clone());
            } else {
                self.more_places += 1;
            }
        }
    }

    pub(super) fn explanation(&self) -> Explanation {
        let mut explanation = explain(&self.change);
        if self.more_places > 0 {
            let cause = explanation.cause.trim_end_matches('.');
            explanation.cause = format!("{cause}; and {} more.", self.more_places);
        }
        explanation
    }
}

/// What requires a provider, or why that is unknown.
fn requirements(by: &RequiredBy) -> Vec<String> {
    match by {
        RequiredBy::NotChecked => Vec::new(),
        RequiredBy::Unknown(reason) => vec![format!("unknown: {}", printable(reason))],
        RequiredBy::Known(origins) => origins.iter().map(requirement).collect(),
    }
}

/// `modules/net/main.tf:4 (module.net)`
fn requirement(origin: &Origin) -> String {
    let place = format!("{}:{}", printable(&shown(&origin.file)), origin.position.line);
    if origin.module.is_empty() && !origin.in_tests { place } else { format!("{place} ({})", origin.caller()) }
}

fn unchecked(change: &Change) -> usize {
    let judged = change.hashes_added.iter().filter_map(|added| change.judged.get(&added.hash));
    judged.filter(|judged| judged.verdict == Verdict::UnknownOffline).count()
}
