//! `provider` blocks.

use super::{Block, Located, ProviderConfig, Reader, Value, check_local_name};

impl<'a> Reader<'a> {
    /// Reads a block; none if its errors are on record already.
    pub(in super::super) fn provider_config(&mut self, block: &Block<'a>) -> Result<Option<ProviderConfig>, Located> {
        block.labelled(1)?;
        let label = &block.labels[0];
        check_local_name(&label.text, label.at)?;
        let contents = block.body.contents(&[], &mut self.errors);
        let alias = match contents.argument("alias") {
            Some(argument) => match argument.value.read()?.value {
                Value::Text(alias) => Some(alias),
                _ => None,
            },
            None => None,
        };
        let version = match contents.argument("version") {
            Some(argument) => match self.constraint(argument) {
                Ok(version) => version,
                Err(error) => {
                    self.errors.push(error);
                    return Ok(None);
                }
            },
            None => None,
        };
        Ok(Some(ProviderConfig { place: self.place(block.at), name: label.text.clone().into_owned(), alias, version }))
    }
}
