//! Where the user of this run is, for the commands in its next steps.

use std::path::{Path, PathBuf};

use crate::lockfile::LockName;
use crate::path::worktree::Top;
use crate::step::{Place, Way};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InvocationContext {
    pub named: Vec<PathBuf>,
    /// True if root modules were searched for, with `-r`.
    pub recursive: bool,
    pub top: Top,
    /// The option that chose the source of packages.
    pub source: Vec<String>,
    /// The value of `--tool`.
    pub tool: Option<&'static str>,
    /// True if files are also shown relative to the top; otherwise as the run named them.
    pub files_from_top: bool,
}

impl InvocationContext {
    /// For a next step about one root module and a file.
    pub fn of_root(&self, root: &Path, file: Option<&Path>) -> Place {
        let root = LockName::directory(root);
        let way = match &self.named[..] {
            _ if self.recursive => Way::Found(self.top.path_to(root)),
            [] => Way::Here,
            [one] => Way::Named(one.clone()),
            _ => Way::Named(self.top.path_to(root)),
        };
        self.place(way, file)
    }

    /// For a next step about the whole run and a file.
    pub fn of_all(&self, file: Option<&Path>) -> Place {
        let way = match &self.named[..] {
            _ if self.recursive => Way::All,
            [] => Way::Here,
            [one] => Way::Named(one.clone()),
            several => Way::Several(several.to_vec()),
        };
        self.place(way, file)
    }

    /// For a next step about one root module, of which equal ones are printed once.
    pub fn of_each(&self, root: &Path, file: Option<&Path>) -> Place {
        if self.recursive { self.of_all(file) } else { self.of_root(root, file) }
    }

    fn place(&self, way: Way, file: Option<&Path>) -> Place {
        let from_here = |file: &Path| if self.files_from_top { self.top.path_to(file) } else { file.to_owned() };
        Place { way, file: file.map(from_here), source: self.source.clone(), tool: self.tool }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::step::{Step, Template};

    const HELP: Template =
        template!("Run `tflock lock`; `tflock trust add ADDR KEY` or `tflock fmt --check` (`git log`)");

    fn at(step: impl Into<Step>, place: Place) -> String {
        step.into().at(Some(Arc::new(place))).to_string()
    }

    fn ctx(named: &[&str], recursive: bool, to_top: &str) -> InvocationContext {
        let named = named.iter().map(PathBuf::from).collect();
        let top = Top { up: to_top.into(), down: PathBuf::new() };
        InvocationContext { named, recursive, top, files_from_top: !to_top.is_empty(), ..InvocationContext::default() }
    }

    #[test]
    fn commands_work_from_the_current_directory() {
        let here = ctx(&[], false, "");
        assert_eq!(
            (at(HELP, here.of_root(Path::new(""), None)), at(HELP, here.of_all(None))),
            (HELP.to_string(), HELP.to_string())
        );
        let named = ctx(&["live/a b"], false, "");
        let wanted = r#"Run `tflock -C "live/a b" lock`; `tflock -C "live/a b" trust add ADDR KEY` or `tflock -C "live/a b" fmt --check` (`git log`)"#;
        assert_eq!(
            (at(HELP, named.of_root(Path::new("x"), None)), at(HELP, named.of_all(None))),
            (wanted.to_owned(), wanted.to_owned())
        );
        let below = ctx(&[], true, "");
        let wanted =
            "Run `tflock -C live/a lock`; `tflock trust add ADDR KEY` or `tflock -C live/a fmt --check` (`git log`)";
        assert_eq!(at(HELP, below.of_root(Path::new("live/a"), None)), wanted);
        let wanted = "Run `tflock lock -r`; `tflock trust add ADDR KEY` or `tflock fmt -r --check` (`git log`)";
        assert_eq!(at(HELP, below.of_all(None)), wanted);
    }

    #[test]
    fn the_file_is_relative_to_the_current_directory() {
        let help = template!("`git log --patch -- PATH`, `git show REV:PATH`");
        let advice = |ctx: InvocationContext, file: &str| at(help, ctx.of_all(Some(Path::new(file))));
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
        let help = template!("`tflock get`, `git log -- PATH`");
        for (root, wanted) in [
            ("live/a", "`tflock get`, `git log -- x.hcl`"),
            ("live/a/b", "`tflock -C b get`, `git log -- b/x.hcl`"),
            ("live/b", "`tflock -C ../b get`, `git log -- ../b/x.hcl`"),
            ("other", "`tflock -C ../../other get`, `git log -- ../../other/x.hcl`"),
            ("", "`tflock -C ../.. get`, `git log -- ../../x.hcl`"),
        ] {
            let file = Path::new(root).join("x.hcl");
            assert_eq!(at(help, ctx.of_root(Path::new(root), Some(&file))), wanted);
        }
    }

    #[test]
    fn commands_with_a_directory_stay() {
        let below = ctx(&[], true, "..");
        for text in [
            template!("`tflock lock -r --create`"),
            template!("`tflock -C DIR add`"),
            template!("`tflock explain RULE`"),
            template!("tflock lock"),
            template!("`tflock`"),
        ] {
            assert_eq!(at(text, below.of_all(None)), text.text);
            assert_eq!(at(text, below.of_root(Path::new("a"), None)), text.text);
        }
        let named = ctx(&["below"], false, "");
        assert_eq!(
            at(template!("`tflock lock -r --create`"), named.of_all(None)),
            "`tflock -C below lock -r --create`"
        );
        assert_eq!(at(template!("`tflock lock`"), below.of_root(Path::new("a"), None)), "`tflock -C ../a lock`");
    }
}
