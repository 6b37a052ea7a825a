//! The trust file of one working tree during a run: read before judging, written before any lock file. Beside it the user
//! IDs of signing keys, from the key blocks that registries listed now or in earlier runs.

use std::path::Path;
use std::time::SystemTime;

use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::disk::root_files;
use crate::error::{Error, ErrorKind};
use crate::hcl::Anchor;
use crate::interrupt::Interrupt;
use crate::path::shown;
use crate::trust::openpgp::{Identities, identities};
use crate::trust::pins::{self, BlockKey, Pins, Signer, TrustFile};
use crate::trust::signer::TrustUpdate;
use crate::version::Version;

pub use crate::workspace::TrustPlace;

#[derive(Debug, Clone, Default)]
pub struct TrustStore {
    place: TrustPlace,
    text: Option<String>,
    file: TrustFile,
    updates: Vec<TrustUpdate>,
}

impl TrustStore {
    /// Reads the trust file; a missing one has no signers.
    pub fn load(place: &TrustPlace) -> Result<Self, Error> {
        let text = root_files::read_trust_file(&place.path, &place.shown)?;
        Self::decoded(text, place)
    }

    /// Parses the bytes of a trust file that is not the one at `place`.
    pub fn of_text(bytes: Option<&[u8]>, place: &TrustPlace) -> Result<Self, Error> {
        let not_text = |_| {
            let message = format!("cannot read {}: it is not UTF-8 text", shown(&place.shown));
            Error::new(ErrorKind::Settings, message).in_file(&place.shown)
        };
        let text = bytes.map(|bytes| String::from_utf8(bytes.to_vec()).map_err(not_text)).transpose()?;
        Self::decoded(text, place)
    }

    /// Pins from elsewhere in place of the trust file.
    pub fn of_pins(pins: Pins, place: &TrustPlace) -> Self {
        Self { place: place.clone(), file: TrustFile { pins, ..TrustFile::default() }, ..Self::default() }
    }

    /// The error for a missing trust file that the user named: without its signers the gate would be weaker than
    /// intended. `at` says where it was looked up.
    pub fn absent(named: &Path, at: &str) -> Error {
        let message = format!("there is no trust file {}{at}", shown(named));
        let hint = step!("`tflock trust init --trust-file {}` writes one", shown(named));
        Error::new(ErrorKind::Settings, message).in_file(named).hint(hint)
    }

    fn decoded(text: Option<String>, place: &TrustPlace) -> Result<Self, Error> {
        let file = match &text {
            Some(text) => decode(text, &place.shown)?,
            None => TrustFile::default(),
        };
        Ok(Self { place: place.clone(), text, file, updates: Vec::new() })
    }

    pub fn place(&self) -> &TrustPlace {
        &self.place
    }

    pub fn exists(&self) -> bool {
        self.text.is_some()
    }

    pub fn pins(&self) -> &Pins {
        &self.file.pins
    }

    pub fn file(&self) -> &TrustFile {
        &self.file
    }

    /// Applies updates; returns the new ones.
    pub fn learn(&mut self, updates: Vec<TrustUpdate>) -> Result<Vec<TrustUpdate>, Error> {
        let mut pins = self.file.pins.clone();
        let mut new = Vec::new();
        for update in updates {
            if update.apply(&mut pins)? {
                new.push(update);
            }
        }
        self.file.pins = pins;
        self.updates.extend(new.iter().cloned());
        Ok(new)
    }

    /// Writes the trust file if it has updates; true if its bytes changed. Changes by other runs are kept, since the
    /// updates are applied to the current file. `named` returns the user IDs of the keys that a registry listed with a
    /// release.
    pub fn commit(&mut self, named: KeysOfRelease<'_>, interrupt: &Interrupt) -> Result<bool, Error> {
        if self.updates.is_empty() {
            return Ok(false);
        }
        let updates = std::mem::take(&mut self.updates);
        let mut keys = Identities::new();
        for update in &updates {
            if let TrustUpdate::FirstUse { address, version, .. } | TrustUpdate::Carried { address, version, .. } =
                update
            {
                keys.extend(named(address, version));
            }
        }
        self.change(&keys, interrupt, |pins| updates.iter().try_for_each(|update| update.apply(pins).map(|_| ())))
    }

    /// Changes the trust file and writes it; true if its bytes changed. A comment with the user IDs of new keys, for
    /// the reviewer, is put above their block.
    pub fn change(
        &mut self,
        names: &Identities,
        interrupt: &Interrupt,
        change: impl FnOnce(&mut Pins) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let _guard = root_files::lock_trust_file(&self.place.path)?;
        let now = Self::load(&self.place)?;
        (self.text, self.file) = (now.text, now.file);
        let before = self.file.pins.clone();
        change(&mut self.file.pins)?;
        if self.file.pins == before {
            return Ok(false);
        }
        if self.text.is_none() {
            self.file.comments.set_above(Anchor::Header, header());
        }
        self.introduce(&before, names);
        let text = self.file.encode();
        let written = root_files::store_trust_file(&self.place.path, &text, interrupt)?;
        self.text = Some(text);
        Ok(written)
    }

    /// Adds comments about newly accepted signers.
    fn introduce(&mut self, before: &Pins, names: &Identities) {
        for (pattern, pin) in &self.file.pins.providers {
            let known = before.providers.get(pattern);
            let new = pin.signers.iter().filter(|signer| known.is_none_or(|known| !known.signers.contains(signer)));
            let anchor = Anchor::Block(BlockKey::Provider(pattern.clone()));
            let mut lines = self.file.comments.above(&anchor).to_vec();
            for key in new.filter_map(Signer::key) {
                lines.extend(names.get(key).map(|identity| format!("{} {identity}", key.short())));
            }
            self.file.comments.set_above(anchor, lines);
        }
    }
}

/// Returns the user IDs of the keys that a registry listed with a release.
pub type KeysOfRelease<'a> = &'a dyn Fn(&ProviderAddr, &Version) -> Identities;

fn header() -> Vec<String> {
    ["Who may sign the providers of this repository; kept by tflock.", "Commit it, and review its changes."]
        .map(str::to_owned)
        .into()
}

pub(crate) fn decode(text: &str, shown: &Path) -> Result<TrustFile, Error> {
    pins::decode(text, shown).map_err(|errors| {
        Error::all(errors).unwrap_or_else(|| Error::new(ErrorKind::Settings, "the trust file cannot be read"))
    })
}

/// The keys that the registry listed with a release.
pub(in crate::commands) fn keys_of_release(
    cache: &Cache,
    addr: &ProviderAddr,
    version: &Version,
    now: SystemTime,
) -> Identities {
    let listed = cache.release(addr, version).and_then(|record| cache.keys(&record.keys?)).unwrap_or_default();
    named(&listed, now)
}

/// The keys that registries listed with any release of the remembered providers.
pub(in crate::commands) fn keys_of_pins(cache: &Cache, pins: &Pins, now: SystemTime) -> Identities {
    pins.providers.keys().flat_map(|pattern| named(cache.keys_of(pattern), now)).collect()
}

fn named(blocks: impl IntoIterator<Item: AsRef<str>>, now: SystemTime) -> Identities {
    let blocks: Vec<_> = blocks.into_iter().collect();
    identities(&blocks.iter().map(AsRef::as_ref).collect::<Vec<_>>(), now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    fn update(addr: &str, key: char) -> TrustUpdate {
        TrustUpdate::FirstUse {
            address: ProviderAddr::parse(addr, Dialect::Terraform).unwrap(),
            version: Version::new(1, 0, 0),
            signer: Signer::Key(key.to_string().repeat(40).parse().unwrap()),
        }
    }

    #[test]
    fn two_runs_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let place = TrustPlace { path: folder.path().join(pins::FILE_NAME), shown: pins::FILE_NAME.into() };
        let [mut one, mut two, mut three] = [(); 3].map(|()| TrustStore::load(&place).unwrap());
        assert!(!one.exists() && !one.commit(&|_, _| Identities::new(), &Interrupt::default()).unwrap());
        assert_eq!(one.learn(vec![update("a/b", 'A'), update("a/b", 'A')]).unwrap().len(), 1);
        two.learn(vec![update("c/d", 'C')]).unwrap();
        three.learn(vec![update("a/b", 'B')]).unwrap();
        assert!(
            one.commit(&|_, _| Identities::new(), &Interrupt::default()).unwrap()
                && two.commit(&|_, _| Identities::new(), &Interrupt::default()).unwrap()
        );
        assert_eq!(three.commit(&|_, _| Identities::new(), &Interrupt::default()).unwrap_err().kind, ErrorKind::Trust);
        let now = TrustStore::load(&place).unwrap();
        assert_eq!(now.pins().providers.len(), 2);
        assert!(
            root_files::read_trust_file(&place.path, &place.path)
                .unwrap()
                .unwrap()
                .starts_with("# Who may sign the providers")
        );
        assert_eq!(one.learn(vec![update("a/b", 'A')]).unwrap(), []);
        assert!(!one.commit(&|_, _| Identities::new(), &Interrupt::default()).unwrap());
    }
}
