//! `provider` blocks.

use super::{
    Block, ConfigErrorKind, Located, Node, ProviderConfig, Reader, Value, check_local_name, check_name, constraint,
};

impl<'a> Reader<'a> {
    pub(in super::super) fn provider_config(&mut self, block: &Block<'a>) -> Result<Option<ProviderConfig>, Located> {
        block.labelled(1)?;
        let label = &block.labels[0];
        check_local_name(&label.text, label.at)?;
        let contents = block.body.contents(&[], &mut self.errors);
        let alias = match contents.argument("alias") {
            Some(argument) => {
                let Node { at, value: Value::Text(alias) } = argument.value.read()? else {
                    return Err((argument.value.at(), ConfigErrorKind::Alias));
                };
                check_name(&alias, at)?;
                Some(alias)
            }
            None => None,
        };
        let version = match contents.argument("version") {
            Some(argument) => match constraint(argument) {
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
