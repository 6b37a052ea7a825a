//! `explain`.

use std::path::PathBuf;

use super::base::Bases;
use super::lock::open_cache_of;
use super::verify::{open, targets};
use super::{Done, Session};
use crate::addr::ProviderAddr;
use crate::cli::args::ExplainArgs;
use crate::commands::explain::{self, Topic};
use crate::commands::verify::{self, Known, Root};
use crate::error::{Error, ErrorKind};

pub(super) fn explain(session: &Session<'_>, arguments: &ExplainArgs) -> Result<Done, Error> {
    let text = match Topic::parse(&arguments.topic) {
        Topic::Rule(rule) => explain::rule(rule),
        Topic::Hash(hash) => {
            let (roots, known) = read(session, arguments)?;
            explain::hash(&hash, &roots, &known)
        }
        Topic::Address(text) => {
            let (roots, known) = read(session, arguments)?;
            address(&text, &roots, &known)?
        }
    };
    Ok(Done::text("explain", text))
}

fn address(text: &str, roots: &[(PathBuf, Root)], known: &Known) -> Result<String, Error> {
    let Some((_, first)) = roots.first() else {
        return Err(Error::new(ErrorKind::LockFile, "there is no dependency lock file here"));
    };
    let addr = ProviderAddr::parse(text, first.settings().dialect).map_err(|wrong| explain::unknown(text, &wrong))?;
    explain::address(&addr, roots, known).ok_or_else(|| {
        if text.contains('/') {
            Error::new(ErrorKind::NotFound, format!("no lock file here has an entry for {addr}"))
        } else {
            explain::unknown(text, &"no lock file here has an entry for it")
        }
    })
}

/// The root modules, as far as they can be read, and what is known of their releases without asking.
fn read(session: &Session<'_>, arguments: &ExplainArgs) -> Result<(Vec<(PathBuf, Root)>, Known), Error> {
    let targets = targets(session, arguments.recursive)?.or_none()?;
    let cache = open_cache_of(session, &targets.directories());
    let opened = open(&targets, &Bases::default(), session)?.roots;
    let known = verify::recalled(&opened, &cache);
    let readable = opened.into_iter().filter_map(|(path, root)| Some((path, root.ok()?)));
    Ok((readable.collect(), known))
}
