//! One root module, and the registries behind it.

use super::Told;
use crate::support::keys;
use crate::support::locked::{honest, locked};
use crate::support::registry::{Endpoint, Registry};
use crate::support::workspace::Workspace;

const LINUX: [&str; 1] = ["linux_amd64"];
const TRUST: &str = ".tflock.trust.hcl";

fn main(entries: &[[&str; 3]]) -> String {
    let entry = |[name, source, version]: &[&str; 3]| {
        format!(
            "    {name} = {{\n      source  = \"{{{{registry}}}}/{source}\"\n      version = \"{version}\"\n    }}\n"
        )
    };
    format!("terraform {{\n  required_providers {{\n{}  }}\n}}\n", entries.iter().map(entry).collect::<String>())
}

pub(super) fn names(told: &mut Told) {
    let workspace = Workspace::with_files(&[("main.tf", &main(&[["gh", "acme/github", ">= 1.0"]]))]);
    workspace.git(["init", "--quiet"]);
    let registry = Registry::start().release("acme/github", "1.0.0", &LINUX);
    told.does(&workspace, &registry, "lock --platform linux_amd64");
    let registry = registry.release("acme/github", "1.1.0", &LINUX);
    for words in ["why gh", "why github", "why gihtub", "upgrade gihtub", "outdated {{registry}}/acme/gihtub"] {
        told.says(&workspace, &registry, words);
    }
    for words in ["upgrade -r {{registry}}/acme/gihtub", "upgrade github", "explain github", "remove gihtub"] {
        told.says(&workspace, &registry, words);
    }
    told.says(&workspace, &registry, &format!("trust rotate acme/github {}", keys::OTHER.fingerprint()));
    told.says(&workspace, &registry, "remove gh");
}

pub(super) fn one_refused_provider(told: &mut Told) {
    let entries = |version| main(&[["gadget", "acme/gadget", version], ["widget", "acme/widget", version]]);
    let registry = Registry::start();
    let releases =
        ["1.0.0", "1.1.0"].into_iter().flat_map(|version| ["acme/gadget", "acme/widget"].map(|name| (name, version)));
    let registry = releases.fold(registry, |registry, (name, version)| registry.release(name, version, &LINUX));
    let registry = registry.release("acme/widget", "1.2.0", &LINUX).signed_by(keys::OTHER);
    let workspace = Workspace::with_files(&[("main.tf", &entries("1.0.0"))]);
    told.does(&workspace, &registry, "lock --platform linux_amd64");
    workspace.write("main.tf", &entries("~> 1.0"));
    told.says(&workspace, &registry, "upgrade");
}

pub(super) fn whose_key(told: &mut Told) {
    let workspace = Workspace::with_files(&[("main.tf", &main(&[["widget", "acme/widget", ">= 1.0"]]))]);
    let registry = Registry::start().release("acme/widget", "1.0.0", &LINUX);
    let run = told.says(&workspace, &registry, "lock --platform linux_amd64");
    told.shows("the trust file", &run.filtered(&workspace.read(TRUST)));
    told.says(&workspace, &registry, "trust list");
    let registry = registry.release("acme/widget", "2.0.0", &LINUX).signed_by(keys::OTHER);
    told.says(&workspace, &registry, "upgrade");
}

/// What stands between the program and a registry.
pub(super) fn connections(told: &mut Told) {
    let registry = honest();
    let workspace = locked(&registry).env("HTTPS_PROXY", "http://127.0.0.1:1");
    told.says(&workspace, &registry, "verify --no-cache");
    let workspace = locked(&registry).env("SSL_CERT_FILE", "nowhere.pem");
    told.says(&workspace, &registry, "verify --no-cache");
    let workspace = locked(&registry);
    told.does(&workspace, &registry, "list");
    // Nothing listens any more; what differs between runs is filtered by the name of the registry.
    let registry = registry.without_providers_service();
    told.says(&workspace, &registry, "verify --no-cache");
    told.says(&workspace, &registry, "outdated");
}

pub(super) fn error_texts(told: &mut Told) {
    let registry = honest();
    let workspace = locked(&registry);
    told.says(&workspace, &registry, "lock --platform macos_arm64");
    registry.republish("acme/widget", "1.4.0");
    told.says(&workspace, &registry, "lock --platform linux_amd64");
    let workspace = Workspace::with_files(&[("main.tf", "")]);
    workspace.git(["init", "--quiet"]);
    told.says(&workspace, None, "diff");
    workspace.write("main.tf", "terraform {\n  required_version = = 1\n}\n\nlocals {\n  b = )\n}\n");
    told.says(&workspace, None, "lock");
}

pub(super) fn empty_cache(told: &mut Told) {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.write(".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n");
    told.does(&workspace, &registry, "lock");
    std::fs::remove_dir_all(workspace.path("../cache")).unwrap();
    std::fs::create_dir(workspace.path("../cache")).unwrap();
    told.says(&workspace, &registry, "lock --check");
}

pub(super) fn one_document_for_packages(told: &mut Told) {
    let platforms = ["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64", "freebsd_amd64"];
    let registry = Registry::start().release("acme/widget", "1.4.0", &platforms).with_packages();
    let registry = registry.standing_for("registry.opentofu.org");
    let source = main(&[["widget", "acme/widget", ">= 1.0"]]).replace("{{registry}}/", "");
    let workspace = Workspace::with_files(&[("main.tf", &source)]);
    let wanted = platforms.map(|platform| format!("--platform {platform}")).join(" ");
    told.does(&workspace, &registry, &format!("--tool tofu lock {wanted}"));
    told.shows("documents about packages that were asked for", &registry.count(Endpoint::Download).to_string());
}
