//! The way over redirects, and where a token may be sent on it.

use url::Url;

use super::error::{RedirectFault, ShownUrl};

#[derive(Debug)]
pub(super) struct RedirectChain {
    visited: Vec<Url>,
    guarded: bool,
    carries_token: bool,
    confined: bool,
    limit: usize,
}

impl RedirectChain {
    /// Starts at a URL. A token goes nowhere but over `https`.
    pub(super) fn new(url: Url, has_token: bool, limit: usize) -> Self {
        let carries_token = has_token && url.scheme() == "https";
        let mut trail = Self { visited: vec![url], guarded: has_token, carries_token, confined: false, limit };
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

    /// The same, if it stays on its host and on `https`.
    pub(super) fn confined(mut self, confined: bool) -> Self {
        self.confined = confined;
        self
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
        if self.confined && next.origin() != self.visited[0].origin() {
            return Err(RedirectFault::Elsewhere(ShownUrl::new(&next)));
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
mod tests;
