//! The proxy that the environment names, so errors can name the proxy of a request.
//!
//! The HTTP library finds it itself, by the same variables. Source: `hyper-util`, `client/proxy/matcher.rs`.

use url::Url;

use super::redact::ShownUrl;
use crate::settings::Variables;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its address without secrets.
    shown: ShownUrl,
    /// The hosts that are contacted without it.
    bypassed: Vec<String>,
}

impl Proxy {
    /// That of `HTTPS_PROXY`, else of `ALL_PROXY`, in capitals or not.
    pub(super) fn of(variables: &Variables) -> Option<Self> {
        let get = |name: &str| variables.get(name).or_else(|| variables.get(&name.to_lowercase()));
        let text = get("HTTPS_PROXY").or_else(|| get("ALL_PROXY")).filter(|text| !text.is_empty())?;
        let url = Url::parse(text).or_else(|_| Url::parse(&format!("http://{text}"))).ok()?;
        let bypassed = get("NO_PROXY").unwrap_or_default().split(',').map(|host| host.trim().to_lowercase());
        Some(Self { shown: ShownUrl::new(&url), bypassed: bypassed.filter(|host| !host.is_empty()).collect() })
    }

    /// The proxy, if requests to a server go through it.
    pub(super) fn between(&self, url: &Url) -> Option<&ShownUrl> {
        let host = url.host_str()?.to_lowercase();
        let is_without = |name: &String| {
            let name = name.trim_start_matches('.');
            name == "*" || host == name || host.strip_suffix(name).is_some_and(|above| above.ends_with('.'))
        };
        (url.scheme() == "https" && !self.bypassed.iter().any(is_without)).then_some(&self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_bypass_the_proxy() {
        let variables =
            Variables::from_iter([("https_proxy", "proxy.example:3128"), ("NO_PROXY", "a.example, .b.example")]);
        let proxy = Proxy::of(&variables).unwrap();
        let between = |url: &str| proxy.between(&Url::parse(url).unwrap()).is_some();
        assert!(between("https://c.example/") && between("https://xa.example/"));
        assert!(!between("https://a.example/") && !between("https://x.b.example/") && !between("http://c.example/"));
        assert_eq!(Proxy::of(&Variables::default()), None);
    }
}
