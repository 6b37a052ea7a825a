//! The settings and files of one commit, and what the change does to them: settings and trust file are compared with the
//! base, whose history also says when it first had a release; a pull request cannot forge that.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::{Base, directory_of, is_lock_file, name_of};
use crate::addr::ProviderAddr;
use crate::commands::shared::trust_store::{TrustPlace, TrustStore};
use crate::commands::verify::root::GateRoot;
use crate::dialect::Dialect;
use crate::disk::files;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Position, Rule};
use crate::git::{ChangedFiles, Commit, FileContents, FileKind, Git, GitError, GitTree};
use crate::hash::HashScheme;
use crate::lockfile::{LockFile, likely_dialect, salvage};
use crate::modulelock;
use crate::path::{RepoPath, shown, worktree};
use crate::settings::{self, Date, FILE_NAME, ProviderScope, Settings, changed_keys};
use crate::trust::pins::{self, Pins, TrustFile};
use crate::verify::{self, Counted, Outer, Weakening, weakenings_within};
use crate::workspace::Exclusions;

#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    /// The name for users.
    name: String,
    tree: Arc<GitTree>,
    /// What was read of both commits.
    contents: Arc<FileContents>,
}

/// The two commits of the gate, and the change since the second.
pub(super) struct TwoCommits {
    pub(super) trusted: Snapshot,
    pub(super) before: Snapshot,
    pub(super) changes: ChangedFiles,
}

impl Snapshot {
    /// The revision and the merge base, with their settings, trust files and module lock files, and the lock files of the merge base
    /// that may differ.
    pub(super) fn sides(git: &Git, revision: &Commit, merge_base: &Commit) -> Result<TwoCommits, GitError> {
        let trusted = Arc::new(git.tree(revision)?);
        let is_same = revision.id == merge_base.id;
        let before = if is_same { Arc::clone(&trusted) } else { Arc::new(git.tree(merge_base)?) };
        let changes = git.changes_since(&before)?;
        let names = [settings::FILE_NAME, pins::FILE_NAME, modulelock::FILE_NAME];
        let locks = may_differ(&before, &changes).map(|path| (&*before, path));
        let of_gate = [&*trusted, &*before].into_iter().flat_map(|tree| tree.paths().map(move |path| (tree, path)));
        let contents = git.contents(of_gate.filter(|(_, path)| names.contains(&name_of(path))).chain(locks))?;
        let contents = Arc::new(contents);
        let [trusted, before] = [(revision, trusted), (merge_base, before)].map(|(commit, tree)| Self {
            name: commit.shown(),
            tree,
            contents: Arc::clone(&contents),
        });
        Ok(TwoCommits { trusted, before, changes })
    }

    /// The text of a file that is read in advance.
    pub(super) fn text(&self, path: &str) -> Option<&[u8]> {
        self.contents.of(&self.tree, path)
    }

    pub(super) fn tree(&self) -> &GitTree {
        &self.tree
    }

    /// The paths of files with this name, relative to the top.
    pub(super) fn paths<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.tree.paths().filter(move |path| name_of(path) == name)
    }

    /// The names of the files in a directory, relative to the top.
    pub(super) fn names_in(&self, way: &RepoPath) -> Vec<&str> {
        let prefix = way.prefix().len();
        self.tree.below(way).map(|path| &path[prefix..]).filter(|name| !name.contains('/')).collect()
    }

    /// The effective settings of a directory, relative to the top.
    pub(super) fn effective(&self, directory: &str) -> Result<Settings, Error> {
        let (mut all, mut errors) = (Settings::default(), Vec::new());
        let around: Vec<&Path> = Path::new(directory).ancestors().collect();
        for place in around.into_iter().rev() {
            match self.over(place, std::mem::take(&mut all)) {
                Ok(settings) => all = settings,
                Err(error) => errors.push(error),
            }
        }
        Error::all(errors).map_or(Ok(all), Err)
    }

    /// The settings file of a directory over the settings further out.
    pub(super) fn over(&self, directory: &Path, outer: Settings) -> Result<Settings, Error> {
        let path = directory.join(settings::FILE_NAME);
        if !self.has(&path) {
            return Ok(outer);
        }
        let Some(text) = self.text(&RepoPath::of(&path)) else {
            let message = format!("cannot read {} of {}", shown(&path), self.name);
            return Err(Error::new(ErrorKind::Settings, message).in_file(path));
        };
        over(directory, Some(text.to_vec()), outer)
    }

    /// True if there is something at a path, which no link leads to.
    fn has(&self, path: &Path) -> bool {
        self.tree.kind(&RepoPath::of(path)).is_some()
    }

    /// The strictest combination of the settings of some directories; `None` if there are no directories.
    pub(super) fn strictest(&self, directories: &BTreeSet<String>) -> Result<Option<Settings>, Error> {
        let nearest = |directory: &String| {
            let has_settings = |above: &&Path| self.has(&above.join(settings::FILE_NAME));
            Path::new(directory).ancestors().find(has_settings).map(RepoPath::of).unwrap_or_default()
        };
        let stated: BTreeSet<RepoPath> = directories.iter().map(nearest).collect();
        let mut strictest: Option<Settings> = None;
        for directory in stated {
            let settings = self.effective(&directory)?;
            strictest = Some(match strictest {
                None => settings,
                Some(known) => known.and_stricter(&settings),
            });
        }
        Ok(strictest)
    }

    /// The directories that all settings files exclude from the search below this top. Invalid files are errors later,
    /// when the settings are used.
    pub(super) fn exclusions(&self, top: &Path) -> Exclusions {
        let stated = self.paths(settings::FILE_NAME).filter_map(|path| {
            let text = std::str::from_utf8(self.text(path)?).ok()?;
            Some(settings::decode(text, Path::new(path)).ok()?.stated_in(&top.join(directory_of(path))))
        });
        stated.collect()
    }
}

/// The lock files of the merge base that may differ from those of the working tree: changed ones, and links, whose targets may have
/// changed.
pub(super) fn may_differ<'a>(before: &'a GitTree, changes: &'a ChangedFiles) -> impl Iterator<Item = &'a str> {
    let is_link = |path: &str| before.kind(path) == Some(FileKind::Link);
    let locks = before.paths().filter(|path| is_lock_file(path));
    locks.filter(move |path| changes.holds(path) || is_link(path))
}

/// The settings of a directory, if it has any, over those further out.
pub(super) fn over(directory: &Path, text: Option<Vec<u8>>, outer: Settings) -> Result<Settings, Error> {
    let Some(text) = text else { return Ok(outer) };
    let path = directory.join(settings::FILE_NAME);
    let Ok(text) = String::from_utf8(text) else {
        let message = format!("cannot read {}: it is not UTF-8 text", shown(&path));
        return Err(Error::new(ErrorKind::Settings, message).in_file(path));
    };
    match settings::decode(&text, &path) {
        Ok(nested) => nested.stated_in(directory).over(outer).bounded(&path),
        Err(wrong) => Error::all(wrong).map_or(Ok(outer), Err),
    }
}

/// An error of git, with next steps for the gate.
pub(super) fn git_error(error: GitError, revision: &str) -> Error {
    let deepen = "fetch the whole history: `fetch-depth: 0` in actions/checkout, `GIT_DEPTH: 0` in GitLab CI";
    let said = Error::new(ErrorKind::Usage, error.to_string());
    match error {
        GitError::NoWorkTree { ref reason, .. } if reason.contains("dubious ownership") => error.into(),
        GitError::NoWorkTree { .. } => said.hint("--base compares with a revision of git: run in a clone"),
        GitError::Start(_) => said.hint("install git: --base needs it"),
        GitError::NoMergeBase { .. } => said.hint(format!("if they have one elsewhere, {deepen}")),
        GitError::UnknownName { shallow, ref remote, .. } => {
            let is_reported = shallow || remote.is_some();
            let message = format!("--base: {revision:?} is not a revision in this clone");
            let said = Error { message, ..Error::from(error) };
            if is_reported { said } else { said.hint(format!("a clone may lack other branches; {deepen}")) }
        }
        GitError::AmbiguousName { .. } => {
            let refused = Error::from(error);
            Error {
                message: format!("--base: {}, and anyone who may push a tag or a branch could choose", refused.message),
                ..refused
            }
        }
        GitError::Foreign(_)
        | GitError::NoCommit { .. }
        | GitError::TooShallow { .. }
        | GitError::OtherRepository { .. }
        | GitError::Partial
        | GitError::Interrupted(_)
        | GitError::TooSlow { .. }
        | GitError::TooLarge { .. }
        | GitError::Failed { .. } => error.into(),
    }
}

impl Base {
    /// The pins to judge a change by, and findings about its changes of the trust file. A trust file outside of the
    /// working tree is used unchanged, since the change cannot reach it.
    pub fn pins(&self, place: &TrustPlace, named: bool) -> Result<(Option<Counted>, Vec<Finding>), Error> {
        let now = TrustStore::load(place)?;
        let known = |store: &TrustStore| store.exists().then(|| store.pins().clone());
        let absent = |store: &TrustStore| named && !store.exists();
        let Some(path) = self.trust_path(place) else {
            let missing = absent(&now).then(|| TrustStore::absent(&place.shown, ""));
            return missing.map_or_else(|| Ok((known(&now).map(Counted::from), Vec::new())), Err);
        };
        let sides = [(&self.revision, &self.trusted), (&self.compared_with, &self.before)];
        let [at_base, before] = sides.map(|(commit, snapshot)| -> Result<TrustStore, Error> {
            let text = self.texts(snapshot, std::slice::from_ref(&path))?.into_values().next();
            let name = format!("{} of {}", shown(&place.shown), commit.shown());
            TrustStore::of_text(text.as_deref(), &TrustPlace { shown: name.into(), ..place.clone() })
        });
        let at_base = at_base?;
        if self.options.trust_change_allowed && absent(&now) {
            return Err(TrustStore::absent(&place.shown, ""));
        }
        if !self.options.trust_change_allowed && absent(&at_base) {
            return Err(TrustStore::absent(&place.shown, &format!(" at {}", self.revision.shown())));
        }
        // If the earlier file cannot be read, compare with the trusted one.
        let before = before.unwrap_or_else(|_| at_base.clone());
        let findings = self.lifted(of_pins(before.pins(), now.file(), Path::new(&*path)));
        let (counting, trusted) = if self.options.trust_change_allowed {
            (known(&now), now.pins())
        } else {
            let counting = verify::effective_pins(known(&at_base).as_ref(), before.pins(), known(&now).as_ref());
            (counting, at_base.pins())
        };
        let counting = counting.map(|pins| self.dated(pins, &path, place)).transpose()?;
        Ok((counting.map(|pins| Counted::since(before.pins(), pins, trusted.clone())), findings))
    }

    /// The pins, with the day of the commit that added it in each block that says where releases are built and not since when.
    /// What the history of the base does not show stays unknown.
    fn dated(&self, mut pins: Pins, path: &RepoPath, place: &TrustPlace) -> Result<Pins, Error> {
        let mut open = pins.undated();
        if open.is_empty() {
            return Ok(pins);
        }
        let texts = self.git.earlier_texts(&self.revision, path);
        for (moment, text) in texts.map_err(|error| git_error(error, &self.options.revision))? {
            let earlier = TrustStore::of_text(text.as_deref(), place).unwrap_or_default();
            open.retain(|pattern| earlier.pins().providers.get(pattern).is_some_and(|pin| pin.built_by.is_some()));
            for pattern in &open {
                pins.date(pattern, Date::of(moment));
            }
        }
        Ok(pins)
    }

    pub fn trusted_pins(&self, place: &TrustPlace) -> Result<Pins, Error> {
        let Some(path) = self.trust_path(place) else {
            return Ok(TrustStore::load(place)?.pins().clone());
        };
        let text = self.texts(&self.trusted, std::slice::from_ref(&path))?.into_values().next();
        Ok(TrustStore::of_text(text.as_deref(), place)?.pins().clone())
    }

    fn trust_path(&self, place: &TrustPlace) -> Option<RepoPath> {
        let parent = worktree::absolute(place.path.parent()?);
        let directory = parent.strip_prefix(&self.top).ok()?;
        Some(RepoPath::of(&directory.join(place.path.file_name()?)))
    }
}

fn of_pins(before: &Pins, now: &TrustFile, file: &Path) -> Vec<Finding> {
    let changes = verify::pin_changes(before, &now.pins).into_iter();
    let finding = |change: verify::PinChange| {
        let position = change.block.and_then(|block| now.spans.get(&block).copied());
        let mut finding = Finding::new(change.rule, change.message).in_file(file).at(position);
        finding.address = change.about.and_then(|pattern| pattern.only());
        match change.remedy {
            Some(remedy) => finding.remedied_by(remedy),
            None => finding,
        }
    };
    changes.map(finding).collect()
}

/// Compares the effective settings of each directory that has a settings file on either side. A change of an outer file
/// is reported once, at that file.
pub(super) fn of_settings(base: &Base) -> Result<Vec<Finding>, Error> {
    let is_settings = |path: &&str| crate::commands::verify::base::name_of(path) == FILE_NAME;
    // A link may lead to a file of any name.
    let is_link = |path: &str| base.before.tree().kind(path) == Some(FileKind::Link);
    if !base.changes.paths().any(|path| is_settings(&path)) && !base.before.paths(FILE_NAME).any(is_link) {
        return Ok(Vec::new());
    }
    let files = base.before.paths(FILE_NAME).chain(base.changes.paths().filter(is_settings));
    // Sorted, so each directory comes before those in it.
    let directories: BTreeSet<&Path> = files.filter_map(|path| Path::new(path).parent()).collect();
    let mut findings = Vec::new();
    // The directories around, the innermost last, and all that was found there. So each file is decoded once, and its bans
    // are compared once.
    let (mut around, mut known): (Vec<Around<'_>>, HashSet<Weakening>) = (Vec::new(), HashSet::new());
    for directory in directories {
        while let Some(left) = around.pop_if(|outer| !directory.starts_with(outer.directory)) {
            left.found.iter().for_each(|weakening| _ = known.remove(weakening));
        }
        let outer = around.last();
        let settings_around = outer.map_or_else(|| Some(Settings::default()), |outer| outer.before.clone());
        let text = now(base, &directory.join(FILE_NAME))?;
        let now = over(directory, text, outer.map(|outer| outer.now.clone()).unwrap_or_default())?;
        let before = settings_around.and_then(|all| base.before.over(directory, all).ok());
        let compared =
            before.as_ref().zip(outer).and_then(|(_, outer)| Some(Outer::of(outer.before.as_ref()?, &outer.now)));
        // If the earlier settings cannot be read, compare with the trusted ones.
        let trusted;
        let compared_with = if let Some(before) = &before {
            before
        } else {
            trusted = base.trusted.effective(&RepoPath::of(directory))?;
            &trusted
        };
        let mut found = weakenings_within(compared_with, &now, compared.unwrap_or_default());
        found.retain(|weakening| !known.contains(weakening));
        drop_harmless(base, &mut found)?;
        if found.is_empty() && is_taken_away(base, directory) {
            let message = format!("{FILE_NAME} was removed, so its settings no longer apply");
            findings.push(Finding::new(Rule::PolicyWeakened, message).in_file(directory.join(FILE_NAME)));
        }
        let tools = [compared_with, &now].map(Settings::dialect);
        let was_moved = outer.is_some_and(|outer| outer.moved);
        let moved = was_moved || tools[0] != tools[1];
        if moved && !was_moved {
            findings.push(other_tool(directory, tools));
        }
        findings.extend(placed(base, directory, &found));
        known.extend(found.iter().cloned());
        around.push(Around { directory, before, now, found, moved });
    }
    Ok(findings)
}

/// Drops what is harmless for a provider that no lock file of the base has.
fn drop_harmless(base: &Base, found: &mut Vec<Weakening>) -> Result<(), Error> {
    if found.iter().all(|weakening| weakening.harmless_if_new.is_none()) {
        return Ok(());
    }
    let files: Vec<RepoPath> =
        base.before.tree().paths().filter(|path| is_lock_file(path)).map(RepoPath::from_git).collect();
    let texts = base.texts(&base.before, &files)?;
    let locks: Vec<LockFile> = texts.values().map(|text| salvage(text, likely_dialect(text)).lock).collect();
    let is_known =
        |providers: &ProviderScope| locks.iter().flat_map(LockFile::iter).any(|(addr, _)| providers.covers(addr));
    found.retain(|weakening| weakening.harmless_if_new.as_ref().is_none_or(is_known));
    Ok(())
}

/// True if the change removed the settings file of a directory in or below which lock files stay.
fn is_taken_away(base: &Base, directory: &Path) -> bool {
    let path = RepoPath::of(&directory.join(FILE_NAME));
    let was_there = base.before.tree().kind(&path).is_some() && !base.changes.is_present(&path);
    let way = RepoPath::of(directory);
    let mut locks = base.before.tree().below(&way).filter(|path| is_lock_file(path));
    was_there && locks.any(|path| base.changes.is_present(path))
}

/// The effective settings of a directory.
struct Around<'a> {
    directory: &'a Path,
    /// At the base; `None` if they cannot be read.
    before: Option<Settings>,
    now: Settings,
    /// What they let pass that those around them do not.
    found: Vec<Weakening>,
    /// Whether they name another tool than before, here or further out.
    moved: bool,
}

impl Base {
    /// What the change does to settings files, in words: each with the keys that differ.
    pub fn settings_changes(&self) -> Vec<String> {
        let files = self.before.paths(FILE_NAME).chain(self.changes.paths().filter(|path| name_of(path) == FILE_NAME));
        let changed: BTreeSet<&str> = files.filter(|path| self.changes.has(path)).collect();
        changed.into_iter().filter_map(|path| self.settings_change(path)).collect()
    }

    fn settings_change(&self, path: &str) -> Option<String> {
        let before = self.before.text(path).map(|text| String::from_utf8_lossy(text).into_owned());
        let now = now(self, Path::new(path)).ok().flatten().map(|text| String::from_utf8_lossy(&text).into_owned());
        let what = match (&before, &now) {
            (None, None) => return None,
            (None, Some(_)) => "is new",
            (Some(_), None) => "was removed",
            (Some(_), Some(_)) => "changed",
        };
        let keys = changed_keys(&before.unwrap_or_default(), &now.unwrap_or_default());
        let keys = if keys.is_empty() { "no setting differs".to_owned() } else { keys.join(", ") };
        Some(format!("{} {what}: {keys}", shown(Path::new(path))))
    }
}

/// The finding for settings that name another tool than before, or none.
fn other_tool(directory: &Path, tools: [Option<Dialect>; 2]) -> Finding {
    let [before, now] = tools.map(|tool| tool.map_or("auto", Dialect::program));
    let message = format!("the settings have tool = {now:?}, and had {before:?} at the base");
    Finding::new(Rule::DialectChanged, message).in_file(directory.join(FILE_NAME))
}

/// The text of a settings file of the working tree; `None` if it is only reached through a link above it.
fn now(base: &Base, path: &Path) -> Result<Option<Vec<u8>>, Error> {
    if !base.changes.is_present(&RepoPath::of(path)) {
        return Ok(None);
    }
    files::read_file(&base.top.join(path))
}

/// Places weakenings at the lines that cause them, or at the file that lost a line.
fn placed(base: &Base, directory: &Path, weakenings: &[Weakening]) -> Vec<Finding> {
    if weakenings.is_empty() {
        return Vec::new();
    }
    let changed = directory.ancestors().map(|place| place.join(FILE_NAME));
    let changed = changed.into_iter().find(|path| base.changes.has(&RepoPath::of(path)));
    let file: PathBuf = changed.unwrap_or_else(|| directory.join(FILE_NAME));
    let lines = lines(base, &file);
    let finding = |weakening: &Weakening| {
        let finding = Finding::new(Rule::PolicyWeakened, &weakening.message).in_file(&file);
        finding.at(lines.get(&weakening.line).copied())
    };
    weakenings.iter().map(finding).collect()
}

/// The positions of settings in a file, by the words before a brace or an equals sign.
fn lines(base: &Base, file: &Path) -> HashMap<String, Position> {
    let bytes = files::read_file(&base.top.join(file)).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = HashMap::new();
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let position = Position { line: at + 1, column: line.len() - trimmed.len() + 1 };
        let start = trimmed.split(['{', '=']).next().unwrap_or_default().trim_end();
        lines.entry(start.to_owned()).or_insert(position);
    }
    lines
}

/// When hashes were first recorded; each is looked up once.
pub(super) type FirstSeen = BTreeMap<String, Option<SystemTime>>;

impl Base {
    /// The first appearance of each release that is new in this lock file but was in a different one before, if the policy
    /// sets a minimum age. The date of a signature proves nothing, since the signer chooses it.
    pub(super) fn first_seen(
        &self,
        root: &GateRoot,
        before: &LockFile,
        known: &mut FirstSeen,
    ) -> Result<BTreeMap<ProviderAddr, SystemTime>, Error> {
        let mut seen = BTreeMap::new();
        if root.settings().settings.policy.minimum_age.is_none() {
            return Ok(seen);
        }
        for (addr, entry) in root.lock().iter() {
            let is_new = before.get(addr).is_none_or(|old| old.version != entry.version);
            let Some(zh) = entry.hashes.of(HashScheme::Zh).next().filter(|_| is_new) else {
                continue;
            };
            let zh = zh.to_string();
            let first = if let Some(first) = known.get(&zh) {
                *first
            } else {
                let first = self.git.first_with(&self.revision, &zh);
                let first = first.map_err(|error| git_error(error, &self.options.revision))?;
                known.insert(zh, first);
                first
            };
            seen.extend(first.map(|first| (addr.clone(), first)));
        }
        Ok(seen)
    }
}
