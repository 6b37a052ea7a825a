//! `explain`.

use std::path::PathBuf;

use super::base::Bases;
use super::lock::open_cache_of;
use super::verify::{open, targets};
use super::{Done, Session};
use crate::addr::ProviderAddr;
use crate::cli::args::ExplainArgs;
use crate::commands::explain::{self, Other, Topic};
use crate::commands::verify::{Known, Root};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};

pub(super) fn explain(session: &Session<'_>, arguments: &ExplainArgs) -> Result<Done, Error> {
    let text = match Topic::parse(&arguments.topic) {
        Topic::Rule(rule) => explain::rule(rule),
        Topic::Hash(hash) => {
            let Read { roots, others, known, .. } = read(session, arguments)?;
            explain::hash(&hash, (&roots, &others), &known)
        }
        Topic::Address(text) => address(&text, &read(session, arguments)?)?,
    };
    Ok(Done::text("explain", text))
}

/// What is known without asking.
struct Read {
    dialect: Dialect,
    roots: Vec<(PathBuf, Root)>,
    others: Vec<Other>,
    known: Known,
}

fn address(text: &str, Read { dialect, roots, others, known }: &Read) -> Result<String, Error> {
    let addr = ProviderAddr::parse(text, *dialect).map_err(|wrong| explain::unknown(text, &wrong))?;
    explain::address(&addr, (roots, others), known).ok_or_else(|| {
        if text.contains('/') {
            let message = format!("no lock file of this repository has an entry for {addr}");
            let error = Error::new(ErrorKind::NotFound, message);
            let near = explain::namesakes(&addr, (roots, others)).into_iter();
            near.fold(error, |error, near| error.hint(format!("did you mean {near}?")))
        } else {
            explain::unknown(text, &"no lock file here has an entry for it")
        }
    })
}

/// The root modules and the other lock files of the repository, as far as they can be read.
fn read(session: &Session<'_>, arguments: &ExplainArgs) -> Result<Read, Error> {
    let targets = targets(session, arguments.recursive)?.or_none()?;
    let runs = targets.all_settings()?;
    let cache = open_cache_of(session, &targets.directories());
    let opened = open(&targets, &Bases::default(), session)?.roots;
    let roots: Vec<(PathBuf, Root)> = opened.into_iter().filter_map(|(path, root)| Some((path, root.ok()?))).collect();
    let others = explain::others(&runs, &roots)?;
    let known = runs.first().map(|run| explain::known(run, (&roots, &others), &cache)).unwrap_or_default();
    let dialect = runs.first().map_or(Dialect::Terraform, |run| run.dialect);
    Ok(Read { dialect, roots, others, known })
}
