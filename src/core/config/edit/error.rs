//! Why configuration is not edited.

use crate::addr::{AddrError, PartError, ProviderAddr};
use crate::config::{ConfigError, Location};
use crate::error::{Error, ErrorKind};
use crate::path::shown;
use crate::version::ConstraintError;

use super::uses::Use;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The configuration has errors of its own, two `required_providers` blocks among them.
    #[error("the configuration has errors: {}", .0.first().map_or_else(String::new, ToString::to_string))]
    Configuration(Vec<ConfigError>),
    #[error("{name:?} cannot be the local name of a provider: {reason}")]
    Name {
        name: String,
        #[source]
        reason: PartError,
    },
    #[error(
        "{name:?} cannot be the local name of a provider: it must be a lower case identifier that begins with a letter"
    )]
    NotAnIdentifier { name: String },
    #[error(transparent)]
    Source(#[from] AddrError),
    #[error("{}", refused(text, reason))]
    Constraint {
        text: String,
        #[source]
        reason: ConstraintError,
    },
    #[error("cannot add {source_text} as {name:?}: that name already means {taken_by}")]
    NameTaken { name: String, source_text: String, taken_by: String, place: Location },
    #[error("provider {addr} is already required as {name:?} {}", constraint_words(.constraint.as_deref()))]
    AlreadyRequired { addr: ProviderAddr, name: String, constraint: Option<String>, place: Location },
    #[error("cannot add {addr} as {name:?}: it is already required as {other:?}")]
    RequiredAs { addr: ProviderAddr, name: String, other: String, place: Location },
    /// No entry of `required_providers` has this provider.
    #[error("no entry of required_providers has provider {addr}")]
    NotRequired { addr: ProviderAddr, uses: Vec<Use>, near: Option<String> },
    #[error("provider {addr} is still used in {} {}", .uses.len(), if .uses.len() == 1 { "place" } else { "places" })]
    InUse {
        addr: ProviderAddr,
        /// Each use, in the order of the files; never empty.
        uses: Vec<Use>,
    },
    #[error("tflock does not edit JSON configuration")]
    Json { file: std::path::PathBuf, what: String },
    #[error("cannot edit {}: it is laid out in a way that tflock does not know", shown(.file))]
    Layout { file: std::path::PathBuf },
}

/// The text is reported once, whether or not the reason has it.
fn refused(text: &str, reason: &ConstraintError) -> String {
    match reason {
        ConstraintError::Syntax(part) if part == text => format!("{text:?} is not a version constraint"),
        _ => format!("invalid version constraint {text:?}: {reason}"),
    }
}

fn constraint_words(constraint: Option<&str>) -> String {
    constraint.map_or_else(|| "at any version".to_owned(), |constraint| format!("with the constraint {constraint:?}"))
}

impl From<EditError> for Error {
    fn from(error: EditError) -> Self {
        let message = error.to_string();
        let made = |kind| Error::new(kind, message.clone());
        let at = |place: &Location| made(ErrorKind::Configuration).in_file(place.file.to_path_buf()).at(place.position);
        match error {
            EditError::Configuration(errors) => {
                Error::all(errors.into_iter().map(Error::from)).unwrap_or_else(|| made(ErrorKind::Configuration))
            }
            EditError::Name { .. } | EditError::NotAnIdentifier { .. } => {
                made(ErrorKind::Usage).hint("give another local name with --name")
            }
            EditError::Source(_) => made(ErrorKind::Usage),
            EditError::Constraint { text, .. } => {
                let made = made(ErrorKind::Usage);
                match text.as_str() {
                    "" | "latest" | "newest" => made.hint("for the newest release leave out the @ and what follows it"),
                    "~" | "=" | "!" => made
                        .hint("a shell took the rest for a redirection: quote the argument, as in 'acme/widget@~>2.0'"),
                    _ => made.hint("a constraint looks like \"~> 1.2\" or \">= 1.0.0, < 2.0.0\""),
                }
            }
            EditError::NameTaken { place, .. } => at(&place)
                .hint("give the provider another local name with --name")
                .hint("replace the other one with --replace"),
            EditError::AlreadyRequired { place, .. } => at(&place)
                .hint("change the requirement with --replace")
                .hint("take a newer version within it with `tflock upgrade`"),
            EditError::RequiredAs { place, other, .. } => {
                at(&place).hint(format!("leave out --name, or give --name {other}"))
            }
            EditError::NotRequired { addr, uses, near } => {
                let made = made(ErrorKind::Configuration).about(addr);
                if uses.is_empty() && near.is_none() {
                    return made.hint("`tflock why` lists the providers that are required");
                }
                let made = near.into_iter().fold(made, |made, near| made.hint(format!("did you mean {near}?")));
                uses.iter().fold(made, |made, found| made.hint(format!("used by {found}")))
            }
            EditError::InUse { addr, uses } => Error::all(uses.into_iter().map(|found| {
                Error::new(ErrorKind::Configuration, format!("provider {addr} is still used by {}", found.what))
                    .in_file(found.place.file.to_path_buf())
                    .at(found.place.position)
            }))
            .unwrap_or_else(|| made(ErrorKind::Configuration))
            .hint("remove what uses the provider first, or pass --force"),
            EditError::Json { file, what } => {
                made(ErrorKind::Configuration).in_file(file).hint(format!("{what}, then run `tflock lock`"))
            }
            EditError::Layout { file } => {
                made(ErrorKind::Configuration).in_file(file).hint("write the entry of required_providers by hand")
            }
        }
    }
}
