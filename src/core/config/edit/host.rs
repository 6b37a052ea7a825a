//! Source addresses that name a registry, pointed at a different one.

use super::place::Files;
use super::{Change, EditError, FileEdit, apply, edits_between, meaning};
use crate::addr::{Hostname, ProviderSource};
use crate::config::SourceFile;
use crate::dialect::Dialect;

/// Writes another host into every source address of a module that names a certain one. A source that names no host is
/// left alone, whatever it means, and so is an entry that an override file replaces.
pub fn change_host(
    files: &[SourceFile],
    dialect: Dialect,
    from: &Hostname,
    to: &Hostname,
) -> Result<Vec<FileEdit>, EditError> {
    let module = Files::select(files, dialect).decode()?;
    let mut edited = files.to_vec();
    let mut meaning = meaning(&module);
    for (name, required) in &module.required {
        let Some(source) = required.source_text.as_deref().and_then(|text| at_host(text, from, to)) else { continue };
        let Some((written, _)) = meaning.get_mut(name) else { continue };
        *written = ProviderSource::parse(&source, dialect)?;
        let now = Files::select(&edited, dialect);
        let change = Change { source: Some(source), constraint: None };
        let edits = now.checked(now.replace(name, &change)?, &meaning)?;
        edited = apply(&edited, &edits);
    }
    Ok(edits_between(files, &edited))
}

/// The same source at another host; `None` if it does not name this host.
fn at_host(text: &str, from: &Hostname, to: &Hostname) -> Option<String> {
    let (host, rest) = text.split_once('/').filter(|(_, rest)| rest.contains('/'))?;
    let named = Hostname::parse(host).ok()?;
    (named == *from).then(|| format!("{to}/{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::default_host;

    fn edited(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let files: Vec<SourceFile> =
            files.iter().map(|(path, text)| SourceFile { path: path.into(), text: (*text).to_owned() }).collect();
        let [from, to] = [Dialect::Terraform, Dialect::OpenTofu].map(default_host);
        let edits = change_host(&files, Dialect::OpenTofu, &from, &to).unwrap();
        edits.into_iter().map(|edit| (edit.path.to_string_lossy().into_owned(), edit.new)).collect()
    }

    const MAIN: &str = "# ours\r\nterraform {\r\n  required_providers {\r\n    aws = {\r\n      version = \"~> 5.0\" # x\r\n      \
                        source  = \"Registry.Terraform.io/hashicorp/AWS\" # y\r\n    }\r\n    b = { source = \"acme/b\" }\r\n    \
                        c = { source = \"example.com/acme/c\" }\r\n    d = \">= 1.0\"\r\n  }\r\n}\r\n";

    #[test]
    fn only_the_named_host_changes() {
        let wanted = MAIN.replace("Registry.Terraform.io", "registry.opentofu.org");
        assert_eq!(edited(&[("main.tf", MAIN)]), [("main.tf".to_owned(), wanted)]);
        assert_eq!(edited(&[("main.tf", "provider \"aws\" {\n}\n")]), []);
    }

    #[test]
    fn several_files_and_entries_at_once() {
        let block = |entries: &str| format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n");
        let entry = |name: &str| format!("    {name} = {{ source = \"registry.terraform.io/x/{name}\" }}\n");
        let main = block(&format!("{}{}", entry("a"), entry("b")));
        let over = block("    a = { source = \"registry.terraform.io:443/x/a\" }\n");
        let edits = edited(&[("main.tf", &main), ("x_override.tf", &over)]);
        // The overridden entry of main.tf says nothing.
        let [(_, new_main), (_, new_over)] = &edits[..] else { panic!("{edits:?}") };
        assert_eq!(*new_main, main.replace(&entry("b"), &entry("b").replace("terraform.io", "opentofu.org")));
        assert_eq!(*new_over, over.replace("registry.terraform.io:443", "registry.opentofu.org"));
    }
}
