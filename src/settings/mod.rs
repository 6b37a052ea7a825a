//! TODO(doc).

mod secret;
mod variables;

pub use secret::Secret;
pub use variables::Variables;
