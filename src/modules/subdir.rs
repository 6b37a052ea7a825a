//! The directory of a module within its package, where `*` means the one entry that fits.
//!
//! Source: `github.com/hashicorp/go-getter` v1, `SubdirGlob`; Go's `path/filepath`, `Glob`.

use std::fs;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use crate::error::{Error, ErrorKind};

pub(super) fn expand(tree: &Path, subdir: &str, source: &str) -> Result<PathBuf, Error> {
    let missing = |what: &str| {
        Error::new(ErrorKind::NotFound, format!("the module package from {source} has {what} {subdir:?}"))
            .hint("correct what follows // in the source of the module call")
    };
    let mut found = vec![PathBuf::new()];
    for part in subdir.split('/').filter(|part| !part.is_empty()) {
        found = if part.contains(['*', '?', '[']) {
            found.iter().flat_map(|path| matches(tree, path, part)).collect()
        } else {
            found.into_iter().map(|path| path.join(part)).filter(|path| tree.join(path).exists()).collect()
        };
    }
    let path = match &found[..] {
        [] => return Err(missing("no directory")),
        [path] => tree.join(path),
        _ => return Err(missing("several entries that fit")),
    };
    let real = fs::canonicalize(&path).and_then(|real| Ok((real, fs::canonicalize(tree)?)));
    match real {
        Ok((real, top)) if real.starts_with(&top) && real.is_dir() => Ok(path),
        Ok((real, _)) if real.is_dir() => Err(Error::new(
            ErrorKind::Package,
            format!("the directory {subdir:?} leads out of the module package from {source}"),
        )),
        _ => Err(missing("no directory")),
    }
}

/// The entries of a directory whose names fit a pattern.
fn matches(tree: &Path, path: &Path, pattern: &str) -> Vec<PathBuf> {
    let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() else { return Vec::new() };
    let matcher = glob.compile_matcher();
    let entries = fs::read_dir(tree.join(path)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    names.filter(|name| matcher.is_match(name)).map(|name| path.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_one_entry() {
        let place = tempfile::tempdir().unwrap();
        for dir in ["only/m/x", "only/m/y", "only/n"] {
            fs::create_dir_all(place.path().join(dir)).unwrap();
        }
        fs::write(place.path().join("only/file"), "").unwrap();
        let found = |subdir: &str| {
            let found = expand(place.path(), subdir, "https://a.example/x.zip");
            found.map(|path| crate::path::shown(path.strip_prefix(place.path()).unwrap()))
        };
        assert_eq!(found("").unwrap(), "");
        assert_eq!(found("only/m/x").unwrap(), "only/m/x");
        assert_eq!(found("*").unwrap(), "only");
        assert_eq!(found("*/[m]/?").map_err(|error| error.kind), Err(ErrorKind::NotFound));
        assert_eq!(found("*/n*").unwrap(), "only/n");
        assert_eq!(found("*/*/x").unwrap(), "only/m/x");
        for missing in ["none", "only/file", "z*", "only/*", "only/m/x/*"] {
            let error = found(missing).unwrap_err();
            assert_eq!(error.kind, ErrorKind::NotFound, "{missing}");
        }
        let error = found("only/m/*").unwrap_err();
        assert!(error.message.contains("several"), "{}", error.message);
    }
}
