//! Each rule at each level, in every command that raises it, with the exit code that follows.
//!
//! `levels.txt` has the worlds and the commands, `levels.tsv` what each command finds in each world, at which of the levels that
//! the settings give. A short run looks at some worlds, where a command runs once for each rule that it raises, at one level that the
//! rule does not have by itself; a long one at every row at one level, and at those rules at every level. With
//! `TFLOCK_TEST_LEVELS=all` every command runs in every world, so one that raises a rule without a row fails the test. `UPDATE=1`
//! writes the table, with `TFLOCK_TEST_LEVELS=WORLD` that of some worlds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use tflock_core::finding::{Class, Level, Rule};

use crate::cache::lying;
use crate::modules::git::Repository;
use crate::support::each_is_right;
use crate::support::extent::Extent;
use crate::support::github::{archives, attested, built, place, reaching, repository, with_place};
use crate::support::keys::{self, Key};
use crate::support::locked::{LOCK, MAIN, hashes, locked, pinned, planted};
use crate::support::packages::Shape;
use crate::support::proposal::{SETTINGS, TRUST, without_last_line_with};
use crate::support::registry::{Flaw, Registry};
use crate::support::run::Run;
use crate::support::sigstore::{Claims, attest};
use crate::support::workspace::{TESTDATA, Workspace};
use crate::support::worlds::PLATFORMS;

/// In each of three rounds a rule has another level.
const ROUNDS: &[usize] = &[0, 1, 2];

const LEVELS: [(Level, &str); 3] = [(Level::Note, "note"), (Level::Warn, "warn"), (Level::Deny, "deny")];

/// A world of `levels.txt`: how it comes about, and commands that make sense in it only.
#[derive(Debug, Default)]
pub struct World {
    pub name: String,
    pub steps: Vec<String>,
    commands: Vec<String>,
}

impl World {
    /// A world without a name, of these steps.
    pub fn of(steps: Vec<String>) -> Self {
        Self { steps, ..Self::default() }
    }
}

#[derive(Debug, Default)]
pub struct Book {
    pub worlds: Vec<World>,
    /// What runs in every world.
    commands: Vec<String>,
    /// Commands whose exit code says something else than what was found.
    reports: Vec<String>,
    /// Rule, start of the command or `*`, and why the level of the settings does not count there.
    fixed: Vec<(String, String)>,
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name)
}

pub fn book() -> Book {
    let mut book = Book::default();
    for line in std::fs::read_to_string(file("levels.txt")).unwrap().lines() {
        let line = line.trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "world" => book.worlds.push(World { name: rest.to_owned(), ..World::default() }),
            "" | "#" => {}
            "everywhere" => book.commands.push(rest.to_owned()),
            "reports" => book.reports.push(rest.to_owned()),
            "fixed" => {
                let (what, why) = rest.split_once(": ").unwrap_or_else(|| panic!("no reason: {line}"));
                assert!(!why.is_empty(), "{line}");
                let (rule, command) = what.split_once(' ').unwrap();
                book.fixed.push((rule.to_owned(), command.to_owned()));
            }
            "run" => book.worlds.last_mut().unwrap().commands.push(rest.to_owned()),
            _ => book.worlds.last_mut().unwrap().steps.push(line.to_owned()),
        }
    }
    book
}

/// The level that a rule gets in one of three rounds. Neighbours differ, so a command that takes the level of another rule is seen.
fn stated(rule: Rule, round: usize) -> Level {
    let at = Rule::ALL.iter().position(|one| *one == rule).unwrap();
    LEVELS[(at + round) % 3].0
}

fn word(level: Level) -> &'static str {
    LEVELS.iter().find(|(one, _)| *one == level).unwrap().1
}

fn settings(round: usize) -> String {
    Rule::ALL.iter().fold(String::new(), |mut text, rule| {
        writeln!(text, "level \"{}\" {{\n  is = \"{}\"\n}}", rule.id(), word(stated(*rule, round))).unwrap();
        text
    })
}

fn key(name: &str) -> Key {
    match name {
        "GOOD" => keys::GOOD,
        "OTHER" => keys::OTHER,
        "EXPIRED" => keys::EXPIRED,
        "REVOKED" => keys::REVOKED,
        _ => panic!("there is no key {name}"),
    }
}

/// A world that has come about.
pub struct Scene {
    registry: Option<Registry>,
    workspace: Option<Workspace>,
    repository: Option<Repository>,
    levels: String,
}

impl Scene {
    pub fn of(world: &World, round: usize) -> Self {
        Self::with(world, settings(round))
    }

    /// Each rule has its own level.
    pub fn with_own_levels(world: &World) -> Self {
        Self::with(world, String::new())
    }

    fn with(world: &World, levels: String) -> Self {
        let workspace = Workspace::with_files(&[(SETTINGS, &levels)]);
        let mut scene =
            Self { registry: Some(Registry::start()), workspace: Some(workspace), repository: None, levels };
        for step in &world.steps {
            scene.step(step);
        }
        scene
    }

    pub fn registry(&self) -> &Registry {
        self.registry.as_ref().unwrap()
    }

    pub fn workspace(&self) -> &Workspace {
        self.workspace.as_ref().unwrap()
    }

    pub fn filled(&self, text: &str) -> String {
        let registry = self.registry();
        let mut text = text.replace("\\n", "\n").replace("{{registry}}", &registry.host());
        text = text.replace("{{other-host}}", &registry.other_host()).replace("{{testdata}}", TESTDATA);
        text = text.replace("{{work}}", self.workspace().path("").to_str().unwrap());
        text = text.replace("{{mirror}}", &registry.mirror_url());
        for (name, key) in [("GOOD", keys::GOOD), ("OTHER", keys::OTHER)] {
            text = text.replace(&format!("{{{{{name}}}}}"), &key.fingerprint());
        }
        while let Some(start) = text.find("{{hashes ") {
            let end = start + text[start..].find("}}").unwrap();
            let (provider, version) = text[start + "{{hashes ".len()..end].split_once(' ').unwrap();
            let lines = format!("\"{}\"", hashes(registry, provider, version).join("\",\n    \""));
            text.replace_range(start..end + 2, &lines);
        }
        for hash in ["zh", "h1"] {
            while let Some(start) = text.find(&format!("{{{{{hash} ")) {
                let end = start + text[start..].find("}}").unwrap();
                let words: Vec<&str> = text[start + 5..end].split(' ').collect();
                let package = registry.package(words[0], words[1], words[2]);
                let value = if hash == "zh" { package.zh() } else { package.h1 };
                text.replace_range(start..end + 2, &value);
            }
        }
        text
    }

    fn serve(&mut self, change: impl FnOnce(Registry) -> Registry) {
        self.registry = self.registry.take().map(change);
    }

    fn edit(&self, path: &str, change: impl FnOnce(&str) -> String) {
        let before = self.workspace().read(path);
        let after = change(&before);
        assert_ne!(before, after, "{path} is as it was");
        self.workspace().write(path, &after);
    }

    pub fn step(&mut self, step: &str) {
        let words: Vec<String> = step.split(' ').map(|word| self.filled(word)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // The text behind the first word, and behind the second.
        let rest = self.filled(step.split_once(' ').map_or("", |(_, rest)| rest));
        let (path, text) = rest.split_once(' ').unwrap_or((&rest, ""));
        if !self.served(&words, text) {
            self.written(&words, &rest, (path, text));
        }
    }

    /// Steps about the registry; false if it is not one.
    fn served(&mut self, words: &[&str], text: &str) -> bool {
        match *words {
            ["release", provider, version] => self.serve(|it| it.release(provider, version, PLATFORMS)),
            ["release", provider, version, ref platforms @ ..] => {
                self.serve(|it| it.release(provider, version, platforms));
            }
            ["signed_by", name] => self.serve(|it| it.signed_by(key(name))),
            ["listing", name] => self.serve(|it| it.listing(&[key(name)])),
            ["signed_late"] => self.serve(|it| it.signed_on(keys::AFTER_EXPIRY)),
            ["unsigned"] => self.serve(Registry::unsigned),
            ["named", name] => self.serve(|it| it.named(name)),
            ["packages"] => self.serve(Registry::with_packages),
            ["another", platform] => self.serve(|it| it.another(&[platform])),
            ["standing_for", host] => self.serve(|it| it.standing_for(host)),
            ["warning", ..] => self.serve(|it| it.warning(text)),
            ["flawed", flaw] => {
                let flaw = match flaw {
                    "MissingSignature" => Flaw::MissingSignature,
                    "TamperedZip" => Flaw::TamperedZip,
                    "PackagesWrongZh" => Flaw::PackagesWrongZh,
                    "PackagesWrongH1" => Flaw::PackagesWrongH1,
                    "PackagesWrongElsewhere" => Flaw::PackagesWrongOf("darwin_arm64"),
                    _ => panic!("there is no flaw {flaw}"),
                };
                self.serve(|it| it.flawed(flaw));
            }
            ["shaped", shape] => {
                let shape = match shape {
                    "DuplicateEntry" => Shape::DuplicateEntry,
                    "Go" => Shape::Go,
                    _ => panic!("there is no shape {shape}"),
                };
                self.serve(|it| it.shaped(shape));
            }
            ["republish", provider, version] => self.registry().republish(provider, version),
            ["withdraw", provider, version] => self.registry().withdraw(provider, version),
            ["add_platform", provider, version, platform] => {
                self.registry().add_platform(provider, version, platform);
            }
            // Built where `place` pins it but for some claims, `NAME=VALUE`.
            ["built", provider, version, ref claims @ ..] => {
                let mut all = Claims { repository: repository(provider), ..Claims::of_tag(&format!("v{version}")) };
                claims.iter().filter_map(|it| it.split_once('=')).for_each(|(name, value)| all.set(name, value));
                self.serve(|it| built(it, provider, version, &all));
            }
            // What is attested of another release.
            ["built_as", provider, version, other, other_version] => self.serve(|it| {
                let claims = Claims { repository: repository(provider), ..Claims::of_tag("v1.0.0") };
                let bundle = attest(&claims, &archives(&it, other, other_version));
                attested(it, provider, version, &[bundle])
            }),
            // What GitHub computed when the archives of a release were uploaded: of another release, or nothing.
            ["uploaded", provider, version, ref other @ ..] => self.serve(|it| {
                let digests = other.chunks(2).flat_map(|other| archives(&it, other[0], other[1])).map(|(_, hex)| hex);
                let names = archives(&it, provider, version).into_iter().map(|(name, _)| name);
                let assets: Vec<_> = names
                    .zip(digests)
                    .map(|(name, hex)| json!({ "name": name, "digest": format!("sha256:{hex}") }))
                    .collect();
                let path = format!("/repos/{}/releases/tags/v{version}", repository(provider));
                it.document(
                    &path,
                    "application/json",
                    json!({ "tag_name": format!("v{version}"), "assets": assets }).to_string(),
                )
            }),
            ["readable", repository] => {
                self.serve(|it| it.document(&format!("/repos/{repository}"), "application/json", "{}"));
            }
            ["module", name, version, ref files @ ..] => {
                let needs = crate::modules::NEEDS_WIDGET.replace("{{registry}}", &self.registry().host());
                let more: Vec<(&str, &str)> = files.iter().map(|file| (*file, "# more\n")).collect();
                let files: Vec<(&str, &str)> = [("main.tf", needs.as_str())].into_iter().chain(more).collect();
                self.serve(|it| it.module(name, version, &files));
            }
            // A repository with modules, its branch `main` and its tag `v1` on this commit.
            ["repository", file] => {
                let repository = self.repository.take().unwrap_or_else(Repository::new);
                repository.commit(file, &crate::modules::NEEDS_WIDGET.replace("{{registry}}", &self.registry().host()));
                repository.0.git(["branch", "--force", "-m", "main"]);
                repository.0.git(["tag", "--force", "v1"]);
                self.serve(|it| repository.served_by(it));
                self.repository = Some(repository);
            }
            _ => return false,
        }
        true
    }

    /// Steps about the working tree.
    fn written(&mut self, words: &[&str], rest: &str, (path, text): (&str, &str)) {
        let registry = self.registry();
        let workspace = self.workspace();
        match words[0] {
            // An honest lock file for both providers of `MAIN`, and a trust file.
            "locked" => {
                let honest = locked(registry);
                workspace.write("main.tf", &MAIN.replace("{{registry}}", &registry.host()));
                workspace.write(LOCK, &honest.lock_file());
                workspace.write(TRUST, &pinned(registry));
            }
            "settings" => workspace.write(SETTINGS, &(rest.to_owned() + "\n" + &self.levels)),
            "write" => workspace.write(path, &(text.to_owned() + "\n")),
            "append" => self.edit(path, |before| format!("{before}{text}\n")),
            "edit" => {
                let (old, new) = text.split_once(" => ").unwrap_or_else(|| panic!("no arrow: {text}"));
                self.edit(path, |before| before.replace(old, new));
            }
            "drop" => self.edit(path, |before| without_last_line_with(before, text)),
            "plant" => self.edit(path, |before| planted(before, text)),
            "remove" => {
                let path = workspace.path(path);
                if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
            }
            "copy" => workspace.write_bytes(text, &std::fs::read(workspace.path(path)).unwrap()),
            "package" => {
                let package = registry.package(words[1], words[2], words[3]);
                workspace.write_bytes(words[4], &package.zip);
            }
            // What was computed here is forgotten, and another machine gives wrong hashes for the same archives.
            "lie" => {
                let export = workspace.tflock(None, ["cache", "export", "-"]).ended_with(0).stdout;
                forget(workspace);
                workspace.tflock_reading(&lying(&export), ["cache", "import", "-"]).ended_with(0);
            }
            #[cfg(unix)]
            "link" => std::os::unix::fs::symlink(path, workspace.path(text)).unwrap(),
            "git" => drop(workspace.git(&words[1..])),
            // No level refuses what comes before.
            "tflock" => {
                let settings = workspace.read(SETTINGS);
                workspace.write(SETTINGS, &settings.replace(&self.levels, ""));
                workspace.tflock(registry, &words[1..]).ended_with(0);
                workspace.write(SETTINGS, &settings);
            }
            "base" => {
                if !workspace.has(".git") {
                    workspace.git(["init", "--quiet"]);
                }
                workspace.git(["add", "--all"]);
                workspace.git(["commit", "--quiet", "--message", "base"]);
                workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
            }
            "place" => {
                let host = registry.host();
                self.edit(TRUST, |before| with_place(before, &format!("{host}/{path}"), &place(path)));
            }
            "github" => {
                let registry = self.registry.take();
                self.workspace = self.workspace.take().map(|it| reaching(it, registry.as_ref().unwrap()));
                self.registry = registry;
            }
            "environment" => {
                let (name, value) = (path.to_owned(), text.to_owned());
                self.workspace = self.workspace.take().map(|it| it.env(&name, &value));
            }
            "trust_git" => {
                let file = registry.ca_file().to_str().unwrap().to_owned();
                self.workspace = self.workspace.take().map(|it| it.env("GIT_SSL_CAINFO", &file));
            }
            _ => panic!("what is {words:?}?"),
        }
    }

    /// Runs a command in a copy of the world.
    fn run(&self, command: &str) -> Run {
        let args: Vec<String> = command.split(' ').map(|word| self.filled(word)).collect();
        self.workspace().copied().tflock(self.registry(), args.iter().map(String::as_str).chain(["--format", "json"]))
    }
}

fn forget(workspace: &Workspace) {
    let cache = workspace.path("").with_file_name("cache");
    std::fs::remove_dir_all(&cache).unwrap();
    std::fs::create_dir(&cache).unwrap();
}

/// What a run found, and whether an error came on top of that.
fn found(run: &Run) -> (BTreeSet<(Rule, Level)>, bool) {
    let mut found = BTreeSet::new();
    let mut failed = false;
    let rule = |id: &str| Rule::ALL.iter().copied().find(|rule| rule.id() == id);
    let level = |name: &str| LEVELS.iter().find(|(_, word)| *word == name).map(|(level, _)| *level);
    if let Ok(json) = serde_json::from_str::<serde_json::Value>(&run.stdout) {
        let mut open = vec![&json];
        while let Some(value) = open.pop() {
            // An error, wherever a command reports it.
            failed |= value.get("kind").is_some() && value.get("hints").is_some();
            let text = |name| value.get(name).and_then(serde_json::Value::as_str);
            if let (Some(rule), Some(level)) = (text("rule").and_then(rule), text("level").and_then(level)) {
                found.insert((rule, level));
            }
            match value {
                serde_json::Value::Array(values) => open.extend(values),
                serde_json::Value::Object(values) => open.extend(values.values()),
                _ => {}
            }
        }
    }
    for (start, level) in [("note[", Level::Note), ("warning[", Level::Warn), ("denied[", Level::Deny)] {
        for line in run.stderr.lines() {
            let id = line.split_once(start).and_then(|(_, rest)| rest.split_once(']'));
            found.extend(id.and_then(|(id, _)| rule(id)).map(|rule| (rule, level)));
        }
    }
    (found, failed || run.stderr.contains("error: "))
}

fn code(findings: &BTreeSet<(Rule, Level)>) -> i32 {
    let denied = findings.iter().filter(|(_, level)| *level == Level::Deny);
    denied.map(|(rule, _)| if rule.class() == Class::Other { 1 } else { 3 }).max().unwrap_or(0)
}

/// World, command, rule.
type Place = (String, String, String);

/// The levels of the settings at which a rule was seen, and what was seen instead.
type Table = BTreeMap<Place, String>;

/// What was seen at a level of the settings.
type Seen = BTreeMap<Place, BTreeMap<Level, String>>;

fn seen_at(seen: Option<&BTreeMap<Level, String>>, level: Level) -> String {
    seen.and_then(|at| at.get(&level)).cloned().unwrap_or_else(|| format!("{}=none", word(level)))
}

/// What each command finds in the rounds in which it runs.
fn judged(book: &Book, world: &World, commands: &[(&String, &[usize])], wrong: &mut Vec<String>) -> Seen {
    let mut seen = Seen::new();
    for round in ROUNDS {
        let commands: Vec<_> = commands.iter().filter(|(_, rounds)| rounds.contains(round)).collect();
        if commands.is_empty() {
            continue;
        }
        let scene = Scene::of(world, *round);
        for (command, _) in commands {
            let run = scene.run(command);
            let (findings, failed) = found(&run);
            let wanted = code(&findings);
            let is_report = book.reports.iter().any(|report| command.starts_with(report.as_str()));
            let is = run.code.unwrap_or(-1);
            // What is not known counts more than a finding of class other, and less than a refusal.
            let is_open = is == 4 && wanted < 3;
            if !(is == wanted || is_report || is_open || (failed && (is > wanted || is == 2))) {
                let said: Vec<&str> = run.stderr.lines().take(5).collect();
                wrong.push(format!(
                    "{} {command}: exit code {is} instead of {wanted}: {findings:?} {said:?}",
                    world.name
                ));
            }
            for (rule, level) in findings {
                let key = (world.name.clone(), (*command).clone(), rule.id().to_owned());
                let (at, stated) = (seen.entry(key).or_default(), stated(rule, *round));
                // One finding of a rule at the level is enough: others may have one of their own.
                if level == stated {
                    at.insert(stated, word(level).to_owned());
                } else {
                    at.entry(stated).or_insert_with(|| format!("{}={}", word(stated), word(level)));
                }
            }
        }
    }
    seen
}

fn read() -> Table {
    let text = std::fs::read_to_string(file("levels.tsv")).unwrap_or_default();
    let row = |line: &str| {
        let [world, command, rule, levels] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        ((world.to_owned(), command.to_owned(), rule.to_owned()), levels.to_owned())
    };
    text.lines().map(row).collect()
}

/// Worlds and commands in which each command raises each of its rules once.
fn covering(table: &Table) -> BTreeSet<(&str, &str)> {
    // Under a base, other rules apply, and other settings.
    let kind = |command: &str| (command.split(' ').next().unwrap().to_owned(), command.contains("--base"));
    let (mut covered, mut needed) = (BTreeSet::new(), BTreeSet::new());
    // Rules that few worlds raise come first: what else is raised there needs no other world.
    let worlds =
        |rule: &str| table.keys().filter(|(.., id)| id == rule).map(|(world, ..)| world).collect::<BTreeSet<_>>().len();
    let mut rows: Vec<_> = table.keys().map(|row| (worlds(&row.2), row)).collect();
    rows.sort();
    for (_, (world, command, rule)) in rows {
        if covered.contains(&(kind(command), rule)) {
            continue;
        }
        needed.insert((world.as_str(), command.as_str()));
        let raised = table.keys().filter(|(name, one, _)| name == world && one == command);
        covered.extend(raised.map(|(_, command, rule)| (kind(command), rule)));
    }
    needed
}

/// The round that gives most rules of some rows another level than they have by themselves.
fn telling<'a>(rows: &(impl Iterator<Item = (&'a Place, &'a String)> + Clone)) -> usize {
    let tells = |(key, levels): (&Place, &String), round: usize| {
        let rule = Rule::ALL.iter().find(|rule| rule.id() == key.2).unwrap();
        let level = stated(*rule, round);
        level != rule.level() && levels.split(' ').any(|seen| seen == word(level))
    };
    (0..3).max_by_key(|round| rows.clone().filter(|row| tells(*row, *round)).count()).unwrap()
}

fn check(extent: Extent) {
    let (book, table) = (book(), read());
    let needed = covering(&table);
    let is_all = extent == Extent::Long && std::env::var("TFLOCK_TEST_LEVELS").is_ok_and(|wanted| wanted == "all");
    each_is_right(&extent.of(&book.worlds, 8), |world| {
        let mut wrong = Vec::new();
        let is_needed = |command: &str| needed.contains(&(&*world.name, command));
        let has_row = |command: &str| table.keys().any(|(name, one, _)| *name == world.name && one == command);
        let runs = |command: &str| match extent {
            Extent::Short => is_needed(command),
            Extent::Long => is_all || has_row(command),
        };
        let commands = book.commands.iter().chain(&world.commands).filter(|command| runs(command));
        let rows = table.iter().filter(|((name, command, _), _)| *name == world.name && runs(command));
        let one = [telling(&rows)];
        let has_all_rounds = |command: &str| is_all || extent == Extent::Long && is_needed(command);
        let rounds = |command: &str| if has_all_rounds(command) { ROUNDS } else { &one };
        let commands: Vec<_> = commands.map(|command| (command, rounds(command))).collect();
        let now = judged(&book, world, &commands, &mut wrong);
        let keys: BTreeSet<&Place> = rows.map(|(key, _)| key).chain(now.keys()).collect();
        for key in keys {
            let rule = Rule::ALL.iter().find(|rule| rule.id() == key.2).unwrap();
            for level in rounds(&key.1).iter().map(|round| stated(*rule, *round)) {
                let is = seen_at(now.get(key), level);
                let was = table.get(key).and_then(|levels| levels.split(' ').find(|one| one.starts_with(word(level))));
                if was != Some(&is) {
                    wrong.push(format!("{key:?}: {is}, where the table says {was:?}"));
                }
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    });
}

#[test]
fn some_rows_are_as_the_table_says() {
    check(Extent::Short);
}

#[test]
#[ignore = "long"]
fn each_row_is_as_the_table_says() {
    check(Extent::Long);
}

#[test]
fn each_rule_has_a_row_at_each_level() {
    let (book, table) = (book(), read());
    let mut wrong = Vec::new();
    for rule in Rule::ALL {
        let of_rule = || table.iter().filter(|((_, _, id), _)| id == rule.id());
        if of_rule().next().is_none() {
            wrong.push(format!("{}: no world raises it", rule.id()));
        }
        for ((world, command, id), levels) in of_rule() {
            let is_fixed = book
                .fixed
                .iter()
                .any(|(one, start)| one == id && (start == "*" || command.starts_with(start.as_str())));
            // At some level another rule may end the run before; then another world shows it.
            let is_full = |levels: &String| levels == "note warn deny";
            let is_elsewhere = || of_rule().any(|((_, other, _), levels)| other == command && is_full(levels));
            let only_absent = levels.split(' ').all(|one| !one.contains('=') || one.ends_with("=none"));
            if !(is_full(levels) || is_fixed || only_absent && is_elsewhere()) {
                wrong.push(format!("{world}: {command}: {id}: {levels}"));
            }
        }
    }
    for world in &book.worlds {
        let has_row = table.keys().any(|(name, ..)| *name == world.name);
        assert!(has_row, "the world {} raises nothing", world.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Writes the table anew: `UPDATE=1`.
#[test]
fn the_table_is_written_on_request() {
    if std::env::var_os("UPDATE").is_none() {
        return;
    }
    let book = book();
    let (mut table, mut wrong) = (Table::new(), Vec::new());
    let only = std::env::var("TFLOCK_TEST_LEVELS").unwrap_or_default();
    let is_meant = |world: &&World| only.is_empty() || only.split(',').any(|name| name == world.name);
    for world in book.worlds.iter().filter(is_meant) {
        let commands: Vec<_> = book.commands.iter().chain(&world.commands).map(|command| (command, ROUNDS)).collect();
        let seen = judged(&book, world, &commands, &mut wrong);
        let levels = |at: &BTreeMap<Level, String>| LEVELS.map(|(level, _)| seen_at(Some(at), level)).join(" ");
        table.extend(seen.iter().map(|(key, at)| (key.clone(), levels(at))));
    }
    table.extend(
        read()
            .into_iter()
            .filter(|((name, ..), _)| book.worlds.iter().any(|world| world.name == *name && !is_meant(&world))),
    );
    let text = table.iter().fold(String::new(), |mut text, ((world, command, rule), levels)| {
        writeln!(text, "{world}\t{command}\t{rule}\t{levels}").unwrap();
        text
    });
    std::fs::write(file("levels.tsv"), text).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
