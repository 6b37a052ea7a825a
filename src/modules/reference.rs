//! What the `ref` of an address means in a repository.
//!
//! Source: git's own rules for what a name means in a fresh clone.

/// What a `ref` means in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolved {
    /// The commit, in full; of a shortened one only what was written.
    pub(super) commit: String,
    /// The full name of the branch or tag.
    pub(super) name: Option<String>,
}

impl Resolved {
    /// One commit, by its full name.
    pub(super) fn exactly(commit: &str) -> Self {
        Self { commit: commit.to_owned(), name: None }
    }

    /// True if it is meant to go on: a branch, or the default one.
    pub(super) fn goes_on(&self) -> bool {
        self.name.as_ref().is_some_and(|name| !name.starts_with("refs/tags/"))
    }
}

/// The names that a `ref` may stand for.
pub(super) fn candidates(reference: Option<&str>) -> Vec<String> {
    let Some(name) = reference else { return Vec::new() };
    if name.starts_with("refs/") {
        return vec![name.to_owned(), format!("{name}^{{}}")];
    }
    let branch = name.strip_prefix("origin/").unwrap_or(name);
    vec![format!("refs/tags/{name}"), format!("refs/tags/{name}^{{}}"), format!("refs/heads/{branch}")]
}

/// Chooses as `git checkout` does in a fresh clone: the default branch by its name, then a tag, then another branch.
pub(super) fn choose(listed: &str, reference: Option<&str>) -> Option<Resolved> {
    let lines = || listed.lines().filter_map(|line| line.split_once('\t'));
    let commit = |name: &str| {
        let of = |name: &str| lines().find(|(id, listed)| *listed == name && is_full_commit(id));
        of(&format!("{name}^{{}}")).or_else(|| of(name)).map(|(id, _)| id.to_owned())
    };
    let found = |name: &str| commit(name).map(|commit| Resolved { commit, name: Some(name.to_owned()) });
    let Some(reference) = reference else { return found("HEAD") };
    let default = lines().find_map(|(target, name)| target.strip_prefix("ref: ").filter(|_| name == "HEAD"));
    let mut names: Vec<String> = candidates(Some(reference));
    names.retain(|name| !name.ends_with("^{}"));
    let is_default = |name: &String| Some(name.as_str()) == default && *name == format!("refs/heads/{reference}");
    names.sort_by_key(|name| !is_default(name));
    names.iter().find_map(|name| found(name))
}

pub(super) fn is_full_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn is_short_commit(text: &str) -> bool {
    (4..40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";
    const TAG: &str = "3333333333333333333333333333333333333333";

    fn chosen(listed: &str, reference: Option<&str>) -> Option<(String, String)> {
        choose(listed, reference).map(|resolved| (resolved.commit, resolved.name.unwrap()))
    }

    #[test]
    fn names_mean_what_they_mean_in_a_fresh_clone() {
        let head = format!("ref: refs/heads/main\tHEAD\n{ONE}\tHEAD\n");
        let listed = format!(
            "{head}{ONE}\trefs/heads/main\n{TWO}\trefs/heads/v1\n{TAG}\trefs/tags/v1\n{ONE}\trefs/tags/v1^{{}}\n"
        );
        let of = |commit: &str, name: &str| Some((commit.to_owned(), name.to_owned()));
        assert_eq!(chosen(&listed, None), of(ONE, "HEAD"));
        assert_eq!(chosen(&listed, Some("main")), of(ONE, "refs/heads/main"));
        // A tag goes before a branch, and stands for the commit that it is about.
        assert_eq!(chosen(&listed, Some("v1")), of(ONE, "refs/tags/v1"));
        assert_eq!(chosen(&listed, Some("origin/v1")), of(TWO, "refs/heads/v1"));
        assert_eq!(chosen(&listed, Some("refs/heads/v1")), of(TWO, "refs/heads/v1"));
        assert_eq!(chosen(&listed, Some("v9")), None);
        // But the default branch is checked out already.
        let twin = format!("{head}{ONE}\trefs/heads/main\n{TWO}\trefs/tags/main\n");
        assert_eq!(chosen(&twin, Some("main")), of(ONE, "refs/heads/main"));
    }
}
