//! `upgrade --interactive`: lists what could be raised, and lets the user choose.

use std::collections::{BTreeMap, BTreeSet};

use super::UpgradeArgs;
use crate::addr::ProviderAddr;
use crate::commands::Services;
use crate::commands::outdated::{OutdatedArgs, outdated};
use crate::error::{Error, ErrorKind};
use crate::outcome::{Body, Outcome, Outdated, ReleaseAge};
use crate::requirements::{Origin, OriginKind};
use crate::step::Value;
use crate::version::Version;
use crate::words::counted;

/// What the user chose.
pub(super) enum UpgradeChoice {
    Raise(Raised),
    /// Nothing could be raised, or nothing was chosen.
    Nothing(Box<Outcome>),
}

#[derive(Default)]
pub(super) struct Raised {
    pub(super) providers: BTreeSet<ProviderAddr>,
    /// Those whose constraints in root modules are to be rewritten.
    pub(super) bumped: BTreeSet<ProviderAddr>,
}

/// One line of the list: a provider, and whether its constraints are to be rewritten.
#[derive(Default)]
struct UpgradeItem {
    from: BTreeSet<Option<Version>>,
    to: BTreeSet<Version>,
    ages: BTreeSet<String>,
    constraints: BTreeSet<String>,
    roots: usize,
}

type Items = BTreeMap<(ProviderAddr, bool), UpgradeItem>;

const PROMPT: &str = "Select upgrades: Space selects, a selects all, Enter upgrades, Esc cancels";

/// Asks for the providers to raise.
pub(super) fn choose(args: &UpgradeArgs, services: &Services<'_>) -> Result<UpgradeChoice, Error> {
    let Some(ask) = &services.choose else {
        let message = "--interactive needs a terminal, to ask which providers to raise";
        let error = Error::new(ErrorKind::Usage, message);
        let found: Vec<String> = args.below.recursive.then(|| "-r".to_owned()).into_iter().collect();
        let error = error.hint(step!("`tflock outdated {}` lists what could be raised", Value::Words(found.clone())));
        return Err(error.hint(step!(
            "`tflock upgrade {} ADDR` raises what is named, and `--bump` rewrites its constraint",
            Value::Words(found)
        )));
    };
    let outcome = outdated(
        &OutdatedArgs {
            providers: args.providers.clone(),
            exit_code: false,
            modules: false,
            packages: args.locking.packages.clone(),
            variables: args.variables.clone(),
            below: args.below.clone(),
            within: args.within.clone(),
        },
        services,
    )?;
    let items = items(&outcome);
    if items.is_empty() {
        return Ok(UpgradeChoice::Nothing(Box::new(outcome)));
    }
    let dialect = outcome.dialect;
    let lines: Vec<[String; 3]> = items
        .iter()
        .map(|((addr, bump), item)| {
            let name = dialect.map_or_else(|| addr.to_string(), |dialect| addr.short(dialect));
            item.line(name, *bump, outcome.many)
        })
        .collect();
    let widest = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let (names, versions) = (widest(0), widest(1));
    let lines: Vec<String> =
        lines.iter().map(|[name, change, rest]| format!("{name:names$}  {change:versions$}  {rest}")).collect();
    let picked = ask(PROMPT, &lines)?;
    let mut raised = Raised::default();
    for (at, ((addr, bump), _)) in items.iter().enumerate() {
        if picked.contains(&at) {
            raised.providers.insert(addr.clone());
            raised.bumped.extend(bump.then(|| addr.clone()));
        }
    }
    if raised.providers.is_empty() {
        let mut nothing = Outcome { many: outcome.many, ..Outcome::of_roots("upgrade", Vec::new()) };
        nothing.notes.push("nothing was chosen, and no file was changed");
        return Ok(UpgradeChoice::Nothing(Box::new(nothing)));
    }
    Ok(UpgradeChoice::Raise(raised))
}

fn items(outcome: &Outcome) -> Items {
    let mut items = Items::new();
    let rows = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Outdated(report)) => Some(&report.rows),
        _ => None,
    });
    for row in rows.flatten() {
        if let Some(allowed) = row.allowed.as_ref().filter(|_| row.is_upgradable()) {
            items.entry((row.address.clone(), false)).or_default().add(row, allowed, "");
        }
        let newest =
            row.newest.as_ref().filter(|newest| Some(*newest) > row.allowed.as_ref().max(row.selected.as_ref()));
        let Some(newest) = newest.filter(|_| !row.holders.is_empty()) else { continue };
        let is_ours = |origin: &Origin| origin.module.is_empty() && origin.kind == OriginKind::RequiredProviders;
        if row.holders.iter().all(is_ours) {
            let constraints = row.holders.iter().filter_map(|origin| origin.constraint.as_deref());
            let constraints: Vec<&str> = constraints.collect();
            let item = items.entry((row.address.clone(), true)).or_default();
            item.add(row, newest, &format!("rewrites {}", constraints.join(", ")));
        } else if let Some(item) = items.get_mut(&(row.address.clone(), false)) {
            let holder = row.holders.iter().find(|origin| !is_ours(origin));
            item.constraints.extend(holder.map(|origin| {
                format!(
                    "{newest} is held back by {} of {}",
                    origin.constraint.as_deref().unwrap_or_default(),
                    origin.caller()
                )
            }));
        }
    }
    items
}

impl UpgradeItem {
    fn add(&mut self, row: &Outdated, to: &Version, constraint: &str) {
        self.from.insert(row.selected.clone());
        self.to.insert(to.clone());
        let age = row.ages.iter().find(|age| age.version == *to);
        self.ages.extend(age.map(ReleaseAge::to_string));
        self.constraints.extend((!constraint.is_empty()).then(|| constraint.to_owned()));
        self.roots += 1;
    }

    /// The name, the versions and the rest of a line.
    fn line(&self, name: String, bump: bool, many: bool) -> [String; 3] {
        let from = self.from.iter().map(|version| version.as_ref().map_or("none".to_owned(), ToString::to_string));
        let to: Vec<String> = self.to.iter().map(ToString::to_string).collect();
        let change = format!("{} -> {}", from.collect::<Vec<_>>().join(", "), to.join(", "));
        let facts = self.ages.iter().cloned().chain(many.then(|| counted(self.roots, "root module"))).collect();
        let constraints: Vec<String> = self.constraints.iter().cloned().collect();
        // The end of a line may be cut off.
        let rest = if bump { [constraints, facts] } else { [facts, constraints] };
        [name, change, rest.concat().join("; ")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::finding::Position;
    use crate::outcome::{OutdatedReport, RootOutcome};

    fn row(selected: &str, allowed: &str, newest: &str, holder: Option<(&str, &str)>) -> Outdated {
        let version = |text: &str| Some(text.parse().unwrap());
        let holder = holder.map(|(module, constraint)| Origin {
            module: module.to_owned(),
            file: "main.tf".into(),
            position: Position::default(),
            kind: OriginKind::RequiredProviders,
            local_name: "widget".to_owned(),
            constraint: Some(constraint.to_owned()),
            in_tests: false,
            is_evaluated: false,
            block: None,
        });
        Outdated {
            address: ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap(),
            selected: version(selected),
            allowed: version(allowed),
            newest: version(newest),
            holders: holder.into_iter().collect(),
            required_by: BTreeSet::new(),
            passed_over: Vec::new(),
            ages: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn lines(rows: Vec<Outdated>) -> Vec<String> {
        let roots = rows.into_iter().enumerate().map(|(at, row)| {
            RootOutcome::of(format!("r{at}"), Body::Outdated(OutdatedReport { rows: vec![row], complete: true }))
        });
        let items = items(&Outcome::of_roots("outdated", roots.collect()));
        items
            .iter()
            .map(|((addr, bump), item)| item.line(addr.type_name().to_owned(), *bump, true).join(" | "))
            .collect()
    }

    #[test]
    fn a_provider_has_a_line_for_each_way_to_raise_it() {
        let ours = Some(("", "~> 1.4"));
        let all = vec![row("1.4.0", "1.5.0", "2.0.0", ours), row("1.3.0", "1.5.0", "2.0.0", ours)];
        assert_eq!(
            lines(all),
            [
                "widget | 1.3.0, 1.4.0 -> 1.5.0 | 2 root modules",
                "widget | 1.3.0, 1.4.0 -> 2.0.0 | rewrites ~> 1.4; 2 root modules",
            ]
        );
        assert_eq!(
            lines(vec![row("1.4.0", "1.5.0", "2.0.0", Some(("net", "~> 1.0")))]),
            ["widget | 1.4.0 -> 1.5.0 | 1 root module; 2.0.0 is held back by ~> 1.0 of module.net"]
        );
        assert!(lines(vec![row("1.5.0", "1.5.0", "1.5.0", None)]).is_empty());
    }
}
