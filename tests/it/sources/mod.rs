//! Where packages come from: `--source`, the settings, the CLI configuration.

mod configured;
mod methods;
mod mirrors;
mod oci;
mod secrets;
mod several;

use std::path::Path;

use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

/// Puts packed packages of `acme/widget` into a filesystem mirror in a folder of the workspace.
fn packed(workspace: &Workspace, registry: &Registry, (folder, version): (&str, &str), platforms: &[&str]) {
    for platform in platforms {
        let name = format!("terraform-provider-widget_{version}_{platform}.zip");
        let zip = registry.package("acme/widget", version, platform).zip;
        workspace.write_bytes(&format!("{}/{name}", place(registry, folder)), &zip);
    }
}

/// The folder of `acme/widget` in a filesystem mirror.
fn place(registry: &Registry, folder: &str) -> String {
    format!("{folder}/{}/acme/widget", registry.host())
}

/// Puts copies of the signed documents next to the packages of a mirror.
fn copies(workspace: &Workspace, registry: &Registry, (folder, version): (&str, &str)) {
    let [sums, signature, keys] = registry.signed_documents("acme/widget", version);
    let name = format!("{}/terraform-provider-widget_{version}_SHA256SUMS", place(registry, folder));
    workspace.write_bytes(&name, &sums);
    workspace.write_bytes(&format!("{name}.sig"), &signature);
    workspace.write_bytes(&format!("{name}.asc"), &keys);
}

/// A `filesystem_mirror` block of a folder of the workspace.
fn filesystem_mirror(path: &Path, arguments: &str) -> String {
    format!("filesystem_mirror {{\n path = {:?}\n {arguments}\n }}\n", path.display().to_string())
}
