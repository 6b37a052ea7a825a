//! Packages of the fixture: tiny archives whose bytes follow from provider, version, platform and edition alone.
//!
//! Entries are stored unless deflate is asked for, so that hashes in snapshots outlive updates of the compressor.
//! The hashes are computed here from the entries, not by the product: they are what the product is measured by.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};

use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::{Digest, Sha256};
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, DateTime};

/// What an archive is made for.
#[derive(Debug, Clone, Copy)]
pub struct PackageName<'a> {
    /// The provider's type, such as `widget`.
    pub kind: &'a str,
    pub version: &'a str,
    /// `os_arch`.
    pub platform: &'a str,
    /// 1 as first published; contents differ from edition to edition.
    pub edition: u32,
}

/// How an archive departs from the plain one: a program and a licence, both stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Entries are deflated.
    Deflated,
    /// The licence stands in it twice; the later one counts.
    DuplicateEntry,
    /// Directories have entries of their own, which count for nothing.
    DirectoryEntries,
    /// There is a licence but no program.
    NoProgram,
    /// It holds a file outside the directory it is unpacked to.
    Escaping,
    /// It is the same for all platforms.
    Universal,
}

/// An archive and its hashes.
#[derive(Debug, Clone)]
pub struct Package {
    pub zip: Vec<u8>,
    /// `h1:` and base64.
    pub h1: String,
    /// 64 hex digits.
    pub sha256: String,
}

impl Package {
    /// The archive of a release for one platform.
    pub fn make(name: PackageName<'_>, shapes: &[Shape]) -> Self {
        let entries = entries(name, shapes);
        let zip = write(&entries, shapes);
        Self { sha256: sha256(&zip), h1: h1(&entries), zip }
    }

    /// `zh:` and hex.
    pub fn zh(&self) -> String {
        format!("zh:{}", self.sha256)
    }
}

/// The files of an archive that holds each name once, path and contents, as unpacking leaves them.
pub fn unpacked(zip: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(zip)).unwrap();
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents).unwrap();
        files.push((entry.name().unwrap().to_string(), contents));
    }
    files
}

/// An archive of files, path and text, as registries serve modules.
pub fn archive(files: &[(&str, String)]) -> Vec<u8> {
    let entry = |(name, contents): &(&str, String)| Entry { name: (*name).to_owned(), contents: contents.clone() };
    write(&files.iter().map(entry).collect::<Vec<_>>(), &[])
}

struct Entry {
    name: String,
    contents: String,
}

fn entries(name: PackageName<'_>, shapes: &[Shape]) -> Vec<Entry> {
    let PackageName { kind, version, platform, edition } = name;
    let exe = if platform.starts_with("windows_") { ".exe" } else { "" };
    let target = if shapes.contains(&Shape::Universal) { "all" } else { platform };
    let entry = |name: &str, contents: String| Entry { name: name.to_owned(), contents };
    let mut entries = vec![entry("LICENSE.txt", format!("Anybody may do anything with {kind}.\n"))];
    for shape in shapes {
        match shape {
            Shape::DuplicateEntry => {
                entries.push(entry("LICENSE.txt", format!("{kind} is under the second licence.\n")));
            }
            Shape::DirectoryEntries => {
                entries.push(entry("docs/", String::new()));
                entries.push(entry("docs/index.md", format!("# {kind}\n")));
            }
            Shape::Escaping => entries.push(entry("../../escaped", "This must be nowhere.\n".to_owned())),
            Shape::Deflated | Shape::NoProgram | Shape::Universal => {}
        }
    }
    if !shapes.contains(&Shape::NoProgram) {
        entries.push(Entry {
            name: format!("terraform-provider-{kind}_v{version}_x5{exe}"),
            contents: format!("{kind} {version} for {target}, edition {edition}\n").repeat(8),
        });
    }
    entries
}

fn write(entries: &[Entry], shapes: &[Shape]) -> Vec<u8> {
    let method =
        if shapes.contains(&Shape::Deflated) { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let file = SimpleFileOptions::default().last_modified_time(DateTime::default()).compression_method(method);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut written: Vec<&str> = Vec::new();
    for Entry { name, contents } in entries {
        if let Some(directory) = name.strip_suffix('/') {
            zip.add_directory(directory, file.compression_method(CompressionMethod::Stored)).unwrap();
            continue;
        }
        let name = if written.contains(&name.as_str()) { DECOY } else { name };
        let mode = if name.starts_with("terraform-provider-") { 0o755 } else { 0o644 };
        zip.start_file(name, file.unix_permissions(mode)).unwrap();
        zip.write_all(contents.as_bytes()).unwrap();
        written.push(name);
    }
    rename(zip.finish().unwrap().into_inner(), DECOY, "LICENSE.txt")
}

/// The writer refuses a name it has seen, so the second licence is written under this one and renamed in the bytes.
const DECOY: &str = "LICENSE.tx2";

fn rename(mut zip: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    for start in 0..zip.len().saturating_sub(from.len()) {
        if &zip[start..start + from.len()] == from.as_bytes() {
            zip[start..start + to.len()].copy_from_slice(to.as_bytes());
        }
    }
    zip
}

/// 64 hex digits, lower case.
pub fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn h1(entries: &[Entry]) -> String {
    // A map, since the later of two entries with one name is what unpacking leaves.
    let files: BTreeMap<&str, &str> = entries
        .iter()
        .filter(|entry| !entry.name.ends_with('/'))
        .map(|entry| (entry.name.as_str(), entry.contents.as_str()))
        .collect();
    let lines: Vec<String> =
        files.iter().map(|(name, contents)| format!("{}  {name}\n", sha256(contents.as_bytes()))).collect();
    let lines = lines.concat();
    format!("h1:{}", BASE64_STANDARD.encode(Sha256::digest(lines)))
}
