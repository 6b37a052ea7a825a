use super::*;

struct Tree(tempfile::TempDir);

impl Tree {
    /// Makes files, and directories where a path ends with a slash.
    fn of(paths: &[&str]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for path in paths {
            let full = tree.0.path().join(path);
            std::fs::create_dir_all(if path.ends_with('/') { &full } else { full.parent().unwrap() }).unwrap();
            if !path.ends_with('/') {
                std::fs::write(full, "").unwrap();
            }
        }
        tree
    }

    fn packages(&self, addr: &str) -> Vec<String> {
        let addr = ProviderAddr::parse(addr, Dialect::Terraform).unwrap();
        let packages = FilesystemMirror::open(self.0.path()).unwrap().packages(&addr).unwrap();
        let describe = |(version, platform, package): (&Version, &Platform, &LocalPackage)| {
            let kind = if matches!(package, LocalPackage::Packed(_)) { "packed" } else { "unpacked" };
            format!("{version} {platform} {kind}")
        };
        packages.iter().map(describe).collect()
    }
}

#[test]
fn both_layouts() {
    let tree = Tree::of(&[
        "example.com/acme/x/terraform-provider-x_1.10.0_linux_amd64.zip",
        "example.com/acme/x/terraform-provider-x_1.2.0_linux_amd64.zip",
        "example.com/acme/x/Terraform-Provider-X_2.0.0-RC1_Linux_AMD64_signed_twice.ZIP",
        "example.com/acme/x/1.2/linux_amd64/",
        "example.com/acme/x/1.2.0/linux_amd64/",
        "example.com/acme/x/1.2.0/darwin_arm64/",
        "example.com/acme/y/1.0.0/linux_amd64/",
    ]);
    assert_eq!(
        tree.packages("example.com/acme/x"),
        [
            "1.2.0 darwin_arm64 unpacked",
            "1.2.0 linux_amd64 unpacked",
            "1.10.0 linux_amd64 packed",
            "2.0.0-rc1 linux_amd64 packed"
        ]
    );
    let mirror = FilesystemMirror::open(tree.0.path()).unwrap();
    let addr = ProviderAddr::parse("example.com/acme/x", Dialect::Terraform).unwrap();
    let (version, platform) = ("1.2.0".parse().unwrap(), "linux_amd64".parse().unwrap());
    // The first in the order of the names.
    let expected = LocalPackage::Unpacked(tree.0.path().join("example.com/acme/x/1.2/linux_amd64"));
    assert_eq!(mirror.package(&addr, &version, &platform).unwrap(), Some(expected));
    assert_eq!(mirror.versions(&addr).unwrap().len(), 3);
    assert_eq!(mirror.platforms(&addr, &version).unwrap().len(), 2);
    assert!(tree.packages("example.com/acme/z").is_empty());
}

#[test]
fn other_names_are_passed_over() {
    let tree = Tree::of(&[
        "stray",
        "bad_host/acme/x/1.0.0/linux_amd64/",
        "example.com/acme/x/index.json",
        "example.com/acme/x/terraform-provider-x_1.0.0_linux.zip",
        "example.com/acme/x/terraform-provider-x_v1.0.0_linux_amd64.zip",
        "example.com/acme/x/terraform-provider-xy_1.0.0_linux_amd64.zip",
        "example.com/acme/x/terraform-provider-x_1.0.0_linux_amd64.tar",
        "example.com/acme/x/terraform-provider-x_1.0.0_linux_amd64.zip/linux_amd64/",
        "example.com/acme/x/1.0.0/linux_amd64",
        "example.com/acme/x/1.0.0/linux/",
        "example.com/acme/x/1.0.0/linux_amd64_gnu/",
        "example.com/acme/x/latest/linux_amd64/",
    ]);
    assert_eq!(tree.packages("example.com/acme/x"), Vec::<String>::new());
}

#[test]
fn providers_are_those_with_a_package() {
    let tree = Tree::of(&[
        "example.com/acme/x/1.0.0/linux_amd64/",
        "example.com/acme/y/terraform-provider-y_1.0.0_plan9_arm.zip",
        "example.com/acme/z/index.json",
        "bad_host/acme/x/1.0.0/linux_amd64/",
    ]);
    let mirror = FilesystemMirror::open(tree.0.path()).unwrap();
    let found: Vec<String> = mirror.providers().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(found, ["example.com/acme/x", "example.com/acme/y"]);
}

#[test]
fn names_of_directories_are_normalised() {
    let tree = Tree::of(&["EXAMPLE.com:443/Acme/X/1.0.0/linux_amd64/", "example.com/acme/x/1.1.0/linux_amd64/"]);
    assert_eq!(tree.packages("example.com/acme/x"), ["1.0.0 linux_amd64 unpacked", "1.1.0 linux_amd64 unpacked"]);
}

#[cfg(unix)]
#[test]
fn links() {
    use std::os::unix::fs::symlink;

    let tree = Tree::of(&["real/acme/x/1.0.0/linux_amd64/", "real/file", "h.example/acme/x/1.0.0/", "o.example/"]);
    let base = tree.0.path();
    symlink(base.join("real"), base.join("l.example")).unwrap();
    symlink(base.join("real/acme"), base.join("o.example/acme")).unwrap();
    let own = base.join("h.example/acme/x");
    symlink(base.join("real/acme/x"), base.join("h.example/acme/y")).unwrap();
    symlink(base.join("real/acme/x/1.0.0"), own.join("1.1.0")).unwrap();
    symlink(base.join("real/acme/x/1.0.0/linux_amd64"), own.join("1.0.0/linux_amd64")).unwrap();
    symlink(base.join("nowhere"), own.join("1.0.0/darwin_arm64")).unwrap();
    symlink(base.join("real/file"), own.join("terraform-provider-x_2.0.0_linux_amd64.zip")).unwrap();
    symlink(base.join("nowhere"), own.join("terraform-provider-x_3.0.0_linux_amd64.zip")).unwrap();
    assert_eq!(tree.packages("h.example/acme/x"), ["1.0.0 linux_amd64 unpacked", "2.0.0 linux_amd64 packed"]);
    for addr in ["l.example/acme/x", "o.example/acme/x", "h.example/acme/y"] {
        assert!(tree.packages(addr).is_empty(), "{addr}");
    }
    let outer = tempfile::tempdir().unwrap();
    symlink(base, outer.path().join("base")).unwrap();
    let addr = ProviderAddr::parse("h.example/acme/x", Dialect::Terraform).unwrap();
    let mirror = FilesystemMirror::open(outer.path().join("base")).unwrap();
    assert_eq!(mirror.versions(&addr).unwrap().len(), 2);
}

#[test]
fn a_missing_mirror_is_an_error() {
    let tree = Tree::of(&["file"]);
    let open = |name: &str| FilesystemMirror::open(tree.0.path().join(name)).unwrap_err();
    assert!(matches!(open("none"), MirrorError::Missing(_)));
    assert!(matches!(open("file"), MirrorError::NotADirectory(_)));
    assert_eq!(Error::from(open("none")).kind, ErrorKind::Disk);
}
