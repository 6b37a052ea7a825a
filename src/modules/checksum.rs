//! Digests that the addresses of archives announce: `checksum=sha256:HEX` and the like, or a file with them.
//!
//! Source: `github.com/hashicorp/go-getter` v1, `checksum.go`.

use std::fmt;

use md5::Md5;
use sha1collisiondetection::Sha1CD;
use sha2::{Sha256, Sha512};
use url::Url;

use crate::error::{Error, ErrorKind};

/// The algorithms, with the length of their digests in bytes.
const KINDS: [(&str, usize); 4] = [("md5", 16), ("sha1", 20), ("sha256", 32), ("sha512", 64)];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checksum {
    kind: &'static str,
    /// In lower-case hex.
    digits: String,
}

pub(super) struct Sums {
    sha256: Sha256,
    announced: Option<(Announced, String)>,
}

/// The algorithm of the announced digest, if it is not sha256.
enum Announced {
    Md5(Box<Md5>),
    Sha1(Box<Sha1CD>),
    Sha256,
    Sha512(Box<Sha512>),
}

impl Checksum {
    /// `md5:HEX`, `sha1:HEX`, `sha256:HEX`, `sha512:HEX`, or the bare hex, whose length gives the algorithm.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        Self::read(text.split_once(':'), text).ok_or_else(|| {
            let message = format!("the checksum {text:?} in the source of a module cannot be checked");
            let hint = "write sha256:HEX, or another of md5, sha1 and sha512, or file:URL";
            Error::new(ErrorKind::Configuration, message).hint(hint)
        })
    }

    fn read(typed: Option<(&str, &str)>, text: &str) -> Option<Self> {
        let (name, digits) = typed.map_or((None, text), |(name, digits)| (Some(name.to_ascii_lowercase()), digits));
        let is_meant = |(kind, length): &&(&str, usize)| {
            name.as_ref().is_none_or(|name| name == kind) && digits.len() == length * 2
        };
        let (kind, _) = KINDS.iter().find(is_meant)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| Self { kind, digits: digits.to_ascii_lowercase() })
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.digits)
    }
}

/// The digest of an archive in a file of digests: the first line that names it, or that names no file at all.
///
/// Lines are `DIGEST  NAME` or `KIND (NAME) = DIGEST`.
pub(super) fn in_file(listed: &str, file: &Url, archive: &Url) -> Option<Checksum> {
    let path = archive.path();
    let name = path.rsplit('/').next().unwrap_or_default();
    let folder = file.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    let relative = path.strip_prefix(folder).map(|rest| rest.trim_start_matches('/')).unwrap_or_default();
    let names = [
        name.to_owned(),
        format!("*{name}"),
        format!("?{name}"),
        relative.to_owned(),
        format!("./{relative}"),
        path.to_owned(),
    ];
    listed.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (checksum, about) = match words[..] {
            [kind, quoted, _, digits] => {
                let about = quoted.strip_prefix('(')?.strip_suffix(')')?;
                (Checksum::read(Some((kind, digits)), "")?, Some(about))
            }
            [digits, about] => (Checksum::read(None, digits)?, Some(about)),
            [digits, ..] => (Checksum::read(None, digits)?, None),
            [] => return None,
        };
        about.is_none_or(|about| names.iter().any(|name| name == about)).then_some(checksum)
    })
}

impl Sums {
    /// For an archive, with the digest that is announced for it, if any.
    pub(super) fn new(announced: Option<&Checksum>) -> Self {
        let algorithm = |kind| match kind {
            "md5" => Announced::Md5(Box::default()),
            "sha1" => Announced::Sha1(Box::default()),
            "sha512" => Announced::Sha512(Box::default()),
            _ => Announced::Sha256,
        };
        let announced = announced.map(|checksum| (algorithm(checksum.kind), checksum.digits.clone()));
        Self { sha256: Sha256::default(), announced }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        sha2::Digest::update(&mut self.sha256, bytes);
        match &mut self.announced {
            Some((Announced::Md5(hasher), _)) => md5::Digest::update(hasher.as_mut(), bytes),
            Some((Announced::Sha1(hasher), _)) => hasher.update(bytes),
            Some((Announced::Sha512(hasher), _)) => sha2::Digest::update(hasher.as_mut(), bytes),
            Some((Announced::Sha256, _)) | None => {}
        }
    }

    /// The sha256 in hex, and whether the digest is the one that is announced.
    pub(super) fn finish(self) -> (String, bool) {
        let own = hex(&sha2::Digest::finalize(self.sha256));
        let fits = match self.announced {
            None => true,
            Some((Announced::Md5(hasher), wanted)) => hex(&md5::Digest::finalize(*hasher)) == wanted,
            // Bytes that were made to collide have no digest.
            Some((Announced::Sha1(mut hasher), wanted)) => {
                let mut digest = sha1collisiondetection::Output::default();
                hasher.finalize_into_dirty_cd(&mut digest).is_ok() && hex(&digest) == wanted
            }
            Some((Announced::Sha512(hasher), wanted)) => hex(&sha2::Digest::finalize(*hasher)) == wanted,
            Some((Announced::Sha256, wanted)) => own == wanted,
        };
        (own, fits)
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0'));
    bytes.iter().flat_map(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digests of "abc".
    const ABC: [&str; 4] = [
        "md5:900150983cd24fb0d6963f7d28e17f72",
        "sha1:a9993e364706816aba3e25717850c26c9cd0d89d",
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ];

    #[test]
    fn checksums_of_all_kinds_are_enforced() {
        for text in ABC {
            let bare = text.split_once(':').unwrap().1;
            for text in [text.to_owned(), bare.to_owned(), text.to_uppercase()] {
                let checksum = Checksum::parse(&text).unwrap();
                assert_eq!(
                    checksum.to_string(),
                    ABC.iter().find(|it| it.ends_with(&checksum.digits)).unwrap().to_owned()
                );
                let fits = |bytes: &[u8]| {
                    let mut sums = Sums::new(Some(&checksum));
                    sums.update(&bytes[..1]);
                    sums.update(&bytes[1..]);
                    sums.finish()
                };
                assert_eq!(fits(b"abc"), (ABC[2].strip_prefix("sha256:").unwrap().to_owned(), true), "{text}");
                assert!(!fits(b"abd").1, "{text}");
            }
        }
        assert!(Sums::new(None).finish().1);
        for text in ["sha256:ab", "sha256:", "", "é", "sha1:900150983cd24fb0d6963f7d28e17f72", "crc:ab"] {
            assert!(Checksum::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn files_of_digests() {
        let [md5, sha1] = [ABC[0], ABC[1]].map(|text| text.split_once(':').unwrap().1);
        let found = |listed: &str| {
            let url = |text: &str| Url::parse(text).unwrap();
            let found =
                in_file(listed, &url("https://a.example/r/SUMS"), &url("https://a.example/r/1/x.zip?archive=zip"));
            found.map(|checksum| checksum.to_string())
        };
        for (listed, wanted) in [
            (format!("{md5}  y.zip\n{sha1}  x.zip\n"), Some(ABC[1])),
            (format!("# sums\n\n{sha1} *x.zip"), Some(ABC[1])),
            (format!("{md5}  ./1/x.zip"), Some(ABC[0])),
            (format!("{md5}  1/x.zip"), Some(ABC[0])),
            (format!("SHA1 (x.zip) = {sha1}"), Some(ABC[1])),
            (format!("SHA1 (y.zip) = {sha1}"), None),
            (md5.to_owned(), Some(ABC[0])),
            (format!("{md5}  y.zip"), None),
            ("nonsense".to_owned(), None),
        ] {
            assert_eq!(found(&listed).as_deref(), wanted, "{listed}");
        }
    }
}
