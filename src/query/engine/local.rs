//! A package on disk, hashed as it lies there.

use std::path::Path;

use crate::addr::ProviderAddr;
use crate::disk::cache::{Cache, ProgramRecord};
use crate::disk::mirror::LocalPackage;
use crate::disk::package::{self as packages, PackageError};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::archive::{BadArchive, Threads};
use crate::query::answer::{PackageFacts, Refusal};
use crate::query::{Event, Events, PackageKey};

pub(super) fn hash(
    key: &PackageKey,
    found: &LocalPackage,
    (events, cache): (&Events, &Cache),
) -> Result<PackageFacts, Refusal> {
    events.emit(Event::PackageStarted { package: key.clone(), total: None });
    let facts = match found {
        LocalPackage::Packed(path) => archive(key, path, (events, cache)),
        LocalPackage::Unpacked(path) => directory(key, path, cache),
    };
    events.emit(Event::PackageDone { package: key.clone(), ok: facts.is_ok(), local: true });
    facts
}

fn archive(key: &PackageKey, path: &Path, (events, cache): (&Events, &Cache)) -> Result<PackageFacts, Refusal> {
    let hashes = packages::hash_archive(path, Threads::One).map_err(|error| match error {
        PackageError::Archive { source: BadArchive::Unusual(_), .. } => {
            Finding::new(Rule::UnusualArchive, error.to_string()).about(&key.address).into()
        }
        error => Refusal::from(Error::from(error)),
    })?;
    events.emit(Event::PackageBytes { package: key.clone(), bytes: hashes.size });
    if !hashes.has_program(key.address.type_name()) {
        return Err(no_program(&key.address, path).into());
    }
    let built_from = hashes.built_from(key.address.type_name()).cloned().map_err(Clone::clone);
    if let Some(program) = ProgramRecord::new(&hashes.h1, &key.platform, built_from) {
        cache.record_program(program);
    }
    let unread = PackageFacts::unread(Some(hashes.zh), name(path));
    Ok(PackageFacts { h1: Some(hashes.h1), archive_form: hashes.archive_form, computed: true, ..unread })
}

fn directory(key: &PackageKey, path: &Path, cache: &Cache) -> Result<PackageFacts, Refusal> {
    let addr = &key.address;
    if !packages::has_program(path, addr.type_name()).map_err(Error::from)? {
        return Err(no_program(addr, path).into());
    }
    let h1 = packages::hash_directory(path).map_err(Error::from)?;
    let built_from = packages::built_from(path, addr.type_name()).map_err(Error::from)?;
    if let Some(program) = ProgramRecord::new(&h1, &key.platform, built_from) {
        cache.record_program(program);
    }
    Ok(PackageFacts { h1: Some(h1), computed: true, ..PackageFacts::unread(None, name(path)) })
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn no_program(addr: &ProviderAddr, path: &Path) -> Error {
    let message = format!(
        "the package of {addr} has no provider binary: no file in it is named terraform-provider-{}",
        addr.type_name(),
    );
    Error::new(ErrorKind::Package, message).in_file(path)
}
