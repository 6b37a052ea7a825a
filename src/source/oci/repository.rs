//! Names of repositories: `REGISTRY/NAME`.

use std::fmt;

use url::Url;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Repository {
    registry: String,
    name: String,
    base: Url,
}

impl Repository {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (registry, name) =
            text.split_once('/').ok_or("expected a registry and a repository with a slash between them")?;
        if !name.split('/').all(is_component) {
            return Err(format!(
                "the repository name {name:?} has parts that are not lower-case letters and digits with single separators"
            ));
        }
        // What everyone calls docker.io answers under another name.
        let host = if registry == "docker.io" { "registry-1.docker.io" } else { registry };
        let is_plain = !host.is_empty() && !host.contains(['@', '?', '#', '\\', '%']);
        let base = Url::parse(&format!("https://{host}/v2/{name}/")).ok().filter(|base| is_plain && base.has_host());
        let base = base.ok_or_else(|| format!("{registry:?} is not the host of a registry"))?;
        Ok(Self { registry: registry.to_owned(), name: name.to_owned(), base })
    }

    /// The registry: a host, with a port if it has one.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path()));
        url
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.name)
    }
}

/// `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`
fn is_component(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let separators = text.split(is_word).filter(|separator| !separator.is_empty());
    let sound = |separator: &str| matches!(separator, "." | "_" | "__") || separator.chars().all(|c| c == '-');
    text.starts_with(is_word) && text.ends_with(is_word) && separators.into_iter().all(sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories() {
        let url = |text: &str| Repository::parse(text).unwrap().url("tags/list").to_string();
        assert_eq!(url("r.example:5000/a/b-c"), "https://r.example:5000/v2/a/b-c/tags/list");
        assert_eq!(url("docker.io/library/x"), "https://registry-1.docker.io/v2/library/x/tags/list");
        let digest = Repository::parse("r.example/a").unwrap().url("blobs/sha256:00");
        assert_eq!(digest.as_str(), "https://r.example/v2/a/blobs/sha256:00");
        for wrong in
            ["a", "/a", "r.example/", "r.example/A", "r.example/a:1", "r.example/a@b", "r.example/a//b", "r.example/-a"]
        {
            assert!(Repository::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["me:pw@r.example/a", "r.example?/a", "r example/a"] {
            assert!(Repository::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_have_single_separators() {
        for (name, sound) in [
            ("a", true),
            ("a.b", true),
            ("a__b", true),
            ("a---b", true),
            ("a___b", false),
            ("a..b", false),
            ("a._b", false),
        ] {
            assert_eq!(is_component(name), sound, "{name}");
        }
    }
}
