//! `lock`.

use super::{Done, Session};
use crate::cli::args::{LockArgs, Unsupported};
use crate::commands::LockOptions;
use crate::error::{Error, ErrorKind};

pub(super) fn lock(session: &Session<'_>, arguments: &LockArgs) -> Result<Done, Error> {
    let options = arguments.options().map_err(|Unsupported(option)| {
        Error::new(ErrorKind::Usage, format!("{option} is not supported yet"))
            .hint("download the packages and use `--fs-mirror DIR`")
    })?;
    engine(session, &options)
}

/// NOT WIRED: hands the options to the engine.
fn engine(_session: &Session<'_>, _options: &LockOptions) -> Result<Done, Error> {
    Err(Error::new(ErrorKind::Usage, "lock is not wired"))
}
