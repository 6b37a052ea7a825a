//! Who vouches for a release: signing keys and the signatures they make.
//!
//! Judgments over bytes that somebody else obtained. The folder reads no files, asks nobody and knows no clock: the time
//! of the run is handed in, so that the expiry of a key can be judged at any time.

mod fingerprint;
pub mod openpgp;

pub use fingerprint::{Fingerprint, FingerprintError};
