//! How values appear in JSON documents: those with a text form as this text.

use serde::{Serialize, Serializer};
use serde_json::json;

use crate::addr::{AddrPattern, ProviderAddr};
use crate::error::Error;
use crate::finding::Position;
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::requirements::OriginKind;
use crate::settings::Date;
use crate::step::{CommandLine, Step};
use crate::trust::Evidence;
use crate::trust::Fingerprint;
use crate::trust::pins::Signer;
use crate::version::Version;
use crate::words::shown;

macro_rules! serialize_as {
    ($text:ident: $($value:ty),+) => {
        $(impl Serialize for $value {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.$text().as_ref())
            }
        })+
    };
}

serialize_as!(as_str: Evidence, Fingerprint, OriginKind, PackageHash, Platform);
serialize_as!(to_string: AddrPattern, CommandLine, Date, ProviderAddr, Signer, Step, Version);

impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = json!({
            "kind": self.kind.as_str(),
            "message": self.message,
            "file": self.file.as_deref().map(shown),
            "line": self.position.map(|position| position.line),
            "column": self.position.map(|position| position.column),
            "url": self.url,
            "hints": self.hints,
        });
        if !self.others.is_empty() {
            object["others"] = json!(self.others);
        }
        object.serialize(serializer)
    }
}

/// The line alone.
pub fn line<S: Serializer>(position: &Option<Position>, serializer: S) -> Result<S::Ok, S::Error> {
    position.map(|position| position.line).serialize(serializer)
}
