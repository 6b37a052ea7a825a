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

/// Makes a read-only command recursive if the directory is no root module but has some below; the outcome says so.
fn in_root_modules_below(recursive: &mut bool, services: &Services<'_>) -> impl Fn(Outcome) -> Outcome + use<> {
    let implied = !*recursive && services.is_above_root_modules();
    *recursive |= implied;
    move |mut outcome| {
        if implied {
            outcome.notes.push(
                "this directory is not a root module: working in the root modules below it, as with -r".to_owned(),
            );
        }
        outcome
    }
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
        Command::Outdated(arguments) => {
            let mut arguments = arguments.clone();
            let below = in_root_modules_below(&mut arguments.below.recursive, services);
            outdated::outdated(&arguments, services).map(below)
        }
        Command::Migrate(arguments) => migrate::migrate(arguments, services),
        Command::Mirror(arguments) => mirror::mirror(arguments, services),
        Command::Sbom(arguments) => {
            let mut arguments = arguments.clone();
            let below = in_root_modules_below(&mut arguments.recursive, services);
            sbom::sbom(&arguments, services).map(below)
        }
        Command::Audit(arguments) => {
            let mut arguments = arguments.clone();
            let below = in_root_modules_below(&mut arguments.recursive, services);
            audit::audit(&arguments, services).map(below)
        }
        Command::Verify(arguments) => {
            let mut request = arguments.request();
            let below = in_root_modules_below(&mut request.recursive, services);
            verify::verify(&request, services).map(below)
        }
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
        Command::Get(arguments) => get::get(&arguments.request(), services),
        Command::Fmt(arguments) => Ok(fmt::fmt(arguments, services)),
        Command::List(arguments) => {
            let mut arguments = arguments.clone();
            let below = in_root_modules_below(&mut arguments.recursive, services);
            list::list(&arguments, services).map(below)
        }
        Command::Why(arguments) => {
            let mut arguments = arguments.clone();
            let below = in_root_modules_below(&mut arguments.recursive, services);
            why::why(&arguments, services).map(below)
        }
        Command::Diff(args) => {
            let mut request = args.request(arguments);
            let is_file = |name: &OsString| Path::new(name).exists();
            if request.given.files.is_some() || request.given.names.iter().any(is_file) {
                return diff::diff(&request, services);
            }
            let below = in_root_modules_below(&mut request.given.recursive, services);
            diff::diff(&request, services).map(below)
        }
        Command::Merge(arguments) => merge::merge(&arguments.request(), services),
        Command::Textconv(arguments) => merge::textconv(&arguments.file, services),
        Command::Git(arguments) => git::git(arguments, services),
    }
}
