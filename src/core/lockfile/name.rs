//! Names of dependency lock files: the ordinary one, and those of Atmos instances.
//!
//! Source: cloudposse/atmos, `pkg/provisioner/instance.go`.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

/// The name of the ordinary file in every root module.
pub const FILE_NAME: &str = ".terraform.lock.hcl";

/// How names of all lock files match, as in the files of git.
pub const NAME_PATTERNS: [&str; 2] = [FILE_NAME, ".*.terraform.lock.hcl"];

/// The name of a dependency lock file. Atmos copies that of an instance, `.NAME.terraform.lock.hcl`, over the ordinary one before
/// `init`; it is beside the ordinary one, and a directory may have several.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockName(Option<String>);

impl LockName {
    /// `None` if a file of this name is no dependency lock file.
    pub fn of(name: &str) -> Option<Self> {
        if name == FILE_NAME { Some(Self::default()) } else { Self::of_instance(name) }
    }

    /// `None` if a file of this name is not the lock file of an Atmos instance.
    pub fn of_instance(name: &str) -> Option<Self> {
        let is_instance = name.starts_with('.') && name.ends_with(FILE_NAME) && name.len() > FILE_NAME.len() + 1;
        is_instance.then(|| Self(Some(name.to_owned())))
    }

    /// The same for a name that the system gives.
    pub fn of_file(name: &OsStr) -> Option<Self> {
        Self::of(name.to_str()?)
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or(FILE_NAME)
    }

    /// True for the lock file of an Atmos instance.
    pub fn is_instance(&self) -> bool {
        self.0.is_some()
    }

    /// The directory of a root module by what reports call it: the directory itself, or the lock file of an Atmos instance in it.
    pub fn directory(name: &Path) -> &Path {
        let is_instance = name.file_name().and_then(Self::of_file).is_some_and(|name| name.is_instance());
        if is_instance { name.parent().unwrap_or(Path::new("")) } else { name }
    }

    /// The lock file of a root module by what reports call it.
    pub fn file(name: &Path) -> PathBuf {
        if Self::directory(name) == name { name.join(FILE_NAME) } else { name.to_owned() }
    }

    /// True for a name that is one of a lock file only where upper and lower case are the same.
    pub fn is_elsewhere(name: &str) -> bool {
        Self::of(name).is_none() && Self::of(&name.to_lowercase()).is_some()
    }
}

impl fmt::Display for LockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_instances_end_like_the_ordinary_one() {
        for (name, wanted) in [
            (".terraform.lock.hcl", Some(false)),
            (".dev-vpc.terraform.lock.hcl", Some(true)),
            (".DEV.terraform.lock.hcl", Some(true)),
            (".x.y.terraform.lock.hcl", Some(true)),
            ("..terraform.lock.hcl", None),
            ("dev.terraform.lock.hcl", None),
            (".dev-terraform.lock.hcl", None),
            (".dev.terraform.lock.hcl.orig", None),
            (".dev.Terraform.lock.hcl", None),
            ("main.tf", None),
        ] {
            assert_eq!(LockName::of(name).map(|it| it.is_instance()), wanted, "{name}");
            assert!(LockName::of(name).is_none_or(|it| it.as_str() == name), "{name}");
        }
        let of = |name: &str| (LockName::directory(Path::new(name)).to_owned(), LockName::file(Path::new(name)));
        assert_eq!(of("a/b"), ("a/b".into(), "a/b/.terraform.lock.hcl".into()));
        assert_eq!(of(""), ("".into(), ".terraform.lock.hcl".into()));
        assert_eq!(of("a/.x.terraform.lock.hcl"), ("a".into(), "a/.x.terraform.lock.hcl".into()));
        let folded = [".dev.Terraform.lock.hcl", ".terraform.lock.HCL"].map(LockName::is_elsewhere);
        assert_eq!((folded, LockName::is_elsewhere(".terraform.lock.hcl")), ([true; 2], false));
    }
}
