//! Runs the command that the arguments name.

use std::ffi::OsString;
use std::path::Path;

use super::args::{Arguments, Command, ProvidersCommand};
use super::generated::Length;
use super::{completing, generated, manual};
use crate::commands::{
    Services, add, audit, cache, diff, explain, fmt, get, git, hash, install, list, locking, merge, migrate, mirror,
    outdated, remove, sbom, trust, upgrade, verify, why, with_near_names,
};
use crate::error::Error;
use crate::outcome::{Body, Generated, Outcome};

const SCHEMA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/schemas/outcome-1.0.json"));

pub(super) fn dispatch(arguments: &Arguments, services: &Services<'_>) -> Result<Outcome, Error> {
    with_near_names(done(arguments, services), services, &arguments.command.common().providers)
}

/// Runs a read-only command. If the directory is no root module but has some below, it is recursive, and the outcome says
/// so.
fn below<A: Clone>(
    arguments: &A,
    recursive: impl Fn(&mut A) -> &mut bool,
    services: &Services<'_>,
    run: impl Fn(&A, &Services<'_>) -> Result<Outcome, Error>,
) -> Result<Outcome, Error> {
    let mut arguments = arguments.clone();
    if *recursive(&mut arguments) || !services.is_above_root_modules() {
        return run(&arguments, services);
    }
    *recursive(&mut arguments) = true;
    let mut outcome = run(&arguments, services)?;
    let note = "this directory is not a root module: working in the root modules below it, as with -r";
    outcome.notes.push(note.to_owned());
    Ok(outcome)
}

fn done(arguments: &Arguments, services: &Services<'_>) -> Result<Outcome, Error> {
    match &arguments.command {
        Command::Lock(lock) | Command::Providers { command: ProvidersCommand::Lock(lock) } => {
            locking::lock(lock, services)
        }
        Command::Trust(arguments) => trust::trust(arguments, services),
        Command::Add(arguments) => add::add(arguments, services),
        Command::Remove(arguments) => remove::remove(arguments, services),
        Command::Upgrade(arguments) => upgrade::upgrade(arguments, services),
        Command::Outdated(arguments) => below(arguments, |it| &mut it.below.recursive, services, outdated::outdated),
        Command::Migrate(arguments) => migrate::migrate(arguments, services),
        Command::Mirror(arguments) => mirror::mirror(arguments, services),
        Command::Sbom(arguments) => below(arguments, |it| &mut it.recursive, services, sbom::sbom),
        Command::Audit(arguments) => below(arguments, |it| &mut it.recursive, services, audit::audit),
        Command::Verify(arguments) => below(arguments, |it| &mut it.recursive, services, verify::verify),
        Command::Explain(arguments) => explain::explain(arguments, services),
        Command::Completions(args) => {
            let shell = args.shell(services.variables().get("SHELL"))?;
            Ok(Outcome::of_body("completions", Body::Generated(Generated::Script(completing::script(shell)))))
        }
        Command::Schema => Ok(Outcome::of_body("schema", Body::Generated(Generated::Schema(SCHEMA)))),
        Command::Version => {
            Ok(Outcome::of_body("version", Body::Generated(Generated::Version(env!("CARGO_PKG_VERSION")))))
        }
        Command::Help(args) => {
            let page = generated::help(&args.command, Length::Long)?.to_string();
            Ok(Outcome::of_body("help", Body::Generated(Generated::Page(page))))
        }
        Command::Man(args) => {
            manual::page(&args.command).map(|page| Outcome::of_body("man", Body::Generated(Generated::Page(page))))
        }
        Command::Hash(arguments) => Ok(hash::hash(arguments, services)),
        Command::Cache(arguments) => cache::cache(arguments, services),
        Command::Install(arguments) => install::install(arguments, services),
        Command::Get(arguments) => get::get(arguments, services),
        Command::Fmt(arguments) => Ok(fmt::fmt(arguments, services)),
        Command::List(arguments) => below(arguments, |it| &mut it.recursive, services, list::list),
        Command::Why(arguments) => below(arguments, |it| &mut it.recursive, services, why::why),
        Command::Diff(args) => {
            let mut args = args.clone();
            args.dashes = arguments.dashes;
            let is_file = |name: &OsString| Path::new(name).exists();
            if args.dashes || args.names.iter().any(is_file) {
                return diff::diff(&args, services);
            }
            below(&args, |it| &mut it.recursive, services, diff::diff)
        }
        Command::Merge(arguments) => merge::merge(arguments, services),
        Command::Textconv(arguments) => merge::textconv(&arguments.file, services),
        Command::Git(arguments) => git::git(arguments, services),
    }
}
