//! Follows what findings, errors and notes advise, unchanged: each row of `advice.txt` makes one world, in which all is asked that is
//! promised of its advice. The command that a report names as the next one repairs if the help has a repair, and neither refuses nor
//! has nothing to do; the command of the help ends as it should, and then what raised it is silent, or what the text promises is there.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tflock_core::finding::Rule;
use tflock_core::step::Step;

use crate::levels::{Scene, World, book};
use crate::style::files;
use crate::support::extent::Extent;
use crate::support::followed::{is_open, words};
use crate::support::locked::{LOCK, honest, locked};
use crate::support::proposal::without_last_line_with;
use crate::support::run::Run;
use crate::support::side_by_side;

/// A row of `advice.txt`.
#[derive(Debug)]
struct Advice {
    /// The rule of the finding; an error or a note has none.
    rule: Option<Rule>,
    world: World,
    raises: String,
    meanwhile: Vec<String>,
    runs: Option<String>,
    fill: Vec<(String, String)>,
    ends: i32,
    then: Then,
}

#[derive(Debug, PartialEq, Eq)]
enum Then {
    /// The first command no longer raises it, or does its work.
    Repaired,
    /// The command printed this.
    Shown(String),
    /// The first command with `--allow-trust-change` no longer denies it.
    Approved,
}

/// Rules whose commands are not run here, and why.
const ELSEWHERE: [(Rule, &str); 5] = [
    (Rule::WitnessDiffers, "a person asks the publisher: `witnesses` tries the way on"),
    (Rule::WitnessMissing, "a person waits, or changes the settings: `witnesses` tries both"),
    (Rule::ProvenanceChanged, "its registry must serve from the repository that built: `provenance` runs the command"),
    (Rule::CoverageLost, "a person decides whether the change is right: the command approves it"),
    (Rule::InitOverridden, "a person decides whether the change is right: the command approves it"),
];

/// How a command begins that repairs.
const REPAIRS: [&str; 6] =
    ["tflock upgrade", "--restore-from", "--drop-unattested", "tflock install", "git checkout", "git rm"];

fn rule(id: &str) -> Rule {
    Rule::ALL.iter().copied().find(|rule| rule.id() == id).unwrap_or_else(|| panic!("there is no rule {id}"))
}

fn table() -> Vec<Advice> {
    let book = book();
    let steps_of = |name: &str| {
        let world = book.worlds.iter().find(|world| world.name == name);
        world.unwrap_or_else(|| panic!("there is no world {name}")).steps.clone()
    };
    let (mut table, mut honest) = (Vec::<Advice>::new(), Vec::new());
    for line in include_str!("advice.txt").lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if ["", "#"].contains(&word) {
            continue;
        }
        let Some(row) = table.last_mut().filter(|_| word != "advice") else {
            match word {
                "honest" => honest.push(rest.to_owned()),
                _ => table.push(Advice {
                    rule: (!rest.is_empty()).then(|| rule(rest)),
                    world: World::of(honest.clone()),
                    raises: "verify".to_owned(),
                    meanwhile: Vec::new(),
                    runs: None,
                    fill: Vec::new(),
                    ends: 0,
                    then: Then::Repaired,
                }),
            }
            continue;
        };
        match word {
            "in" => row.world.steps = steps_of(rest),
            "raises" => rest.clone_into(&mut row.raises),
            "meanwhile" => row.meanwhile.push(rest.to_owned()),
            "runs" => row.runs = Some(format!("tflock {rest}")),
            "fill" => row.fill.extend(rest.split_once(' ').map(|(open, value)| (open.to_owned(), value.to_owned()))),
            "ends" => row.ends = rest.parse().unwrap(),
            "then" => {
                row.then = match rest.split_once(' ').unwrap_or((rest, "")) {
                    ("shown", text) => Then::Shown(text.to_owned()),
                    ("approved", "") => Then::Approved,
                    _ => panic!("what is {line}?"),
                }
            }
            _ => row.world.steps.push(line.to_owned()),
        }
    }
    table
}

/// The help of the findings with a rule, wherever the result has them; and whether one is denied.
fn findings(run: &Run, rule: Rule) -> (Vec<String>, bool) {
    let (mut helps, mut is_denied) = (Vec::new(), false);
    let mut open = vec![run.json()];
    while let Some(value) = open.pop() {
        if value["rule"] == rule.id() {
            helps.push(value["help"].as_str().unwrap_or_default().to_owned());
            is_denied |= value["level"] == "deny";
        }
        match value {
            serde_json::Value::Array(values) => open.extend(values),
            serde_json::Value::Object(values) => open.extend(values.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    (helps, is_denied)
}

impl Advice {
    /// What a row is called in a failure.
    fn name(&self) -> String {
        format!("{} of {}", self.rule.map_or("advice", Rule::id), self.raises)
    }

    /// Runs what raises the advice. Findings are in JSON, other advice in what is printed.
    fn raise(&self, scene: &Scene, more: &[String]) -> Run {
        let mut args = words(&scene.filled(&self.raises));
        if self.rule.is_some() {
            args.extend(["--format", "json"].map(str::to_owned));
        }
        scene.workspace().tflock(scene.registry(), args.iter().chain(more))
    }

    /// The texts with advice.
    fn texts(&self, run: &Run) -> Vec<String> {
        match self.rule {
            Some(rule) => findings(run, rule).0,
            None => vec![format!("{}\n{}", run.stderr, run.stdout)],
        }
    }

    /// The words of the advised command behind `tflock`, filled in.
    fn advised(&self, scene: &Scene, texts: &[String]) -> Result<Vec<String>, String> {
        let found = texts.iter().flat_map(|text| text.split('`').skip(1).step_by(2));
        let found = found.filter(|words| words.starts_with(self.runs.as_deref().unwrap_or("tflock ")));
        // Words that begin alike in what is printed: the shortest is meant.
        let found = if self.rule.is_some() { found.last() } else { found.min_by_key(|words| words.len()) };
        let mut words = words(found.ok_or_else(|| format!("no {:?} in {texts:?}", self.runs))?).split_off(1);
        let key = ("FINGERPRINT".to_owned(), "{{GOOD}}".to_owned());
        for (open, value) in self.fill.iter().chain([&key]) {
            words.iter_mut().filter(|word| *word == open).for_each(|word| *word = scene.filled(value));
        }
        match words.iter().find(|word| is_open(word)) {
            Some(word) => Err(format!("{word} is left to be filled in: {words:?}")),
            None => Ok(words),
        }
    }

    /// What is wrong with the command that the report names as the next one.
    fn next(&self, scene: &Scene, raised: &Run, texts: &[String], count: &Count) -> Option<String> {
        let json = self.rule.map(|_| raised.json())?;
        let next = json["next"].as_str()?;
        count.named.fetch_add(1, Relaxed);
        let words = words(next);
        let shows = ["explain", "why"].contains(&&*words[1]);
        // What a person has to judge first is no repair.
        let repairs = |help: &String| {
            let help = help.replace("tflock upgrade --modules", "");
            REPAIRS.iter().any(|repair| help.contains(repair))
        };
        if shows && texts.iter().any(repairs) {
            return Some(format!("next is {next}, and the help is {texts:?}"));
        }
        if words[0] != "tflock" {
            return None;
        }
        count.run.fetch_add(1, Relaxed);
        let then = scene.workspace().copied().tflock(scene.registry(), &words[1..]);
        let refuses = then.code == Some(2) && then.stdout.is_empty();
        let is_wrong = refuses || !shows && then.stdout.contains("nothing to do");
        is_wrong.then(|| format!("next is {next}: {then}"))
    }

    /// What is wrong with this row.
    fn follow(&self, count: &Count) -> Result<(), String> {
        let mut scene = Scene::with_own_levels(&self.world);
        let raised = self.raise(&scene, &[]);
        let texts = self.texts(&raised);
        if let Some(wrong) = self.next(&scene, &raised, &texts, count) {
            return Err(wrong);
        }
        self.meanwhile.iter().for_each(|step| scene.step(step));
        let mut advised = self.advised(&scene, &texts).map_err(|error| format!("{error}: {raised}"))?;
        if self.then == Then::Approved {
            advised.extend(words(&self.raises).into_iter().skip(1));
            advised.extend(["--allow-trust-change", "--format", "json"].map(str::to_owned));
        }
        let done = scene.workspace().tflock(scene.registry(), &advised);
        if done.code != Some(self.ends) {
            return Err(format!("{advised:?} ends with {:?}: {done}", done.code));
        }
        let is_right = match (&self.then, self.rule) {
            (Then::Shown(text), _) => done.stdout.contains(text) || done.stderr.contains(text),
            (Then::Approved, rule) => rule.is_some_and(|rule| !findings(&done, rule).1),
            (Then::Repaired, Some(rule)) => findings(&self.raise(&scene, &[]), rule).0.is_empty(),
            (Then::Repaired, None) => self.raise(&scene, &[]).code == Some(0),
        };
        if is_right { Ok(()) } else { Err(format!("after {advised:?}: {done}")) }
    }
}

/// How many reports name a next command, and how many of these are the program's own and were run.
#[derive(Debug, Default)]
struct Count {
    named: AtomicUsize,
    run: AtomicUsize,
}

#[expect(clippy::print_stderr, reason = "the counts are what this test is for")]
fn follow(extent: Extent) {
    let (table, count, wrong) = (table(), Count::default(), Mutex::new(Vec::new()));
    let rows = extent.of(&table, 6);
    side_by_side(&rows, |row| {
        if let Err(what) = row.follow(&count) {
            wrong.lock().unwrap().push(format!("{}: {what}", row.name()));
        }
    });
    let (named, run, wrong) = (count.named.into_inner(), count.run.into_inner(), wrong.into_inner().unwrap());
    eprintln!("{} rows; {named} name a next command, {run} of them are ours and were run", rows.len());
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), rows.len(), wrong.join("\n----------\n"));
}

#[test]
fn some_advice_is_right() {
    follow(Extent::Short);
}

#[test]
#[ignore = "long"]
fn all_advice_is_right() {
    follow(Extent::Long);
}

/// The commands of the program that a text names between backticks: `lock`, `trust add`.
fn named(text: &str) -> impl Iterator<Item = String> {
    text.split("`tflock ").skip(1).filter_map(|rest| {
        let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let mut words = rest.split([' ', '`', '"']).take_while(is_word);
        let first = words.next()?;
        let second = words.next().filter(|_| ["cache", "git", "trust"].contains(&first));
        Some([Some(first), second].into_iter().flatten().collect::<Vec<_>>().join(" "))
    })
}

#[test]
fn each_command_that_a_message_names_is_in_the_table() {
    let table = table();
    let texts = table.iter().map(|row| match (&row.runs, row.rule) {
        (None, Some(rule)) => rule.help().to_string(),
        (runs, _) => format!("`{}`", runs.as_deref().unwrap_or_default()),
    });
    let run: BTreeSet<String> = texts.flat_map(|text| named(&text).collect::<Vec<_>>()).collect();
    let mut advised = BTreeSet::new();
    for (_, text) in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "rs") {
        let (code, _) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&text, ""));
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        advised.extend(lines.flat_map(named));
    }
    let open: Vec<&String> = advised.difference(&run).collect();
    assert!(open.is_empty() && advised.len() > 20, "{open:?}");
}

#[test]
fn each_rule_that_advises_a_command_is_in_the_table() {
    let table = table();
    let names = |rule: &Rule| Step::from(rule.help()).commands().any(|it| it.subcommand.is_some());
    let is_open = |rule: &&Rule| {
        !(table.iter().any(|row| row.rule == Some(**rule)) || ELSEWHERE.iter().any(|(other, _)| other == *rule))
    };
    let missing: Vec<&str> =
        Rule::ALL.iter().filter(|rule| names(rule)).filter(is_open).map(|rule| rule.id()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What comes next has the source of the command before it, and is never that command.
#[test]
fn the_next_command_keeps_the_source() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.write(".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n");
    let h1 = registry.package("acme/widget", "1.4.0", "darwin_arm64").h1;
    workspace.write(LOCK, &without_last_line_with(&workspace.lock_file(), &h1));
    let mirror = format!("net:{}", registry.mirror_url());
    let run = workspace.tflock(&registry, ["verify", "--source", &mirror]);
    assert!(run.stdout.contains(&format!("help: Run `tflock lock --source {mirror}`")), "{run}");
    let next = run
        .stdout
        .lines()
        .last()
        .and_then(|line| line.strip_prefix("next: `tflock "))
        .unwrap_or_else(|| panic!("{run}"));
    let next: Vec<&str> = next.trim_end_matches('`').split(' ').collect();
    assert_eq!(next, ["verify", "--source", &mirror, "--fix"], "{run}");
    workspace.tflock(&registry, &next).ended_with(0);
    let unreachable = workspace.tflock(&registry, ["verify", "--source", "net:https://127.0.0.1:1/"]).ended_with(4);
    assert!(!unreachable.stdout.contains("next: `tflock verify"), "{unreachable}");
}
