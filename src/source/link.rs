//! The publisher's page about a release. Nothing proves it: no request is sent there, and users
//! are shown https only.

use url::Url;

/// The longest URL that is worth showing, in bytes.
const LONGEST: usize = 400;

/// The page of a release, where its package lies next to it: `OWNER/REPOSITORY/releases/download/TAG/FILE`, as GitHub,
/// Gitea and Forgejo have it.
pub(super) fn beside_download(package: &Url) -> Option<Url> {
    let segments: Vec<&str> = package.path_segments()?.collect();
    let [owner, repository, "releases", "download", tag, _] = segments[..] else { return None };
    let mut page = package.clone();
    page.set_path(&format!("{owner}/{repository}/releases/tag/{tag}"));
    shown(page)
}

/// The page of a tag in a repository, or the repository.
pub(super) fn of_source(source: &str, tag: Option<&str>) -> Option<Url> {
    let mut page = shown(Url::parse(source).ok()?)?;
    if let Some(tag) = tag.filter(|tag| !tag.is_empty() && page.host_str() == Some("github.com")) {
        page.path_segments_mut().ok()?.pop_if_empty().extend(["releases", "tag", tag]);
    }
    shown(page)
}

/// The URL as it may be shown: https, without credentials, query and fragment.
fn shown(mut url: Url) -> Option<Url> {
    url.set_query(None);
    url.set_fragment(None);
    let plain = url.scheme() == "https" && url.has_host() && url.username().is_empty() && url.password().is_none();
    (plain && url.as_str().len() <= LONGEST).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn download(text: &str) -> Option<String> {
        beside_download(&Url::parse(text).unwrap()).map(String::from)
    }

    fn source(text: &str, tag: Option<&str>) -> Option<String> {
        of_source(text, tag).map(String::from)
    }

    #[test]
    fn the_page_beside_a_download() {
        let page = Some("https://github.com/acme/terraform-provider-x/releases/tag/v1.2.0".to_owned());
        assert_eq!(download("https://github.com/acme/terraform-provider-x/releases/download/v1.2.0/x.zip?a=b"), page);
        assert_eq!(download("https://example.com/x/1.2.0/x.zip"), None);
        assert_eq!(download("http://github.com/a/b/releases/download/v1/x.zip"), None);
        assert_eq!(download("https://me:secret@github.com/a/b/releases/download/v1/x.zip"), None);
    }

    #[test]
    fn a_tag_of_a_repository() {
        let page = |text: &str| Some(text.to_owned());
        assert_eq!(
            source("https://github.com/a/b", Some("v1.0.0")),
            page("https://github.com/a/b/releases/tag/v1.0.0")
        );
        assert_eq!(
            source("https://github.com/a/b/", Some("../x y")),
            page("https://github.com/a/b/releases/tag/..%2Fx%20y")
        );
        assert_eq!(source("https://github.com/a/b?q#f", None), page("https://github.com/a/b"));
        assert_eq!(source("https://git.example/a/b", Some("v1")), page("https://git.example/a/b"));
        for wrong in
            ["", "javascript:alert(1)", "http://github.com/a/b", "data:text/html,x", "https://u@github.com/a", "/a/b"]
        {
            assert_eq!(source(wrong, Some("v1")), None, "{wrong}");
        }
        assert_eq!(source(&format!("https://example.com/{}", "a".repeat(400)), None), None);
    }
}
