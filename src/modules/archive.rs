//! Packages in archives, over https, and the digests that their addresses announce: `checksum=sha256:HEX` and the like, or a file
//! with them.
//!
//! Source: `github.com/hashicorp/go-getter` v1, `get_http.go`, `decompress.go`, `checksum.go`; terraform
//! `internal/getmodules/getter.go` for the kinds.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use md5::Md5;
use sha1collisiondetection::Sha1CD;
use sha2::{Sha256, Sha512};
use url::Url;

use super::address::{RemoteAddress, join_subdirs};
use super::fetch::FetcherOptions;
use super::refusals::{ModuleHosts, allow_url, refused, unfetched};
use super::unpack::{Builder, Compression, UnpackedContents, unpack_tar, unpack_zip};
use crate::error::{Error, ErrorKind};
use crate::net::{
    Authorization, Client, DocumentKind, DocumentRequest, Download, DownloadBody, FetchedDocument, NetError, ShownUrl,
};

/// The most bytes of an archive.
const MAX_BYTES: u64 = 512 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArchiveKind {
    Zip,
    Tar(Compression),
}

#[derive(Debug)]
pub(super) struct Archive {
    file: File,
    shown: String,
    pub(super) digest: String,
}

#[derive(Clone, Copy)]
pub(super) struct Web<'a> {
    pub(super) client: &'a Client,
    pub(super) hosts: &'a ModuleHosts,
    pub(super) options: &'a FetcherOptions,
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
pub(super) async fn forwarded(web: &Web<'_>, address: &RemoteAddress) -> Result<RemoteAddress, Error> {
    let mut url = address.plain_url();
    url.query_pairs_mut().append_pair("terraform-get", "1");
    let document = web.document(&url, DocumentKind::Metadata).await?;
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

impl Web<'_> {
    /// A document, with the password that the user has for its host.
    async fn document(&self, url: &Url, kind: DocumentKind) -> Result<FetchedDocument, Error> {
        allow_url(self.hosts.as_ref(), url)?;
        let request = DocumentRequest::new(url.clone(), kind).authorized(self.options.netrc.authorization(url));
        self.client.document(&request).await.map_err(|error| failed(url, error))
    }

    /// The digest that an address announces; if it names a file of digests, that file is downloaded.
    pub(super) async fn checksum(&self, address: &RemoteAddress) -> Result<Option<Checksum>, Error> {
        let Some(text) = address.parameter("checksum") else { return Ok(None) };
        let Some(place) = text.strip_prefix("file:") else { return Checksum::parse(&text).map(Some) };
        let unusable = |reason: &str| {
            let shown = ShownUrl::from_text(place);
            let message = format!("the checksum file {:?} of a module cannot be used: {reason}", shown.as_str());
            Error::new(ErrorKind::Configuration, message)
        };
        let url = Url::parse(place).ok().filter(|url| url.scheme() == "https");
        let url = url.ok_or_else(|| unusable("it is not at an https address"))?;
        let document = self.document(&url, DocumentKind::Sums).await?;
        let listed = String::from_utf8_lossy(&document.body).into_owned();
        let found = in_file(&listed, &url, &address.url);
        found.map(Some).ok_or_else(|| unusable("it has no checksum of the archive"))
    }

    /// Downloads an archive, and checks it against the checksum that its address announces.
    pub(super) async fn download(&self, url: &Url, checksum: Option<Checksum>) -> Result<Archive, Error> {
        let download = self.client.download_as(url, self.options.netrc.authorization(url));
        self.spooled(url, download, checksum).await
    }

    /// The same with what the protocol of its server wants, and without a checksum.
    pub(super) async fn download_as(&self, url: &Url, authorization: Option<Authorization>) -> Result<Archive, Error> {
        self.spooled(url, self.client.download_as(url, authorization), None).await
    }

    async fn spooled(&self, url: &Url, download: Download, checksum: Option<Checksum>) -> Result<Archive, Error> {
        allow_url(self.hosts.as_ref(), url)?;
        let shown = ShownUrl::new(url).as_str().to_owned();
        let download = download.with_retries(1);
        let downloaded =
            tokio::time::timeout(self.options.archive_limit, attempts(download, url, checksum.as_ref())).await;
        let (mut file, sums) = downloaded.unwrap_or_else(|_| {
            let message = format!(
                "cannot fetch the module from {shown}: no complete response within {} s",
                self.options.archive_limit.as_secs()
            );
            Err(Error::new(ErrorKind::Unavailable, message).about_url(&shown))
        })?;
        let (digest, fits) = sums.finish();
        if let Some(checksum) = checksum.filter(|_| !fits) {
            let message = format!("the module package from {shown} does not have the checksum {checksum}");
            return Err(Error::new(ErrorKind::Trust, message).about_url(&shown));
        }
        file.seek(SeekFrom::Start(0)).map_err(|reason| unspooled(&reason))?;
        Ok(Archive { file, shown, digest })
    }
}

async fn attempts(
    mut download: Download,
    url: &Url,
    checksum: Option<&Checksum>,
) -> Result<(File, ArchiveDigests), Error> {
    loop {
        let mut body = download.open().await.map_err(|error| failed(url, error))?;
        match spool(&mut body, url, ArchiveDigests::new(checksum)).await? {
            Ok(done) => return Ok(done),
            Err(broken) => {
                drop(body);
                download.again(broken).await.map_err(|error| failed(url, error))?;
            }
        }
    }
}

/// The bytes in a file without a name. The outer error is final.
async fn spool(
    body: &mut DownloadBody,
    url: &Url,
    mut sums: ArchiveDigests,
) -> Result<Result<(File, ArchiveDigests), NetError>, Error> {
    let mut file = tempfile::tempfile().map_err(|reason| unspooled(&reason))?;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let is_first = body.received() == 0;
        match body.fill(&mut buffer).await {
            // Before anything is said of its content: that is not the publisher's.
            Ok(true) if is_first && body.is_page(&buffer) => return Err(page(url)),
            Ok(true) => {}
            Ok(false) => return Ok(Ok((file, sums))),
            Err(broken) => return Ok(Err(broken)),
        }
        if body.received() > MAX_BYTES {
            let shown = ShownUrl::new(url);
            let message = format!("the module package from {shown} has more than {} MiB", MAX_BYTES >> 20);
            return Err(Error::new(ErrorKind::Package, message).about_url(shown.as_str()));
        }
        sums.update(&buffer);
        file.write_all(&buffer).map_err(|reason| unspooled(&reason))?;
    }
}

impl Archive {
    /// Unpacks into a package.
    pub(super) fn unpack(self, kind: ArchiveKind, top: &Path) -> Result<UnpackedContents, Error> {
        let shown = self.shown.clone();
        let mut builder = Builder::new(top);
        let unpacked = match kind {
            ArchiveKind::Zip => unpack_zip(self.file, &mut builder),
            ArchiveKind::Tar(compression) => unpack_tar(BufReader::new(self.file), compression, &mut builder),
        };
        unpacked.and_then(|()| builder.finish()).map_err(|error| refused(&shown, &error))
    }
}

/// What a proxy or a login form answers.
fn page(url: &Url) -> Error {
    let shown = ShownUrl::new(url);
    let message = format!("cannot fetch the module from {shown}: the server sent a page instead of an archive");
    Error::new(ErrorKind::Unavailable, message)
        .about_url(shown.as_str())
        .hint("a proxy or login page may have answered")
}

fn failed(url: &Url, error: NetError) -> Error {
    unfetched(ShownUrl::new(url).as_str(), error)
}

fn unspooled(reason: &std::io::Error) -> Error {
    Error::new(ErrorKind::Disk, format!("cannot write a temporary file: {reason}"))
}

/// The algorithms, with the length of their digests in bytes.
const KINDS: [(&str, usize); 4] = [("md5", 16), ("sha1", 20), ("sha256", 32), ("sha512", 64)];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checksum {
    kind: &'static str,
    /// In lower-case hex.
    digits: String,
}

struct ArchiveDigests {
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

impl ArchiveDigests {
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
    fn meta_tags() {
        let html =
            r#"<html><meta charset="x"><META><meta content="https://a.example/x.zip" name="terraform-get"/></html>"#;
        assert_eq!(meta_tag(html).as_deref(), Some("https://a.example/x.zip"));
        assert_eq!(meta_tag("<meta name='other' content='x'>"), None);
        assert_eq!(meta_tag("<meta name=\"terraform-get\" content=\""), Some(String::new()));
    }
}

#[cfg(test)]
mod checksum_tests;
