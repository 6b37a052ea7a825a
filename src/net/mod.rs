//! The network: documents and archives from servers that we do not trust.
//!
//! Everything that comes in is bounded in size and time; every URL that goes out into a message is shown without secrets;
//! a token goes to the host that it is for and to no other. What the documents mean is not known here, except for the one
//! that says where the services of a host are.

mod background;
mod client;
mod credentials;
mod discovery;
mod document;
mod download;
mod error;
mod options;
mod policy;

pub use background::{Background, Shared, Shutdown};
pub use client::{Client, ClientEvent, Watch};
pub use credentials::{Credentials, token_variable_shown};
pub use discovery::{Discovery, Service};
pub use document::{Authorization, Document, DocumentRequest, Kind};
pub use download::{Body, Download};
#[cfg(test)]
pub use error::RedirectFault;
pub use error::{Fault, NetError, ShownUrl};
pub use options::ClientOptions;
pub use policy::{Cost, RunBudget};

#[cfg(test)]
mod tests {
    pub(super) mod server;
}
