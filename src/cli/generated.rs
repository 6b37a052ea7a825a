//! What is made from the command line's own description: completion scripts and help.

use clap_complete::Shell;

use super::args::command;
use super::usage;
use crate::error::{Error, ErrorKind};

/// The completion script of a shell.
pub(super) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "tflock", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The help of a command, by its name and that of the one below it; without a name that of the program.
///
/// # Errors
///
/// A usage error, if there is no such command.
pub(super) fn help(names: &[String]) -> Result<String, Error> {
    let mut command = command();
    let mut found = &mut command;
    for name in names {
        let near = usage::meant(found, name);
        found = found.find_subcommand_mut(name).ok_or_else(|| {
            let error = Error::new(ErrorKind::Usage, format!("there is no command {name:?}"));
            error.hint(near.unwrap_or_else(|| "`tflock help` lists the commands".to_owned()))
        })?;
    }
    Ok(found.render_long_help().to_string())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use clap_complete::Generator;

    use super::*;

    /// The name that a shell's script has in `completions/`, and the script.
    fn completion_files() -> impl Iterator<Item = (String, String)> {
        Shell::value_variants().iter().map(|shell| (shell.file_name("tflock"), completions(*shell)))
    }

    #[test]
    fn help_of_a_command_below_another() {
        let help = |names: &[&str]| super::help(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert!(help(&["trust", "rotate"]).unwrap().contains("Usage: tflock trust rotate"));
        assert!(help(&[]).unwrap().contains("Usage: tflock"));
        assert_eq!(help(&["lokc"]).unwrap_err().hints, ["did you mean `lock`?"]);
        assert_eq!(help(&["x"]).unwrap_err().hints, ["`tflock help` lists the commands"]);
    }

    /// `UPDATE=1 cargo test completions` rewrites the folder.
    #[test]
    fn completions_folder_is_as_generated() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
        let update = std::env::var_os("UPDATE").is_some_and(|value| value == "1");
        for (name, script) in completion_files() {
            let file = folder.join(&name);
            if update {
                std::fs::write(&file, &script).unwrap();
            }
            let kept = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(kept == script, "completions/{name} is not what the program prints; set UPDATE=1 and run again");
        }
    }
}
