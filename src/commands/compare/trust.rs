//! The trust files beside two texts of a lock file.

use std::path::Path;

use crate::commands::diff::Trust;
use crate::commands::memory::decode;
use crate::disk::trust_file;
use crate::error::Error;
use crate::trust::pins::{FILE_NAME, Pins};

/// The text of a trust file; none if there is none.
pub(super) type Text = Option<Vec<u8>>;

/// The trust file that somebody named, or the one that counts in a directory.
pub(super) fn text(directory: &Path, named: Option<&Path>) -> Result<Text, Error> {
    let path = match named {
        Some(named) => named.to_owned(),
        None => trust_file::locate(directory)?,
    };
    Ok(trust_file::read(&path)?.map(String::into_bytes))
}

/// Who is remembered on both sides; what cannot be read remembers nobody, and is told.
pub(super) fn trust(texts: [Result<Text, Error>; 2]) -> (Trust, Vec<String>) {
    let mut notes = Vec::new();
    let [old, new] = texts.map(|text| {
        text.and_then(|text| text.map(|text| pins(&text)).transpose()).unwrap_or_else(|error| {
            notes.push(format!("signers are not compared with a trust file: {error}"));
            None
        })
    });
    notes.dedup();
    (Trust { old, new }, notes)
}

fn pins(text: &[u8]) -> Result<Pins, Error> {
    Ok(decode(&String::from_utf8_lossy(text), Path::new(FILE_NAME))?.pins)
}
