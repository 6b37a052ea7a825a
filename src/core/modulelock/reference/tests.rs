//! What names of references mean.

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
