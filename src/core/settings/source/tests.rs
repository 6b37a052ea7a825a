//! Sources, excluded directories, and variables of the environment.

use super::*;

#[test]
fn words_and_places() {
    for text in ["origin", "configured", "fs:/opt/mirror", "net:https://m.example/v1/", "oci:r.example/${type}"] {
        assert_eq!(text.parse::<SourceChoice>().unwrap().to_string(), text);
    }
    for text in ["", "orign", "fs:", "net", "https://m.example/", "ftp:x"] {
        assert!(text.parse::<SourceChoice>().is_err(), "{text}");
    }
}

#[test]
fn no_secret_is_shown() {
    let source: SourceChoice = "net:https://me:pw@m.example/v1/?key=K".parse().unwrap();
    assert_eq!(source.to_string(), "net:https://m.example/v1/?key=…");
    assert!(!"https://me:pw@m.example/".parse::<SourceChoice>().unwrap_err().to_string().contains("pw"));
}

#[test]
fn a_directory_is_named_from_the_file_that_names_it() {
    let stated = |text: &str| text.parse::<SourceChoice>().unwrap().stated_in(Path::new("a/b")).to_string();
    assert_eq!(stated("fs:mirror"), "fs:a/b/mirror");
    assert_eq!(stated("fs:/mirror"), "fs:/mirror");
    assert_eq!(stated("origin"), "origin");
}

#[test]
fn places() {
    let https = |text: &str| IndexPlace::Https(Url::parse(text).unwrap());
    assert_eq!(IndexPlace::parse("https://h.example/a/b"), Ok(https("https://h.example/a/b/")));
    assert_eq!(IndexPlace::parse("https://h.example:8443"), Ok(https("https://h.example:8443/")));
    #[cfg(unix)]
    assert_eq!(IndexPlace::parse("file:///srv/index"), Ok(IndexPlace::Directory("/srv/index".into())));
    for (text, phrase) in [
        ("index", "is not a URL"),
        ("http://h.example/", "not at http:"),
        ("https://user:word@h.example/", "neither user nor query"),
        ("https://h.example/?sig=secret", "neither user nor query"),
        ("https://user:secret@h.example:port/", "invalid port number"),
    ] {
        let error = IndexPlace::parse(text).unwrap_err().to_string();
        assert!(error.contains(phrase) && !error.contains("secret"), "{text}: {error}");
    }
}

#[test]
fn clouds_need_a_program_that_knows_them() {
    for text in ["s3://bucket/x", "gs://bucket", "az://container/a/b"] {
        let place = IndexPlace::parse(text);
        if cfg!(feature = "cloud") {
            assert_eq!(place, Ok(IndexPlace::Cloud(Url::parse(text).unwrap())));
        } else {
            assert!(place.unwrap_err().to_string().contains("the feature \"cloud\""), "{text}");
        }
    }
    assert!(IndexPlace::parse("s3:///x").is_err());
}

#[test]
fn the_stricter_trust_is_the_greater() {
    assert!(IndexTrust::Reported > IndexTrust::Verified);
}

#[test]
fn patterns_of_directories() {
    let rows = [
        ("legacy/**", "legacy", true),
        ("legacy/**", "legacy/a/b", true),
        ("legacy/**", "legacy2", false),
        ("legacy/**", "x/legacy/a", false),
        ("legacy", "legacy/a", true),
        ("legacy/", "legacy/a", true),
        ("**/legacy", "a/b/legacy/c", true),
        ("**/legacy", "legacy", true),
        ("a/*/c", "a/b/c/d", true),
        ("a/*/c", "a/c", false),
        ("a/**/c", "a/c", true),
        ("a/**/c", "a/x/y/c", true),
        ("a/**/c", "a/x/y", false),
        ("old-*", "old-1", true),
        ("*-old-*", "a-old-b", true),
        ("*-old", "a-old-b", false),
        ("**", "a", true),
        ("a*a", "a", false),
    ];
    for (pattern, path, covered) in rows {
        let exclude = Exclude::parse(pattern).unwrap().stated_in(Path::new("/top"));
        assert_eq!(exclude.covers(&Path::new("/top").join(path)), covered, "{pattern} {path}");
        assert!(!exclude.covers(Path::new("/elsewhere/legacy")) && !exclude.covers(Path::new("/top")));
    }
    for wrong in ["", "/legacy", "../legacy", "./legacy", "a//b", "!legacy", "a\\b"] {
        assert!(Exclude::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn empty_is_unset_and_zero_is_no_number() {
    let variables = Variables::from_iter([("A", ""), ("B", "2"), ("C", "0"), ("D", "-1"), ("TF_TOKEN_x", "t")]);
    assert_eq!((variables.get("A"), variables.raw("A")), (None, Some("")));
    assert_eq!(variables.positive("B"), Some(2));
    assert_eq!(["A", "C", "D", "E"].map(|name| variables.positive(name)), [None; 4]);
    assert_eq!(variables.with_prefix("TF_TOKEN_").collect::<Vec<_>>(), [("x", "t")]);
}

#[test]
fn is_not_shown() {
    let secret = Secret::new("hunter2").unwrap();
    assert!(!format!("{:?}", Some(&secret)).contains("hunter2"));
    assert_eq!(secret.reveal(), "hunter2");
    assert_eq!(Secret::new(""), None);
}
