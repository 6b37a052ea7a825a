//! Every combination of installation method, include, exclude and absence: what is locked, and which source was queried.

use super::filesystem_mirror;
use super::oci::{layout, served};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

/// The methods, by their numbers in the tables.
const KINDS: [&str; 4] = ["direct", "filesystem_mirror", "network_mirror", "oci_mirror"];
const OCI: usize = 3;

/// What a method says of what it takes, and whether it takes `acme/widget`.
const FILTERS: [(&str, bool); 6] = [
    ("", true),
    ("include = [\"acme/widget\"]", true),
    ("include = [\"acme/other\"]", false),
    ("exclude = [\"acme/*\"]", false),
    ("exclude = [\"acme/other\"]", true),
    ("include = [\"acme/*\"]\n exclude = [\"acme/widget\"]", false),
];

/// A method with what it says and whether its source has 1.4.0 of `acme/widget`.
#[derive(Debug, Clone, Copy)]
struct Method {
    kind: usize,
    filter: usize,
    has: bool,
}

impl Method {
    fn takes(self) -> bool {
        FILTERS[self.filter].1
    }
}

/// Servers and a folder that have the provider, and such that do not.
struct World {
    origins: [Registry; 2],
    mirrors: Registry,
    folders: Workspace,
}

impl World {
    fn new() -> Self {
        let origin = widget();
        let repository = layout(&origin, |_| {});
        let mirrors = served(widget(), &repository, &["1.4.0"]);
        let folders = Workspace::with_files(&[("empty/README", "")]);
        let zip = origin.package("acme/widget", "1.4.0", "linux_amd64").zip;
        let shelf = "mirror/registry.opentofu.org/acme/widget";
        folders.write_bytes(&format!("{shelf}/terraform-provider-widget_1.4.0_linux_amd64.zip"), &zip);
        Self { origins: [Registry::start(), origin], mirrors, folders }
    }

    /// The block of a method.
    fn block(&self, Method { kind, filter, has }: Method) -> String {
        let (host, filter) = (self.mirrors.host(), FILTERS[filter].0);
        let folder = self.folders.path(if has { "mirror" } else { "empty" });
        let place = if has { "mirror" } else { "none" };
        let argument = match kind {
            0 => String::new(),
            1 => return filesystem_mirror(&folder, filter),
            2 => format!("url = \"https://{host}/{place}/\""),
            _ => format!("repository_template = \"{host}/{place}/${{hostname}}/${{namespace}}/${{type}}\""),
        };
        format!("{} {{\n {argument}\n {filter}\n}}\n", KINDS[kind])
    }

    /// Which sources were queried, by the numbers of their methods; unknown for a folder.
    fn asked(&self) -> [bool; 4] {
        let mirrors = self.mirrors.requests();
        let any = |start: &[&str]| mirrors.iter().any(|it| start.iter().any(|start| it.path.starts_with(start)));
        let origin = self.origins.iter().any(|origin| !origin.requests().is_empty());
        [origin, false, any(&["/mirror/", "/none/"]), any(&["/v2/"])]
    }

    /// Locks with some methods, and holds what comes of it to the rules of the tool.
    fn holds(&self, methods: &[Method]) {
        for registry in self.origins.iter().chain([&self.mirrors]) {
            registry.forget_requests();
        }
        let has = methods.iter().any(|method| method.kind == 0 && method.has);
        let services = format!("https://{}/v1/providers/", self.origins[usize::from(has)].host());
        let host =
            format!("host \"registry.opentofu.org\" {{\n services = {{\n \"providers.v1\" = \"{services}\"\n }}\n}}\n");
        let blocks: String = methods.iter().map(|method| self.block(*method)).collect();
        let config = format!("{host}provider_installation {{\n{blocks}}}\n");
        let required =
            "terraform {\n  required_providers {\n    widget = {\n      source = \"acme/widget\"\n    }\n  }\n}\n";
        let workspace = Workspace::with_files(&[("main.tf", required)]).cli_config(&config);
        let args = ["--tool=tofu", "lock", "--platform=linux_amd64", "--source=configured"];
        let run = workspace.tflock(&self.mirrors, args);

        let taking = || methods.iter().filter(|method| method.takes());
        // Every method that includes the provider lists its versions; the package comes from the first that has it. What an OCI mirror
        // lacks is not looked for behind it.
        let decides = taking().find(|method| method.has || method.kind == OCI);
        let found = decides.is_some_and(|method| method.has);
        let mut asked = [false; 4];
        taking().filter(|method| method.kind != 1).for_each(|method| asked[method.kind] = true);
        let shown = format!("{methods:?}\n{config}\n{run}");
        assert_eq!((run.code, self.asked()), (Some(if found { 0 } else { 2 }), asked), "{shown}");
        assert_eq!(workspace.has(".terraform.lock.hcl"), found, "{shown}");
        assert!(found || run.stderr.contains("acme/widget"), "{shown}");
    }
}

#[test]
fn one_method_of_one_kind() {
    one_method(0..1);
}

#[test]
#[ignore = "long"]
fn one_method_of_any_kind() {
    one_method(0..KINDS.len());
}

fn one_method(kinds: std::ops::Range<usize>) {
    let world = World::new();
    for kind in kinds {
        for filter in 0..FILTERS.len() {
            for has in [true, false] {
                world.holds(&[Method { kind, filter, has }]);
            }
        }
    }
}

/// The methods of a kind that differ in what becomes of them: it has the provider, it does not, it does not take it.
fn three(kind: usize) -> [Method; 3] {
    let method = |filter, has| Method { kind, filter, has };
    [method(0, true), method(1, false), method(5, true)]
}

#[test]
#[ignore = "long"]
fn two_methods() {
    let world = World::new();
    for (first, second) in (0..16).map(|pair| (pair / 4, pair % 4)).filter(|(first, second)| first != second) {
        for one in three(first) {
            for other in three(second) {
                world.holds(&[one, other]);
            }
        }
    }
}
