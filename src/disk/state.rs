//! The bytes of a state file.

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::path::shown;

pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|reason| {
        let message = format!("cannot read the state {}: {reason}", shown(path));
        Error::new(ErrorKind::Disk, message).in_file(path).hint("write it with `terraform state pull > FILE`")
    })
}
