use std::io::Write as _;

use proptest::prelude::*;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared");

fn installed(hashes: Result<ArchiveHashes, PackageError>) -> String {
    match hashes {
        Ok(hashes) if hashes.has_program("foo") => hashes.h1.to_string(),
        Ok(_) | Err(_) => "err".to_owned(),
    }
}

#[test]
fn archives_agree_with_the_tools() {
    let rows = crate::vectors::rows("h1/expected.tsv");
    let mut wrong = Vec::new();
    for row in rows.iter().filter(|row| row[1] != "-" && (cfg!(unix) || row[6] != "backslash name")) {
        let path = PathBuf::from(format!("{}/testdata/vectors/h1/{}", env!("CARGO_MANIFEST_DIR"), row[0]));
        for way in [hash_archive(&path, Threads::One), hash_archive(&path, Threads::Two)] {
            if matches!(way, Err(PackageError::Archive { source: BadArchive::Unusual(_), .. })) {
                continue;
            }
            let got = installed(way);
            if got != row[3] {
                wrong.push(format!("{} {}: {got}, wanted {}", row[0], row[6], row[3]));
            }
        }
    }
    crate::vectors::agree("h1/expected.tsv", &wrong);
}

#[cfg(unix)]
#[test]
fn directories_agree_with_the_tools() {
    let rows = crate::vectors::rows("h1/expected.tsv");
    let mut wrong = Vec::new();
    for row in rows.iter().filter(|row| row[1] == "-") {
        let folder = tempfile::tempdir().unwrap();
        for entry in crate::vectors::rows(&format!("h1/{}", row[0])) {
            let path = folder.path().join(&entry[1]);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match entry[0].as_str() {
                "dir" => fs::create_dir_all(&path).unwrap(),
                "link" => std::os::unix::fs::symlink(&entry[2], &path).unwrap(),
                _ => fs::write(&path, &entry[2]).unwrap(),
            }
        }
        let h1 = hash_directory(folder.path()).map_or_else(|_| "err".to_owned(), |h1| h1.to_string());
        let read = read_directory(folder.path(), None);
        assert_eq!(read.as_ref().map_or("err", |read| read.h1.as_str()), h1, "{}", row[0]);
        let program = read.is_ok_and(|read| read.has_program("foo"));
        let installed = if program { h1.clone() } else { "err".to_owned() };
        if (&h1, &installed) != (&row[2], &row[3]) {
            wrong.push(format!("{} {}: {h1} {installed}, wanted {} {}", row[0], row[6], row[2], row[3]));
        }
    }
    crate::vectors::agree("h1/expected.tsv", &wrong);
}

#[test]
#[expect(clippy::print_stderr, reason = "says why nothing was tested")]
fn archives_of_the_real_world() {
    let Ok(index) = fs::read_to_string(format!("{SHARED}/realworld/h1-vectors/INDEX.tsv")) else {
        eprintln!("skipped: ../shared is not here");
        return;
    };
    let mut count = 0;
    for line in index.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let path = PathBuf::from(format!("{SHARED}/realworld/h1-vectors/{}", cells[0]));
        let hashes = hash_archive(&path, Threads::One).unwrap();
        assert_eq!(hashes.h1.as_str(), cells[1]);
        assert_eq!(hashes.archive_form.as_ref().unwrap_or(&hashes.h1).as_str(), cells[2]);
        assert_eq!(PackageHash::zh(hashes.zh).as_str(), cells[3]);
        count += 1;
    }
    assert!(count >= 4);
}

#[cfg(unix)]
#[test]
fn a_package_directory_may_be_a_link_but_holds_only_files() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("package");
    fs::create_dir(&package).unwrap();
    fs::write(package.join("terraform-provider-foo_v1.0.0"), "#!bin\n").unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&package, &link).unwrap();
    let h1 = hash_directory(&link).unwrap();
    assert_eq!(h1.as_str(), "h1:C2U9ox1R6cZ67gfuUfYJI+oaNd7zIHqaC5SttDXu6mI=");
    std::os::unix::fs::symlink("/dev/zero", package.join("zero")).unwrap();
    assert!(matches!(hash_directory(&package), Err(PackageError::NotAFile(path)) if path.ends_with("zero")));
    assert!(matches!(hash_directory(&package.join("none")), Err(PackageError::Read { .. })));
    assert!(matches!(hash_archive(&package, Threads::One), Err(PackageError::NotAFile(_))));
}

#[test]
fn a_refused_archive_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    fs::write(&path, "no zip").unwrap();
    let error = Error::from(hash_archive(&path, Threads::One).unwrap_err());
    assert_eq!(error.kind, ErrorKind::Package);
    assert_eq!(error.message, format!("{}: not a valid zip file", crate::path::shown(&path)));
    assert_eq!(error.file, Some(path));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 25, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_archive_and_its_unpacked_directory_have_one_hash(
        files in proptest::collection::btree_map(
            "([a-zé .-]{0,3}d/){0,2}[a-z.-]{0,3}f",
            proptest::collection::vec(any::<u8>(), 0..2000),
            1..6,
        ),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (package, path) = (folder.path().join("package"), folder.path().join("package.zip"));
        let mut writer = ZipWriter::new(File::create(&path).unwrap());
        for (name, content) in &files {
            writer.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
            writer.write_all(content).unwrap();
            let unpacked = package.join(name);
            fs::create_dir_all(unpacked.parent().unwrap()).unwrap();
            fs::write(unpacked, content).unwrap();
        }
        writer.finish().unwrap();
        let hashes = hash_archive(&path, Threads::One).unwrap();
        prop_assert_eq!(hashes.archive_form, None);
        prop_assert_eq!(hashes.h1, hash_directory(&package).unwrap());
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    assert!(matches!(hash_archive(&pipe, Threads::One), Err(PackageError::NotAFile(_))));
    assert!(matches!(digest(&pipe), Err(PackageError::NotAFile(_))));
}
