//! Which settings differ between two texts of a file, by their names alone: a setting that is added here later is found too.

use std::collections::{BTreeMap, BTreeSet};

use hcl_edit::parser::parse_body;
use hcl_edit::structure::{Body, Structure};

/// The keys that differ, such as `platforms`, `policy.hosts` and `host "example.com"`. Comments, layout and the order of keys are no
/// difference.
pub fn changed_keys(old: &str, new: &str) -> Vec<String> {
    let [old, new] = [old, new].map(|text| parse_body(text.trim_start_matches('\u{feff}')).unwrap_or_default());
    let [old, new] = [&old, &new].map(|body| {
        let mut keys = BTreeMap::new();
        add(body, "", &mut keys);
        keys
    });
    let all: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    all.into_iter().filter(|key| old.get(*key) != new.get(*key)).cloned().collect()
}

/// Adds what a body has, by key. A block without a label has keys of its own; one with a label is one key.
fn add<'a>(body: &'a Body, above: &str, keys: &mut BTreeMap<String, Vec<&'a Structure>>) {
    for structure in body {
        match structure {
            Structure::Attribute(attribute) => {
                keys.entry(format!("{above}{}", attribute.key.as_str())).or_default().push(structure);
            }
            Structure::Block(block) => match block.labels.first() {
                None => add(&block.body, &format!("{above}{}.", block.ident.as_str()), keys),
                Some(label) => {
                    let key = format!("{above}{} {:?}", block.ident.as_str(), label.as_str());
                    keys.entry(key).or_default().push(structure);
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_differ_are_named() {
        let old =
            "platforms = [\"a_b\"] # ours\npolicy {\n  hosts = [\"a.com\"]\n  h1 = \"verified\"\n}\nban \"a/b\" {\n}\n";
        let same = "policy {\n  h1   = \"verified\"\n  # who\n  hosts = [ \"a.com\" ]\n}\n\nban \"a/b\" {\n}\nplatforms = [\"a_b\"]\n";
        assert_eq!(changed_keys(old, same), [""; 0]);
        let other =
            "platforms = [\"c_d\"]\npolicy {\n  h1 = \"verified\"\n}\nban \"a/b\" {\n  reason = \"x\"\n}\nnew = 1\n";
        assert_eq!(changed_keys(old, other), ["ban \"a/b\"", "new", "platforms", "policy.hosts"]);
        assert_eq!(changed_keys("", "terragrunt {\n  env = { A = null }\n}\n"), ["terragrunt.env"]);
        assert_eq!(changed_keys("", "# nothing\n"), [""; 0]);
    }
}
