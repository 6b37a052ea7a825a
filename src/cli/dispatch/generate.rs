//! `completions` and `man`.

use super::Done;
use crate::cli::args::CompletionsArgs;
use crate::cli::generated;
use crate::error::{Error, ErrorKind};

pub(super) fn completions(arguments: &CompletionsArgs) -> Done {
    Done::text("completions", generated::completions(arguments.shell))
}

pub(super) fn man() -> Result<Done, Error> {
    let page = generated::man().map_err(|problem| Error::new(ErrorKind::Disk, format!("no manual page: {problem}")))?;
    Ok(Done::text("man", page))
}
