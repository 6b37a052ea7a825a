//! Archives that readers take in different ways: read as the tools read them, or refused.

use super::tests::Sandbox;
use super::*;

const GOOD: &str = "output \"x\" {\n  value = \"good\"\n}\n";
const EVIL: &str = "output \"x\" {\n  value = file(\"evil\")\n}\n";

/// A header as Go writes it in the first form of POSIX, changed at some places.
fn header(name: &str, size: usize, changes: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; 512];
    let mut put = |at: usize, text: &[u8]| bytes[at..at + text.len()].copy_from_slice(text);
    put(0, name.as_bytes());
    put(100, b"0000644\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(156, b"0");
    put(257, b"ustar\x0000");
    for (at, text) in changes {
        put(*at, text);
    }
    put(148, b"        ");
    let sum: u32 = bytes.iter().map(|byte| u32::from(*byte)).sum();
    bytes[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    bytes
}

fn entry(name: &str, content: &str, changes: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = header(name, content.len(), changes);
    bytes.extend(content.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

/// A header with records of PAX.
fn pax(records: &[(&str, &str)]) -> Vec<u8> {
    let record = |(key, value): &(&str, &str)| {
        let rest = format!(" {key}={value}\n");
        let length =
            (rest.len()..rest.len() + 9).find(|length| length.to_string().len() + rest.len() == *length).unwrap();
        format!("{length}{rest}")
    };
    entry("x", &records.iter().map(record).collect::<String>(), &[(156, b"x")])
}

fn untarred(entries: &[Vec<u8>]) -> Result<UnpackedContents, String> {
    let place = Sandbox::new();
    let mut builder = place.builder();
    let bytes = [entries.concat(), vec![0; 1024]].concat();
    let unpacked = super::formats::unpack_tar_entries(&*bytes, &mut builder).and_then(|()| builder.finish());
    unpacked.map_err(|error| error.to_string())
}

#[test]
fn what_says_the_name_of_an_entry_in_a_tar() {
    let long = |kind: &[u8], name: &str| entry("l", &format!("{name}\0"), &[(156, kind)]);
    let file = || entry("n", EVIL, &[]);
    for (entries, name) in [
        (vec![file()], "n"),
        // Of two records the last one counts, and an empty one says nothing.
        (vec![pax(&[("path", "a"), ("path", "b")]), file()], "b"),
        (vec![pax(&[("path", "a"), ("path", "")]), file()], "n"),
        (vec![pax(&[("path", "a")]), pax(&[("mtime", "1")]), file()], "n"),
        (vec![pax(&[("path", "a")]), entry("g", "", &[(156, b"g")]), file()], "n"),
        (vec![long(b"L", "b"), pax(&[("path", "a")]), file()], "b"),
        (vec![long(b"L", "a"), long(b"L", "b\0c"), file()], "b"),
        (vec![pax(&[("size", &EVIL.len().to_string())]), file()], "n"),
        // The version of the form does not matter, nor does what only is where a prefix would.
        (vec![entry("n", EVIL, &[(263, b"99"), (345, b"a")])], "a/n"),
        (vec![entry("n", EVIL, &[(257, b"ustar  \0")])], "n"),
        (vec![entry("n", EVIL, &[(257, b"ustar  \0"), (345, b"00000000000\x0000000000000\x00")])], "n"),
        (vec![entry("n", EVIL, &[(257, b"\0\0\0\0\0\0\0\0"), (345, b"a")])], "n"),
    ] {
        let contents = untarred(&entries).unwrap();
        assert_eq!(contents.digests, [(name.to_owned(), Sha256Digest::of(EVIL.as_bytes()))].into(), "{name}");
    }
    assert!(untarred(&[header("d/", 0, &[(156, b"\0")])]).unwrap().digests.is_empty());
}

#[test]
fn a_tar_that_is_read_in_two_ways_is_refused() {
    let honest = entry("main.tf", GOOD, &[]);
    let sparse = [("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "main.tf")];
    for (entries, says) in [
        (vec![pax(&sparse), entry("notes.txt", EVIL, &[])], "a file is sparse"),
        (vec![entry("main.tf", EVIL, &[(156, b"S"), (257, b"ustar  \0")])], "a file is sparse"),
        (vec![pax(&[("size", "0")]), entry("notes.txt", EVIL, &[])], "its size is given twice"),
        // What hides behind is an entry for the tools.
        (vec![header("l", 512, &[(156, b"2"), (157, b"main.tf")]), entry("x.tf", "", &[])], "has content"),
        (vec![header("d/", 512, &[(156, b"5")]), entry("x.tf", "", &[])], "has content"),
        (vec![header("d/", 512, &[(156, b"\0")]), entry("x.tf", "", &[])], "has content"),
        // A directory for the tools, and links and pipes.
        (vec![entry("x.tf", EVIL, &[(100, b"0040644\0")])], "neither a file nor"),
        (vec![entry("x.tf", EVIL, &[(100, b"0120644\0")])], "neither a file nor"),
        (vec![entry("x.tf", EVIL, &[(100, b"0010644\0")])], "neither a file nor"),
        (vec![entry("x.tf", EVIL, &[(100, b"+00644\0\0")])], "a mode is malformed"),
        (vec![entry("x.tf", EVIL, &[(508, b"tar\0")])], "star"),
        (vec![entry("x.tf", EVIL, &[(257, b"ustar  \0"), (345, b"+1")])], "a time is malformed"),
        (vec![pax(&[("path", "a")]).into_iter().map(|byte| if byte == b'=' { b'-' } else { byte }).collect()], "a PAX"),
        (vec![entry("x\u{fe}.tf", EVIL, &[(1, b"\xfe\xff")])], "is not UTF-8"),
        (vec![header("x", 65 << 10, &[(156, b"L")])], "more than 64 KiB"),
    ] {
        let error = untarred(&[vec![honest.clone()], entries].concat()).unwrap_err();
        assert!(error.contains(says), "{says}: {error}");
    }
    assert_eq!(untarred(&[entry("x.tf", "", &[(100, b"0100644\0")])]).unwrap().digests.len(), 1);
}

/// What is behind the limit would be missing from the hash.
#[test]
fn a_tar_does_not_end_at_the_limit() {
    let place = Sandbox::new();
    let mut builder = place.builder();
    builder.bytes = MAX_BYTES - 512;
    let plain = [header("d/", 0, &[(156, b"5")]), entry("main.tf", "", &[])].concat();
    let error = super::formats::unpack_tar_entries(&*plain, &mut builder).unwrap_err();
    assert!(matches!(error, UnpackError::TooLarge), "{error}");
}

fn zip_local(name: &str, content: &str) -> Vec<u8> {
    zip_record(b"PK\x03\x04\x14\0", name, content, &[])
}

fn zip_central(name: &str, content: &str, offset: usize) -> Vec<u8> {
    let offset = u32::try_from(offset).unwrap().to_le_bytes();
    zip_record(b"PK\x01\x02\x14\x03\x14\0", name, content, &[&[0; 6][..], &[0, 0, 0xa4, 0x81], &offset].concat())
}

fn zip_record(head: &[u8], name: &str, content: &str, rest: &[u8]) -> Vec<u8> {
    let number = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    let name_length = u16::try_from(name.len()).unwrap().to_le_bytes();
    let crc = crc32fast::hash(content.as_bytes()).to_le_bytes();
    let sizes = [number(content.len()), number(content.len())].concat();
    let fixed = [head, &[0; 8], &crc, &sizes, &name_length, &[0; 2], rest, name.as_bytes()].concat();
    if rest.is_empty() { [&fixed, content.as_bytes()].concat() } else { fixed }
}

fn zip_end(disks: [u16; 2], entries: [u16; 2], place: [usize; 2], comment: usize) -> Vec<u8> {
    let mut bytes = b"PK\x05\x06".to_vec();
    bytes.extend(disks.into_iter().chain(entries).flat_map(u16::to_le_bytes));
    bytes.extend(place.into_iter().flat_map(|number| u32::try_from(number).unwrap().to_le_bytes()));
    bytes.extend(u16::try_from(comment).unwrap().to_le_bytes());
    bytes
}

fn unzipped(bytes: Vec<u8>) -> Result<UnpackedContents, UnpackError> {
    let place = Sandbox::new();
    let mut builder = place.builder();
    super::formats::unpack_zip_entries(&mut io::Cursor::new(bytes), &mut builder)?;
    builder.finish()
}

/// Two directories, the second within the comment of the end of the first: the tools take the last, other readers the first.
#[test]
fn a_zip_with_two_directories_is_refused() {
    let (good, evil) = (zip_local("main.tf", GOOD), zip_local("main.tf", EVIL));
    let first = zip_central("main.tf", GOOD, 0);
    let second = zip_central("main.tf", EVIL, good.len());
    let entries = [good.clone(), evil].concat();
    for (disks, here) in [([0, 0], 1), ([1, 0], 1), ([1, 1], 1), ([0, 0], 0)] {
        let at = entries.len() + first.len() + 22;
        let last = zip_end(disks, [here, 1], [second.len(), at], 0);
        let hides = zip_end([0, 0], [1, 1], [first.len(), entries.len()], second.len() + last.len());
        let bytes = [entries.clone(), first.clone(), hides, second.clone(), last].concat();
        let error = unzipped(bytes).unwrap_err().to_string();
        assert!(error.contains("unusual"), "{disks:?} {here}: {error}");
    }
    // Of two entries with one name the last one stays.
    let both = [first, second].concat();
    let end = zip_end([0, 0], [2, 2], [both.len(), entries.len()], 0);
    let contents = unzipped([entries, both, end].concat()).unwrap();
    assert_eq!(contents.digests["main.tf"], Sha256Digest::of(EVIL.as_bytes()));
}
