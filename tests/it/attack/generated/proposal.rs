//! One pull request by a seed.

use super::{HONEST, all, entry, host, require};
use crate::support::dice::Dice;
use crate::support::keys;
use crate::support::locked::LOCK;
use crate::support::proposal::{SETTINGS, TRUST, pin};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

/// One proposal in the making.
pub(super) struct Proposal<'a> {
    pub workspace: &'a Workspace,
    pub registry: &'a Registry,
    pub dice: Dice,
    pub done: Vec<String>,
}

impl Proposal<'_> {
    fn write(&self, path: &str, text: &str) {
        let place = self.workspace.path(path);
        // What a link leads to is another file.
        if place.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
            std::fs::remove_file(&place).unwrap();
        }
        if !place.is_dir() && std::fs::create_dir_all(place.parent().unwrap()).is_ok() {
            std::fs::write(place, text).unwrap();
        }
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.workspace.path(path)).unwrap_or_default()
    }

    fn link(&self, path: &str, target: &str) {
        let place = self.workspace.path(path);
        if place.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            std::fs::remove_dir_all(&place).unwrap();
        } else {
            let _absent = std::fs::remove_file(&place);
        }
        if std::fs::create_dir_all(place.parent().unwrap()).is_ok() {
            std::os::unix::fs::symlink(target, place).unwrap();
        }
    }

    fn root(&mut self) -> String {
        self.dice.pick(&["app", "other", "third", "new", "app/deep"]).to_owned()
    }

    /// The provider that should not be required.
    fn wanted(&mut self) -> (&'static str, &'static str, &'static str) {
        self.dice.pick(&[
            ("evil", "acme/evil", ""),
            ("evil", "evil/gadget", ""),
            ("widget", "acme/widget", ">= 1.4"),
            ("gadget", "acme/gadget", "2.0.1"),
            ("x", "acme/evil", "1.0.0"),
        ])
    }

    /// Configuration that requires it, with what main requires or alone.
    fn configuration(&mut self, alone: bool) -> String {
        let registry = self.registry;
        let wanted = self.wanted();
        let mut providers = vec![wanted];
        providers.extend(HONEST.iter().filter(|honest| !alone && honest.0 != wanted.0));
        let plain = require(registry, &providers);
        let source = format!("{}/{}", registry.host(), wanted.1);
        match self.dice.below(8) {
            0 => {
                let space = self.dice.pick(&["\u{a0}", "\u{b}", " ", "\t"]);
                format!("locals {{\n  a = <<-EOT\nx\n{space}EOT\n}}\n{plain}locals {{\n  b = <<EOT\ny\nEOT\n}}\n")
            }
            1 => format!("/* # */\n{plain}// */\n"),
            2 => plain.replace('\n', "\r\n"),
            3 => format!("\u{feff}{plain}"),
            4 => format!("locals {{\n  a = \"${{\"}}\"}} $${{ %{{if true}}}}%{{endif}}\"\n}}\n{plain}"),
            5 => plain.replace(&source, &source.replace('e', "\\u0065")),
            6 => format!("terraform {{\n  required_version = \">= 1.0\"\n}}\n{plain}"),
            _ => plain,
        }
    }

    fn json(&mut self) -> String {
        let provider = self.dice.pick(&["acme/evil", "evil/gadget"]);
        format!(
            r#"{{"terraform": [{{"required_providers": [{{"evil": {{"source": "{}/{provider}"}}}}]}}]}}"#,
            self.registry.host()
        )
    }

    /// The text of a lock file that says what it should not.
    fn lock_text(&mut self, old: &str) -> String {
        let registry = self.registry;
        let swap = |old: &str, from: &str, to: &str| {
            let [from_hashes, to_hashes] =
                [from, to].map(|version| all(registry, "acme/widget", version).join("\",\n    \""));
            old.replace(&from_hashes, &to_hashes).replace(&format!("\"{from}\""), &format!("\"{to}\""))
        };
        match self.dice.below(16) {
            0 => swap(old, "1.4.0", "1.4.1"),
            1 => swap(old, "1.4.0", "1.4.2"),
            2 => swap(old, "1.4.0", "1.4.3"),
            3 => format!("{old}{}", entry(registry, "acme/evil", "1.0.0", "")),
            4 => format!("{}{old}", entry(registry, "evil/gadget", "1.0.0", "")),
            5 => old.replace("\"1.4.0\"", "0.1 + 0.2 == 0.3 ? \"1.4.1\" : \"1.4.0\""),
            6 => old.replace("    \"zh:", "    # \"zh:"),
            7 => old.replace("    \"h1:", "    # \"h1:"),
            8 => {
                let evil =
                    all(registry, "acme/widget", "1.4.1").into_iter().find(|hash| hash.starts_with("h1:")).unwrap();
                old.replace("  hashes = [\n", &format!("  hashes = [\n    \"{evil}\",\n"))
            }
            9 => old.replace("terraform init", "tofu init"),
            10 => old.replace("\"1.4.0\"", "\"1.4.1\""),
            11 => old.replace('\n', "\r\n"),
            12 => format!("{old}/*\n{}\n", "x".repeat(10)),
            13 => swap(old, "1.4.0", "1.4.1").replace("1.4.1", "1.4.\\u0031"),
            14 => old.replace("hashes = [", "hashes = concat([], ["),
            _ => String::new(),
        }
    }

    /// One change.
    pub(super) fn change(&mut self) {
        let root = self.root();
        let kind = self.dice.below(25);
        match kind {
            0..14 => self.change_texts(&root, kind),
            14..22 => self.change_places(&root, kind),
            _ => self.change_names(&root, kind),
        }
        self.done.push(format!("{kind} in {root}"));
    }

    /// The content of configuration and lock files, and the links to them.
    fn change_texts(&mut self, root: &str, kind: usize) {
        let lock = format!("{root}/{LOCK}");
        match kind {
            0..=3 => {
                let name = self.dice.pick(&[
                    "main.tf",
                    "main.tf",
                    "x_override.tf",
                    "override.tf",
                    "x.tf",
                    ".x.tf",
                    "main.tofu",
                    "x.tf~",
                    "X.TF",
                ]);
                let text = self.configuration(name.contains("override"));
                self.write(&format!("{root}/{name}"), &text);
            }
            4 => {
                let text = self.json();
                self.write(&format!("{root}/x_override.tf.json"), &text);
            }
            5..=9 => {
                let old = self.read(&lock);
                let old = if old.is_empty() { self.read(&format!("app/{LOCK}")) } else { old };
                let text = self.lock_text(&old);
                self.write(&lock, &text);
            }
            10 => {
                let target = self.dice.pick(&[
                    "../shared/lock",
                    "../other/.terraform.lock.hcl",
                    "/proc/self/cwd/lock",
                    "../../lock",
                ]);
                let old = self.read(&format!("app/{LOCK}"));
                let text = self.lock_text(&old);
                self.write("shared/lock", &text);
                self.write("lock", &text);
                self.link(&lock, target);
            }
            11 => {
                let text = self.configuration(false);
                self.write("shared/x.txt", &text);
                let target = self.dice.pick(&["../shared/x.txt", "/proc/self/cwd/shared/x.txt", "../../x"]);
                self.link(&format!("{root}/main.tf"), target);
            }
            12 => {
                let text = self.configuration(true);
                let path = self.dice.pick(&[
                    "shared/common.txt",
                    "modules/net/main.tf",
                    "modules/net/more.tf",
                    "modules/evil/main.tf",
                ]);
                self.write(path, &text);
            }
            _ => {
                let text = self.configuration(true);
                self.write("modules/evil/main.tf", &text);
                let source = self.dice.pick(&[
                    "\"../modules/evil\"",
                    "\"../modules/./net/../evil/\"",
                    "(\"../modules/evil\")",
                    "\"../modules/${\"evil\"}\"",
                    "\"../modules/\\u0065vil\"",
                ]);
                let name = self.dice.pick(&["net.tf", "x.tf", "x_override.tf", "t.tftest.hcl", "tests/t.tftest.hcl"]);
                let module = format!("module \"net\" {{\n  source = {source}\n}}\n");
                let run = format!("run \"x\" {{\n  module {{\n    source = {source}\n  }}\n}}\n");
                self.write(&format!("{root}/{name}"), if name.contains("tftest") { &run } else { &module });
            }
        }
    }

    /// The state of the repository, and the rules.
    fn change_places(&mut self, root: &str, kind: usize) {
        let lock = format!("{root}/{LOCK}");
        match kind {
            14 => {
                let to = self.dice.pick(&["moved", ".terraform/moved", ".terragrunt-cache/x", "app/inner", ".hidden"]);
                let _may_fail = std::fs::create_dir_all(self.workspace.path(to).parent().unwrap());
                let _may_fail = std::fs::rename(self.workspace.path(root), self.workspace.path(to));
                if self.dice.below(2) == 0 {
                    self.link(root, to);
                }
            }
            15 => {
                let _absent = std::fs::remove_file(self.workspace.path(&lock));
                if self.dice.below(2) == 0 {
                    self.write(".gitignore", ".terraform\n.terraform.lock.hcl\n");
                }
            }
            16 => {
                let text = self.dice.pick(&[
                    "",
                    "exempt \"banned\" {\n}\n",
                    "policy {\n  signature = \"never\"\n}\n",
                    "tool = \"tofu\"\n",
                    "level \"hash-replaced\" {\n  is = \"note\"\n}\n",
                ]);
                let path = self.dice.pick(&[SETTINGS, "app/.tflock.hcl", "new/.tflock.hcl"]);
                self.write(path, text);
            }
            17 => {
                let other = keys::OTHER.fingerprint();
                let provider = self.dice.pick(&["acme/widget", "acme/evil", "acme/*", "evil/gadget"]);
                let old = if self.dice.below(2) == 0 { self.read(TRUST) } else { String::new() };
                let text = format!("{old}\n{}", pin(self.registry, provider, &other));
                self.write(TRUST, &text);
            }
            18 => {
                let place = self.dice.pick(&["app/terraform.d/plugins", "app/.terraform/providers", "shared/plugins"]);
                let package = format!(
                    "{place}/{}/acme/widget/1.4.0/{}/terraform-provider-widget_v1.4.0",
                    self.registry.host(),
                    host()
                );
                self.write(&package, "evil\n");
                if self.dice.below(2) == 0 {
                    self.link("app/terraform.d", "../shared");
                }
            }
            19 => self.submodule(root),
            20 => {
                let attributes = self.dice.pick(&[
                    "*.tf working-tree-encoding=UTF-16\n",
                    "* -text\n",
                    "*.hcl ident\n",
                    "* export-ignore\n",
                ]);
                self.write(".gitattributes", attributes);
            }
            _ => {
                let (from, to) = self.dice.pick(&[
                    ("app/main.tf", "app/main.tofu"),
                    ("app/net.tf", "app/net.txt"),
                    ("other", "new"),
                ]);
                let _may_fail = std::fs::rename(self.workspace.path(from), self.workspace.path(to));
            }
        }
    }

    /// What links lead to, and names that are no text.
    fn change_names(&mut self, root: &str, kind: usize) {
        match kind {
            22 => {
                let target = self.dice.pick(&["locks/two", "app", "./locks/../locks/two", "none"]);
                self.link("current", target);
            }
            23 => {
                let (link, target) = self.dice.pick(&[
                    ("third/net", "../modules/evil"),
                    ("app/m", "../modules/net"),
                    ("modules/net", "evil"),
                    ("locks/one", "two"),
                ]);
                let text = self.configuration(true);
                self.write("modules/evil/main.tf", &text);
                self.link(link, target);
            }
            _ => {
                use std::os::unix::ffi::OsStrExt as _;
                let name = self.dice.pick(&[&b"x\xff.tf"[..], b"d\xfe", b"\xc3_override.tf"]);
                let place = self.workspace.path(root).join(std::ffi::OsStr::from_bytes(name));
                let text = self.configuration(name.ends_with(b"e.tf"));
                if name == b"d\xfe" {
                    let lock = self.read(&format!("app/{LOCK}"));
                    let lock = self.lock_text(&lock);
                    // Systems that want text refuse such names.
                    let _refused = std::fs::create_dir_all(&place);
                    let _refused = std::fs::write(place.join("main.tf"), text);
                    let _refused = std::fs::write(place.join(LOCK), lock);
                } else {
                    let _refused = std::fs::write(place, text);
                }
            }
        }
    }

    /// A repository in the place of a root module.
    fn submodule(&self, root: &str) {
        if !self.workspace.path(root).join(LOCK).is_file() {
            return;
        }
        self.workspace.git_may_fail(["rm", "-r", "--quiet", "--cached", "--ignore-unmatch", root]);
        self.workspace.git_may_fail(["-C", root, "init", "--quiet"]);
        self.workspace.git_may_fail(["-C", root, "add", "--all", "--force"]);
        self.workspace.git_may_fail(["-C", root, "commit", "--quiet", "--message", "sub"]);
        self.workspace.git_may_fail(["-C", root, "update-ref", "refs/remotes/origin/main", "HEAD"]);
    }
}
