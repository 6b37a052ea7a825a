//! Modules in OCI registries, which OpenTofu takes.

use serde_json::json;

use super::NEEDS_WIDGET;
use crate::support::packages::sha256;
use crate::support::registry::{Endpoint, Registry};
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
const LOCK_MODULES: [&str; 5] = ["--tool=tofu", "lock", "--platform", "linux_amd64", "--lock-modules"];

/// A zip archive with a module that needs the widget.
fn archive(registry: &Registry, more: &str) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("sub/main.tf", zip::write::SimpleFileOptions::default()).unwrap();
    let text = NEEDS_WIDGET.replace("{{registry}}", &registry.host()) + more;
    std::io::Write::write_all(&mut zip, text.as_bytes()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// Serves an archive as a module with a tag; gives the digest of its manifest.
fn served(registry: Registry, archive: &[u8], tag: &str, artifact: &str) -> (Registry, String) {
    let layer = format!("sha256:{}", sha256(archive));
    let manifest = json!({
        "schemaVersion": 2, "mediaType": IMAGE, "artifactType": artifact,
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": format!("sha256:{}", sha256(b"{}")), "size": 2},
        "layers": [{"mediaType": "archive/zip", "digest": layer, "size": archive.len()}],
    });
    let manifest = manifest.to_string().into_bytes();
    let digest = format!("sha256:{}", sha256(&manifest));
    let registry = registry
        .document(&format!("/v2/acme/net/manifests/{tag}"), IMAGE, manifest.clone())
        .document(&format!("/v2/acme/net/manifests/{digest}"), IMAGE, manifest)
        .document(&format!("/v2/acme/net/blobs/{layer}"), "application/octet-stream", archive);
    (registry, digest)
}

const MODULE: &str = "application/vnd.opentofu.modulepkg";

fn workspace(registry: &Registry, rest: &str) -> Workspace {
    let call = format!("module \"net\" {{\n  source = \"oci://{}/acme/net{rest}\"\n}}\n", registry.host());
    Workspace::with_files(&[("main.tf", &call)])
}

#[test]
fn tags_and_digests() {
    let registry = widget();
    let first = archive(&registry, "");
    let (registry, digest) = served(registry, &first, "latest", MODULE);
    let (registry, _) = served(registry, &first, "v1", MODULE);
    let [latest, tagged, fixed] =
        ["//sub", "//sub?tag=v1", &format!("//sub?digest={digest}")].map(|rest| workspace(&registry, rest));
    for workspace in [&latest, &tagged, &fixed] {
        workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
        assert!(workspace.lock_file().contains("/acme/widget\""));
        workspace.tflock(&registry, ["--tool=tofu", "verify"]).ended_with(0);
        workspace.tflock(&registry, ["--tool=tofu", "get"]).ended_with(0);
        assert!(workspace.has(".terraform/modules/net/sub/main.tf"));
        #[cfg(unix)]
        {
            // As OpenTofu leaves them: others may read.
            use std::os::unix::fs::PermissionsExt as _;
            let meta = std::fs::metadata(workspace.path(".terraform/modules/net/sub/main.tf")).unwrap();
            assert_eq!(meta.permissions().mode() & 0o777, 0o644);
        }
    }
    assert!(tagged.read(".tflock.modules.hcl").contains("/acme/net?tag=v1\""));
    // Another package under the same tags: the default one goes on, the other was moved, and a digest stays what it is.
    let second = archive(&registry, "# more\n");
    let (registry, _) = served(registry, &second, "latest", MODULE);
    let (registry, _) = served(registry, &second, "v1", MODULE);
    let moved = latest.tflock(&registry, ["--tool=tofu", "verify"]).ended_with(1);
    assert!(moved.stdout.contains("[module-moved]"), "{moved}");
    let changed = tagged.tflock(&registry, ["--tool=tofu", "verify"]).ended_with(3);
    assert!(changed.stdout.contains("[module-changed]"), "{changed}");
    registry.forget_requests();
    fixed.tflock(&registry, ["--tool=tofu", "verify"]).ended_with(0);
    assert_eq!(registry.count(Endpoint::Other), 0);
}

#[test]
fn what_is_no_module_is_refused() {
    let registry = widget();
    let (registry, _) = served(registry, b"no zip", "v1", MODULE);
    let good = archive(&registry, "");
    let (registry, _) = served(registry, &good, "other", "application/x");
    for (rest, code, says) in [
        ("?tag=none", 2, "not found"),
        ("?tag=v1", 2, "cannot be read"),
        ("?tag=other", 4, "\"application/x\""),
        ("?digest=sha256:00", 2, "not of sha256"),
        ("?tag=v1&digest=sha256:00", 2, "both a tag and a digest"),
        ("?depth=1", 2, "neither tag nor digest"),
        ("?tag=-x", 2, "is not a tag"),
    ] {
        let workspace = workspace(&registry, rest);
        let run = workspace.tflock(&registry, LOCK_MODULES);
        assert_eq!(run.code, Some(code), "{rest}: {run}");
        assert!(run.stderr.contains(says), "{rest}: {run}");
        assert!(!workspace.has(".terraform.lock.hcl"));
    }
    // Terraform takes none from there.
    let refused = workspace(&registry, "?tag=v1").tflock(&registry, ["--tool=terraform", "lock"]).ended_with(2);
    assert!(refused.stderr.contains("modules cannot be fetched by \"oci\""), "{refused}");
}
