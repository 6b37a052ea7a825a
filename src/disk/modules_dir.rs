//! `.terraform/modules`: where the tools look for installed modules, and where they are put for them.
//!
//! The list of installed modules never names a directory that is not what it says: what is replaced is taken out of the
//! list first, then the directories are exchanged, then the new list is swapped in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::atomic::{Mode, NewFile, stage, sweep};
use super::directories::{around, create_below, refuse_links};
use super::files;
use crate::config::{Installed, Manifest};
use crate::error::{Error, ErrorKind};
use crate::interrupt::{Interrupt, What, Writing};
use crate::path::shown;

const LIST: &str = "modules.json";

const STAGING: &str = ".tflock-";

#[derive(Debug)]
pub struct ModulesDir {
    path: PathBuf,
    /// What a link may not lead out of.
    data_dir: PathBuf,
}

impl ModulesDir {
    /// Makes the directory, if it is not there: `data_dir` is `.terraform` of the root module, or what replaces it.
    /// Removes what a killed run left there, so the caller must hold the lock on the root module.
    pub fn open(data_dir: &Path) -> Result<Self, Error> {
        refuse_links(data_dir, "modules")?;
        let path = data_dir.join("modules");
        create_below(around(data_dir), &path).map_err(|reason| unwritable(&path, &reason))?;
        let left = fs::read_dir(&path).into_iter().flatten().flatten();
        for entry in left.filter(|entry| entry.file_name().to_string_lossy().starts_with(STAGING)) {
            let _ = fs::remove_dir_all(entry.path());
        }
        sweep(&path);
        Ok(Self { path, data_dir: data_dir.to_owned() })
    }

    pub fn of(&self, key: &str) -> PathBuf {
        self.path.join(key)
    }

    /// A new directory to lay out modules in, by their keys. It goes away if nothing comes of it.
    pub fn staging(&self) -> Result<tempfile::TempDir, Error> {
        let made = tempfile::Builder::new().prefix(STAGING).tempdir_in(&self.path);
        made.map_err(|reason| unwritable(&self.path, &reason.kind().into()))
    }

    /// The list of installed modules; an empty one if there is none, or none that can be read.
    pub fn manifest(&self) -> Manifest {
        let bytes = files::read(&self.path.join(LIST)).ok().flatten().unwrap_or_default();
        Manifest::decode(&String::from_utf8_lossy(&bytes)).unwrap_or_default()
    }

    /// Puts modules from a staging directory in their places, and records all `installed` ones.
    pub fn replace(
        &self,
        staging: &tempfile::TempDir,
        keys: &[String],
        installed: Vec<(String, Installed)>,
        interrupt: &Interrupt,
    ) -> Result<(), Error> {
        let writing = interrupt.writing()?;
        let mut manifest = self.manifest();
        // Each is looked at: no `any`, which would stop at the first.
        let removed = keys.iter().filter(|key| manifest.remove_with_below(key)).count();
        if removed > 0 {
            self.write(&manifest, &writing)?;
        }
        for key in keys {
            let place = self.of(key);
            if fs::symlink_metadata(&place).is_ok() {
                let aside = staging.path().join(format!("{STAGING}{key}"));
                fs::rename(&place, &aside).map_err(|reason| unwritable(&place, &reason))?;
            }
            fs::rename(staging.path().join(key), &place).map_err(|reason| unwritable(&place, &reason))?;
            writing.wrote(What::InstalledModule, &place);
        }
        for (key, record) in installed {
            manifest.insert(key, record);
        }
        self.write(&manifest, &writing)
    }

    fn write(&self, manifest: &Manifest, writing: &Writing<'_>) -> Result<(), Error> {
        let (path, text) = (self.path.join(LIST), manifest.encode());
        let file = NewFile { path: &path, bytes: text.as_bytes(), mode: Mode::KeepOr(0o644), what: What::File };
        stage(file, &self.data_dir)?.replace(writing)?;
        Ok(())
    }
}

fn unwritable(path: &Path, reason: &io::Error) -> Error {
    Error::new(ErrorKind::Disk, format!("cannot write {}: {reason}", shown(path))).in_file(path)
}
