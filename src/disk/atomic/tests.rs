use super::*;

const MODE: FileMode = FileMode::Exactly(0o644);

fn store(path: &Path, bytes: &[u8], mode: FileMode, within: &Path) -> Result<Stored, StoreError> {
    super::store(NewFile { path, bytes, mode, what: What::File }, within, &Interrupt::default())
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn written_whole_and_once() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(".terraform.lock.hcl");
    assert_eq!(store(&file, b"one", MODE, directory.path()).unwrap(), Stored::Written);
    let before = std::fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(store(&file, b"one", MODE, directory.path()).unwrap(), Stored::Unchanged);
    assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), before);
    assert_eq!(store(&file, b"two", MODE, directory.path()).unwrap(), Stored::Written);
    assert_eq!(std::fs::read(&file).unwrap(), b"two");
    assert_eq!(names(directory.path()), [".terraform.lock.hcl"]);
}

#[test]
fn a_file_that_is_open_elsewhere_is_waited_for() {
    let refusals = |count: usize, kind: io::ErrorKind| {
        let mut attempts = 0;
        let result = retried(
            &[0; 3],
            |reason| reason.kind() == io::ErrorKind::ResourceBusy,
            || {
                attempts += 1;
                if attempts <= count { Err(kind.into()) } else { Ok(()) }
            },
        );
        (result.is_ok(), attempts)
    };
    assert_eq!(refusals(0, io::ErrorKind::ResourceBusy), (true, 1));
    assert_eq!(refusals(3, io::ErrorKind::ResourceBusy), (true, 4));
    assert_eq!(refusals(9, io::ErrorKind::ResourceBusy), (false, 4));
    assert_eq!(refusals(9, io::ErrorKind::NotFound), (false, 1));
}

#[test]
fn failures_change_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("versions.tf");
    std::fs::create_dir(&folder).unwrap();
    assert!(matches!(store(&folder, b"x", MODE, directory.path()), Err(StoreError::NotAFile(_))));
    let missing = directory.path().join("none/x.tf");
    let error = store(&missing, b"x", MODE, directory.path()).unwrap_err();
    assert!(matches!(error, StoreError::System { .. }), "{error}");
    assert_eq!(Error::from(error).kind, ErrorKind::Disk);
    assert!(store(Path::new(".."), b"x", MODE, directory.path()).is_err());
    assert_eq!(names(directory.path()), ["versions.tf"]);
}

#[cfg(unix)]
#[test]
fn permissions() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("f");
    let mode = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
    store(&file, b"1", FileMode::KeepOr(0o600), directory.path()).unwrap();
    assert_eq!(mode(), 0o600);
    store(&file, b"2", FileMode::KeepOr(0o644), directory.path()).unwrap();
    assert_eq!(mode(), 0o600);
    store(&file, b"3", MODE, directory.path()).unwrap();
    assert_eq!(mode(), 0o644);
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_only() {
    use std::os::unix::fs::symlink;

    let directory = tempfile::tempdir().unwrap();
    let (tree, outside) = (directory.path().join("tree"), directory.path().join("outside"));
    std::fs::create_dir_all(tree.join("sub")).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f"), "old").unwrap();

    symlink("sub/real", tree.join("inner")).unwrap();
    store(&tree.join("inner"), b"new", MODE, &tree).unwrap();
    assert_eq!(std::fs::read(tree.join("sub/real")).unwrap(), b"new");
    assert!(tree.join("inner").is_symlink());

    symlink("../outside/f", tree.join("outer")).unwrap();
    symlink("outer", tree.join("twice")).unwrap();
    symlink(&outside, tree.join("folder")).unwrap();
    for name in ["outer", "twice", "folder/f", "folder/fresh"] {
        let error = store(&tree.join(name), b"new", MODE, &tree).unwrap_err();
        assert!(matches!(error, StoreError::Outside { .. }), "{name}: {error}");
        assert!(error.to_string().contains("outside"));
    }
    assert_eq!(std::fs::read(outside.join("f")).unwrap(), b"old");
    assert_eq!(names(&outside), ["f"]);

    symlink("circle", tree.join("circle")).unwrap();
    assert!(matches!(store(&tree.join("circle"), b"x", MODE, &tree), Err(StoreError::NotAFile(_))));
}

#[test]
fn files_of_a_killed_run_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let kept =
        [".terraform.lock.hcl", "a.tflock-abc", "a.tflock-abcdefgh_", "x.tflock-1234567890", ".tflock-abcdefghi"];
    for name in kept.iter().chain(&["main.tf.tflock-aB3dEfGh1"]) {
        std::fs::write(directory.path().join(name), "").unwrap();
    }
    let path = directory.path().join("main.tf");
    let file = NewFile { path: &path, bytes: b"x", mode: MODE, what: What::File };
    let staged = stage(file, directory.path()).unwrap();
    assert_eq!(names(directory.path()).iter().filter(|name| is_left_behind(name)).count(), 2);
    sweep(directory.path());
    let mut kept = kept.map(str::to_owned);
    kept.sort();
    let mut left = names(directory.path());
    // Windows removes nothing that is open.
    left.retain(|name| cfg!(unix) || !is_left_behind(name));
    assert_eq!(left, kept);
    assert!(staged.replace(&Interrupt::default().writing().unwrap()).is_err());
}
