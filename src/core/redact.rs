//! What may be shown of addresses that can contain a password or a token.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::percent_decode_str;

/// The tokens that this process came to know, and what stands for them. A server may send back in any field what it was sent, so only
/// the last step before printing can take them out.
static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Shorter texts are no tokens, and would be found everywhere.
const SHORTEST: usize = 8;

/// How what is printed in place of a variable of the environment begins.
const VARIABLE: &str = "(value of TF_VAR_";

/// Keeps in mind a text that must not be printed.
pub fn remember(secret: &str) {
    remember_as(secret, "…");
}

/// Keeps in mind a text that must not be printed, and what is printed in its place.
fn remember_as(secret: &str, shown: &str) {
    if secret.len() >= SHORTEST {
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(secret.to_owned(), shown.to_owned());
    }
}

/// Keeps in mind the value of a variable of the environment, which a module may want in an address.
pub fn remember_variable(name: &str, value: &str) {
    remember_as(value, &format!("{VARIABLE}{name})"));
}

/// Why a part of an address is not sent to a server: it contains the value of a variable of the environment.
pub fn not_sent(text: &str) -> Option<String> {
    variable_in(text).map(|value| format!("{value}, which is sent to no server, unlike that of --var"))
}

/// What stands for the value of a variable of the environment that a text contains, if it does.
fn variable_in(text: &str) -> Option<String> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known.iter().find(|(secret, shown)| shown.starts_with(VARIABLE) && text.contains(&***secret));
    found.map(|(_, shown)| shown.clone())
}

/// Keeps in mind the names in the path of an address that are a user and a password in Base64.
///
/// Source: Sonatype Nexus Repository 3.88, which takes them as the last name in the address of a registry's service.
pub fn remember_in_path(address: &str) {
    for name in address.split('/') {
        let plain = percent_decode_str(name).decode_utf8_lossy();
        // Its padding hides nothing.
        let token = plain.trim_end_matches('=');
        if is_user_and_password(token) {
            remember(token);
            remember(name);
        }
    }
}

fn is_user_and_password(token: &str) -> bool {
    let decoded = STANDARD_NO_PAD.decode(token).or_else(|_| URL_SAFE_NO_PAD.decode(token));
    let text = decoded.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| text.contains(':') && !text.contains(char::is_control))
}

/// A text as it may be printed: without the tokens that are known by now, also in the form that URLs and JSON give them.
pub fn secrets(text: &str) -> Cow<'_, str> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut shown = Cow::Borrowed(text);
    for (secret, place) in known.iter() {
        for form in forms(secret).iter().filter(|form| form.len() >= SHORTEST) {
            if shown.contains(form.as_str()) {
                shown = Cow::Owned(shown.replace(form.as_str(), place));
            }
        }
    }
    shown
}

/// A secret unchanged, in a URL, and in a JSON string.
fn forms(secret: &str) -> [String; 3] {
    let in_url: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let quoted = serde_json::Value::from(secret).to_string();
    [secret.to_owned(), in_url, quoted.trim_matches('"').to_owned()]
}

/// Parameters whose values help users and hide nothing.
const HARMLESS: [&str; 14] = [
    "archive",
    "at",
    "branch",
    "checksum",
    "commit",
    "depth",
    "digest",
    "format",
    "path",
    "ref",
    "sha",
    "sshkey_fingerprint",
    "tag",
    "version",
];

/// Parts of the names of parameters that authorize a request.
const OF_SECRETS: [&str; 8] = ["auth", "credential", "key", "passw", "secret", "signature", "token", "x-amz-"];

/// A query without the values of parameters that are not known to be harmless.
pub fn query(text: &str) -> String {
    let parameter = |text: &str| match text.split_once('=') {
        Some((name, _)) if HARMLESS.contains(&name) => harmless(text),
        Some((name, _)) => format!("{name}=…"),
        None if text.is_empty() => String::new(),
        // Without a name the value is all there is.
        None => "…".to_owned(),
    };
    text.split('&').map(parameter).collect::<Vec<_>>().join("&")
}

/// A harmless parameter. Its value may be the address of something, as that of a file of checksums.
fn harmless(parameter: &str) -> String {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let plain = url::form_urlencoded::parse(parameter.as_bytes()).next().map(|(_, value)| value).unwrap_or_default();
    if !plain.contains("://") {
        return parameter.to_owned();
    }
    let shown = module_source(&plain);
    // What hides nothing stays unchanged written.
    format!("{name}={}", if *shown == *plain { value } else { &shown })
}

/// The source address of a module without user information, fragment and the values of its query.
///
/// The user `git` without a password is no secret: it is in every address of ssh.
pub fn module_source(text: &str) -> String {
    let plain = text.split('#').next().unwrap_or_default();
    let (address, parameters) = plain.split_once('?').map_or((plain, None), |(address, rest)| (address, Some(rest)));
    let start = ["://", "::"].iter().find_map(|mark| Some(address.find(mark)? + mark.len())).unwrap_or(0);
    let (scheme, rest) = address.split_at(start);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) if user != "git" => host,
        _ => authority,
    };
    let parameters = parameters.map(|text| format!("?{}", query(text))).unwrap_or_default();
    format!("{scheme}{authority}{path}{parameters}")
}

/// The address of a package as it may be recorded: without user information and without parameters that may be secret
/// or only say how to fetch it; the others sorted.
pub fn package(text: &str) -> String {
    package_with(text, |_, _| None)
}

/// The same as a key, which also distinguishes packages by parameters that may be secret: it has a digest of their
/// values, but leaves out parameters with the name of a secret.
pub fn package_key(text: &str) -> String {
    package_with(text, |name, value| {
        let plain = name.to_ascii_lowercase();
        let is_of_secret = plain == "sig" || OF_SECRETS.iter().any(|part| plain.contains(part));
        let digest = || crate::hash::Sha256Digest::of(value.as_bytes()).to_hex();
        (!is_of_secret).then(|| format!("{name}=digest:{}", &digest()[..16]))
    })
}

fn package_with(text: &str, unknown: impl Fn(&str, &str) -> Option<String>) -> String {
    let plain = text.split('#').next().unwrap_or_default();
    let (address, parameters) = plain.split_once('?').unwrap_or((plain, ""));
    let start = address.find("://").map_or(0, |mark| mark + 3);
    let (scheme, rest) = address.split_at(start);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let kept = |parameter: &str| match parameter.split_once('=') {
        Some(("depth", _)) | None => None,
        Some((name, _)) if HARMLESS.contains(&name) => Some(harmless(parameter)),
        Some((name, value)) => unknown(name, value),
    };
    let mut parameters: Vec<&str> = parameters.split('&').collect();
    parameters.sort_unstable();
    let parameters: Vec<String> = parameters.into_iter().filter_map(kept).collect();
    let query = if parameters.is_empty() { String::new() } else { format!("?{}", parameters.join("&")) };
    format!("{scheme}{host}{path}{query}")
}

/// What a program said, with its addresses shown as [`module_source`] shows them. An address ends at white space or a quote.
pub fn words(text: &str) -> String {
    let ends = |letter: char| letter.is_whitespace() || matches!(letter, '\'' | '"' | '`' | '<' | '>');
    let shown = |word: &str| {
        let address = word.trim_end_matches(ends);
        let end = &word[address.len()..];
        if address.contains("://") { format!("{}{end}", module_source(address)) } else { word.to_owned() }
    };
    text.split_inclusive(ends).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_secrets_are_taken_out() {
        remember("s3cr3t/to\"ken");
        remember("1.4.0");
        let text = r#"{"version": "s3cr3t/to\"ken", "url": "https://h/s3cr3t%2Fto%22ken/1.4.0"}"#;
        assert_eq!(secrets(text), r#"{"version": "…", "url": "https://h/…/1.4.0"}"#);
        assert_eq!(secrets("is s3cr3t/to\"ken here"), "is … here");
        assert!(matches!(secrets("nothing of it"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_user_and_a_password_in_a_path_are_taken_out() {
        // `lab-user:lab-word`, `nobody:x`, `me:~~~???` in three spellings, a password that is not ASCII, and a name that is none of these.
        for (token, shown) in [
            ("bGFiLXVzZXI6bGFiLXdvcmQ=", "…="),
            ("bGFiLXVzZXI6bGFiLXdvcmQ%3D", "…%3D"),
            ("bm9ib2R5Ong", "…"),
            ("bWU6fn5+Pz8%2F", "…"),
            ("bWU6fn5%2bPz8%2f", "…"),
            ("bWU6fn5-Pz8_", "…"),
            ("bGFiOnfDtnJk", "…"),
            ("cHJvdmlkZXJz", "cHJvdmlkZXJz"),
        ] {
            remember_in_path(&format!("https://h.example/repository/terraform/v1/providers/{token}/"));
            let text = format!("https://h.example/repository/terraform/v1/providers/{token}/acme/x/versions");
            assert_eq!(secrets(&text), text.replace(token, shown));
        }
    }

    #[test]
    fn what_programs_say_shows_no_secret() {
        for (text, shown) in [
            (
                "unable to access 'https://bob:PW@h:1/net.git?token=T/': Failed to connect",
                "unable to access 'https://h:1/net.git?token=…': Failed to connect",
            ),
            ("repository \"https://T@h/r\" not found", "repository \"https://h/r\" not found"),
            ("nothing about bob@h: it's 'quoted'", "nothing about bob@h: it's 'quoted'"),
            ("https://h/r?T", "https://h/r?…"),
            ("", ""),
        ] {
            assert_eq!(words(text), shown, "{text}");
        }
    }

    #[test]
    fn packages_are_identified_by_what_is_fetched() {
        for (text, known) in [
            ("git::https://bob:PW@h:8443/r.git?token=T&ref=v1&depth=1&sshkey=K", "git::https://h:8443/r.git?ref=v1"),
            ("git::ssh://git@h/o/r.git", "git::ssh://h/o/r.git"),
            ("https://h/x?checksum=sha256:ab&archive=zip", "https://h/x?archive=zip&checksum=sha256:ab"),
            ("git::https://h/r@2.git?", "git::https://h/r@2.git"),
            ("https://h/x.zip?checksum=file:https://bob:PW@h/sums", "https://h/x.zip?checksum=file:https://h/sums"),
            ("https://h/x.zip?checksum=file:https://h/sums%3Fx=T", "https://h/x.zip?checksum=file:https://h/sums?x=…"),
        ] {
            assert_eq!((&*package(text), &*package_key(text)), (known, known), "{text}");
        }
    }

    #[test]
    fn packages_with_different_hidden_parts_are_distinguished() {
        let one = package_key("https://h/x.zip?revision=one&token=T");
        assert_eq!(one, "https://h/x.zip?revision=digest:7692c3ad3540bb80");
        assert_ne!(one, package_key("https://h/x.zip?revision=two&token=T"));
        assert_eq!(one, package_key("https://h/x.zip?X-Amz-Credential=C&private_token=U&revision=one&sig=S"));
        assert_eq!(package("https://h/x.zip?revision=one&token=T"), "https://h/x.zip");
        assert_eq!(package_key("https://h/x.zip?sha=v1"), "https://h/x.zip?sha=v1");
    }

    #[test]
    fn module_sources_show_no_secret() {
        for (text, shown) in [
            ("git::https://bob:PW@h/r.git//m?ref=v1&token=T", "git::https://h/r.git//m?ref=v1&token=…"),
            ("git::https://TOKEN@h:8443/r.git#x", "git::https://h:8443/r.git"),
            ("git::ssh://git@h/r.git", "git::ssh://git@h/r.git"),
            ("git::ssh://git:pw@h/r.git", "git::ssh://h/r.git"),
            ("git@h:o/r.git", "git@h:o/r.git"),
            ("bob:PW@h:o/r.git?T", "h:o/r.git?…"),
            ("git::bob:PW@h:o/r.git", "git::h:o/r.git"),
            ("https://a@b@h/x", "https://h/x"),
            ("github.com/o/r?", "github.com/o/r?"),
            ("./a@b", "./a@b"),
            (
                "https://h/x?checksum=file%3Ahttps%3A%2F%2Fbob%3APW%40h%2Fsums",
                "https://h/x?checksum=file:https://h/sums",
            ),
            (
                "https://h/x?checksum=file%3Ahttps%3A%2F%2Fh%2Fsums",
                "https://h/x?checksum=file%3Ahttps%3A%2F%2Fh%2Fsums",
            ),
            ("git::https://h/r?ref=a%2Fb@c", "git::https://h/r?ref=a%2Fb@c"),
        ] {
            assert_eq!(module_source(text), shown, "{text}");
        }
    }
}
