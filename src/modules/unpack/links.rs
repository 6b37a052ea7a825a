//! Where links of a package lead, by their texts alone: no file system has a say in it.

use std::collections::BTreeMap;

/// How many links in a row are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// The most steps of a way; a system that follows paths of at most 4096 bytes takes fewer.
const MAX_STEPS: usize = 4096;

/// The way of a path that never leaves its package, whether something is at its end or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way {
    /// Its end; empty for the top of the package.
    pub(super) end: String,
    /// True if it leads over a name that begins with a dot.
    pub(super) is_hidden: bool,
}

/// Where a link or another path leads; `None` if any step is outside of the package.
pub(super) fn way(links: &BTreeMap<String, String>, name: &str) -> Option<Way> {
    let mut rest: Vec<&str> = name.rsplit('/').collect();
    let mut place: Vec<&str> = Vec::new();
    let (mut followed, mut is_hidden) = (0, false);
    for _ in 0..MAX_STEPS {
        match rest.pop() {
            None => return Some(Way { end: place.join("/"), is_hidden }),
            Some("" | ".") => {}
            Some("..") => drop(place.pop()?),
            Some(part) => {
                is_hidden |= part.starts_with('.');
                place.push(part);
                let Some(target) = links.get(&place.join("/")) else { continue };
                followed += 1;
                if followed > MAX_LINKS {
                    // They lead to each other, and so nowhere.
                    return Some(Way { end: place.join("/"), is_hidden });
                }
                place.pop();
                rest.extend(target.rsplit('/'));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_by_their_texts() {
        let links = [
            ("in", "a/b"),
            ("a/up", "../in/c"),
            ("top", "a/.."),
            ("out", "top/../x"),
            ("around", "around"),
            ("nowhere", "a/gone/../../b"),
            ("d/e/f", "../.."),
            ("extra.tf", "d/e/f/../../../payload/evil.tf"),
            ("hidden", ".h/x"),
            ("by", "hidden/y"),
        ];
        let links = links.map(|(name, target)| (name.to_owned(), target.to_owned())).into();
        for (name, hidden) in [
            ("in", Some(false)),
            ("a/up", Some(false)),
            ("top", Some(false)),
            ("out", None),
            ("around", Some(false)),
            ("nowhere", Some(false)),
            ("d/e/f", Some(false)),
            ("extra.tf", None),
            ("hidden", Some(true)),
            ("by", Some(true)),
        ] {
            assert_eq!(way(&links, name).map(|way| way.is_hidden), hidden, "{name}");
        }
    }
}
