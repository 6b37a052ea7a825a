//! What starts programs: `run_cmd` in any file, hooks, engines, and the program that Terragrunt runs.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::files::join;
use super::include::Merged;
use super::origin::WrittenAt;
use super::origin_text::OriginText;
use super::place::{BlockPart, Included, Names, known_or_unknown};
use super::unread::Influence;
use crate::dialect::Dialect;
use crate::evaluate::Expression;
use crate::evaluate::syntax::{Call, Node, NodeKind};
use crate::finding::Location;
use crate::hash::Sha256Digest;
use crate::value::Value;

impl Merged<'_> {
    /// Hooks, an engine, a program that is neither tool, and one that has the keys of the state.
    pub(super) fn programs(&self) -> Vec<Influence> {
        let module = self.module_directory();
        let blocks = self.hooks.iter().chain(&self.engine);
        let mut programs: Vec<Influence> = blocks.map(|block| block.as_program(module.as_deref())).collect();
        if let Some(part) = self.texts.get("terraform_binary") {
            let is_tool =
                |text: &str| [Dialect::Terraform, Dialect::OpenTofu].iter().any(|tool| tool.program() == text);
            let text = part.optional_text().ok().flatten();
            if !text.as_deref().is_some_and(is_tool) {
                let place = part.expression.place.clone();
                let mut origin = part.names.origin_of(&part.expression);
                if let Some(text) = &text {
                    part.names.add_named(text, &[], &mut origin);
                }
                let what = "the program of terraform_binary".to_owned();
                programs.push(origin.influence(what, place, &part.names));
            }
        }
        programs.extend(self.remote_state.as_ref().and_then(BlockPart::as_key_program));
        programs
    }

    /// The directory where hooks run, if its module is local. What is no path leads nowhere.
    pub(super) fn module_directory(&self) -> Option<String> {
        let source = self.source()?;
        let text = source.text().ok()??;
        Some(join(source.part.names.place.directory(), &text))
    }
}

impl OriginText {
    /// The influence of what this is the origin of: without a known text it is that of the file.
    pub(super) fn influence(self, what: String, place: Location, names: &Names<'_>) -> Influence {
        let identity = self.text.unwrap_or_else(|| names.digest());
        Influence { what, place, identity, files: self.files.into_iter().collect() }
    }
}

impl BlockPart<'_> {
    /// What OpenTofu may start for the keys of a state.
    fn as_key_program(&self) -> Option<Influence> {
        let encryption = self.block.arguments.get("encryption")?;
        let provider = match known_or_unknown(self.names.evaluate(encryption)) {
            Value::Null(_) => return None,
            value => value.attributes().and_then(|all| all.get("key_provider")?.as_text().map(str::to_owned)),
        };
        let starts = provider.is_none_or(|provider| provider == "external");
        let origin = || self.names.origin_of(encryption);
        starts.then(|| {
            origin().influence("the encryption of remote_state".to_owned(), encryption.place.clone(), &self.names)
        })
    }

    /// The program; `module` is the directory of the module, in which it runs.
    fn as_program(&self, module: Option<&str>) -> Influence {
        let what = match &*self.block.kind {
            "engine" => "the engine".to_owned(),
            kind => format!("the {kind} {:?}", self.block.label),
        };
        let value = |name: &str| self.block.arguments.get(name).and_then(|value| self.names.evaluate(value).ok());
        let directory = self.names.place.directory();
        let working_dir = value("working_dir").and_then(|place| Some(join(directory, place.as_text()?)));
        let places: Vec<&str> = module.into_iter().chain(working_dir.as_deref()).collect();
        let mut origin = self.origin();
        for value in ["execute", "source"].into_iter().filter_map(value) {
            let words = value.elements().map_or(std::slice::from_ref(&value), |words| words);
            words.iter().filter_map(Value::as_text).for_each(|word| self.names.add_named(word, &places, &mut origin));
        }
        origin.influence(what, self.block.place.clone(), &self.names)
    }
}

impl<'s> Names<'s> {
    /// The calls of `run_cmd` in the file, in what it includes, and in what these read, whether the values matter or not.
    pub(super) fn run_commands(&self) -> Vec<Influence> {
        let session = self.session;
        session.is_scanning.set(true);
        let before = session.traces();
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        let mut open = vec![self.clone()];
        while let Some(names) = open.pop() {
            if !seen.insert((names.place.path.clone(), names.place.of.clone())) {
                continue;
            }
            for expression in &names.place.file.calls {
                let Ok(node) = names.parse(expression) else { continue };
                for call in calls_in(&node) {
                    match &*call.name {
                        "run_cmd" => found.push(names.run_command(expression, call)),
                        _ => open.extend(names.read_by(expression, &call)),
                    }
                }
            }
            open.extend(names.includes().into_iter().flatten().map(|include: Included<'s>| include.names));
            open.extend(names.auto_include().ok().flatten());
            if names.may_have_values() {
                open.extend(names.values_of_stack().ok());
            }
        }
        session.is_scanning.set(false);
        session.forget_since(&before);
        found
    }

    fn run_command(&self, expression: &Expression, call: Call) -> Influence {
        let site = WrittenAt { names: self, scope: self, expression: Some(expression) };
        let known = call.arguments.iter().map(|argument| site.known(argument));
        let words = known.map(|value| value.and_then(|value| value.as_text().map(str::to_owned)));
        let program = words.flatten().find(|word| !word.starts_with("--terragrunt-"));
        let what = program.map_or_else(|| "run_cmd()".to_owned(), |program| format!("run_cmd({program:?}, …)"));
        let node = Node { at: 0, kind: NodeKind::Call(call) };
        site.origin(&node).influence(what, expression.place.clone(), self)
    }

    /// The file that a call of `read_terragrunt_config` reads, if it is known.
    fn read_by(&self, expression: &Expression, call: &Call) -> Option<Self> {
        let site = WrittenAt { names: self, scope: self, expression: Some(expression) };
        match site.known(call.arguments.first()?)? {
            Value::String(path) => self.config_at(&path),
            _ => None,
        }
    }

    fn digest(&self) -> String {
        let text = self.session.text(&self.place.path);
        text.map(|text| Sha256Digest::of(&text).to_string()).unwrap_or_default()
    }
}

/// The calls in an expression that start programs or read configuration.
fn calls_in(node: &Node) -> Vec<Call> {
    let calls = RefCell::new(Vec::new());
    node.contains(&|kind| {
        if let NodeKind::Call(call) = kind
            && ["run_cmd", "read_terragrunt_config"].contains(&&*call.name)
        {
            calls.borrow_mut().push(call.clone());
        }
        false
    });
    calls.into_inner()
}
