#![expect(clippy::disallowed_methods, reason = "tests read what the library must not")]

use std::io::{Cursor, Write as _};

use proptest::prelude::*;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

use super::record::{CENTRAL, END};
use super::seekable::read_entries;
use super::*;
use crate::hash::h1::h1;

fn streamed(bytes: &[u8], threads: Threads, piece: usize) -> Result<ArchiveHashes, Refusal> {
    streamed_within(bytes, threads, piece, Limits::default())
}

fn streamed_within(bytes: &[u8], threads: Threads, piece: usize, limits: Limits) -> Result<ArchiveHashes, Refusal> {
    let mut hasher = ArchiveHasher::on(threads, limits);
    for piece in bytes.chunks(piece.max(1)) {
        let _ = hasher.update(piece);
    }
    hasher.finish()
}

pub(super) fn by_directory(bytes: &[u8]) -> Result<ArchiveHashes, BadArchive> {
    match hash_by_directory(&mut Cursor::new(bytes), Sha256Digest::of(bytes), Limits::default()) {
        Ok(hashes) => Ok(hashes),
        Err(DirectoryReadError::Bad(bad)) => Err(bad),
        Err(DirectoryReadError::Io(error)) => panic!("{error}"),
    }
}

fn spool_reason(bytes: &[u8]) -> Option<SpoolReason> {
    match streamed(bytes, Threads::One, 1000).map_err(|refusal| refusal.error) {
        Err(ArchiveError::Spool(reason)) => Some(reason),
        _ => None,
    }
}

const PROGRAM: &str = "terraform-provider-foo_v1.0.0";

fn deflated() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored)
}

pub(super) fn archive(files: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
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

pub(super) fn at(bytes: &[u8], signature: u32) -> usize {
    bytes.windows(4).position(|window| window == signature.to_le_bytes()).unwrap()
}

#[test]
fn agrees_with_the_tools() {
    let rows = crate::vectors::rows("h1/expected.tsv");
    let mut wrong = Vec::new();
    for row in rows.iter().filter(|row| row[1] != "-") {
        let path = format!("{}/../../testdata/vectors/h1/{}", env!("CARGO_MANIFEST_DIR"), row[0]);
        let bytes = std::fs::read(path).unwrap();
        let entries = read_entries(&mut Cursor::new(&bytes), Limits::default());
        let form =
            entries.ok().and_then(|entries| archive_form(&entries)).map_or("err".to_owned(), |h1| h1.to_string());
        if form != row[2] {
            wrong.push(format!("{} {}: archive form {form}", row[0], row[6]));
        }
        let directory = installed(by_directory(&bytes));
        let mut ways = vec![directory.clone()];
        for threads in [Threads::One, Threads::Two] {
            for piece in [1, 7, 1 << 20] {
                ways.push(match streamed(&bytes, threads, piece) {
                    Err(Refusal { zh, error: ArchiveError::Spool(_), .. }) => {
                        assert_eq!(PackageHash::zh(zh).as_str(), row[1]);
                        directory.clone()
                    }
                    Err(Refusal { error: ArchiveError::Bad(bad), .. }) => installed(Err(bad)),
                    Ok(hashes) => installed(Ok(hashes)),
                });
            }
        }
        for got in ways {
            let fits = match got.strip_prefix("err: ") {
                // The words of the operating system differ in what they say first.
                Some(words) => row[4].strip_prefix("err: ").is_some_and(|wanted| words.contains(wanted)),
                None => got == row[3],
            };
            if !fits {
                wrong.push(format!("{} {}: {got}, wanted {} {}", row[0], row[6], row[3], row[4]));
            }
        }
    }
    crate::vectors::agree("h1/expected.tsv", &wrong);
}

pub(super) fn installed(hashes: Result<ArchiveHashes, BadArchive>) -> String {
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
        ("a comment", with_comment),
    ] {
        for threads in [Threads::One, Threads::Two] {
            let hashes = streamed(&bytes, threads, 10_007).unwrap_or_else(|refusal| panic!("{what}: {refusal:?}"));
            assert_eq!((hashes.h1, hashes.zh), (wanted.clone(), Sha256Digest::of(&bytes)), "{what}");
            assert_eq!((hashes.size, hashes.archive_form), (bytes.len() as u64, None), "{what}");
        }
        assert_eq!(by_directory(&bytes).unwrap().h1, wanted, "{what}");
    }
}

#[test]
fn a_folder_makes_another_archive_form() {
    let bytes = archive(&[(PROGRAM, b"#!bin\n"), ("sub/", b""), ("sub/f", b"1"), ("empty/", b"")], deflated());
    let hashes = streamed(&bytes, Threads::One, 100).unwrap();
    assert_eq!(hashes.h1.as_str(), "h1:Sf1eEisq4Fy84v2n/DDve3S+N5k/1VkHvBmvc41SqJc=");
    assert_eq!(hashes.archive_form.clone().unwrap().as_str(), "h1:W9RMgh5yDnhOYThv1I5qQCwQgc+aRzb7doq+bh5pMZI=");
    assert_eq!(by_directory(&bytes), Ok(hashes));
}

#[test]
fn what_is_unusual_is_left_to_the_directory() {
    let bytes = archive(&[(PROGRAM, b"#!bin\n"), ("b", b"2")], stored());
    let h1 = by_directory(&bytes).unwrap().h1;
    let directory = at(&bytes, CENTRAL);
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        bytes
    };
    let cases: [(SpoolReason, Vec<u8>); 7] = [
        (SpoolReason::Gap, [b"stub".as_slice(), &bytes].concat()),
        (SpoolReason::Trailing, [bytes.as_slice(), b"x"].concat()),
        (SpoolReason::Flags, changed(&|bytes| bytes[6] |= 1)),
        (SpoolReason::CentralDiffers, changed(&|bytes| bytes[31] ^= 1)),
        (SpoolReason::LocalDiffers, changed(&|bytes| bytes[14] ^= 1)),
        (SpoolReason::CentralDiffers, changed(&|bytes| bytes[directory + 34] = 1)),
        (SpoolReason::EndDiffers, {
            let at_end = at(&bytes, END) + 4;
            changed(&|bytes| bytes[at_end] = 1)
        }),
    ];
    for (reason, case) in cases {
        assert_eq!(spool_reason(&case), Some(reason));
        assert_eq!(by_directory(&case).map(|hashes| hashes.h1), Ok(h1.clone()), "{reason:?}");
    }
    assert_eq!(spool_reason(&bytes[..bytes.len() - 1]), Some(SpoolReason::CutShort));
    assert_eq!(by_directory(&bytes[..bytes.len() - 1]), Err(BadArchive::NotAZip));
}

#[test]
fn what_stood_before_the_archive_may_be_gone() {
    let bytes = archive(&[(PROGRAM, b"#!bin\n"), ("b", b"2")], deflated());
    let mut adjusted = bytes.clone();
    let end = at(&bytes, END);
    let mut places = vec![end + 16];
    places.extend((0..end).filter(|at| bytes[*at..].starts_with(&CENTRAL.to_le_bytes())).map(|at| at + 42));
    for place in places {
        let offset = u32::from_le_bytes(adjusted[place..place + 4].try_into().unwrap()) + 4000;
        adjusted[place..place + 4].copy_from_slice(&offset.to_le_bytes());
    }
    assert_eq!(by_directory(&adjusted).unwrap().h1, by_directory(&bytes).unwrap().h1);
    assert_eq!(spool_reason(&adjusted), Some(SpoolReason::CentralDiffers));
}

#[test]
fn junk_after_deflate_data_is_left_to_the_directory() {
    let bytes = archive(&[(PROGRAM, b"#!bin\n")], deflated());
    let directory = at(&bytes, CENTRAL);
    let mut junk = [&bytes[..directory], b"junk", &bytes[directory..]].concat();
    let end = at(&junk, END);
    for (place, step) in [(18, 4), (directory + 4 + 20, 4), (end + 16, 4)] {
        junk[place] += step;
    }
    assert_eq!(spool_reason(&junk), Some(SpoolReason::Deflate));
    assert_eq!(by_directory(&junk).unwrap().h1, by_directory(&bytes).unwrap().h1);
}

#[test]
fn limits() {
    let small = Limits { entries: 2, name: 40, directory: 200, unpacked: 1000, ratio: 1100 };
    let bad = |files: &[(&str, &[u8])]| {
        let bytes = archive(files, deflated());
        let streamed = streamed_within(&bytes, Threads::Two, 50, small).map_err(|refusal| refusal.error);
        let read = hash_by_directory(&mut Cursor::new(&bytes), Sha256Digest::of(&bytes), small);
        match (streamed, read) {
            (Ok(_), Ok(_)) => None,
            (Err(ArchiveError::Spool(SpoolReason::LocalHeader)), Err(DirectoryReadError::Bad(bad))) => Some(bad),
            (Err(ArchiveError::Bad(one)), Err(DirectoryReadError::Bad(other))) => {
                assert_eq!(one, other);
                Some(one)
            }
            other => panic!("{other:?}"),
        }
    };
    let (x40, x41, x100) = ("x".repeat(40), "x".repeat(41), "x".repeat(100));
    assert_eq!(bad(&[(&x40, b"1"), ("b", &[0; 999])]), None);
    assert_eq!(bad(&[("a", b""), ("b", b""), ("c", b"")]), Some(BadArchive::TooManyEntries(2)));
    assert_eq!(bad(&[(&x41, b"")]), Some(BadArchive::NameTooLong(40)));
    assert_eq!(bad(&[("a", &[0; 500]), ("b", &[0; 501])]), Some(BadArchive::TooLarge(1000)));
    let narrow = Limits { directory: 150, name: 200, ..small };
    let bytes = archive(&[(&x100, b""), ("b", b"")], stored());
    let refusal = streamed_within(&bytes, Threads::One, 50, narrow).unwrap_err();
    assert_eq!(refusal.error, BadArchive::DirectoryTooLarge(150).into());
    assert_eq!(refusal.zh, Sha256Digest::of(&bytes));
}

#[test]
fn entries_that_share_their_data_are_a_bomb() {
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
    assert_eq!(by_directory(&bomb), Err(BadArchive::Ratio(1100)));
    assert_eq!(spool_reason(&bomb), Some(SpoolReason::Gap));
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
        _ => described(&files, deflated().large_file(true)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_and_threads_do_not_matter(files in contents(), way in 0..5u8, piece in 1..100_000usize) {
        let bytes = write(&files, way);
        let whole = by_directory(&bytes);
        prop_assert_eq!(&streamed(&bytes, Threads::One, piece).map_err(|refusal| refusal.error), &whole.clone().map_err(Into::into));
        prop_assert_eq!(&streamed(&bytes, Threads::Two, piece).map_err(|refusal| refusal.error), &whole.map_err(Into::into));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_streaming_accepts_the_directory_confirms(
        seed in 0..5u8,
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
        let directory = by_directory(&bytes);
        match streamed(&bytes, Threads::One, 64).map_err(|refusal| refusal.error) {
            Ok(hashes) => prop_assert_eq!(Ok(hashes), directory),
            Err(ArchiveError::Bad(_)) => prop_assert!(directory.is_err()),
            Err(ArchiveError::Spool(_)) => {}
        }
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = (by_directory(&bytes), streamed(&bytes, Threads::One, 9));
    }
}
