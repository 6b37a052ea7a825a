//! Remote modules: the whole tree without `init`.

mod ahead;
pub(crate) mod archives;
mod broken;
mod differential;
mod files;
mod get;
pub(crate) mod git;
mod honest;
mod hostile;
mod installed;
#[cfg(unix)]
mod killed;
mod listed;
mod locked_tree;
mod locks;
mod oci;
mod outdated;
mod selected;
mod shared;
mod tokens;
mod unclear;
mod variables;

use crate::support::registry::Registry;
use crate::support::worlds::widget;

/// A root module that calls a module of a registry.
const CALL: &str = "module \"net\" {\n  source  = \"{{other-host}}/acme/net/lab\"\n  version = \"~> 1.0\"\n}\n";

/// A module that requires the widget.
pub(crate) const NEEDS_WIDGET: &str =
    "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n";

/// A registry with the widget, and a module in two versions that requires it.
fn world() -> Registry {
    let files = [("main.tf", NEEDS_WIDGET)];
    widget().module("acme/net/lab", "1.0.0", &files).module("acme/net/lab", "1.1.0", &files)
}
