//! What passes the gate is what `terraform init` installs, for any list of versions, constraints and locks.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use tflock_core::version::{ModuleConstraints, ModuleVersion};

use crate::support::dice::Dice;
use crate::support::extent::seeds;
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;

/// Calls of a root module, and modules that they call.
const CALLS: usize = 16;
const MODULES: usize = 6;

/// The content of every version of every module.
const FILE: (&str, &str) = ("main.tf", "# of a module\n");

const LOCKS: &str = ".tflock.modules.hcl";
const INIT: [&str; 4] = ["init", "-backend=false", "-input=false", "-no-color"];

/// Parts of versions as registries write them.
const NUMBERS: [&str; 12] =
    ["1.0.0", "1.0.0", "1.0", "1", "v1.0.0", "01.0.0", "1.0.0.0", "1.0.0.1", "1.1.0", "1.1.0", "2.0.0", "0.0.0"];
const TAILS: [&str; 10] = ["", "", "", "", "+b", "+a.1", "-rc1", "-rc1+b", "rc1", "-~x"];
const NO_VERSIONS: [&str; 6] = ["", "bogus", "1..0", "1.0.0-", "1.0.0-rc..1", "9223372036854775808.0.0"];
const OPERATORS: [&str; 12] = ["", "", "", "=", "= ", "!= ", ">= ", "> ", "<= ", "< ", "~> ", "~>"];

/// Lists of versions, and constraints.
impl Dice {
    fn version(&mut self) -> String {
        if self.below(12) == 0 {
            return self.pick(&NO_VERSIONS).to_owned();
        }
        format!("{}{}", self.pick(&NUMBERS), self.pick(&TAILS))
    }

    fn constraint(&mut self) -> Option<String> {
        let term = |dice: &mut Self| format!("{}{}{}", dice.pick(&OPERATORS), dice.pick(&NUMBERS), dice.pick(&TAILS));
        let terms = [0, 1, 1, 1, 1, 2][self.below(6)];
        let terms: Vec<String> = (0..terms).map(|_| term(self)).collect();
        (!terms.is_empty()).then(|| terms.join(", "))
    }
}

struct Call {
    name: String,
    module: usize,
    constraint: Option<String>,
}

impl Call {
    /// Its path of call names; those with odd numbers are in a local module.
    fn key(&self) -> String {
        if self.is_nested() { format!("here.{}", self.name) } else { self.name.clone() }
    }

    fn is_nested(&self) -> bool {
        self.module % 2 == 1
    }

    /// Each is in a file of its own, by which terraform names it in errors.
    fn file(&self) -> String {
        let folder = if self.is_nested() { "here/" } else { "" };
        format!("{folder}{}.tf", self.name)
    }

    fn text(&self) -> String {
        let constraint = self.constraint.as_ref().map(|it| format!("  version = \"{it}\"\n")).unwrap_or_default();
        let module = self.module;
        format!("module \"{}\" {{\n  source = \"{{{{other-host}}}}/acme/m{module}/lab\"\n{constraint}}}\n", self.name)
    }
}

/// The versions that terraform installs for calls, by key; nothing for those that it finds none for. `None` if it is not
/// installed.
fn installed(workspace: &Workspace, registry: &Registry, calls: &[Call]) -> Option<BTreeMap<String, String>> {
    let first = workspace.terraform(registry, INIT)?;
    // One call without a version ends the run: the others are installed without it.
    if first.code != Some(0) {
        let refused = files_with_errors(&first);
        assert!(!refused.is_empty(), "{first}");
        for call in calls.iter().filter(|call| refused.contains(&call.file())) {
            std::fs::remove_file(workspace.path(&call.file())).unwrap();
        }
        workspace.terraform(registry, INIT)?.ended_with(0);
    }
    let list: serde_json::Value = serde_json::from_str(&workspace.read(".terraform/modules/modules.json")).unwrap();
    let records = list["Modules"].as_array().unwrap().iter();
    let versions = records.filter_map(|record| Some((record["Key"].as_str()?, record["Version"].as_str()?)));
    Some(versions.map(|(key, version)| (key.to_owned(), version.to_owned())).collect())
}

/// The files that errors of terraform name; those of warnings do not count.
fn files_with_errors(run: &Run) -> BTreeSet<String> {
    let mut is_error = false;
    let mut files = BTreeSet::new();
    for line in run.stderr.lines() {
        if line.starts_with("Error: ") || line.starts_with("Warning: ") {
            is_error = line.starts_with("Error: ");
        }
        let file = line.trim().strip_prefix("on ").and_then(|rest| rest.split(' ').next());
        files.extend(file.filter(|_| is_error).map(str::to_owned));
    }
    files
}

/// A root module, its registry, and the version that is locked for each call.
struct World {
    registry: Registry,
    workspace: Workspace,
    calls: Vec<Call>,
    /// By key; nothing for calls whose constraint allows no version that could be locked.
    locked: BTreeMap<String, (usize, ModuleVersion)>,
}

impl World {
    /// All versions have the same content, which has this hash: only versions are compared here.
    fn of(dice: &mut Dice, hash: &str) -> Self {
        let lists: Vec<Vec<String>> =
            (0..MODULES).map(|_| (0..=dice.below(5)).map(|_| dice.version()).collect()).collect();
        let call = |dice: &mut Dice, at: usize| Call {
            name: format!("c{at}"),
            module: dice.below(MODULES),
            constraint: dice.constraint(),
        };
        let calls: Vec<Call> = (0..CALLS).map(|at| call(dice, at)).collect();
        let workspace = Workspace::with_files(&[("main.tf", "module \"here\" {\n  source = \"./here\"\n}\n")]);
        workspace.write("here/locals.tf", "locals {}\n");
        let mut locked = BTreeMap::new();
        for call in &calls {
            workspace.write(&call.file(), &call.text());
            let constraints = call.constraint.as_ref().map(|text| text.parse::<ModuleConstraints>().unwrap());
            let version = (0..12).find_map(|_| {
                let list = &lists[call.module];
                let text = if dice.below(4) == 0 { dice.version() } else { list[dice.below(list.len())].clone() };
                let version = text.parse::<ModuleVersion>().ok()?;
                constraints.as_ref().is_none_or(|it| it.allows(&version)).then_some(version)
            });
            locked.extend(version.map(|version| (call.key(), (call.module, version))));
        }
        let mut registry = Registry::start();
        let own = locked.values().map(|(module, version)| (*module, version.canonical()));
        let listed = lists.iter().enumerate().flat_map(|(module, list)| {
            list.iter().filter_map(move |text| Some((module, text.parse::<ModuleVersion>().ok()?.canonical())))
        });
        let all: BTreeSet<(usize, String)> = own.chain(listed).collect();
        for (module, version) in &all {
            registry = registry.module(&format!("acme/m{module}/lab"), version, &[FILE]);
        }
        for (module, list) in lists.iter().enumerate() {
            let items: Vec<_> = list.iter().map(|version| serde_json::json!({ "version": version })).collect();
            let answer = Answer::json(serde_json::json!({ "modules": [{ "versions": items }] }).to_string());
            registry = registry.answers(Endpoint::ModuleVersions, answer.only_for(&format!("acme/m{module}/lab")));
        }
        workspace.write(LOCKS, &module_lock(&locked, &registry.other_host(), hash));
        workspace.tflock(&registry, ["fmt"]);
        Self { registry, workspace, calls, locked }
    }

    /// The line of the block of a call.
    fn line_of(&self, key: &str) -> Option<usize> {
        let (module, version) = self.locked.get(key)?;
        let text = self.workspace.read(LOCKS);
        let mut line = 1;
        for block in text.split("\n\n") {
            let is_own = block.contains(&format!("/acme/m{module}/lab\" {{"))
                && block.contains(&format!(" = \"{}\"\n", version.canonical()));
            if is_own {
                return Some(line + block.lines().take_while(|line| line.starts_with('#')).count());
            }
            line += block.matches('\n').count() + 2;
        }
        None
    }

    /// Compares what `verify` says of each call with what terraform installs. Gives how many calls passed, were warned of
    /// and were denied; `None` if terraform is not installed.
    fn judge(&self, shown: &str) -> Option<[usize; 3]> {
        let run = self.workspace.tflock(&self.registry, ["verify", "--format", "json"]);
        let json = run.json();
        let findings = json["findings"].as_array().unwrap_or_else(|| panic!("{shown}: {run}"));
        assert!(run.code == Some(0) || findings.iter().any(|it| it["level"] == "deny"), "{shown}: {run}");
        let installed = installed(&self.workspace, &self.registry, &self.calls)?;
        let of = |rule: &str| findings.iter().filter(move |it| it["rule"] == rule).collect::<Vec<_>>();
        let (ambiguous, moved, unlocked) = (of("module-ambiguous"), of("module-moved"), of("module-unlocked"));
        let mut counts = [0; 3];
        for call in &self.calls {
            let key = call.key();
            let is_about = |finding: &&serde_json::Value| {
                let message = finding["message"].as_str().unwrap();
                message.contains(&format!(" module {key}: ")) || message.contains(&format!(" module {key}, "))
            };
            let wrong = format!("{shown}: {key}: {:?}: {installed:?}\n{run}", call.constraint);
            let Some((_, version)) = self.locked.get(&key) else {
                assert!(
                    unlocked.iter().any(|it| it["message"].as_str().unwrap().contains(&format!("module {key} "))),
                    "{wrong}"
                );
                continue;
            };
            let line = self.line_of(&key);
            if ambiguous.iter().any(|it| it["line"].as_u64() == line.and_then(|line| line.try_into().ok())) {
                counts[2] += 1;
                continue;
            }
            let is_installed = installed.get(&key);
            let warned = moved.iter().copied().find(is_about);
            if is_installed == Some(&version.canonical()) {
                assert!(warned.is_none(), "{wrong}");
                counts[0] += 1;
                continue;
            }
            counts[1] += 1;
            let Some(warned) = warned else { panic!("{wrong}") };
            let says = match is_installed {
                Some(version) => format!(" version {version} of "),
                None => " no version of ".to_owned(),
            };
            assert!(warned["message"].as_str().unwrap().contains(&says), "{wrong}");
        }
        Some(counts)
    }
}

/// The module lock file of calls.
fn module_lock(locked: &BTreeMap<String, (usize, ModuleVersion)>, host: &str, hash: &str) -> String {
    let mut calls: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
    for (key, (module, version)) in locked {
        calls.entry((*module, version.canonical())).or_default().push(format!("{key:?}"));
    }
    let block = |((module, version), calls): (&(usize, String), &Vec<String>)| {
        let package = format!("{host}/acme/m{module}/lab");
        let location = format!("https://{host}/modules/acme/m{module}/lab/{version}.zip");
        format!(
            "module \"{package}\" {{\n  version     = \"{version}\"\n  calls       = [{}]\n  location    = \"{location}\"\n  \
             hash        = \"{hash}\"\n}}\n",
            calls.join(", ")
        )
    };
    calls.iter().map(block).collect::<Vec<_>>().join("\n")
}

/// The hash of a module with this file.
fn hash() -> String {
    let workspace = Workspace::with_files(&[FILE]);
    let run = workspace.tflock(None, ["hash", "."]).ended_with(0);
    let hash = run.stdout.split_whitespace().next().unwrap().to_owned();
    assert!(hash.starts_with("h1:"), "{run}");
    hash
}

#[test]
fn what_passes_is_what_init_installs() {
    let (hash, mut counts) = (hash(), [0; 3]);
    for seed in seeds(2) {
        let mut dice = Dice::of(seed);
        let Some(more) = World::of(&mut dice, &hash).judge(&format!("TFLOCK_TEST_FROM={seed}")) else { return };
        counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    let _ = writeln!(std::io::stderr(), "passed, warned of, denied: {counts:?}");
}
