//! What the `ref` of a git source names, and whether the tools could read it in another way.
//!
//! Where git looks for a name depends on `depth`, on the default branch and on what a clone brings along. Nothing of this is
//! imitated: a `ref` that could name two commits is ambiguous.
//!
//! Source: `github.com/hashicorp/go-getter` v1, `get_git.go`; `gitrevisions(7)`; git `builtin/checkout.c`, `builtin/clone.c`.

use url::Url;

use super::Ambiguity;
use crate::config::ModuleSource;

/// First parts of names that git looks up in a place of its own.
const PREFIXES: [&str; 6] = ["heads", "tags", "remotes", "origin", "main-worktree", "worktrees"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The `ref`; none for the default branch.
    pub name: Option<String>,
    /// True if the tools clone with `--depth`, which reads `ref` as a branch or tag.
    shallow: bool,
    /// True if a parameter is written in a way that parsers do not agree on.
    is_malformed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The commit, in full; otherwise what only git can look up.
    pub commit: String,
    /// The full name of the branch or tag.
    pub name: Option<String>,
    /// The other commit, of the default branch, that the tools check out before this one: git leaves files alone that both
    /// have, as the attributes of that one made them.
    pub first: Option<String>,
    pub ambiguity: Option<Ambiguity>,
}

impl Target {
    /// One commit, by its full name.
    pub fn exactly(commit: &str) -> Self {
        Self { commit: commit.to_owned(), name: None, first: None, ambiguity: None }
    }

    /// True for a branch, which is meant to move.
    pub fn is_moving(&self) -> bool {
        self.name.as_ref().is_some_and(|name| !name.starts_with("refs/tags/"))
    }
}

impl Reference {
    pub fn of(url: &Url) -> Self {
        let query = url.query().unwrap_or_default();
        let values = |wanted: &str| {
            let pairs = url.query_pairs().filter(move |(key, _)| key == wanted);
            pairs.map(|(_, value)| value.into_owned()).collect::<Vec<_>>()
        };
        let (names, depths) = (values("ref"), values("depth"));
        let is_bad_escape = |part: &str| part.len() < 2 || !part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        let is_malformed = names.len() > 1
            || depths.len() > 1
            || query.contains(';')
            || query.split('%').skip(1).any(is_bad_escape)
            || names.iter().any(|name| name.contains(char::REPLACEMENT_CHARACTER));
        // As Go's `Atoi`: `01` and `+1` are 1, and what is no number is 0.
        let shallow = depths.iter().any(|depth| depth.parse::<i64>().is_ok_and(|depth| depth > 0));
        Self { name: names.into_iter().next().filter(|name| !name.is_empty()), shallow, is_malformed }
    }

    /// Why no repository is needed to see that the tools could read it in another way.
    pub fn ambiguity(&self) -> Option<Ambiguity> {
        if self.is_malformed {
            return Some(self.refused("the parameters of the source are read differently by different programs"));
        }
        let name = self.name.as_deref()?;
        let last = name.rsplit('/').next().unwrap_or(name).to_ascii_uppercase();
        let first = name.split('/').next().unwrap_or(name).to_ascii_lowercase();
        let is_named = name.starts_with("refs/tags/") || name.starts_with("refs/heads/");
        let is_own = PREFIXES.contains(&first.as_str()) || (first == "refs" && !is_named);
        if name == "@" || last == "HEAD" || last.ends_with("_HEAD") || is_own {
            return Some(self.refused(&format!("the ref {name:?} names different things in different clones")));
        }
        let needs_all = is_named || is_full_commit(name);
        (self.shallow && needs_all)
            .then(|| self.refused(&format!("with depth, the ref {name:?} can only name a branch or tag called so")))
    }

    /// The names to request from a repository.
    pub fn patterns(&self) -> Vec<String> {
        let Some(name) = &self.name else { return Vec::new() };
        let own = name.starts_with("refs/").then(|| name.clone());
        let names = own.into_iter().chain([format!("refs/tags/{name}"), format!("refs/heads/{name}")]);
        names.flat_map(|name| [format!("{name}^{{}}"), name]).collect()
    }

    /// Chooses from the list of `git ls-remote --symref`; `None` if nothing there has the name.
    pub fn resolve(&self, listed: &str) -> Option<Target> {
        let lines = || listed.lines().filter_map(|line| line.split_once('\t'));
        let id = |name: &str| lines().find(|(id, listed)| *listed == name && is_full_commit(id)).map(|(id, _)| id);
        let commit = |name: &str| id(&format!("{name}^{{}}")).or_else(|| id(name)).map(str::to_owned);
        let default = lines().find_map(|(target, name)| target.strip_prefix("ref: ").filter(|_| name == "HEAD"));
        let Some(name) = self.name.as_deref() else {
            let ambiguity = (self.shallow && !default.is_some_and(|name| name.starts_with("refs/heads/")))
                .then(|| self.refused("with depth, the tools take a branch, and the repository has no default branch"));
            let found = |commit| Target { commit, name: Some("HEAD".to_owned()), first: None, ambiguity };
            return commit("HEAD").map(found);
        };
        let branch = format!("refs/heads/{name}");
        let own = name.starts_with("refs/").then(|| name.to_owned());
        // On systems that fold case, the default branch is found by another spelling too.
        let folded = default.filter(|default| **default != branch && default.eq_ignore_ascii_case(&branch));
        let names = own.into_iter().chain([format!("refs/tags/{name}"), branch.clone()]);
        let mut found: Vec<(String, String)> =
            names.filter_map(|name| commit(&name).map(|commit| (name, commit))).collect();
        found.extend(folded.and_then(|name| Some((name.to_owned(), commit("HEAD")?))));
        if is_full_commit(name) {
            found.insert(0, (name.to_owned(), name.to_ascii_lowercase()));
        }
        if found.is_empty() && ["@", "HEAD", "origin", "origin/HEAD"].contains(&name) {
            found.extend(commit("HEAD").map(|commit| ("HEAD".to_owned(), commit)));
        }
        let (first, others) = found.split_first()?;
        let other = others.iter().find(|(_, commit)| *commit != first.1);
        let ambiguity =
            match other {
                Some(other) => Some(self.refused(&format!(
                    "the ref {name:?} names {} ({}) and {} ({})",
                    first.0, first.1, other.0, other.1
                ))),
                None if may_be_short(name) && !first.0.starts_with("refs/tags/") => Some(self.short(name)),
                None => self.ambiguity(),
            };
        // As `git checkout` does in a fresh clone: the default branch by its name, then a tag, then another branch.
        let is_branch = self.shallow || default == Some(branch.as_str());
        let (place, chosen) = other.filter(|(name, _)| is_branch && *name == branch).unwrap_or(first);
        let place = Some(place.clone()).filter(|place| !is_full_commit(place));
        let first = commit("HEAD").filter(|head| !self.shallow && head != chosen);
        Some(Target { commit: chosen.clone(), name: place, first, ambiguity })
    }

    /// What git itself has to look up in a clone of all branches and tags: a short commit, or a name in another spelling.
    pub fn unlisted(&self) -> Option<Target> {
        let name = self.name.as_ref()?;
        let ambiguity = self.ambiguity().or_else(|| may_be_short(name).then(|| self.short(name)))?;
        Some(Target { commit: name.clone(), name: None, first: None, ambiguity: Some(ambiguity) })
    }

    fn short(&self, name: &str) -> Ambiguity {
        self.refused(&format!("the ref {name:?} may be a short commit, and a branch or tag of that name may come"))
    }

    fn refused(&self, reason: &str) -> Ambiguity {
        // A name in full works wherever the name of a tag does.
        let tag = self.name.as_deref().filter(|name| !name.starts_with("refs/") && !name.contains('/'));
        let tag = tag.filter(|name| *name != "@" && !may_be_short(name) && !is_full_commit(name)).unwrap_or("NAME");
        let help = format!("Write the full commit or `ref=refs/tags/{tag}` in the source, without `depth`.");
        Ambiguity { reason: reason.to_owned(), help }
    }
}

/// Why the `ref` of a source could be read in another way, as far as the source shows it.
pub fn ambiguous_reference(source: &ModuleSource) -> Option<Ambiguity> {
    let ModuleSource::Remote(module) = source else { return None };
    let (Some("git"), place) = module.method() else { return None };
    Reference::of(&Url::parse(place).ok()?).ambiguity()
}

pub fn is_full_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// True for what git takes for the beginning of a commit's name, or for the output of `git describe`, unless a tag is called so.
fn may_be_short(name: &str) -> bool {
    let is_short = |text: &str| text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    !is_full_commit(name) && (is_short(name) || name.rsplit_once("-g").is_some_and(|(_, text)| is_short(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";
    const OBJECT: &str = "3333333333333333333333333333333333333333";

    fn reference(query: &str) -> Reference {
        Reference::of(&Url::parse(&format!("https://a.example/x.git{query}")).unwrap())
    }

    /// One repository: `main` is the default branch, `dev` and `cafe` are branches, `twin` and `both` a branch and a tag.
    fn listing() -> String {
        let lines = [
            ("ref: refs/heads/main", "HEAD"),
            (ONE, "HEAD"),
            (ONE, "refs/heads/main"),
            (TWO, "refs/heads/dev"),
            (TWO, "refs/heads/cafe"),
            (TWO, "refs/heads/v1-0-gcafe"),
            (TWO, "refs/heads/twin"),
            (ONE, "refs/heads/both"),
            (TWO, "refs/custom/x"),
            (ONE, "refs/tags/both"),
            (OBJECT, "refs/tags/twin"),
            (ONE, "refs/tags/twin^{}"),
            (ONE, "refs/tags/v1"),
            (ONE, "refs/tags/20240131"),
            (TWO, "refs/tags/refs/heads/dev"),
            (TWO, "refs/tags/refs/heads/main"),
            (TWO, "refs/tags/Main"),
            (TWO, "refs/heads/1111111111111111111111111111111111111111"),
        ];
        lines.map(|(id, name)| format!("{id}\t{name}\n")).concat()
    }

    #[test]
    fn names_that_have_one_reading() {
        for (query, commit, name) in [
            ("", ONE, "HEAD"),
            ("?depth=1", ONE, "HEAD"),
            ("?ref=", ONE, "HEAD"),
            ("?ref=main", ONE, "refs/heads/main"),
            ("?ref=dev&depth=1", TWO, "refs/heads/dev"),
            ("?ref=v1", ONE, "refs/tags/v1"),
            ("?ref=v1&depth=0", ONE, "refs/tags/v1"),
            ("?ref=20240131", ONE, "refs/tags/20240131"),
            // A tag and a branch that are one commit: the tag is what must not move.
            ("?ref=both&depth=1", ONE, "refs/tags/both"),
            ("?ref=refs/tags/v1", ONE, "refs/tags/v1"),
            ("?ref=refs/heads/dev", TWO, "refs/heads/dev"),
        ] {
            let target = reference(query).resolve(&listing()).unwrap();
            assert_eq!((&*target.commit, target.name.as_deref()), (commit, Some(name)), "{query}");
            assert_eq!(target.ambiguity, None, "{query}");
        }
        let commit = reference(&format!("?ref={TWO}")).resolve(&listing()).unwrap();
        assert_eq!((&*commit.commit, commit.name, commit.ambiguity), (TWO, None, None));
        assert_eq!(reference("?ref=v9").resolve(&listing()), None);
        assert_eq!(reference("?ref=v9").unlisted(), None);
    }

    #[test]
    fn names_that_have_more() {
        for (query, reason) in [
            ("?ref=twin", "and refs/heads/twin (2222"),
            ("?ref=twin&depth=1", "names refs/tags/twin (1111"),
            ("?ref=refs/heads/main", "names refs/heads/main (1111"),
            ("?ref=Main", "and refs/heads/main (1111"),
            (&format!("?ref={ONE}"), "and refs/heads/1111"),
            ("?ref=cafe", "may be a short commit"),
            ("?ref=v1-0-gcafe", "may be a short commit"),
        ] {
            let target = reference(query).resolve(&listing()).unwrap();
            assert!(target.ambiguity.as_ref().is_some_and(|it| it.reason.contains(reason)), "{query}: {target:?}");
        }
        for (query, reason) in [
            ("?ref=1111111", "may be a short commit"),
            ("?ref=v1-3-g1111111", "may be a short commit"),
            ("?ref=HEAD", "different things"),
            ("?ref=head", "different things"),
            ("?ref=@", "different things"),
            ("?ref=ORIG_HEAD", "different things"),
            ("?ref=main-worktree/HEAD", "different things"),
            ("?ref=origin", "different things"),
            ("?ref=origin/HEAD", "different things"),
            ("?ref=origin/dev&depth=1", "different things"),
            ("?ref=heads/dev", "different things"),
            ("?ref=tags/v1", "different things"),
            ("?ref=remotes/origin/dev", "different things"),
            ("?ref=refs/remotes/origin/dev", "different things"),
            ("?ref=refs/custom/x", "different things"),
            ("?ref=refs/tags/v1&depth=01", "with depth"),
            ("?ref=refs/heads/dev&depth=%2B1", "with depth"),
            (&format!("?ref={TWO}&depth=1"), "with depth"),
            ("?ref=v1&depth=1&depth=0", "read differently"),
            ("?ref=v1&ref=v2", "read differently"),
            ("?ref=&ref=v2", "read differently"),
            ("?ref=v1;x", "read differently"),
            ("?ref=v1&x=%zz", "read differently"),
            ("?ref=v1%ff", "read differently"),
        ] {
            let found = reference(query).unlisted().and_then(|target| target.ambiguity);
            let found = found.or_else(|| reference(query).ambiguity());
            assert!(found.is_some_and(|it| it.reason.contains(reason)), "{query}");
        }
        let detached = format!("{ONE}\tHEAD\n{TWO}\trefs/heads/master\n");
        assert!(reference("").resolve(&detached).unwrap().ambiguity.is_none());
        assert!(reference("?depth=1").resolve(&detached).unwrap().ambiguity.is_some());
    }

    #[test]
    fn depth_is_read_as_by_the_tools() {
        for (depth, shallow) in [
            ("1", true),
            ("01", true),
            ("%2B1", true),
            ("9223372036854775807", true),
            ("+1", false),
            ("-1", false),
            ("0", false),
            ("1_0", false),
            ("0x1", false),
            ("1.0", false),
            ("%201", false),
            ("9223372036854775808", false),
            ("", false),
        ] {
            assert_eq!(reference(&format!("?ref=v1&depth={depth}")).shallow, shallow, "{depth}");
        }
    }

    #[test]
    fn the_spelling_that_works_is_named() {
        let help = |query: &str| reference(query).resolve(&listing()).and_then(|it| it.ambiguity).unwrap().help;
        assert!(help("?ref=twin").contains("the full commit or `ref=refs/tags/twin` in the source, without `depth`"));
        assert!(help("?ref=cafe").contains("`ref=refs/tags/NAME`"));
    }
}
