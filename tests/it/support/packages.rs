//! Packages of the fixture: tiny archives whose bytes follow from provider, version, platform and edition alone.
//!
//! Entries are stored unless deflate is requested, so hashes in snapshots outlive updates of the compressor.
//! The hashes are computed here from the entries, not by the product: they are what the product is measured by.

use std::collections::BTreeMap;
use std::fmt::Write as _;
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
    /// The licence is in it twice; the later one counts.
    DuplicateEntry,
    /// Directories have entries of their own, which count for nothing.
    DirectoryEntries,
    /// There is a licence but no program.
    NoProgram,
    /// It holds a file outside the directory it is unpacked to.
    Escaping,
    /// It is the same for all platforms.
    Universal,
    /// The program is one of Go, with the build information of `testdata/advisories/program.txt`.
    Go,
    /// The same as Go 1.17 wrote it, which cannot be read while it streams by.
    OldGo,
    /// The program is one of Go with so many modules, `example.com/n0` and so on.
    GoWith(usize),
    /// The program is the provider of `testdata/plugin`, which `terraform` can start.
    Runs,
    /// It holds these files and no others, by their names in the archive.
    Holding(&'static [(&'static str, Content)]),
}

/// What is in a file of [`Shape::Holding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A Go program that no advisory of `testdata/advisories` is about.
    Clean,
    /// The same as Go 1.17 wrote it.
    OldClean,
    /// The program of `testdata/advisories`.
    Affected,
    /// A universal binary of a clean and an affected program.
    Universal,
    /// A program without build information.
    Bare,
    /// A program of another kind, from the folder of the fuzzer.
    Corpus(&'static str),
    Text(&'static str),
}

impl Content {
    fn bytes(self) -> Vec<u8> {
        const CLEAN: &str = "go1.99.0\npath\texample.com/clean\nmod\texample.com/clean\tv1.0.0\n";
        let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        match self {
            Self::Clean => program(CLEAN, false),
            Self::OldClean => program(CLEAN, true),
            Self::Affected => go_program(false),
            Self::Universal => universal(&[Self::Clean.bytes(), Self::Affected.bytes()]),
            Self::Bare => b"\x7fELF\x02\x01\x01".iter().copied().chain([0; 200]).collect(),
            Self::Corpus(name) => std::fs::read(top.join("tests/fuzz/corpus/program").join(name)).unwrap(),
            Self::Text(text) => text.into(),
        }
    }
}

/// A universal binary of these programs.
fn universal(programs: &[Vec<u8>]) -> Vec<u8> {
    let number = |number: usize| u32::try_from(number).unwrap().to_be_bytes();
    let mut header = [&[0xca, 0xfe, 0xba, 0xbe][..], &number(programs.len())].concat();
    let mut content = Vec::new();
    for program in programs {
        content.resize(content.len().next_multiple_of(64), 0);
        header.extend(
            [number(0x0100_0007), [0; 4], number(4096 + content.len()), number(program.len()), number(6)].concat(),
        );
        content.extend(program);
    }
    header.resize(4096, 0);
    [header, content].concat()
}

/// A provider that `terraform` can start, where there is Python.
const PROVIDER: &[u8] = include_bytes!("../../../testdata/plugin/provider.py");

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
    let entry =
        |(name, contents): &(&str, String)| Entry { name: (*name).to_owned(), contents: contents.clone().into_bytes() };
    write(&files.iter().map(entry).collect::<Vec<_>>(), &[])
}

struct Entry {
    name: String,
    contents: Vec<u8>,
}

fn entries(name: PackageName<'_>, shapes: &[Shape]) -> Vec<Entry> {
    let PackageName { kind, version, platform, edition } = name;
    let exe = if platform.starts_with("windows_") { ".exe" } else { "" };
    let target = if shapes.contains(&Shape::Universal) { "all" } else { platform };
    let entry = |name: &str, contents: String| Entry { name: name.to_owned(), contents: contents.into_bytes() };
    let held = shapes.iter().find_map(|shape| if let Shape::Holding(files) = shape { Some(*files) } else { None });
    if let Some(files) = held {
        let file = |(name, content): &(&str, Content)| Entry { name: (*name).to_owned(), contents: content.bytes() };
        return files.iter().map(file).collect();
    }
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
            Shape::Deflated
            | Shape::NoProgram
            | Shape::Universal
            | Shape::Go
            | Shape::OldGo
            | Shape::GoWith(_)
            | Shape::Runs
            | Shape::Holding(_) => {}
        }
    }
    if !shapes.contains(&Shape::NoProgram) {
        entries.push(Entry {
            name: format!("terraform-provider-{kind}_v{version}_x5{exe}"),
            contents: [
                if shapes.contains(&Shape::Runs) { [PROVIDER, b"# "].concat() } else { Vec::new() },
                if shapes.contains(&Shape::Go) { go_program(false) } else { Vec::new() },
                if shapes.contains(&Shape::OldGo) { go_program(true) } else { Vec::new() },
                shapes.iter().flat_map(with_modules).collect(),
                format!("{kind} {version} for {target}, edition {edition}\n")
                    .repeat(if shapes.contains(&Shape::Runs) { 1 } else { 8 })
                    .into_bytes(),
            ]
            .concat(),
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
        zip.write_all(contents).unwrap();
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
    let files: BTreeMap<&str, &[u8]> = entries
        .iter()
        .filter(|entry| !entry.name.ends_with('/'))
        .map(|entry| (entry.name.as_str(), entry.contents.as_slice()))
        .collect();
    let lines: Vec<String> = files.iter().map(|(name, contents)| format!("{}  {name}\n", sha256(contents))).collect();
    let lines = lines.concat();
    format!("h1:{}", BASE64_STANDARD.encode(Sha256::digest(lines)))
}

fn go_program(old: bool) -> Vec<u8> {
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    program(&std::fs::read_to_string(top.join("testdata/advisories/program.txt")).unwrap(), old)
}

/// The program of [`Shape::GoWith`].
fn with_modules(shape: &Shape) -> Vec<u8> {
    let Shape::GoWith(count) = shape else { return Vec::new() };
    let mut text = "go1.21.4\nmod\texample.com/main\tv1.0.0\n".to_owned();
    for n in 0..*count {
        let _ = writeln!(text, "dep\texample.com/n{n}\tv1.0.0\th1:x=");
    }
    program(&text, false)
}

/// An ELF program whose only data are build information, inline or behind addresses.
fn program(text: &str, old: bool) -> Vec<u8> {
    const ADDRESS: u64 = 0x40_0000;
    const START: usize = 0x100;
    let (go, list) = text.split_once('\n').unwrap();
    let list = format!("{0}{list}{0}", "0123456789abcdef");
    let mut data = b"\xff Go buildinf:\x08".to_vec();
    if old {
        let numbers = [32, 48].map(|at| ADDRESS + at).into_iter();
        let numbers = numbers.chain([ADDRESS + 64, go.len() as u64, ADDRESS + 64 + go.len() as u64, list.len() as u64]);
        data.push(0);
        data.extend(numbers.flat_map(u64::to_le_bytes));
    } else {
        data.push(2);
        data.resize(32, 0);
    }
    for text in [go, &list] {
        if !old {
            let (low, high) = (text.len() & 0x7f, text.len() >> 7);
            data.extend([u8::try_from(low).unwrap() | 0x80, u8::try_from(high & 0x7f).unwrap() | 0x80]);
            data.push(u8::try_from(high >> 7).unwrap());
        }
        data.extend(text.as_bytes());
    }
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend([2, 0, 62, 0, 1, 0, 0, 0]);
    file.extend([0_u64, 64, 0].iter().flat_map(|number| number.to_le_bytes()));
    file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0]);
    let size = data.len() as u64;
    file.extend([START as u64, ADDRESS, ADDRESS, size, size, 16].iter().flat_map(|number| number.to_le_bytes()));
    file.resize(START, 0);
    [file, data].concat()
}
