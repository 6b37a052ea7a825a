//! `hash`: prints the hashes of archives and unpacked packages.

use std::path::{Path, PathBuf};

use super::Services;
use super::options::Within;
use crate::disk::package::{PackageError, hash_archive, hash_directory};
use crate::error::Error;
use crate::hash::PackageHash;
use crate::hash::archive::Threads;
use crate::outcome::{Body, HashLine, Outcome};

/// Print the hashes of provider packages.
///
/// Prints the zh: and h1: of archives and the h1: of unpacked directories, one line `HASH  PATH` each, as a lock file
/// records them.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example:\n  tflock hash terraform-provider-null_3.2.4_linux_amd64.zip")]
pub(crate) struct HashArgs {
    /// Archives and directories.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn hash(args: &HashArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let directories = services.scope.directories();
    let opened = directories.iter().flat_map(|directory| args.paths.iter().map(|path| directory.join(path)));
    let (lines, error) = hashed(&opened.collect::<Vec<_>>());
    Ok(Outcome::of_body("hash", Body::Hashed(lines)).with_error(error))
}

/// Hashes packages, in the order given: `zh:` and `h1:` of an archive, `h1:` of a directory. A package that cannot be
/// hashed gives an error next to the lines of the others.
fn hashed(paths: &[PathBuf]) -> (Vec<HashLine>, Option<Error>) {
    let (mut lines, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match hashes_of(path) {
            Ok(hashes) => lines.extend(hashes.into_iter().map(|hash| HashLine { hash, path: path.clone() })),
            Err(error) => errors.push(Error::from(error)),
        }
    }
    (lines, Error::all(errors))
}

fn hashes_of(path: &Path) -> Result<Vec<PackageHash>, PackageError> {
    if path.is_dir() {
        return Ok(vec![hash_directory(path)?]);
    }
    let hashes = hash_archive(path, Threads::Two)?;
    Ok(vec![PackageHash::zh(hashes.zh), hashes.h1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn one_bad_package_does_not_hide_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.zip");
        let (lines, error) = hashed(&[missing.clone(), folder.path().to_owned()]);
        let hash = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".parse().unwrap();
        assert_eq!(lines, [HashLine { hash, path: folder.path().to_owned() }]);
        let error = error.unwrap();
        assert_eq!((error.kind, error.file), (ErrorKind::Disk, Some(missing)));
    }
}
