#![expect(clippy::disallowed_methods, reason = "tests read what the library must not")]

use std::io::{Cursor, Read as _, Write as _};

use proptest::prelude::*;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

use super::record::{CENTRAL, DESCRIPTOR, END, LOCAL};
use super::*;
use crate::hash::digest::h1;

fn streamed(bytes: &[u8], threads: Threads, piece: usize) -> Result<ArchiveHashes, ArchiveRefusal> {
    streamed_within(bytes, threads, piece, Limits::default())
}

fn streamed_within(
    bytes: &[u8],
    threads: Threads,
    piece: usize,
    limits: Limits,
) -> Result<ArchiveHashes, ArchiveRefusal> {
    let mut hasher = ArchiveHasher::on(threads, limits);
    for piece in bytes.chunks(piece.max(1)) {
        let _ = hasher.update(piece);
    }
    hasher.finish()
}

/// The archive form as another reader has it, or its words against the archive.
fn by_crate(bytes: &[u8]) -> Result<PackageHash, String> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    let mut entries = Vec::new();
    for at in 0..zip.len() {
        let mut file = zip.by_index(at).map_err(|error| error.to_string())?;
        let name = file.name_raw().into();
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(|error| error.to_string())?;
        entries.push(ArchiveEntry { name, directory: false, mode: None, digest: Some(Sha256Digest::of(&content)) });
    }
    archive_form(&entries).ok_or_else(|| "no archive form".to_owned())
}

fn form(hashes: ArchiveHashes) -> PackageHash {
    hashes.archive_form.unwrap_or(hashes.h1)
}

fn refusal(bytes: &[u8]) -> Option<BadArchive> {
    streamed(bytes, Threads::One, 1000).err().map(|refusal| refusal.error)
}

const PROGRAM: &str = "terraform-provider-foo_v1.0.0";

fn deflated() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored)
}

fn archive(files: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        if name.ends_with('/') {
            writer.add_directory(*name, options).unwrap();
        } else {
            writer.start_file(*name, options).unwrap();
            writer.write_all(content).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

/// With data descriptors.
fn described(files: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
    let mut writer: ZipWriter<StreamWriter<Vec<u8>>> = ZipWriter::new_stream(Vec::new());
    for (name, content) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u32;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8 & 0x3f
        })
        .collect()
}

fn at(bytes: &[u8], signature: u32) -> usize {
    bytes.windows(4).position(|window| window == signature.to_le_bytes()).unwrap()
}

/// What is unusual is refused, whatever the tools make of it; it is little.
#[test]
fn agrees_with_the_tools() {
    let rows = crate::vectors::rows("h1/expected.tsv");
    let (mut wrong, mut unusual) = (Vec::new(), Vec::new());
    // Windows takes the character for a separator, and the name is refused there.
    for row in rows.iter().filter(|row| row[1] != "-" && (cfg!(unix) || row[6] != "backslash name")) {
        let path = format!("{}/../../testdata/vectors/h1/{}", env!("CARGO_MANIFEST_DIR"), row[0]);
        let bytes = std::fs::read(path).unwrap();
        let ways =
            [Threads::One, Threads::Two].map(|threads| [1, 7, 1 << 20].map(|piece| streamed(&bytes, threads, piece)));
        let ways = ways.as_flattened();
        assert!(ways.iter().all(|way| *way == ways[0]), "{}", row[0]);
        let got = match ways[0].clone() {
            Err(ArchiveRefusal { zh, error, .. }) => {
                assert_eq!(PackageHash::zh(zh).as_str(), row[1]);
                if matches!(error, BadArchive::Unusual(_)) {
                    unusual.push(row[6].as_str());
                    continue;
                }
                installed(Err(error))
            }
            Ok(hashes) => {
                assert_eq!(hashes.archive_form.as_ref().unwrap_or(&hashes.h1).as_str(), row[2]);
                installed(Ok(hashes))
            }
        };
        let fits = match got.strip_prefix("err: ") {
            // The words of the operating system differ in what they say first.
            Some(words) => row[4].strip_prefix("err: ").is_some_and(|wanted| words.contains(wanted)),
            None => got == row[3],
        };
        if !fits {
            wrong.push(format!("{} {}: {got}, wanted {} {}", row[0], row[6], row[3], row[4]));
        }
    }
    crate::vectors::agree("h1/expected.tsv", &wrong);
    assert_eq!(unusual, UNUSUAL);
}

/// The vectors that are refused as unusual.
const UNUSUAL: [&str; 8] = [
    "duplicate name, other content",
    "bytes before, offsets adjusted",
    "bytes before, offsets not adjusted",
    "bytes after",
    "encrypted flag",
    "local name differs",
    "wrong CRC",
    "declared size too large",
];

fn installed(hashes: Result<ArchiveHashes, BadArchive>) -> String {
    match hashes {
        Ok(hashes) if hashes.has_program("foo") => hashes.h1.to_string(),
        Ok(_) => "err: provider binary not found".to_owned(),
        Err(bad) => format!("err: {bad}"),
    }
}

#[test]
fn the_usual_archives_are_streamed() {
    let (big, zeros) = (noise(700_000), vec![0; 600_000]);
    let files: [(&str, &[u8]); 4] = [(PROGRAM, &big), ("LICENSE", b"l"), ("empty", b""), ("zeros", &zeros)];
    let wanted = h1(files.map(|(name, content)| (name, Sha256Digest::of(content)))).unwrap();
    let with_comment = {
        let mut bytes = archive(&files, deflated());
        let length = bytes.len();
        bytes[length - 2] = 5;
        bytes.extend(b"PK\x05 !");
        bytes
    };
    for (what, bytes) in [
        ("deflated", archive(&files, deflated())),
        ("stored", archive(&files, stored())),
        ("zip64 fields", archive(&files, deflated().large_file(true))),
        ("descriptors", described(&files, deflated())),
        ("descriptors of eight bytes", described(&files, deflated().large_file(true))),
        ("stored, with descriptors", described(&files, stored())),
        ("stored, with descriptors of eight bytes", described(&files, stored().large_file(true))),
        ("a comment", with_comment),
    ] {
        for threads in [Threads::One, Threads::Two] {
            let hashes = streamed(&bytes, threads, 10_007).unwrap_or_else(|refusal| panic!("{what}: {refusal:?}"));
            assert_eq!((hashes.h1, hashes.zh), (wanted.clone(), Sha256Digest::of(&bytes)), "{what}");
            assert_eq!((hashes.size, hashes.archive_form), (bytes.len() as u64, None), "{what}");
        }
        assert_eq!(by_crate(&bytes).unwrap(), wanted, "{what}");
    }
}

/// Whatever is before the directory: also after data whose end only a descriptor shows.
#[test]
fn a_gap_before_the_directory_is_unusual() {
    let files: &[(&str, &[u8])] = &[("a", b"text"), (PROGRAM, b"#!bin\n")];
    let archives = [stored(), deflated()]
        .map(|method| [archive(files, method), described(files, method), described(files, method.large_file(true))]);
    for bytes in archives.into_iter().flatten() {
        for gap in [&b"x"[..], b"PK", &[0; 1000]] {
            let directory = at(&bytes, CENTRAL);
            let mut moved = [&bytes[..directory], gap, &bytes[directory..]].concat();
            let offset = at(&moved, END) + 16;
            moved[offset..offset + 4].copy_from_slice(&u32::try_from(directory + gap.len()).unwrap().to_le_bytes());
            for piece in [1, 100, 1 << 20] {
                let refusal = streamed(&moved, Threads::One, piece).unwrap_err().error;
                assert_eq!(refusal, Oddity::Gap.into(), "{} bytes", gap.len());
            }
        }
        // A download that broke off is something else.
        let cut = &bytes[..at(&bytes, CENTRAL) - 3];
        assert_eq!(refusal(cut), Some(BadArchive::NotAZip));
    }
}

/// Stored data may hold what looks like a descriptor, and one that is cut by the end of a piece.
#[test]
fn stored_data_end_at_the_descriptor_that_fits() {
    let inner = described(&[("inner", b"x")], stored());
    let content = [&inner[..], &DESCRIPTOR.to_le_bytes(), &[0; 24], b"PK\x07", &DESCRIPTOR.to_le_bytes()].concat();
    let bytes = described(&[(PROGRAM, &content), ("empty", b""), ("more", &content)], stored());
    let files = [(PROGRAM, &content[..]), ("empty", b""), ("more", &content)];
    let wanted = h1(files.map(|(name, content)| (name, Sha256Digest::of(content)))).unwrap();
    for piece in 1..100 {
        assert_eq!(streamed(&bytes, Threads::One, piece).unwrap().h1, wanted, "{piece}");
    }
}

/// The same archive without the signatures of its descriptors, which readers need not have.
fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let mut changed = Vec::new();
    let mut removed = Vec::new();
    let mut rest = bytes;
    while let Some(place) = memchr::memmem::find(rest, &DESCRIPTOR.to_le_bytes()) {
        removed.push(bytes.len() - rest.len() + place);
        changed.extend_from_slice(&rest[..place]);
        rest = &rest[place + 4..];
    }
    changed.extend_from_slice(rest);
    let moved =
        |offset: u32| offset - 4 * u32::try_from(removed.iter().filter(|at| **at < offset as usize).count()).unwrap();
    let headers: Vec<usize> = memchr::memmem::find_iter(&changed, &CENTRAL.to_le_bytes()).map(|at| at + 42).collect();
    let end = at(&changed, END) + 16;
    for place in headers.into_iter().chain([end]) {
        let offset = u32::from_le_bytes(changed[place..place + 4].try_into().unwrap());
        changed[place..place + 4].copy_from_slice(&moved(offset).to_le_bytes());
    }
    changed
}

#[test]
#[ignore = "long"]
fn descriptors_need_no_signature() {
    let (big, zeros) = (noise(70_000), vec![0; 60_000]);
    let files: [(&str, &[u8]); 5] =
        [(PROGRAM, &big), ("empty", b""), ("zeros", &zeros), ("PK", b"PK\x03\x04PK\x01\x02"), ("z", b"z")];
    let wanted = h1(files.map(|(name, content)| (name, Sha256Digest::of(content)))).unwrap();
    for options in [stored(), stored().large_file(true), deflated(), deflated().large_file(true)] {
        let bytes = unsigned(&described(&files, options));
        assert_eq!(by_crate(&bytes).unwrap(), wanted);
        for piece in [1, 7, 27, 28, 29, 1000, 1 << 20] {
            assert_eq!(streamed(&bytes, Threads::One, piece).unwrap().h1, wanted, "{piece}");
        }
        let directory = at(&bytes, CENTRAL);
        let mut moved = [&bytes[..directory], b"gap", &bytes[directory..]].concat();
        let offset = at(&moved, END) + 16;
        moved[offset..offset + 4].copy_from_slice(&u32::try_from(directory + 3).unwrap().to_le_bytes());
        assert_eq!(refusal(&moved), Some(Oddity::Gap.into()));
        assert_eq!(refusal(&bytes[..directory - 3]), Some(BadArchive::NotAZip));
    }
}

/// The tools look at no data of folders, whatever says that they are some.
#[test]
fn the_method_of_a_folder_is_unusual() {
    let bytes = archive(&[(PROGRAM, b"#!bin\n"), ("sub/", b""), ("file", b"")], stored());
    let with_method = |name: &str, mode: Option<u32>| {
        let mut changed = bytes.clone();
        let name = name.as_bytes();
        for (signature, to_method, to_name) in [(LOCAL, 8, 30), (CENTRAL, 10, 46)] {
            let headers: Vec<usize> = memchr::memmem::find_iter(&bytes, &signature.to_le_bytes()).collect();
            let header = *headers.iter().find(|at| bytes[**at + to_name..].starts_with(name)).unwrap();
            changed[header + to_method] = 99;
            if let Some(mode) = mode.filter(|_| signature == CENTRAL) {
                changed[header + 5] = 3;
                changed[header + 38..header + 42].copy_from_slice(&(mode << 16).to_le_bytes());
            }
        }
        refusal(&changed)
    };
    let method = |name: &str| Some(BadArchive::Method { name: name.to_owned(), method: 99 });
    assert_eq!(with_method("sub/", None), Some(Oddity::FolderMethod.into()));
    assert_eq!(with_method("file", Some(0o040_755)), Some(Oddity::FolderMethod.into()));
    assert_eq!(with_method("file", None), method("file"));
    assert_eq!(with_method(PROGRAM, None), method(PROGRAM));
}

#[test]
fn a_folder_makes_another_archive_form() {
    let bytes = archive(&[(PROGRAM, b"#!bin\n"), ("sub/", b""), ("sub/f", b"1"), ("empty/", b"")], deflated());
    let hashes = streamed(&bytes, Threads::One, 100).unwrap();
    assert_eq!(hashes.h1.as_str(), "h1:Sf1eEisq4Fy84v2n/DDve3S+N5k/1VkHvBmvc41SqJc=");
    assert_eq!(hashes.archive_form.clone().unwrap().as_str(), "h1:W9RMgh5yDnhOYThv1I5qQCwQgc+aRzb7doq+bh5pMZI=");
}

#[test]
fn unusual_archives_are_refused() {
    let bytes = archive(&[(PROGRAM, b"#!bin\n"), ("b", b"2")], stored());
    let directory = at(&bytes, CENTRAL);
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        bytes
    };
    let cases: [(Oddity, Vec<u8>); 6] = [
        (Oddity::Trailing, [bytes.as_slice(), b"x"].concat()),
        (Oddity::Flags, changed(&|bytes| bytes[6] |= 1)),
        (Oddity::CentralDiffers, changed(&|bytes| bytes[31] ^= 1)),
        (Oddity::LocalDiffers, changed(&|bytes| bytes[14] ^= 1)),
        (Oddity::CentralDiffers, changed(&|bytes| bytes[directory + 34] = 1)),
        (Oddity::EndDiffers, {
            let at_end = at(&bytes, END) + 4;
            changed(&|bytes| bytes[at_end] = 1)
        }),
    ];
    for (oddity, case) in cases {
        assert_eq!(refusal(&case), Some(oddity.into()));
    }
    assert_eq!(refusal(&bytes[..bytes.len() - 1]), Some(BadArchive::NotAZip));
    assert_eq!(refusal(&[b"stub".as_slice(), &bytes].concat()), Some(Oddity::Gap.into()));
    assert_eq!(refusal(&[b"stub".as_slice(), &bytes[..bytes.len() - 1]].concat()), Some(BadArchive::NotAZip));
    assert_eq!(refusal(b"<html>PK\x05\x06</html>"), Some(BadArchive::NotAZip));
    assert_eq!(refusal(&bytes[at(&bytes, END)..]), Some(BadArchive::Empty));
}

#[test]
fn junk_after_deflate_data_is_unusual() {
    let bytes = archive(&[(PROGRAM, b"#!bin\n")], deflated());
    let directory = at(&bytes, CENTRAL);
    let mut junk = [&bytes[..directory], b"junk", &bytes[directory..]].concat();
    let end = at(&junk, END);
    for (place, step) in [(18, 4), (directory + 4 + 20, 4), (end + 16, 4)] {
        junk[place] += step;
    }
    assert_eq!(refusal(&junk), Some(Oddity::Deflate.into()));
}

#[test]
fn limits() {
    let small = Limits { entries: 2, name: 40, directory: 200, unpacked: 1000 };
    let bad = |files: &[(&str, &[u8])]| {
        let bytes = archive(files, deflated());
        streamed_within(&bytes, Threads::Two, 50, small).err().map(|refusal| refusal.error)
    };
    let (x40, x41, x100) = ("x".repeat(40), "x".repeat(41), "x".repeat(100));
    assert_eq!(bad(&[(&x40, b"1"), ("b", &[0; 999])]), None);
    assert_eq!(bad(&[("a", b""), ("b", b""), ("c", b"")]), Some(BadArchive::TooManyEntries(2)));
    assert_eq!(bad(&[(&x41, b"")]), Some(BadArchive::NameTooLong(40)));
    assert_eq!(bad(&[("a", &[0; 500]), ("b", &[0; 501])]), Some(BadArchive::TooLarge(1000)));
    let narrow = Limits { directory: 150, name: 200, ..small };
    let bytes = archive(&[(&x100, b""), ("b", b"")], stored());
    let refusal = streamed_within(&bytes, Threads::One, 50, narrow).unwrap_err();
    assert_eq!(refusal.error, BadArchive::DirectoryTooLarge(150));
    assert_eq!(refusal.zh, Sha256Digest::of(&bytes));
}

#[test]
fn entries_that_share_their_data_are_refused() {
    let bytes = archive(&[("a", &vec![0; 100_000])], deflated());
    let (directory, end) = (at(&bytes, CENTRAL), at(&bytes, END));
    let header = &bytes[directory..end];
    let mut bomb = bytes[..directory].to_vec();
    bomb.extend(header.repeat(60));
    let mut last = bytes[end..].to_vec();
    last[8] = 60;
    last[10] = 60;
    last[12..16].copy_from_slice(&u32::try_from(header.len() * 60).unwrap().to_le_bytes());
    bomb.extend(last);
    assert_eq!(refusal(&bomb), Some(Oddity::Gap.into()));
}

fn contents() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    let content = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..300),
        (0..200_000usize).prop_map(|length| vec![7; length]),
        (0..60_000usize).prop_map(noise),
    ];
    proptest::collection::btree_map("([a-zé .-]{0,3}d/){0,2}[a-z.-]{0,3}f", content, 1..5)
        .prop_map(|files| files.into_iter().collect())
}

fn write(files: &[(String, Vec<u8>)], way: u8) -> Vec<u8> {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    match way {
        0 => archive(&files, deflated()),
        1 => archive(&files, stored()),
        2 => archive(&files, deflated().large_file(true)),
        3 => described(&files, deflated()),
        4 => described(&files, deflated().large_file(true)),
        _ => described(&files, stored()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_and_threads_do_not_matter(files in contents(), way in 0..6u8, piece in 1..100_000usize) {
        let bytes = write(&files, way);
        let whole = by_crate(&bytes).unwrap();
        prop_assert_eq!(&form(streamed(&bytes, Threads::One, piece).unwrap()), &whole);
        prop_assert_eq!(&form(streamed(&bytes, Threads::Two, piece).unwrap()), &whole);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "long"]
    fn accepted_archives_read_alike_in_another_reader(
        seed in 0..6u8,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in proptest::option::weighted(0.1, any::<prop::sample::Index>()),
        doubled in proptest::option::weighted(0.2, (any::<prop::sample::Index>(), any::<prop::sample::Index>())),
    ) {
        let files = [(PROGRAM.to_owned(), noise(60)), ("d/e".to_owned(), vec![0; 90]), ("f".to_owned(), Vec::new())];
        let mut bytes = write(&files, seed);
        for (index, value) in changes {
            *index.get_mut(&mut bytes) = value;
        }
        if let Some(index) = cut {
            bytes.truncate(index.index(bytes.len()));
        }
        if let Some((from, to)) = doubled {
            let (from, to) = (from.index(bytes.len().max(1)), to.index(bytes.len().max(1)));
            let part = bytes.get(from..from.saturating_add(40).min(bytes.len())).unwrap_or_default().to_vec();
            bytes.splice(to.min(bytes.len())..to.min(bytes.len()), part);
        }
        if let Ok(hashes) = streamed(&bytes, Threads::One, 64) {
            prop_assert_eq!(Ok(form(hashes)), by_crate(&bytes));
        }
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = streamed(&bytes, Threads::One, 9);
    }
}
