use super::FileMode;
use super::*;
use crate::interrupt::What;

fn replacement<'a>(path: &'a Path, bytes: &'a [u8], was: Expected<'a>) -> Replacement<'a> {
    Replacement { file: NewFile { path, bytes, mode: FileMode::KeepOr(0o644), what: What::File }, was }
}

fn store_all(files: &[Replacement<'_>], directory: &Path, within: &Path) -> Result<Vec<Stored>, StoreError> {
    super::store_all(files, directory, within, &Interrupt::default())
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn all_files_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let [trust, lock, config] = ["trust", "lock", "versions.tf"].map(|name| directory.path().join(name));
    std::fs::write(&lock, "old").unwrap();
    std::fs::write(&config, "same").unwrap();
    let files = [
        replacement(&trust, b"pin", Expected::Absent),
        replacement(&lock, b"new", Expected::Bytes(b"old")),
        replacement(&config, b"same", Expected::Bytes(b"before")),
    ];
    let stored = store_all(&files, directory.path(), directory.path()).unwrap();
    assert_eq!(stored, [Stored::Written, Stored::Written, Stored::Unchanged]);
    assert_eq!(std::fs::read(&trust).unwrap(), b"pin");
    assert_eq!(std::fs::read(&lock).unwrap(), b"new");
    assert_eq!(store_all(&files, directory.path(), directory.path()).unwrap(), [Stored::Unchanged; 3]);
    assert_eq!(names(directory.path()), ["lock", "trust", "versions.tf"]);
}

#[test]
fn an_error_with_the_last_file_leaves_the_first_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let [lock, config, folder] = ["lock", "versions.tf", "folder"].map(|name| directory.path().join(name));
    std::fs::write(&lock, "old").unwrap();
    std::fs::write(&config, "theirs").unwrap();
    std::fs::create_dir(&folder).unwrap();
    for (last, was) in [
        (&config, Expected::Bytes(b"ours")),
        (&config, Expected::Absent),
        (&folder, Expected::Anything),
        (&directory.path().join("none/x.tf"), Expected::Absent),
        (&directory.path().join("new.tf"), Expected::Bytes(b"there")),
    ] {
        let files = [replacement(&lock, b"new", Expected::Anything), replacement(last, b"x", was)];
        assert!(store_all(&files, directory.path(), directory.path()).is_err(), "{last:?}");
        assert_eq!(std::fs::read(&lock).unwrap(), b"old");
        assert_eq!(std::fs::read(&config).unwrap(), b"theirs");
        assert_eq!(names(directory.path()), ["folder", "lock", "versions.tf"]);
    }
    let error =
        store_all(&[replacement(&config, b"x", Expected::Absent)], directory.path(), directory.path()).unwrap_err();
    assert!(matches!(&error, StoreError::Changed(path) if *path == config), "{error}");
}

#[test]
fn a_second_run_completes_what_was_cut_off_anywhere() {
    let texts = [("trust", None, "pin"), ("lock", Some("old"), "new"), ("main.tf", Some("before"), "after")];
    for done in 0..=texts.len() {
        let directory = tempfile::tempdir().unwrap();
        let paths = texts.map(|(name, _, _)| directory.path().join(name));
        for (index, (_, old, new)) in texts.iter().enumerate() {
            if let Some(bytes) = if index < done { Some(*new) } else { *old } {
                std::fs::write(&paths[index], bytes).unwrap();
            }
        }
        let files: Vec<_> = paths
            .iter()
            .zip(&texts)
            .map(|(path, (_, old, new))| {
                let was = old.map_or(Expected::Absent, |old| Expected::Bytes(old.as_bytes()));
                replacement(path, new.as_bytes(), was)
            })
            .collect();
        let stored = store_all(&files, directory.path(), directory.path()).unwrap();
        assert_eq!(stored.iter().filter(|stored| **stored == Stored::Written).count(), texts.len() - done);
        assert!(paths.iter().zip(&texts).all(|(path, (_, _, new))| std::fs::read_to_string(path).unwrap() == *new));
    }
}
