//! Block headers: labels up to the opening brace.

use super::{Label, ScanError, Scanner, StructureError, error, starts_name};

impl<'a> Scanner<'a> {
    /// Reads labels up to the brace that opens the body, and that brace.
    pub(super) fn labels(&mut self) -> Result<Vec<Label<'a>>, ScanError> {
        let mut labels = Vec::new();
        loop {
            self.skip_blank(false)?;
            let at = self.at;
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    return Ok(labels);
                }
                Some(b'"') => labels.push(Label { raw: self.quoted_label()?, at }),
                Some(byte) if starts_name(byte) => labels.push(Label { raw: self.name()?, at }),
                _ => return Err(error(at, StructureError::Header)),
            }
        }
    }

    fn quoted_label(&mut self) -> Result<&'a str, ScanError> {
        let open = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(&self.text[open + 1..self.at - 1]);
                }
                b'\\' => self.skip_escape(),
                b'\r' | b'\n' => return Err(error(open, StructureError::NewlineInString)),
                b'$' | b'%' => {
                    if self.template_begins() {
                        return Err(error(self.at, StructureError::TemplateInLabel));
                    }
                    self.skip_template_sign();
                }
                _ => self.at += 1,
            }
        }
        Err(error(open, StructureError::UnterminatedString))
    }
}
