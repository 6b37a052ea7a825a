//! Addresses of modules, and escapes in them.

use super::*;

fn parse(text: &str) -> Result<String, ModuleSourceError> {
    ModuleSource::parse(text, false, Dialect::Terraform).map(|source| {
        let kind = match source {
            ModuleSource::Local(_) => "local",
            ModuleSource::Registry(_) => "registry",
            ModuleSource::Remote(_) => "remote",
        };
        format!("{kind} {source}")
    })
}

#[test]
fn the_three_kinds_are_distinguished() {
    for (text, expected) in [
        ("./m", "local ./m"),
        ("./", "local ./"),
        ("../", "local ../"),
        (".//a/./b/../c/", "local ./a/c"),
        ("../../x", "local ../../x"),
        ("./a/../../b", "local ../b"),
        ("..\\x", "local ../x"),
        ("a/b/c", "registry registry.terraform.io/a/b/c"),
        ("a/b/c//sub/x", "registry registry.terraform.io/a/b/c//sub/x"),
        ("Example.com:8443/a_b/b/aws", "registry example.com:8443/a_b/b/aws"),
        ("127.0.0.1:18443/acme/net/lab", "registry 127.0.0.1:18443/acme/net/lab"),
        ("github.com/a/b/c", "remote git::https://github.com/a/b.git//c"),
        ("github.com/a/b", "remote git::https://github.com/a/b.git"),
        ("git::https://example.com/x.git?ref=v1", "remote git::https://example.com/x.git?ref=v1"),
        ("git@github.com:a/b.git", "remote git::ssh://git@github.com/a/b.git"),
        ("git::https://me:PW@h/x?token=T", "remote git::https://h/x?token=…"),
        ("/abs/path", "remote file:///abs/path"),
        ("https://example.com/x.zip", "remote https://example.com/x.zip"),
    ] {
        assert_eq!(parse(text).as_deref(), Ok(expected), "{text}");
    }
    for text in ["m", "a/b", "example.com/b/c", "a/b/AWS", "localhost/a/b/c", "", ".", " ./m", "a/b/c//../x"] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_version_requires_a_registry_source() {
    for text in ["./x", "github.com/a/b", "git::https://example.com/x.git"] {
        let parsed = ModuleSource::parse(text, true, Dialect::Terraform);
        assert_eq!(parsed, Err(ModuleSourceError::NotRegistry(text.to_owned())));
    }
    let parsed = ModuleSource::parse("a/b/c", true, Dialect::OpenTofu).unwrap();
    assert_eq!(parsed.to_string(), "registry.opentofu.org/a/b/c");
}

#[test]
fn records_are_compared_in_one_form() {
    let matches = |text: &str, recorded: &str| {
        let source = ModuleSource::parse(text, false, Dialect::Terraform).unwrap();
        source.matches_record(recorded, Dialect::Terraform)
    };
    assert!(matches("a/b/c", "registry.terraform.io/a/b/c"));
    assert!(!matches("a/b/c", "registry.terraform.io/a/b/c//sub"));
    assert!(matches("github.com/a/b//x?ref=v1", "git::https://github.com/a/b.git//x?ref=v1"));
    assert!(matches("git@github.com:a/b.git", "git::ssh://git@github.com/a/b.git"));
    assert!(!matches("github.com/a/b?ref=v1", "git::https://github.com/a/b.git?ref=v2"));
    assert!(!matches("git::https://h/b.git", "git::ssh://h/b.git"));
    // As older versions of the tools recorded them.
    assert!(matches("a/b/c//sub/", "a/b/c//sub"));
    assert!(matches("example.com/a/b/c", "example.com:443/a/b/c"));
    assert!(matches("github.com/a/b//x/", "github.com/a/b//x"));
}

#[test]
fn queries_are_sorted_and_escaped() {
    assert_eq!(query("ref=a b&x=%2f&ref=c").as_deref(), Some("ref=a+b&ref=c&x=%2F"));
    assert_eq!(query("ref=feature/x").as_deref(), Some("ref=feature%2Fx"));
    assert_eq!(query("b&a=1&&").as_deref(), Some("a=1&b="));
    assert_eq!((query("a;b=1"), query("a=%z")), (None, None));
}

#[test]
fn paths_are_escaped_where_they_must_be() {
    assert_eq!(path("/o/r é?.git".as_bytes()), "/o/r%20%C3%A9%3F.git");
    assert_eq!(legal_path("/m*/%2f").as_deref(), Some("/m*/%2f"));
    assert_eq!(legal_path("/a b").as_deref(), Some("/a%20b"));
    assert_eq!(legal_path("/%zz"), None);
}

#[test]
fn urls_have_a_scheme() {
    for text in
        ["https://h/x", "ssh://git@h:22/o", "localhost:8080/x", "mailto:x", "c:\\x", "https://h/a b", "file:///x"]
    {
        assert!(is_url(text), "{text}");
    }
    for text in ["h/x", "git@h:o/r", "ssh://git@h:o/r", "https://h x/y", "https://h/%zz", "1a:b", "://x", "a\n:b", ""] {
        assert!(!is_url(text), "{text}");
    }
}
