//! A `ref` with two readings.

use super::{LOCKS, Repository, World, ambiguous};

/// Two commits, and names that have one reading and names that have two. Gives the commits.
fn history(net: &Repository<'_>) -> [String; 2] {
    let one = net.git(&["rev-parse", "HEAD"]);
    net.git(&["tag", "v1"]);
    net.git(&["tag", "-a", "-m", "one", "v1-annotated"]);
    net.git(&["tag", "20240131"]);
    net.git(&["tag", "both"]);
    net.git(&["tag", "twin"]);
    net.git(&["tag", "release/1.0"]);
    net.git(&["checkout", "--quiet", "-b", "dev"]);
    let two = net.with("two.tf", "# two\n");
    net.git(&["checkout", "--quiet", "main"]);
    for (name, commit) in [
        ("refs/heads/both", &one),
        ("refs/heads/twin", &two),
        ("refs/heads/cafe", &two),
        ("refs/heads/v1-0-gcafe", &two),
        ("refs/heads/feature/x", &two),
        ("refs/heads/origin/dev", &one),
        ("refs/heads/heads/dev", &one),
        ("refs/tags/origin", &two),
        ("refs/tags/tags/v1", &two),
        ("refs/tags/Main", &two),
        ("refs/tags/refs/heads/dev", &one),
        ("refs/tags/refs/heads/twin", &two),
        ("refs/remotes/origin/far", &two),
        ("refs/custom/x", &two),
        (&format!("refs/heads/{one}"), &two),
    ] {
        net.git(&["update-ref", name, commit]);
    }
    [one, two]
}

/// References that cannot be locked, with a part of the reason.
fn two_readings([one, two]: &[String; 2]) -> Vec<(String, &'static str)> {
    let rows = [
        ("?ref=twin", "and refs/heads/twin ("),
        ("?ref=twin&depth=1", "names refs/tags/twin ("),
        ("?depth=1&ref=twin", "names refs/tags/twin ("),
        ("?ref=twin&depth=0", "and refs/heads/twin ("),
        ("?ref=Main", "and refs/heads/main ("),
        ("?ref=refs/heads/dev", "and refs/tags/refs/heads/dev ("),
        ("?ref=cafe", "a short commit"),
        ("?ref=cafe&depth=1", "a short commit"),
        ("?ref=v1-0-gcafe", "a short commit"),
        ("?ref=HEAD", "in different clones"),
        ("?ref=HEAD&depth=1", "in different clones"),
        ("?ref=@", "in different clones"),
        ("?ref=origin", "in different clones"),
        ("?ref=origin/dev", "in different clones"),
        ("?ref=origin/dev&depth=1", "in different clones"),
        ("?ref=heads/dev", "in different clones"),
        ("?ref=heads/main", "in different clones"),
        ("?ref=tags/v1", "in different clones"),
        ("?ref=tags/v1&depth=01", "in different clones"),
        ("?ref=remotes/origin/dev", "in different clones"),
        ("?ref=refs/remotes/origin/far", "in different clones"),
        ("?ref=refs/custom/x", "in different clones"),
        ("?ref=refs/tags/v1&depth=1", "with depth"),
        ("?ref=refs/tags/v1&depth=01", "with depth"),
        ("?ref=refs/tags/v1&depth=%2B1", "with depth"),
        ("?ref=refs/heads/feature/x&depth=1", "with depth"),
        ("?ref=v1&depth=1&depth=0", "read differently"),
        ("?ref=v1&depth=0&depth=1", "read differently"),
        ("?ref=v1&ref=dev", "read differently"),
        ("?ref=&ref=v1", "read differently"),
    ];
    let rows = rows.map(|(query, reason)| (query.to_owned(), reason)).into_iter();
    rows.chain([
        (format!("?ref={one}"), "and refs/heads/"),
        (format!("?ref={two}&depth=1"), "with depth"),
        (format!("?ref={}", &two[..9]), "a short commit"),
        (format!("?ref=v1-1-g{}", &two[..9]), "a short commit"),
    ])
    .collect()
}

#[test]
fn a_ref_with_two_readings_is_not_locked() {
    let world = World::new();
    let net = world.repository("net");
    let rows = two_readings(&history(&net));
    rows.iter().enumerate().for_each(|(at, (query, _))| world.call(&format!("m{at}"), "net", query));
    let refused = world.refused();
    for (at, (query, reason)) in rows.iter().enumerate() {
        let said = refused.get(&format!("m{at}")).unwrap_or_else(|| panic!("{query} is locked"));
        assert!(said.contains(reason), "{query}: {said}");
        assert!(
            said.contains("Write the full commit or `ref=refs/tags/") && said.contains("without `depth`"),
            "{said}"
        );
    }
    // Without module locks they are read.
    world.0.tflock(None, ["lock"]).ended_with(0);
}

/// Locks that an earlier version wrote.
#[test]
#[ignore = "long"]
fn a_lock_that_rests_on_a_ref_with_two_readings_is_denied() {
    let world = World::new();
    let net = world.repository("net");
    let commits = history(&net);
    world.call("main", "net", &format!("?ref={}", commits[1]));
    assert_eq!(world.refused().len(), 0);
    let locks = world.0.read(LOCKS);
    let place = world.0.path("net").display().to_string();
    let block = |query: &str| {
        let text = locks.replace(&format!("?ref={}", commits[1]), query);
        text.replace("[\"main\"]", "[\"m\"]")
    };
    for (query, reason) in two_readings(&commits) {
        // Labels have no depth, and each parameter once.
        if query.matches("depth=").count() > 1 || query.matches("ref=").count() > 1 {
            continue;
        }
        let label = query.trim_start_matches("?depth=1&").trim_start_matches('?');
        let label = format!("?{}", label.split("&depth").next().unwrap());
        world.call("main", "net", &query);
        world.0.write("main.tf", &world.0.read("main.tf").replace("module \"main\"", "module \"m\""));
        world.0.write(LOCKS, &block(&label));
        let run = world.0.tflock(None, ["verify", "--format", "json"]).ended_with(3);
        let found = ambiguous(&run);
        assert!(found.values().any(|said| said.contains(reason) && said.contains(&place)), "{query}: {run}");
        assert_eq!(
            run.json()["findings"].as_array().unwrap().iter().filter(|it| it["level"] == "deny").count(),
            1,
            "{run}"
        );
    }
    // What the source alone shows needs no repository.
    let offline = world.0.tflock(None, ["verify", "--offline", "--format", "json"]);
    assert_eq!(ambiguous(&offline).len(), 0, "the last row needs one");
    world.call("main", "net", "?ref=origin/dev");
    let offline = world.0.tflock(None, ["verify", "--offline", "--format", "json"]).ended_with(3);
    assert_eq!(ambiguous(&offline).len(), 1, "{offline}");
}

#[test]
#[ignore = "long"]
fn a_ref_with_one_reading_is_locked_and_installed() {
    let world = World::new();
    let net = world.repository("net");
    let [_, two] = history(&net);
    let commit = format!("?ref={two}");
    let upper = format!("?ref={}", two.to_uppercase());
    let rows = [
        "",
        "?depth=1",
        "?ref=main",
        "?ref=main&depth=1",
        "?ref=v1",
        "?ref=v1&depth=1",
        "?ref=v1&depth=0",
        "?ref=v1&depth=-1",
        "?ref=v1&depth=x",
        "?ref=v1-annotated",
        "?ref=20240131",
        "?ref=release/1.0",
        "?ref=release%2F1.0&depth=1",
        "?ref=dev",
        "?ref=dev&depth=1",
        "?ref=feature/x",
        "?ref=both",
        "?ref=both&depth=1",
        "?ref=refs/tags/v1",
        "?ref=refs/tags/v1&depth=0",
        "?ref=refs/heads/main",
        "?ref=",
        &commit,
        &upper,
    ];
    rows.iter().enumerate().for_each(|(at, query)| world.call(&format!("m{at}"), "net", query));
    assert_eq!(world.refused(), [].into());
    world.0.tflock(None, ["verify"]).ended_with(0);
    world.installs_what_is_locked();
}

/// The attack: what is locked by its tag gets a branch of the same name, or the other way around.
#[test]
fn a_second_reading_that_comes_later() {
    for (queries, name) in [
        (&["?ref=v1", "?ref=v1&depth=1"][..], "refs/heads/v1"),
        (&["?ref=dev", "?ref=dev&depth=1"], "refs/tags/dev"),
        (&["?ref=main", ""], "refs/tags/main"),
        (&["?ref=refs/tags/v1"], "refs/tags/refs/tags/v1"),
    ] {
        let world = World::new();
        let net = world.repository("net");
        let [one, two] = [net.git(&["rev-parse", "HEAD"]), net.with("main.tf", "# evil\n")];
        net.git(&["update-ref", "refs/tags/v1", &one]);
        net.git(&["update-ref", "refs/heads/dev", &one]);
        for query in queries {
            world.call("main", "net", query);
            let _absent = std::fs::remove_file(world.0.path(LOCKS));
            world.0.tflock(None, LOCK).ended_with(0);
            world.0.tflock(None, ["verify"]).ended_with(0);
            let other = if query.contains("v1") || query.contains("dev") { &two } else { &one };
            net.git(&["update-ref", name, other]);
            let run = world.0.tflock(None, ["verify", "--format", "json"]);
            let wanted = if query.is_empty() { (Some(0), 0) } else { (Some(3), 1) };
            assert_eq!((run.code, ambiguous(&run).len()), wanted, "{query} {name}: {run}");
            net.git(&["update-ref", "-d", name]);
        }
    }
}

const LOCK: [&str; 2] = ["lock", "--lock-modules"];
