//! What is made from the command line's own description: completion scripts and the manual page.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use super::args::command;

/// The completion script of a shell.
pub(super) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "tflock", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The manual page in roff: the program, then each command.
///
/// # Errors
///
/// None but those of writing to memory.
pub(super) fn man() -> std::io::Result<String> {
    let mut command = command();
    command.build();
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut page = String::from_utf8_lossy(&page).into_owned();
    for subcommand in visible(&command) {
        page.push_str(&section(subcommand, "tflock")?);
    }
    let mut end = Vec::new();
    man.render_extra_section(&mut end)?;
    page.push_str(&String::from_utf8_lossy(&end));
    Ok(page)
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set())
}

/// One command, its parts one level lower; then the commands below it.
fn section(command: &Command, parent: &str) -> std::io::Result<String> {
    let name = format!("{parent} {}", command.get_name());
    let own = command.clone().mut_args(|argument| {
        let hidden = argument.is_global_set() || argument.get_id() == "help";
        argument.hide(hidden)
    });
    let man = Man::new(own);
    let mut parts = Vec::new();
    man.render_synopsis_section(&mut parts)?;
    man.render_description_section(&mut parts)?;
    man.render_options_section(&mut parts)?;
    if command.get_after_help().is_some() {
        man.render_extra_section(&mut parts)?;
    }
    let parts = String::from_utf8_lossy(&parts).replace("\n.SH ", "\n.SS ");
    let parts = parts.strip_prefix(".SH ").map(|rest| format!(".SS {rest}")).unwrap_or(parts);
    let mut text = format!(".SH \"{}\"\n{parts}", name.to_uppercase());
    for below in visible(command) {
        text.push_str(&section(below, &name)?);
    }
    Ok(text)
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

    #[test]
    fn the_manual_page_has_every_command() {
        let page = man().unwrap();
        for subcommand in visible(&command()) {
            let heading = format!(".SH \"TFLOCK {}\"", subcommand.get_name().to_uppercase());
            assert!(page.contains(&heading), "{heading}");
        }
        assert!(page.contains("TFLOCK CACHE PRUNE") && !page.contains("TFLOCK PROVIDERS"));
    }
}
