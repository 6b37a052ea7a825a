use std::ffi::OsString;
use std::path::PathBuf;

use super::parsing::Colour;
use super::parsing::description;
use super::*;
use crate::commands::shared::options::Packages;
use crate::platform::Platform;
use crate::report::{Detail, Format};
use crate::settings::SourceChoice;
use crate::step::{Reach, subcommand};
use crate::version::Version;

fn parse(line: &str) -> Result<Arguments, clap::Error> {
    let words = std::iter::once("tflock").chain(line.split_whitespace()).map(OsString::from);
    Arguments::parse(&normalize(words))
}

fn lock(line: &str) -> LockArgs {
    match parse(line).unwrap().command {
        Command::Lock(lock) | Command::Providers { command: ProvidersCommand::Lock(lock) } => lock,
        other => panic!("{other:?}"),
    }
}

fn refused(line: &str) -> String {
    let error = parse(line).unwrap_err();
    assert_eq!(error.exit_code(), 2, "{line}");
    error.render().to_string()
}

#[test]
fn the_description_is_sound() {
    description().debug_assert();
}

#[test]
fn help_texts() {
    let mut command = description().term_width(100);
    command.build();
    let mut text = command.render_long_help().to_string();
    for subcommand in command.get_subcommands_mut() {
        let name = subcommand.get_name().to_owned();
        text.extend([
            "
======== ",
            &name,
            "

",
            &subcommand.render_long_help().to_string(),
        ]);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn terraforms_command_line_is_ours() {
    let typed = "-chdir=a providers lock -platform=linux_amd64 -platform b_c -fs-mirror=d acme/x";
    let request = lock(typed).request();
    let platforms: Vec<&str> = request.platforms.iter().map(Platform::as_str).collect();
    assert_eq!(platforms, ["linux_amd64", "b_c"]);
    assert_eq!(request.providers, ["acme/x"]);
    assert_eq!(
        parse(typed).unwrap().command.invocation().packages.and_then(Packages::choice),
        Some(SourceChoice::Directory("d".into()))
    );
    assert_eq!(lock("lock --platform a_b --platform a_b").request().platforms.len(), 1);
    assert_eq!(parse("-json list").unwrap().global.format, Format::Json);
    assert_eq!(parse("list -no-color").unwrap().global.color, Colour::Never);
}

/// Advice adds `-r` to the commands that show it, and `-C` to those that have it and name no files.
#[test]
fn advice_knows_the_options_of_every_command() {
    for command in command().get_subcommands() {
        let name = command.get_name();
        let reach = subcommand(name).filter(|it| it.name == name).unwrap().reach;
        assert_eq!(has(command, 'r'), reach == Reach::Found, "{name}");
        assert!(has(command, 'C') || [Reach::Nothing, Reach::Tree].contains(&reach), "{name}");
    }
}

fn has(command: &clap::Command, option: char) -> bool {
    command.get_arguments().any(|it| it.get_short() == Some(option) && !it.is_hide_set())
}

#[test]
fn directories_before_and_behind_the_command() {
    let rows: [(&str, &[&str]); 3] =
        [("-C a --chdir b list -C c", &["a", "b", "c"]), ("-C a providers lock -chdir=b", &["a", "b"]), ("list", &[])];
    for (typed, directories) in rows {
        let arguments = parse(typed).unwrap();
        let found = arguments.command.invocation().directories(&arguments);
        assert_eq!(found, directories.iter().map(PathBuf::from).collect::<Vec<_>>(), "{typed}");
    }
}

#[test]
fn global_options_are_accepted_anywhere() {
    for line in
        ["--tool tofu -v --format json why", "why --tool tofu -v --format json", "--tool auto why --tool tofu -v -json"]
    {
        let global = parse(line).unwrap().global;
        assert_eq!((global.tool, global.format), (Some(Tool::Tofu), Format::Json), "{line}");
        assert_eq!(global.detail(), Detail::Verbose, "{line}");
    }
}

#[test]
fn republished_releases() {
    let request =
        lock("lock --accept-republished acme/x@1.2.0 --accept-republished a/b@2.0.0-rc1 --reason because").request();
    assert_eq!(request.accept_republished[0], ("acme/x".to_owned(), Version::new(1, 2, 0)));
    assert_eq!(request.accept_republished.len(), 2);
    assert_eq!(request.reason.as_deref(), Some("because"));
    assert!(refused("lock --accept-republished acme/x@1.2.0").contains("--reason"));
    assert!(refused("lock --reason x").contains("--accept-republished"));
    assert!(refused("lock --accept-republished acme/x --reason x").contains("expected ADDR@VERSION"));
    assert!(refused("lock --accept-republished @1.0.0 --reason x").contains("expected ADDR@VERSION"));
}

#[test]
fn usage_errors() {
    assert!(refused("lock --platform linux").contains("linux_amd64"));
    assert!(refused("lcok").contains("'lock'"));
    assert!(refused("lock --platfrom x_y").contains("'--platform'"));
    assert!(refused("lock --from-lock --prune").contains("cannot be used with"));
    assert!(refused("lock --fs-mirror a --net-mirror b").contains("cannot be used with"));
    assert!(refused("-q -v list").contains("cannot be used with"));
    refused("hash");
    refused("completions tcsh");
    refused("");
}
