//! Where a redirect may lead, and whether the token goes along.

use url::Url;

use super::error::RedirectFault;
use super::redact::ShownUrl;

#[derive(Debug)]
pub(super) struct RedirectChain {
    visited: Vec<Url>,
    guarded: bool,
    carries_token: bool,
    limit: usize,
}

impl RedirectChain {
    /// Starts at a URL. A token goes nowhere but over `https`.
    pub(super) fn new(url: Url, has_token: bool, limit: usize) -> Self {
        let carries_token = has_token && url.scheme() == "https";
        let mut trail = Self { visited: vec![url], guarded: has_token, carries_token, limit };
        trail.drop_user_info();
        trail
    }

    pub(super) fn url(&self) -> &Url {
        // There is always the start.
        &self.visited[self.visited.len() - 1]
    }

    /// Whether the token may be sent to where we are.
    pub(super) fn carries_token(&self) -> bool {
        self.carries_token
    }

    /// Follows a `Location`.
    ///
    /// The token stays with the scheme, name and port that it is for, and is never picked up again once it was dropped. Go's
    /// `net/http` would keep it for subdomains and other ports, where another service may be.
    pub(super) fn follow(&mut self, location: &str) -> Result<(), RedirectFault> {
        let refused = || RedirectFault::Target(ShownUrl::from_text(location));
        let mut next = self.url().join(location).map_err(|_| refused())?;
        next.set_fragment(None);
        if !matches!(next.scheme(), "https" | "http") || next.host().is_none() {
            return Err(refused());
        }
        if self.guarded && self.url().scheme() == "https" && next.scheme() == "http" {
            return Err(RedirectFault::Downgrade(ShownUrl::new(&next)));
        }
        if self.visited.contains(&next) {
            return Err(RedirectFault::Loop(ShownUrl::new(&next)));
        }
        if self.visited.len() > self.limit {
            return Err(RedirectFault::TooMany(self.limit));
        }
        self.carries_token &= next.scheme() == "https" && next.origin() == self.visited[0].origin();
        self.visited.push(next);
        self.drop_user_info();
        Ok(())
    }

    /// The last URL, for the answer.
    pub(super) fn into_url(self) -> Url {
        self.url().clone()
    }

    /// User information would become an `Authorization` of its own next to the token.
    fn drop_user_info(&mut self) {
        if let (true, Some(url)) = (self.carries_token, self.visited.last_mut()) {
            let _ = url.set_username("");
            let _ = url.set_password(None);
        }
    }
}

#[cfg(test)]
mod tests {
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
}
