//! Adapts the commands in next steps to the user's directory. A next step is written as if typed in the root module,
//! such as "run `tflock lock`". Only the whole run knows where the user started it.

use std::path::{Path, PathBuf};

use crate::finding::shell_word;
use crate::path::shown;
use crate::path::worktree::Top;

/// The only subcommand for all root modules.
const INIT: &str = "trust init";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InvocationContext {
    pub named: Vec<PathBuf>,
    /// True if root modules were searched for, with `-r`.
    pub recursive: bool,
    pub top: Top,
    /// True if files are also shown relative to the top; otherwise as the run named them.
    pub files_from_top: bool,
}

impl InvocationContext {
    /// A next step for one root module; `file` replaces `PATH`.
    pub fn for_root(&self, text: &str, root: &Path, file: Option<&Path>) -> String {
        let text = &self.about_file(text, file);
        if !self.recursive {
            return match &self.named[..] {
                [] => text.to_owned(),
                [one] => with_directory(text, one, true),
                _ => with_directory(text, &self.top.path_to(root), true),
            };
        }
        let way = self.top.path_to(root);
        with_directory(text, &way, false)
    }

    /// A next step for the whole run; `file` replaces `PATH`.
    pub fn for_all(&self, text: &str, file: Option<&Path>) -> String {
        let text = &self.about_file(text, file);
        match (&self.named[..], self.recursive) {
            (_, true) => with_recursion(text),
            ([one], false) => with_directory(text, one, true),
            (_, false) => text.to_owned(),
        }
    }

    fn about_file(&self, text: &str, file: Option<&Path>) -> String {
        let Some(file) = file else { return text.to_owned() };
        let way = if self.files_from_top { self.top.path_to(file) } else { file.to_owned() };
        text.replace(" PATH`", &format!(" {}`", shell_word(&shown(&way))))
    }
}

/// Adds `-r` to the commands in a text.
pub fn with_recursion(text: &str) -> String {
    let fits = |command: &str, rest: &str| has_recursion(command) && !is_recursive(rest);
    changed(text, |command, rest| fits(command, rest).then(|| format!("tflock {command} -r{rest}")))
}

/// True if a command is for one root module, or with `-r` for many.
pub fn has_root(command: &str) -> bool {
    let others = "trust git cache hash merge textconv completions man schema version help providers";
    !others.split(' ').any(|other| other == command)
}

pub fn has_recursion(command: &str) -> bool {
    has_root(command) && !["add", "remove", "setup", "status"].contains(&command)
}

/// Adds `-C` to the commands in a text; with `others`, also to those for several root modules.
fn with_directory(text: &str, directory: &Path, others: bool) -> String {
    if directory.as_os_str().is_empty() {
        return text.to_owned();
    }
    let directory = shell_word(&shown(directory));
    changed(text, |command, rest| {
        let about_many = others && ["trust", "git"].contains(&command);
        // With `-C`, a search begins in the root module; for searched root modules the command already has its directory.
        let stays = !others && is_recursive(rest);
        ((has_root(command) || about_many) && !stays).then(|| format!("tflock -C {directory} {command}{rest}"))
    })
}

/// True if the arguments of a command search for root modules.
fn is_recursive(rest: &str) -> bool {
    rest.split(' ').any(|word| ["-r", "--recursive"].contains(&word))
}

/// Changes the commands between backticks: `change` receives the command and its arguments. Commands with a directory,
/// and those that print help, stay unchanged.
fn changed(text: &str, change: impl Fn(&str, &str) -> Option<String>) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| {
        let Some(line) = part.strip_prefix("tflock ").filter(|_| at % 2 == 1) else { return part.to_owned() };
        let says = line.split(' ').any(|word| ["-C", "--help", "RULE", "COMMAND"].contains(&word));
        let end = if line.starts_with(INIT) { INIT.len() } else { line.find(' ').unwrap_or(line.len()) };
        let (command, rest) = line.split_at(end);
        change(command, rest).filter(|_| !says).unwrap_or_else(|| part.to_owned())
    });
    parts.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "Run `tflock lock`; `tflock trust add ADDR KEY` or `tflock fmt --check` (`git log`)";

    fn ctx(named: &[&str], recursive: bool, to_top: &str) -> InvocationContext {
        let named = named.iter().map(PathBuf::from).collect();
        let top = Top { up: to_top.into(), down: PathBuf::new() };
        InvocationContext { named, recursive, top, files_from_top: !to_top.is_empty() }
    }

    #[test]
    fn commands_work_from_the_current_directory() {
        let here = ctx(&[], false, "");
        assert_eq!(
            (here.for_root(HELP, Path::new(""), None), here.for_all(HELP, None)),
            (HELP.to_owned(), HELP.to_owned())
        );
        let named = ctx(&["live/a b"], false, "");
        let wanted = r#"Run `tflock -C "live/a b" lock`; `tflock -C "live/a b" trust add ADDR KEY` or `tflock -C "live/a b" fmt --check` (`git log`)"#;
        assert_eq!(
            (named.for_root(HELP, Path::new("x"), None), named.for_all(HELP, None)),
            (wanted.to_owned(), wanted.to_owned())
        );
        let below = ctx(&[], true, "");
        let wanted =
            "Run `tflock -C live/a lock`; `tflock trust add ADDR KEY` or `tflock -C live/a fmt --check` (`git log`)";
        assert_eq!(below.for_root(HELP, Path::new("live/a"), None), wanted);
        let wanted = "Run `tflock lock -r`; `tflock trust add ADDR KEY` or `tflock fmt -r --check` (`git log`)";
        assert_eq!(below.for_all(HELP, None), wanted);
    }

    #[test]
    fn the_file_is_relative_to_the_current_directory() {
        let help = "`git log --patch -- PATH`, `git show REV:PATH`";
        let advice = |ctx: InvocationContext, file: &str| ctx.for_all(help, Some(Path::new(file)));
        let wanted = |file: &str| format!("`git log --patch -- {file}`, `git show REV:PATH`");
        assert_eq!(advice(ctx(&[], false, ""), "x.hcl"), wanted("x.hcl"));
        assert_eq!(advice(ctx(&[], false, ".."), "a/x.hcl"), wanted("../a/x.hcl"));
        assert_eq!(advice(ctx(&["a b"], false, ""), "a b/x.hcl"), wanted("\"a b/x.hcl\""));
        assert_eq!(advice(ctx(&[], true, ".."), "a/x.hcl"), wanted("../a/x.hcl"));
        assert_eq!(advice(ctx(&["a", "b"], false, ".."), "a/x.hcl"), wanted("../a/x.hcl"));
    }

    #[test]
    fn paths_are_as_short_as_can_be() {
        let top = Top { up: "../..".into(), down: "live/a".into() };
        let ctx = InvocationContext { recursive: true, top, files_from_top: true, ..InvocationContext::default() };
        let help = "`tflock get`, `git log -- PATH`";
        for (root, wanted) in [
            ("live/a", "`tflock get`, `git log -- x.hcl`"),
            ("live/a/b", "`tflock -C b get`, `git log -- b/x.hcl`"),
            ("live/b", "`tflock -C ../b get`, `git log -- ../b/x.hcl`"),
            ("other", "`tflock -C ../../other get`, `git log -- ../../other/x.hcl`"),
            ("", "`tflock -C ../.. get`, `git log -- ../../x.hcl`"),
        ] {
            let file = Path::new(root).join("x.hcl");
            assert_eq!(ctx.for_root(help, Path::new(root), Some(&file)), wanted);
        }
    }

    #[test]
    fn commands_with_a_directory_stay() {
        let below = ctx(&[], true, "..");
        for text in
            ["`tflock lock -r --create`", "`tflock -C DIR add`", "`tflock explain RULE`", "tflock lock", "`tflock`"]
        {
            assert_eq!(below.for_all(text, None), text);
            assert_eq!(below.for_root(text, Path::new("a"), None), text);
        }
        let named = ctx(&["below"], false, "");
        assert_eq!(named.for_all("`tflock lock -r --create`", None), "`tflock -C below lock -r --create`");
        assert_eq!(below.for_root("`tflock lock`", Path::new("a"), None), "`tflock -C ../a lock`");
    }
}
