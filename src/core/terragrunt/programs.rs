//! What starts programs: `run_cmd` in any file, hooks, engines, and the program that Terragrunt runs.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::context::Names;
use super::include::{BlockPart, Included, Merged};
use super::origin::Site;
use super::unread::Influence;
use crate::evaluate::Expression;
use crate::evaluate::syntax::{Call, Node, NodeKind};
use crate::hash::Sha256Digest;
use crate::value::Value;

impl Merged<'_> {
    /// Hooks, an engine, and a program by its path.
    pub(super) fn programs(&self) -> Vec<Influence> {
        let blocks = self.hooks.iter().chain(&self.engine);
        let mut programs: Vec<Influence> = blocks.map(BlockPart::as_program).collect();
        if let Some(part) = self.texts.get("terraform_binary") {
            let is_name = |text: &str| !text.contains(['/', '\\']);
            let text = part.optional_text().ok().flatten();
            if !text.as_deref().is_some_and(is_name) {
                let place = part.expression.place.clone();
                let identity = text.unwrap_or_else(|| part.names.identity(&part.expression));
                programs.push(Influence { what: "the program of terraform_binary".to_owned(), place, identity });
            }
        }
        programs
    }
}

impl BlockPart<'_> {
    fn as_program(&self) -> Influence {
        let place = self.block.place.clone();
        let what = match &*self.block.kind {
            "engine" => "the engine".to_owned(),
            kind => format!("the {kind} {:?}", self.block.label),
        };
        Influence { what, place, identity: self.identity() }
    }

    /// What its arguments are, or the text of the file if that is not known.
    pub(super) fn identity(&self) -> String {
        self.origin().text.unwrap_or_else(|| self.names.digest())
    }
}

impl<'s> Names<'s> {
    /// The calls of `run_cmd` in the file, in what it includes, and in what these read, whether the values matter or not.
    pub(super) fn run_commands(&self) -> Vec<Influence> {
        let session = self.session;
        session.is_scanning.set(true);
        let before = (session.used_default.get(), session.lacks_values.get(), session.notes.borrow().len());
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
            open.extend(names.values_of_stack().ok());
        }
        session.is_scanning.set(false);
        session.used_default.set(before.0);
        session.lacks_values.set(before.1);
        session.notes.borrow_mut().truncate(before.2);
        found
    }

    fn run_command(&self, expression: &Expression, call: Call) -> Influence {
        let site = Site { names: self, scope: self, expression: Some(expression) };
        let known = call.arguments.iter().map(|argument| site.known(argument));
        let words = known.map(|value| value.and_then(|value| value.as_text().map(str::to_owned)));
        let program = words.flatten().find(|word| !word.starts_with("--terragrunt-"));
        let what = program.map_or_else(|| "run_cmd()".to_owned(), |program| format!("run_cmd({program:?}, …)"));
        let node = Node { at: 0, kind: NodeKind::Call(call) };
        let identity = site.origin(&node).text.unwrap_or_else(|| self.digest());
        Influence { what, place: expression.place.clone(), identity }
    }

    /// The file that a call of `read_terragrunt_config` reads, if it is known.
    fn read_by(&self, expression: &Expression, call: &Call) -> Option<Self> {
        let site = Site { names: self, scope: self, expression: Some(expression) };
        match site.known(call.arguments.first()?)? {
            Value::String(path) => self.config_at(&path),
            _ => None,
        }
    }

    /// What an expression comes from, or the text of the file if that is not known.
    pub(super) fn identity(&self, expression: &Expression) -> String {
        let site = Site { names: self, scope: self, expression: Some(expression) };
        let origin = self.parse(expression).ok().and_then(|node| site.origin(&node).text);
        origin.unwrap_or_else(|| self.digest())
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
