//! A package on disk, hashed as it lies there.

use std::path::Path;

use super::archives::{self, Destination};
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
    destination: &Destination,
    (events, cache): (&Events, &Cache),
) -> Result<PackageFacts, Refusal> {
    events.emit(Event::PackageStarted { package: key.clone(), total: None });
    let facts = read(key, found, destination, cache);
    if let Some(bytes) = facts.as_ref().ok().and_then(|facts| facts.size) {
        events.emit(Event::PackageBytes { package: key.clone(), bytes });
    }
    events.emit(Event::PackageDone { package: key.clone(), ok: facts.is_ok(), local: true });
    facts
}

/// The hashes of a package. What goes to the destination are the bytes that were hashed.
pub(super) fn read(
    key: &PackageKey,
    found: &LocalPackage,
    destination: &Destination,
    cache: &Cache,
) -> Result<PackageFacts, Refusal> {
    destination.begin().map_err(Error::from)?;
    match found {
        LocalPackage::Packed(path) => archive(key, path, destination, cache),
        LocalPackage::Unpacked(path) => directory(key, path, destination, cache),
    }
}

fn archive(key: &PackageKey, path: &Path, destination: &Destination, cache: &Cache) -> Result<PackageFacts, Refusal> {
    let threads = if let Destination::Nowhere = destination { Threads::One } else { Threads::Two };
    let mut written = Ok(());
    let hashes = packages::unpack_archive(path, threads, destination.contents(), |bytes| {
        if written.is_ok() {
            written = destination.write(bytes);
        }
    });
    let hashes = hashes.map_err(|error| match error {
        PackageError::Archive { source: BadArchive::Unusual(_), .. } => {
            Finding::new(Rule::UnusualArchive, error.to_string()).about(&key.address).into()
        }
        error => Refusal::from(Error::from(error)),
    })?;
    if !hashes.has_program(key.address.type_name()) {
        return Err(no_program(&key.address, path).into());
    }
    written.and_then(|()| destination.finish(&hashes.h1, &hashes.files)).map_err(Error::from)?;
    Ok(archives::read(key, &hashes, name(path), cache))
}

fn directory(key: &PackageKey, path: &Path, destination: &Destination, cache: &Cache) -> Result<PackageFacts, Refusal> {
    let addr = &key.address;
    let mut contents = destination.contents();
    let read = packages::read_directory(path, contents.as_deref_mut().map(|contents| contents as _));
    let read = read.map_err(Error::from)?;
    if !read.has_program(addr.type_name()) {
        return Err(no_program(addr, path).into());
    }
    destination.finish(&read.h1, &read.files).map_err(Error::from)?;
    if let Some(record) = ProgramRecord::new(&read.h1, &key.platform, read.programs) {
        cache.record_program(record);
    }
    Ok(PackageFacts { h1: Some(read.h1), computed: true, ..PackageFacts::unread(None, name(path)) })
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
