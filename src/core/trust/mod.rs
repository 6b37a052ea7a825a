//! What attests a release: signing keys, the signatures they make, and the memory of both.
//!
//! Judgments over bytes that someone else obtained. The folder reads no files, sends no request and knows no clock: the time
//! of the run is an argument, so the expiry of a key can be judged at any time.

mod fingerprint;
pub mod judge;
pub mod openpgp;
pub mod pins;
pub mod update;
pub mod words;

pub use fingerprint::{Fingerprint, FingerprintError};
