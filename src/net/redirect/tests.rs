use super::*;

fn trail(url: &str) -> RedirectChain {
    RedirectChain::new(Url::parse(url).unwrap(), true, 3)
}

fn keeps_token(from: &str, to: &str) -> bool {
    let mut trail = trail(from);
    trail.follow(to).unwrap();
    trail.carries_token()
}

#[test]
fn the_token_stays_with_its_host() {
    assert!(keeps_token("https://a.example/x", "/y"));
    assert!(keeps_token("https://a.example/x", "https://a.example:443/"));
    assert!(!keeps_token("https://a.example/x", "https://a.example:8443/"));
    assert!(!keeps_token("https://a.example/x", "https://b.a.example/"));
    assert!(!keeps_token("https://127.0.0.1:1/x", "https://127.0.0.1:2/"));
    assert!(!keeps_token("https://a.example/x", "https://example/"));
    assert!(!keeps_token("https://a.example/x", "https://evila.example/"));
    assert!(!keeps_token("https://a.example/x", "//b.example/"));
    assert!(!keeps_token("https://127.0.0.1:1/x", "https://localhost:1/"));
    assert!(!keeps_token("https://[::1]/x", "https://127.0.0.1/"));
}

#[test]
fn a_dropped_token_is_not_picked_up_again() {
    let mut trail = trail("https://a.example/x");
    trail.follow("https://b.example/").unwrap();
    trail.follow("https://a.example/back").unwrap();
    assert!(!trail.carries_token());
}

#[test]
fn never_over_http() {
    assert!(!trail("http://a.example/").carries_token());
    assert!(matches!(trail("https://a.example/").follow("http://a.example/"), Err(RedirectFault::Downgrade(_))));
    let mut open = RedirectChain::new(Url::parse("https://a.example/").unwrap(), false, 3);
    assert_eq!(open.follow("http://a.example/"), Ok(()));
    assert!(!keeps_token("http://a.example/", "https://a.example/"));
}

#[test]
fn circles_and_long_ways_end() {
    let mut circle = trail("https://a.example/x");
    circle.follow("/y").unwrap();
    assert!(matches!(circle.follow("/x#again"), Err(RedirectFault::Loop(_))));
    let mut long = trail("https://a.example/0");
    for next in 1..=3 {
        long.follow(&format!("/{next}")).unwrap();
    }
    assert_eq!(long.follow("/4"), Err(RedirectFault::TooMany(3)));
}

#[test]
fn odd_targets() {
    for target in ["file:///etc/passwd", "https://", "ftp://a.example/", "https://a b/"] {
        assert!(matches!(trail("https://a.example/").follow(target), Err(RedirectFault::Target(_))), "{target}");
    }
    let mut named = trail("https://a.example/");
    named.follow("https://me:pw@a.example/x").unwrap();
    assert_eq!(named.url().as_str(), "https://a.example/x");
}
