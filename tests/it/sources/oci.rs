//! OCI mirrors: what is in a registry, laid out by hand, served by the fixture and by a real registry program.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::packages::sha256;
use crate::support::registry::{Endpoint, Registry, server_pem};
use crate::support::tools::found;
use crate::support::workspace::Workspace;
use crate::support::worlds::{PLATFORMS, hashes, widget};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
const LOCK: [&str; 3] = ["--tool=tofu", "lock", "--platform=linux_amd64"];

/// What a repository has of one release: the bytes of its index, images and blobs.
pub(super) struct Layout {
    index: Vec<u8>,
    images: Vec<Vec<u8>>,
    blobs: Vec<Vec<u8>>,
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256(bytes))
}

/// Lays out `acme/widget` 1.4.0; `change` changes its index.
pub(super) fn layout(registry: &Registry, change: impl FnOnce(&mut Value)) -> Layout {
    let (mut images, mut blobs, mut targets) = (Vec::new(), vec![b"{}".to_vec()], Vec::new());
    for platform in PLATFORMS {
        let zip = registry.package("acme/widget", "1.4.0", platform).zip;
        let (os, arch) = platform.split_once('_').unwrap();
        let target = "application/vnd.opentofu.provider-target";
        let image = json!({
            "schemaVersion": 2, "mediaType": IMAGE, "artifactType": target,
            "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": digest(b"{}"), "size": 2},
            "layers": [{"mediaType": "archive/zip", "digest": digest(&zip), "size": zip.len()}],
        });
        let image = image.to_string().into_bytes();
        targets.push(json!({
            "mediaType": IMAGE, "artifactType": target, "digest": digest(&image), "size": image.len(),
            "platform": {"os": os, "architecture": arch},
        }));
        images.push(image);
        blobs.push(zip);
    }
    let kind = "application/vnd.opentofu.provider";
    let mut index = json!({"schemaVersion": 2, "mediaType": INDEX, "artifactType": kind, "manifests": targets});
    change(&mut index);
    Layout { index: index.to_string().into_bytes(), images, blobs }
}

/// The repository of a provider of the default registry, below `mirror`.
pub(super) const REPOSITORY: &str = "mirror/registry.opentofu.org/acme/widget";

/// The fixture serves a repository with these tags.
pub(super) fn served(registry: Registry, layout: &Layout, tags: &[&str]) -> Registry {
    let place = |rest: &str| format!("/v2/{REPOSITORY}/{rest}");
    let list = json!({"name": REPOSITORY, "tags": tags}).to_string();
    let mut registry = registry.document(&place("tags/list"), "application/json", list);
    registry = registry.document(&place("manifests/1.4.0"), INDEX, layout.index.clone());
    for image in &layout.images {
        registry = registry.document(&place(&format!("manifests/{}", digest(image))), IMAGE, image.clone());
    }
    for blob in &layout.blobs {
        registry =
            registry.document(&place(&format!("blobs/{}", digest(blob))), "application/octet-stream", blob.clone());
    }
    registry
}

fn workspace() -> Workspace {
    Workspace::with_files(&[(
        "main.tf",
        "terraform {\n  required_providers {\n    widget = {\n      source = \"acme/widget\"\n    }\n  }\n}\n",
    )])
}

fn source(host: &str) -> String {
    format!("--source=oci:{host}/mirror/${{hostname}}/${{namespace}}/${{type}}")
}

#[test]
fn packages_come_from_an_oci_registry() {
    let registry = widget();
    let repository = layout(&registry, |_| {});
    let registry = served(registry, &repository, &["1.4.0", "latest", "v2.0.0"]);
    let (workspace, source) = (workspace(), source(&registry.host()));
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--platform=darwin_arm64", &source])).ended_with(0);
    // As tofu records it: the digest of each layer, and its h1.
    assert_eq!(hashes(&workspace.lock_file()).len(), 4, "{run}");
    for platform in PLATFORMS {
        let package = registry.package("acme/widget", "1.4.0", platform);
        assert!(
            workspace.lock_file().contains(&package.h1) && workspace.lock_file().contains(&package.sha256),
            "{run}"
        );
    }
    assert_eq!(registry.count(Endpoint::Discovery), 0);
    let run = workspace.tflock(&registry, ["--tool=tofu", "verify", &source]).ended_with(0);
    assert!(run.stderr.contains("note: checked only against oci:"), "{run}");
}

#[test]
fn what_no_package_can_be_is_refused() {
    for (change, words, code) in [
        (json!({"artifactType": "application/x"}), "\"application/x\"", 4),
        (json!({"mediaType": IMAGE}), "media type", 4),
        (json!({"manifests": []}), " linux_amd64 in the OCI mirror ", 2),
    ] {
        let registry = widget();
        let repository = layout(&registry, |index| {
            for (name, value) in change.as_object().unwrap() {
                index[name] = value.clone();
            }
        });
        let registry = served(registry, &repository, &["1.4.0"]);
        let (workspace, source) = (workspace(), source(&registry.host()));
        let run = workspace.tflock(&registry, LOCK.iter().chain(&[source.as_str()])).ended_with(code);
        assert!(run.stderr.contains(words) && !workspace.has(".terraform.lock.hcl"), "{run}");
    }
}

#[test]
fn several_packages_for_one_platform_are_ambiguous() {
    let registry = widget();
    let repository = layout(&registry, |index| {
        let first = index["manifests"][0].clone();
        index["manifests"].as_array_mut().unwrap().push(first);
    });
    let registry = served(registry, &repository, &["1.4.0"]);
    let run = workspace().tflock(&registry, LOCK.iter().chain(&[source(&registry.host()).as_str()])).ended_with(4);
    assert!(run.stderr.contains("ambiguous manifest"), "{run}");
}

#[test]
fn a_blob_that_is_not_what_its_digest_says_is_refused() {
    let registry = widget();
    let repository = layout(&registry, |_| {});
    let zip = &repository.blobs[1];
    let place = format!("/v2/{REPOSITORY}/blobs/{}", digest(zip));
    let registry =
        served(registry, &repository, &["1.4.0"]).document(&place, "application/zip", repository.blobs[2].clone());
    let (workspace, source) = (workspace(), source(&registry.host()));
    let run = workspace.tflock(&registry, LOCK.iter().chain(&[source.as_str()])).ended_with(3);
    assert!(
        run.stdout.contains("[wrong-checksum]") && run.stdout.contains("its manifest in the OCI registry gives"),
        "{run}"
    );
}

#[test]
fn no_other_source_has_what_an_oci_mirror_lacks() {
    let registry = widget().standing_for("registry.opentofu.org");
    let host = registry.host();
    let workspace = workspace().cli_config(&format!(
        "provider_installation {{\n oci_mirror {{\n repository_template = \
         \"{host}/mirror/${{hostname}}/${{namespace}}/${{type}}\"\n }}\n direct {{\n }}\n}}\n"
    ));
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--source=configured"])).ended_with(2);
    assert!(run.stderr.contains("uses no source after an oci_mirror"), "{run}");
}

#[test]
fn a_template_must_mention_what_is_not_fixed() {
    let registry = widget();
    let run = workspace().tflock(&registry, LOCK.iter().chain(&["--source=oci:r.example/${type}"])).ended_with(2);
    assert!(run.stderr.contains("it must contain ${hostname}"), "{run}");
}

/// `docker-registry` on loopback behind TLS; stopped when dropped.
struct Program {
    child: Child,
    port: u16,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A password that belongs to `user`: `secret`, as bcrypt.
const HTPASSWD: &str = "user:$2b$12$FY3iKlqltyE/GtaofBCrX.vEzzYro2662rsUkSGKJxwDsIuNyPam2\n";

/// Starts the registry program over a folder; none, and a line on stderr, if it is not installed.
fn start(folder: &Path, guarded: bool) -> Option<Program> {
    let program = found("docker-registry")?;
    // If another program takes the port, the start fails, and the test says so.
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let [certificate, key] = server_pem();
    std::fs::write(folder.join("tls.pem"), certificate).unwrap();
    std::fs::write(folder.join("tls.key"), key).unwrap();
    std::fs::write(folder.join("htpasswd"), HTPASSWD).unwrap();
    let place = |name: &str| folder.join(name).display().to_string();
    let auth = format!("auth:\n  htpasswd:\n    realm: fixture\n    path: {}\n", place("htpasswd"));
    let config = format!(
        "version: 0.1\nlog:\n  level: info\nstorage:\n  filesystem:\n    rootdirectory: {}\nhttp:\n  addr: 127.0.0.1:{port}\n  \
         tls:\n    certificate: {}\n    key: {}\n{}",
        place("data"),
        place("tls.pem"),
        place("tls.key"),
        if guarded { auth } else { String::new() }
    );
    std::fs::write(folder.join("config.yml"), config).unwrap();
    let mut command = Command::new(program);
    command
        .arg("serve")
        .arg(folder.join("config.yml"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It says so when it listens; if it ends before, there is no more to read.
    let lines = BufReader::new(child.stderr.take().unwrap());
    let mut lines = lines.lines().map_while(Result::ok);
    let listens = lines.by_ref().any(|line| line.contains("listening on"));
    let program = Program { child, port };
    assert!(listens, "docker-registry did not start");
    // The rest of its output is read, so it never waits for a reader.
    std::thread::spawn(move || lines.for_each(drop));
    Some(program)
}

/// Writes a repository as the registry program keeps it.
fn store(folder: &Path, layout: &Layout) {
    let top = folder.join("data/docker/registry/v2");
    let write = |path: String, bytes: &[u8]| {
        let path = top.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let hex = |bytes: &[u8]| sha256(bytes);
    let manifests = layout.images.iter().chain([&layout.index]);
    for bytes in layout.blobs.iter().chain(manifests.clone()) {
        let hex = hex(bytes);
        write(format!("blobs/sha256/{}/{hex}/data", &hex[..2]), bytes);
    }
    for bytes in &layout.blobs {
        write(format!("repositories/{REPOSITORY}/_layers/sha256/{}/link", hex(bytes)), digest(bytes).as_bytes());
    }
    for bytes in manifests {
        let link = format!("repositories/{REPOSITORY}/_manifests/revisions/sha256/{}/link", hex(bytes));
        write(link, digest(bytes).as_bytes());
    }
    let tag = format!("repositories/{REPOSITORY}/_manifests/tags/1.4.0");
    write(format!("{tag}/current/link"), digest(&layout.index).as_bytes());
    write(format!("{tag}/index/sha256/{}/link", hex(&layout.index)), digest(&layout.index).as_bytes());
}

#[test]
fn a_real_registry_program() {
    let (registry, workspace) = (widget(), workspace());
    let folder = workspace.path("../registry");
    std::fs::create_dir(&folder).unwrap();
    store(&folder, &layout(&registry, |_| {}));
    let Some(program) = start(&folder, false) else { return };
    let source = source(&format!("localhost:{}", program.port));
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--platform=darwin_arm64", &source])).ended_with(0);
    assert_eq!(hashes(&workspace.lock_file()).len(), 4, "{run}");
    workspace.tflock(&registry, ["--tool=tofu", "verify", &source]).ended_with(0);
}

#[test]
fn a_real_registry_program_that_wants_a_password() {
    const SECRET: &str = "dXNlcjpzZWNyZXQ=";
    let (registry, workspace) = (widget(), workspace());
    let folder = workspace.path("../registry");
    std::fs::create_dir(&folder).unwrap();
    store(&folder, &layout(&registry, |_| {}));
    let Some(program) = start(&folder, true) else { return };
    let host = format!("localhost:{}", program.port);
    let source = source(&host);
    let args = || LOCK.iter().chain(&["-v"]).map(ToString::to_string).chain([source.clone()]);
    let run = workspace.tflock(&registry, args()).ended_with(4);
    assert!(run.stderr.contains("requires credentials") && run.stderr.contains("docker login"), "{run}");
    let docker = workspace.path("../home/.docker/config.json");
    std::fs::create_dir_all(docker.parent().unwrap()).unwrap();
    std::fs::write(&docker, format!("{{\"auths\": {{\"{host}\": {{\"auth\": \"{SECRET}\"}}}}}}")).unwrap();
    let run = workspace.tflock(&registry, args()).ended_with(0);
    assert!(!format!("{}{}", run.stdout, run.stderr).contains(SECRET), "{run}");
    // The block of the CLI configuration is as specific, and counts first.
    let block = format!("oci_credentials \"{host}\" {{\n username = \"user\"\n password = \"wrong-{SECRET}\"\n}}\n");
    let workspace = workspace.cli_config(&block);
    let run = workspace.tflock(&registry, args().chain(["--platform=darwin_arm64".to_owned()])).ended_with(4);
    assert!(run.stderr.contains("rejected the credentials") && !run.stderr.contains(SECRET), "{run}");
}
