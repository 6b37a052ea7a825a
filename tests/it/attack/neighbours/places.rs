//! Files put elsewhere, or something else in their place.

use super::Op::{Append, Link, Move, Remove, Replace, Write};
use super::{Row, judge};

const TRACKED: &[&str] = &["tracked-packages"];
const LINKED: &[&str] = &["link-changed"];

#[rustfmt::skip] // One row a line.
const PACKAGES: &[Row] = &[
    Row("plugins of a root module", &[Write("app/terraform.d/plugins/x", "")], 3, TRACKED),
    Row("plugins at the top", &[Write("terraform.d/plugins/x", "")], 3, TRACKED),
    Row("plugins beside no root module", &[Write("shared/terraform.d/plugins/x", "")], 3, TRACKED),
    Row("what else may stand there", &[Write("app/terraform.d/credentials.tfrc.json", "{}")], 0, &[]),
    Row("plugins in capitals, which are some elsewhere", &[Write("app/Terraform.d/plugins/x", "")], 3, TRACKED),
    Row("the data directory", &[Write("app/.terraform/providers/x", "")], 3, TRACKED),
    Row("modules in it", &[Write("app/.terraform/modules/modules.json", r#"{"Modules":[]}"#)], 3, TRACKED),
    Row("its environment", &[Write("app/.terraform/environment", "prod")], 3, TRACKED),
    Row("that of a module", &[Write("modules/net/.terraform/x", "")], 3, TRACKED),
    Row("the cache of Terragrunt", &[Write("app/.terragrunt-cache/x/main.tf", "")], 3, TRACKED),
    Row("a lock file in it", &[Write(".terragrunt-cache/x/.terraform.lock.hcl", "")], 3, TRACKED),
    Row("the data directory as a file", &[Write("app/.terraform", "x")], 3, TRACKED),
    Row("plugins as a link", &[Write("v/x", ""), Link("app/terraform.d/plugins", "../../v")], 3, &["link-changed", "tracked-packages"]),
    Row("the folder around them as a link", &[Write("v/plugins/x", ""), Link("app/terraform.d", "../v")], 3, &["link-changed", "tracked-packages"]),
    Row("a link to a link", &[Write("v/plugins/x", ""), Link("w", "v"), Link("app/terraform.d", "../w")], 3, &["link-changed", "tracked-packages"]),
    Row("plugins as a link that leads nowhere yet", &[Link("app/terraform.d/plugins", "../../none")], 3, &["link-changed", "tracked-packages"]),
    Row("the data directory as a link out of the tree", &[Link("app/.terraform", "../../outside")], 3, &["link-changed", "tracked-packages"]),
    Row("a name that ends so", &[Write("app/my.terraform/x", "")], 0, &[]),
];

#[test]
fn tracked_packages_that_need_no_registry() {
    judge(PACKAGES);
}

#[rustfmt::skip] // One row a line.
const LINKS: &[Row] = &[
    Row("the lock file to that of another root module", &[Link("app/.terraform.lock.hcl", "../other/.terraform.lock.hcl")], 3, LINKED),
    Row("the lock file to a file of another name", &[Move("app/.terraform.lock.hcl", "lock"), Link("app/.terraform.lock.hcl", "../lock")], 3, LINKED),
    Row("settings to a file of the tree", &[Move(".tflock.hcl", "rules"), Link(".tflock.hcl", "rules")], 3, LINKED),
    Row("new settings by a link", &[Write("rules", "platforms = [\"linux_amd64\"]\n"), Link("app/.tflock.hcl", "../rules")], 3, LINKED),
    Row("the trust file to a file of the tree", &[Move(".tflock.trust.hcl", "pins"), Link(".tflock.trust.hcl", "pins")], 3, LINKED),
    Row("a root module to another one", &[Link("other", "app")], 3, LINKED),
    Row("a root module to where it was moved", &[Move("other", "moved"), Link("other", "moved")], 3, LINKED),
    Row("a link to the directory above a root module", &[Move("app", "env/app"), Replace("env/app/main.tf", "../modules", "../../modules"), Link("envs", "env")], 0, &[]),
    Row("a link beside root modules", &[Link("latest", "app")], 0, &[]),
    Row("a module to another one", &[Move("modules/net", "modules/web"), Link("modules/net", "web")], 0, &[]),
    Row("configuration out of the tree", &[Link("app/x.tf", "../../x.tf")], 2, &[]),
    Row("configuration that is absolute", &[Link("app/x.tf", "/etc/hostname")], 2, &[]),
    Row("configuration of the process", &[Link("app/x.tf", "/proc/self/cwd/x.tf")], 2, &[]),
    Row("configuration in the repository", &[Link("app/x.tf", "../.git/config")], 2, &[]),
    Row("configuration nowhere", &[Link("app/x.tf", "none.tf")], 2, &[]),
    Row("configuration in a circle", &[Link("app/x.tf", "y.tf"), Link("app/y.tf", "x.tf")], 2, &[]),
    Row("configuration through a directory out of the tree and in again", &[Link("up", ".."), Link("app/x.tf", "../up/work/shared/common.tf")], 2, &[]),
    Row("the link that was there, elsewhere", &[Write("shared/more.tf", "locals {}\n"), Link("other/common.tf", "../shared/more.tf")], 0, &[]),
    Row("the link that was there, as a file", &[Remove("other/common.tf"), Write("other/common.tf", "locals {}\n")], 0, &[]),
    Row("notes", &[Link("app/notes.md", "/etc/hostname")], 0, &[]),
];

#[cfg(unix)]
#[test]
#[ignore = "long"]
fn links_in_the_place_of_files() {
    judge(LINKS);
}

#[rustfmt::skip] // One row a line.
const MOVES: &[Row] = &[
    Row("a root module", &[Move("other", "moved")], 0, &[]),
    Row("deeper", &[Remove("other/common.tf"), Move("other", "a/b/c")], 0, &[]),
    Row("into a module", &[Remove("other/common.tf"), Move("other", "modules/net/other")], 0, &[]),
    Row("without its lock file", &[Move("other", "moved"), Remove("moved/.terraform.lock.hcl")], 3, &["lock-file-moved"]),
    Row("with its lock file left there", &[Move("other/main.tf", "moved/main.tf"), Remove("other/common.tf")], 3, &["lock-file-moved", "root-kind-changed"]),
    Row("with a lock file of another name", &[Move("other", "moved"), Move("moved/.terraform.lock.hcl", "moved/.Terraform.lock.hcl")], 3, &["ambiguous-name", "lock-file-moved"]),
    Row("to a hidden directory", &[Move("other", ".hidden")], 0, &[]),
    Row("to a hidden directory without its lock file", &[Move("other", ".hidden"), Remove(".hidden/.terraform.lock.hcl")], 3, &["lock-file-moved"]),
    Row("to a folder of the tools", &[Move("other", ".terraform/other")], 3, TRACKED),
    Row("to an ignored directory", &[Write(".gitignore", ".terraform\nmoved/\n"), Move("other", "moved"), Replace("moved/.terraform.lock.hcl", "  version = \"2.0.0\"\n", "  version = 2\n")], 3, &["lock-not-literal"]),
    Row("as JSON", &[Remove("other/.terraform.lock.hcl"), Append("other/main.tf", "# more\n")], 3, &["lock-file-removed"]),
    Row("a lock file removed", &[Remove("app/.terraform.lock.hcl")], 3, &["lock-file-removed"]),
    Row("both removed", &[Remove("app/.terraform.lock.hcl"), Remove("other/.terraform.lock.hcl")], 3, &["lock-file-removed"]),
    Row("removed and ignored", &[Remove("app/.terraform.lock.hcl"), Write(".gitignore", ".terraform.lock.hcl\n")], 3, &["lock-file-removed"]),
    Row("a root module removed", &[Remove("other")], 0, &[]),
    Row("a lock file where there is no configuration", &[Move("app/.terraform.lock.hcl", "shared/.terraform.lock.hcl")], 3, &["lock-file-removed"]),
    Row("a directory called like a lock file", &[Remove("app/.terraform.lock.hcl"), Write("app/.terraform.lock.hcl/x", "")], 3, &["lock-file-removed"]),
    Row("lock files exchanged", &[Move("app/.terraform.lock.hcl", "x"), Move("other/.terraform.lock.hcl", "app/.terraform.lock.hcl"), Move("x", "other/.terraform.lock.hcl")], 0, &[]),
    Row("a backend without a lock file", &[Write("new/main.tf", "terraform {\n  backend \"local\" {}\n}\nresource \"evil_thing\" \"x\" {}\n")], 1, &["lock-file-missing"]),
];

#[test]
#[ignore = "long"]
fn root_modules_and_lock_files_moved() {
    judge(MOVES);
}
