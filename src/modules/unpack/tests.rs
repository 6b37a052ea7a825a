use std::io::Cursor;

use super::*;

pub(super) struct Sandbox(tempfile::TempDir);

impl Sandbox {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn top(&self) -> PathBuf {
        let top = self.0.path().join("package");
        fs::create_dir_all(&top).unwrap();
        top
    }

    pub(super) fn builder(&self) -> Builder {
        Builder::new(&self.top())
    }
}

fn tar_of(entries: &[(&str, ::tar::EntryType, &str)]) -> Vec<u8> {
    let mut archive = ::tar::Builder::new(Vec::new());
    for (name, kind, text) in entries {
        let mut header = ::tar::Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        // As an attacker writes them: without the checks of the library.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        let is_file = *kind == ::tar::EntryType::Regular;
        if !is_file {
            header.as_old_mut().linkname[..text.len()].copy_from_slice(text.as_bytes());
        }
        let content = if is_file { text.as_bytes() } else { b"" };
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive.append(&header, content).unwrap();
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&archive.into_inner().unwrap()).unwrap();
    gzip.finish().unwrap()
}

pub(super) fn unpacked(
    place: &Sandbox,
    entries: &[(&str, ::tar::EntryType, &str)],
) -> Result<UnpackedContents, UnpackError> {
    let mut builder = place.builder();
    unpack_tar(Cursor::new(tar_of(entries)), Compression::Gzip, &mut builder)?;
    builder.finish()
}

pub(super) const FILE: ::tar::EntryType = ::tar::EntryType::Regular;
pub(super) const LINK: ::tar::EntryType = ::tar::EntryType::Symlink;
const HARD: ::tar::EntryType = ::tar::EntryType::Link;

#[test]
fn honest_packages_are_laid_out() {
    let place = Sandbox::new();
    let entries = [
        ("./m/main.tf", FILE, "a"),
        ("m/again.tf", HARD, "m/main.tf"),
        ("l", LINK, "m"),
        ("m/up.tf", LINK, "../m/main.tf"),
        ("dangling", LINK, "nowhere"),
        ("main.tf", FILE, "first"),
        ("main.tf", FILE, "last"),
    ];
    let contents = unpacked(&place, &entries).unwrap();
    let read = |name: &str| fs::read_to_string(place.top().join(name)).unwrap();
    // As the tools unpack the second name of a file.
    assert_eq!((&*read("m/again.tf"), &*read("main.tf")), ("", "last"));
    if cfg!(unix) {
        assert_eq!((&*read("l/main.tf"), &*read("m/up.tf")), ("a", "a"));
    }
    assert!(place.top().join("dangling").symlink_metadata().is_err());
    assert_eq!(contents.digests.len(), 6);
}

#[test]
fn names_that_begin_with_a_dot_do_not_count() {
    let plain = unpacked(&Sandbox::new(), &[("a/b", FILE, "x")]).unwrap();
    let dotted = unpacked(&Sandbox::new(), &[("a/b", FILE, "x"), (".github/c", FILE, "y"), ("a/.d", FILE, "z")]);
    assert_eq!(plain.hash(), dotted.unwrap().hash());
    let other = unpacked(&Sandbox::new(), &[("a/b", LINK, "x")]).unwrap();
    // A link is its text, so that platforms without links agree.
    assert_eq!(plain.hash(), other.hash());
}

#[test]
fn nothing_leaves_the_directory() {
    let outside = [
        ("../x", FILE, "x"),
        ("a/../../x", FILE, "x"),
        ("/tmp/x", FILE, "x"),
        ("a\\..\\x", FILE, "x"),
        ("l", LINK, "/etc"),
        ("l", LINK, "../../etc"),
        ("a/l", LINK, "../../x"),
        ("h", HARD, "/etc/hostname"),
        ("h", HARD, "../x"),
        ("p", ::tar::EntryType::Fifo, ""),
        ("c", ::tar::EntryType::Char, ""),
        // What git would take for a repository.
        (".git/config", FILE, "x"),
        ("a/.GIT/config", FILE, "x"),
        ("a/.git", LINK, "b"),
        ("git~1/x", FILE, "x"),
        (".git. /x", FILE, "x"),
        (".g\u{200c}it/x", FILE, "x"),
        ("l", LINK, ".git/config"),
    ];
    for entry in outside {
        let place = Sandbox::new();
        assert!(unpacked(&place, &[entry]).is_err(), "{entry:?}");
        assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 1, "{entry:?}");
    }
}

#[test]
fn nothing_goes_through_a_link() {
    for entries in [
        [("d", LINK, "sub"), ("d/x", FILE, "x")],
        [("d/x", FILE, "x"), ("d", LINK, "sub")],
        [("d", LINK, "."), ("d/l", LINK, "x")],
    ] {
        assert!(unpacked(&Sandbox::new(), &entries).is_err(), "{entries:?}");
    }
}

/// By its text the second link stays inside; by way of the first it does not.
#[test]
#[cfg(unix)]
fn links_are_judged_by_where_they_lead() {
    let place = Sandbox::new();
    let entries = [("a/b/x", FILE, "x"), ("a/b/d", LINK, "../.."), ("m", LINK, "a/b/d/../..")];
    let error = unpacked(&place, &entries).unwrap_err();
    assert!(matches!(error, UnpackError::LinkOut { .. }), "{error}");
    // Where nothing is at its end now, something may be where it is installed.
    let entries = [("d/e/f", LINK, "../.."), ("d/e/x", FILE, "x"), ("l", LINK, "d/e/f/../../../x")];
    let error = unpacked(&Sandbox::new(), &entries).unwrap_err();
    assert!(matches!(error, UnpackError::LinkOut { .. }), "{error}");
}

/// Two such names could become one.
#[test]
fn names_that_are_no_text_are_refused() {
    let mut whole = ::tar::Builder::new(Vec::new());
    let mut header = ::tar::Header::new_gnu();
    header.as_old_mut().name[..5].copy_from_slice(b"x\xff.tf");
    header.set_size(0);
    header.set_cksum();
    whole.append(&header, &b""[..]).unwrap();
    let error = unpack_plain(&whole.into_inner().unwrap()).unwrap_err();
    assert!(matches!(error, UnpackError::NotUtf8(_)), "{error}");
}

/// A long name is in memory at once.
#[test]
fn the_name_of_an_entry_is_bounded() {
    let long = |length: usize| {
        let mut archive = ::tar::Builder::new(Vec::new());
        let mut header = ::tar::Header::new_gnu();
        header.set_size(0);
        let name = vec!["d/x"; length / 4].join("/");
        archive.append_data(&mut header, name, &b""[..]).unwrap();
        unpack_plain(&archive.into_inner().unwrap())
    };
    assert_eq!(long(1000).unwrap().digests.len(), 1);
    let error = long(80 * 1024).unwrap_err();
    assert!(error.to_string().contains("more than 64 KiB"), "{error}");
}

fn unpack_plain(archive: &[u8]) -> Result<UnpackedContents, UnpackError> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(archive).unwrap();
    let place = Sandbox::new();
    let mut builder = place.builder();
    unpack_tar(Cursor::new(gzip.finish().unwrap()), Compression::Gzip, &mut builder)?;
    builder.finish()
}

#[test]
fn bombs_do_not_go_off() {
    let place = Sandbox::new();
    let mut builder = place.builder();
    builder.bytes = MAX_BYTES - 10;
    let mut zeros = io::repeat(0).take(11);
    assert!(matches!(builder.file("z", &mut zeros), Err(UnpackError::TooLarge)));
    builder.entries = MAX_ENTRIES;
    assert!(matches!(builder.directory("d"), Err(UnpackError::TooMany)));
}

#[test]
fn damaged_archives_are_refused() {
    for compression in [Compression::Gzip, Compression::Bzip2, Compression::Xz] {
        let whole = tar_of(&[("main.tf", FILE, "x")]);
        for bytes in [&b"nothing"[..], &whole[..whole.len() / 2]] {
            let mut builder = Sandbox::new().builder();
            assert!(unpack_tar(Cursor::new(bytes.to_vec()), compression, &mut builder).is_err(), "{compression:?}");
        }
    }
}

#[test]
fn a_zip_follows_the_same_rules() {
    let zip_of = |name: &str, link: Option<&str>| {
        let mut archive = ::zip::ZipWriter::new(tempfile::tempfile().unwrap());
        let options = ::zip::write::SimpleFileOptions::default();
        if let Some(target) = link {
            archive.add_symlink(name, target, options).unwrap();
        } else {
            archive.start_file(name, options).unwrap();
            archive.write_all(b"x").unwrap();
        }
        archive.finish().unwrap()
    };
    let unpacked = |name: &str, link: Option<&str>| {
        let place = Sandbox::new();
        let mut builder = place.builder();
        unpack_zip(zip_of(name, link), &mut builder).and_then(|()| builder.finish())
    };
    assert_eq!(unpacked("a/main.tf", None).unwrap().digests.len(), 1);
    assert!(unpacked("l", Some("a")).is_ok());
    assert!(unpacked("../x", None).is_err());
    assert!(unpacked("/x", None).is_err());
    assert!(unpacked("l", Some("../x")).is_err());
    // What is cut would be in no hash, and the tools make a file of all of it.
    assert!(unpacked("l", Some(&"a/".repeat(2048))).is_err());
    assert!(unpack_zip(tempfile::tempfile().unwrap(), &mut Sandbox::new().builder()).is_err());
}
