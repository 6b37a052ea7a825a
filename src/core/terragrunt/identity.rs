//! What a unit that is not read whole is compared by: all that is read of it, and what the rest comes from.

use super::files::join;
use super::generate::GeneratedFile;
use super::include::Merged;
use super::origin_text::OriginText;
use super::place::{BlockPart, Part, Session, UnitRequest};
use super::unread::Unread;

/// Equal for units of which the same is read, and of which the rest comes from the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitDescription {
    /// `None` if it is not known what a part comes from, so it equals no other.
    pub text: Option<String>,
    /// The files whose contents decide what is not read, absolute.
    pub files: Vec<String>,
}

impl UnitDescription {
    /// Describes a unit; `with_variables` if the variables of its module may decide what it requires.
    pub fn of(request: &UnitRequest<'_>, with_variables: bool) -> Self {
        let mut origin = OriginText::of(String::new());
        for takes_defaults in [true, false] {
            let session = Session::new(request, takes_defaults);
            let names = session.open(request.path.to_owned(), None, 0);
            match names.and_then(|names| names.merged()) {
                Ok(merged) => merged.describe(with_variables, &session, &mut origin),
                Err(_) => origin.text = None,
            }
            for part in session.strange.take() {
                session.describe_file_of(&part, &mut origin);
            }
        }
        Self { text: origin.text, files: origin.files.into_iter().collect() }
    }
}

impl Session<'_> {
    /// Where no expression says what is not read, it is the text of the file.
    fn describe_file_of(&self, part: &Unread, origin: &mut OriginText) {
        origin.add(&part.reason);
        origin.files.insert(join(self.top, &part.place.file.to_string_lossy()));
    }
}

impl Part<'_> {
    fn describe(&self, origin: &mut OriginText) {
        origin.join(&self.names.origin_of(&self.expression));
        origin.add(";");
    }
}

impl BlockPart<'_> {
    /// What the block generates if that is known, else what its arguments come from.
    fn describe(&self, generated: Result<Option<GeneratedFile>, Unread>, origin: &mut OriginText) {
        match generated {
            Ok(None) => {}
            Ok(Some(GeneratedFile { path, action, contents: Ok(contents), .. })) => {
                origin.add(&format!("{path} {action:?} {contents}"));
            }
            _ => origin.join(&self.origin()),
        }
        origin.add(";");
    }
}

impl Merged<'_> {
    fn describe(&self, with_variables: bool, session: &Session<'_>, origin: &mut OriginText) {
        let texts = ["download_dir", "terraform_binary"].iter().filter_map(|name| self.texts.get(name));
        let parts = self.sources.iter().chain(&self.version).chain(&self.left_out).chain(&self.hidden).chain(texts);
        parts.for_each(|part| part.describe(origin));
        let mut holes = Vec::new();
        for generate in &self.generates {
            generate.describe(generate.as_file(&mut holes), origin);
        }
        if let Some(state) = &self.remote_state {
            state.describe(state.as_backend(), origin);
        }
        for hole in holes {
            origin.join(&OriginText { text: hole.origin, files: hole.files.into_iter().collect() });
        }
        for (reason, place) in &self.unread {
            session.describe_file_of(&Unread::of(reason.clone(), place), origin);
        }
        if with_variables {
            self.inputs.iter().for_each(|(part, _)| part.describe(origin));
            for block in &self.extra_arguments {
                let mut of_block = block.origin();
                block.add_named(&mut of_block);
                origin.join(&of_block);
            }
        }
    }
}
