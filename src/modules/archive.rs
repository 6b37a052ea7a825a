//! Packages in archives, over https.
//!
//! Source: `github.com/hashicorp/go-getter` v1, `get_http.go`, `checksum.go`, `decompress.go`; terraform
//! `internal/getmodules/getter.go` for the kinds.

use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use sha2::{Digest as _, Sha256, Sha512};
use url::Url;

use super::address::{RemoteAddress, join_subdirs};
use super::git::refused;
use super::unpack::{Builder, Compression, UnpackError, unpack_tar, unpack_zip};
use crate::error::{Error, ErrorKind};
use crate::net::{Ask, Body, Client, Kind, NetError, ShownUrl};

/// The most bytes of an archive.
const MAX_BYTES: u64 = 512 << 20;

/// How long an archive may take, from the first request to the last byte, with all attempts.
const LIMIT: Duration = Duration::from_secs(300);

/// What kind of archive it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArchiveKind {
    Zip,
    Tar(Compression),
}

/// A digest that the address announces.
#[derive(Debug, PartialEq, Eq)]
enum Checksum {
    Sha256(Vec<u8>),
    Sha512(Vec<u8>),
}

/// A downloaded archive. Its digest is that of its bytes, in hex.
#[derive(Debug)]
pub(super) struct Archive {
    file: File,
    kind: ArchiveKind,
    shown: String,
    pub(super) digest: String,
}

/// The kind that an address names: by `archive=`, else by the extension.
pub(super) fn kind_of(address: &RemoteAddress) -> Result<Option<ArchiveKind>, Error> {
    const KINDS: [(&str, ArchiveKind); 7] = [
        ("tar.gz", ArchiveKind::Tar(Compression::Gzip)),
        ("tgz", ArchiveKind::Tar(Compression::Gzip)),
        ("tar.bz2", ArchiveKind::Tar(Compression::Bzip2)),
        ("tbz2", ArchiveKind::Tar(Compression::Bzip2)),
        ("tar.xz", ArchiveKind::Tar(Compression::Xz)),
        ("txz", ArchiveKind::Tar(Compression::Xz)),
        ("zip", ArchiveKind::Zip),
    ];
    if let Some(name) = address.parameter("archive") {
        let known = KINDS.iter().find(|(kind, _)| *kind == name);
        return known.map(|(_, kind)| Some(*kind)).ok_or_else(|| {
            let message = format!("modules cannot be unpacked from an archive of the kind {name:?}");
            Error::new(ErrorKind::Package, message).hint("zip, tar.gz, tar.bz2 and tar.xz can be unpacked")
        });
    }
    let path = address.url.path();
    let ends = |kind: &str| path.strip_suffix(kind).is_some_and(|before| before.ends_with('.'));
    Ok(KINDS.iter().find(|(kind, _)| ends(kind)).map(|(_, kind)| *kind))
}

/// Where an address without extension says that the package is.
pub(super) async fn forwarded(client: &Client, address: &RemoteAddress) -> Result<RemoteAddress, Error> {
    let mut url = address.plain_url();
    url.query_pairs_mut().append_pair("terraform-get", "1");
    let document =
        client.document(&Ask::new(url.clone(), Kind::Metadata)).await.map_err(|error| failed(&url, error))?;
    let header = document.header("x-terraform-get").map(str::to_owned);
    let target = header.or_else(|| meta_tag(&String::from_utf8_lossy(&document.body)));
    let shown = ShownUrl::new(&address.url);
    let target = target.filter(|target| !target.is_empty()).ok_or_else(|| {
        let message =
            format!("the module cannot be fetched from {shown}: the answer does not say where the package is");
        Error::new(ErrorKind::Package, message)
            .about_url(shown.as_str())
            .hint("an archive without extension needs `?archive=zip`, `?archive=tar.gz` or the like in the source")
    })?;
    let placed = RemoteAddress::parse(&target).and_then(|mut found| {
        found.subdir = join_subdirs(&found.subdir, &address.subdir)?;
        Ok(found)
    });
    placed.map_err(|reason| {
        let message = format!("{shown} places the module at {:?}: {reason}", ShownUrl::from_text(&target).as_str());
        Error::new(ErrorKind::Package, message).about_url(shown.as_str())
    })
}

/// The content of `<meta name="terraform-get">`.
fn meta_tag(html: &str) -> Option<String> {
    let tags = html.match_indices("<meta").map(|(at, _)| html[at..].split('>').next().unwrap_or_default());
    let attribute = |tag: &str, name: &str| {
        let (_, rest) = tag.split_once(&format!("{name}="))?;
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        Some(rest[1..].split(quote).next().unwrap_or_default().to_owned())
    };
    tags.into_iter()
        .find(|tag| attribute(tag, "name").is_some_and(|name| name.eq_ignore_ascii_case("terraform-get")))
        .and_then(|tag| attribute(tag, "content"))
}

/// Downloads an archive, and holds it to the checksum that its address announces.
pub(super) async fn download(client: &Client, address: &RemoteAddress, kind: ArchiveKind) -> Result<Archive, Error> {
    let url = address.plain_url();
    let shown = ShownUrl::new(&url).as_str().to_owned();
    let checksum = address.parameter("checksum").map(|text| Checksum::parse(&text)).transpose()?;
    let downloaded = tokio::time::timeout(LIMIT, attempts(client, &url)).await;
    let (mut file, sums) = downloaded.unwrap_or_else(|_| {
        let message = format!("cannot fetch the module from {shown}: no complete answer within {} s", LIMIT.as_secs());
        Err(Error::new(ErrorKind::Unavailable, message).about_url(&shown))
    })?;
    if let Some(checksum) = checksum.filter(|checksum| !checksum.fits(&sums)) {
        let message = format!("the module package from {shown} does not have the checksum {checksum}");
        return Err(Error::new(ErrorKind::Trust, message).about_url(&shown));
    }
    file.seek(SeekFrom::Start(0)).map_err(|reason| spooled(&reason))?;
    Ok(Archive { file, kind, shown, digest: hex(&sums.0.finalize()) })
}

type Sums = (Sha256, Sha512);

async fn attempts(client: &Client, url: &Url) -> Result<(File, Sums), Error> {
    let mut download = client.download(url).with_retries(1);
    loop {
        let mut body = download.open().await.map_err(|error| failed(url, error))?;
        match spool(&mut body, url).await? {
            Ok(done) => return Ok(done),
            Err(broken) => {
                drop(body);
                download.again(broken).await.map_err(|error| failed(url, error))?;
            }
        }
    }
}

/// The bytes in a file without a name. The outer error is final.
async fn spool(body: &mut Body, url: &Url) -> Result<Result<(File, Sums), NetError>, Error> {
    let mut file = tempfile::tempfile().map_err(|reason| spooled(&reason))?;
    let (mut sums, mut buffer) = ((Sha256::new(), Sha512::new()), Vec::new());
    loop {
        buffer.clear();
        match body.fill(&mut buffer).await {
            Ok(true) => {}
            Ok(false) => return Ok(Ok((file, sums))),
            Err(broken) => return Ok(Err(broken)),
        }
        if body.received() > MAX_BYTES {
            let shown = ShownUrl::new(url);
            let message = format!("the module package from {shown} has more than {} MiB", MAX_BYTES >> 20);
            return Err(Error::new(ErrorKind::Package, message).about_url(shown.as_str()));
        }
        sums.0.update(&buffer);
        sums.1.update(&buffer);
        file.write_all(&buffer).map_err(|reason| spooled(&reason))?;
    }
}

impl Archive {
    /// Unpacks into a package.
    pub(super) fn unpack(self, top: &Path) -> Result<super::unpack::Contents, Error> {
        let shown = self.shown.clone();
        let mut builder = Builder::new(top);
        let is_page = self.is_page();
        let unpacked = match self.kind {
            ArchiveKind::Zip => unpack_zip(self.file, &mut builder),
            ArchiveKind::Tar(compression) => unpack_tar(BufReader::new(self.file), compression, &mut builder),
        };
        unpacked.and_then(|()| builder.finish()).map_err(|error| match error {
            UnpackError::Archive(_) if is_page => {
                let message = format!("cannot fetch the module from {shown}: a page came in place of an archive");
                Error::new(ErrorKind::Unavailable, message)
                    .about_url(&shown)
                    .hint("a proxy or login page may have answered")
            }
            error => refused(&shown, &error),
        })
    }

    /// True for what begins as HTML does.
    fn is_page(&self) -> bool {
        use std::io::Read as _;
        let mut start = [0; 64];
        let mut file = &self.file;
        let count = file.read(&mut start).unwrap_or(0);
        let _ = file.seek(SeekFrom::Start(0));
        start[..count].trim_ascii_start().starts_with(b"<")
    }
}

impl Checksum {
    /// `sha256:HEX`, `sha512:HEX`, or the bare hex, whose length tells.
    fn parse(text: &str) -> Result<Self, Error> {
        let (kind, digits) = text.split_once(':').unwrap_or(("", text));
        let bytes = (0..digits.len() / 2).map(|at| u8::from_str_radix(digits.get(at * 2..at * 2 + 2)?, 16).ok());
        let bytes = bytes.collect::<Option<Vec<u8>>>().filter(|_| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match (kind, digits.len(), bytes) {
            ("sha256" | "", 64, Some(bytes)) => Ok(Self::Sha256(bytes)),
            ("sha512" | "", 128, Some(bytes)) => Ok(Self::Sha512(bytes)),
            _ => {
                let message = format!("the checksum {text:?} in the source of a module cannot be checked");
                Err(Error::new(ErrorKind::Configuration, message).hint("write sha256:HEX or sha512:HEX"))
            }
        }
    }

    fn fits(&self, sums: &Sums) -> bool {
        match self {
            Self::Sha256(bytes) => sums.0.clone().finalize().as_slice() == bytes,
            Self::Sha512(bytes) => sums.1.clone().finalize().as_slice() == bytes,
        }
    }
}

impl std::fmt::Display for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sha256(bytes) => write!(f, "sha256:{}", hex(bytes)),
            Self::Sha512(bytes) => write!(f, "sha512:{}", hex(bytes)),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0'));
    bytes.iter().flat_map(digits).collect()
}

fn failed(url: &Url, error: NetError) -> Error {
    let message = format!("cannot fetch the module from {}: {}", ShownUrl::new(url), error.fault);
    Error { message, ..Error::from(error) }
}

fn spooled(reason: &std::io::Error) -> Error {
    Error::new(ErrorKind::Disk, format!("cannot write a temporary file: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Result<Option<ArchiveKind>, ()> {
        kind_of(&RemoteAddress::parse(text).unwrap()).map_err(|_| ())
    }

    #[test]
    fn kinds_by_extension_and_parameter() {
        let tar = |compression| Ok(Some(ArchiveKind::Tar(compression)));
        assert_eq!(kind("https://a.example/x.zip?y=1"), Ok(Some(ArchiveKind::Zip)));
        assert_eq!(kind("https://a.example/x.tar.gz"), tar(Compression::Gzip));
        assert_eq!(kind("https://a.example/x.tgz"), tar(Compression::Gzip));
        assert_eq!(kind("https://a.example/x.txz"), tar(Compression::Xz));
        assert_eq!(kind("https://a.example/tarball?archive=tar.bz2"), tar(Compression::Bzip2));
        assert_eq!(kind("https://a.example/x.tar"), Ok(None));
        assert_eq!(kind("https://a.example/zip"), Ok(None));
        assert_eq!(kind("https://a.example/x.zip?archive=rar"), Err(()));
    }

    #[test]
    fn checksums_of_known_kinds() {
        let hex = "ab".repeat(32);
        assert_eq!(Checksum::parse(&format!("sha256:{hex}")).unwrap().to_string(), format!("sha256:{hex}"));
        assert!(matches!(Checksum::parse(&hex), Ok(Checksum::Sha256(_))));
        assert!(matches!(Checksum::parse(&"AB".repeat(64)), Ok(Checksum::Sha512(_))));
        for text in ["md5:d41d8cd98f00b204e9800998ecf8427e", "sha256:ab", "sha256:", "é", "file:https://a.example/sums"]
        {
            assert!(Checksum::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn meta_tags() {
        let html =
            r#"<html><meta charset="x"><META><meta content="https://a.example/x.zip" name="terraform-get"/></html>"#;
        assert_eq!(meta_tag(html).as_deref(), Some("https://a.example/x.zip"));
        assert_eq!(meta_tag("<meta name='other' content='x'>"), None);
        assert_eq!(meta_tag("<meta name=\"terraform-get\" content=\""), Some(String::new()));
    }
}
