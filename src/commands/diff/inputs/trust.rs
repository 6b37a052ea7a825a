//! Reads and compares the trust files of both sides.

use std::collections::BTreeSet;
use std::path::Path;

use crate::addr::AddrPattern;
use crate::commands::diff::signers::Trust;
use crate::commands::trust_store::decode;
use crate::count::counted;
use crate::disk::root_files;
use crate::error::Error;
use crate::path::worktree::WorkTree;
use crate::trust::pins::{FILE_NAME, Pins};

/// The text of a trust file; `None` if there is no file.
pub(super) type Text = Option<Vec<u8>>;

/// The texts of both sides, or why they cannot be read.
pub(super) type Texts = [Result<Text, Error>; 2];

/// The trust file that the user named, or else the one that applies to a directory.
pub(super) fn text(directory: &Path, named: Option<&Path>) -> Result<Text, Error> {
    let path = match named {
        Some(named) => named.to_owned(),
        None => root_files::locate_trust_file(&WorkTree::of(directory))?,
    };
    Ok(root_files::read_trust_file(&path, &path)?.map(String::into_bytes))
}

/// The remembered signers of both sides. A file that cannot be read counts as empty and gives a note.
pub(super) fn trust(texts: Texts) -> (Trust, Vec<String>) {
    let mut notes = Vec::new();
    let [old, new] = texts.map(|text| {
        text.and_then(|text| text.map(|text| pins(&text)).transpose()).unwrap_or_else(|error| {
            notes.push(format!("signers are not compared with a trust file: {error}"));
            None
        })
    });
    notes.dedup();
    notes.extend(changed(old.as_ref(), new.as_ref()).filter(|_| notes.is_empty()));
    (Trust { old, new }, notes)
}

/// One line about other changes to the trust file in the same change.
fn changed(old: Option<&Pins>, new: Option<&Pins>) -> Option<String> {
    let nobody = Pins::default();
    if let (Some(_), None) = (old, new) {
        return Some(format!("{FILE_NAME} was removed by this change: no signer is remembered after it"));
    }
    let (old, new) = (old.unwrap_or(&nobody), new.unwrap_or(&nobody));
    let patterns: BTreeSet<&AddrPattern> = old.providers.keys().chain(new.providers.keys()).collect();
    let other = patterns.into_iter().filter(|pattern| old.providers.get(pattern) != new.providers.get(pattern));
    let other: Vec<&AddrPattern> = other.collect();
    let mut parts: Vec<String> = match &other[..] {
        [] => Vec::new(),
        [one] => vec![format!("signers of {one}")],
        several => vec![format!("signers of {}", counted(several.len(), "provider"))],
    };
    if old.denied != new.denied {
        parts.push("denied signers".to_owned());
    }
    if old.republished != new.republished {
        parts.push("accepted republications".to_owned());
    }
    (!parts.is_empty()).then(|| format!("{FILE_NAME} changes too, review it: {}", parts.join(", ")))
}

fn pins(text: &[u8]) -> Result<Pins, Error> {
    Ok(decode(&String::from_utf8_lossy(text), Path::new(FILE_NAME))?.pins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_the_trust_file_is_reported() {
        let key = "A".repeat(40);
        let pin = format!("provider \"registry.terraform.io/acme/widget\" {{\n signers = [\"{key}\"]\n}}\n");
        let denied = format!("denied_signer \"{key}\" {{\n reason = \"lost\"\n}}\n");
        let parts = |old: Option<&str>, new: Option<&str>| {
            trust([old, new].map(|text| Ok(text.map(|text| text.as_bytes().to_vec())))).1.join("; ")
        };
        assert_eq!(parts(None, None), "");
        assert_eq!(parts(Some(&pin), Some(&format!("# a comment\n{pin}"))), "");
        let wanted = ".tflock.trust.hcl changes too, review it: signers of registry.terraform.io/acme/widget";
        assert_eq!(parts(None, Some(&pin)), wanted);
        assert_eq!(parts(Some(&pin), Some("")), wanted);
        assert!(parts(Some(""), Some(&denied)).ends_with(": denied signers"));
        assert!(parts(Some(&pin), None).contains("was removed by this change"));
        assert!(parts(Some(&pin), Some("nonsense {")).starts_with("signers are not compared"));
    }
}
