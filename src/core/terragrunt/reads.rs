//! The functions of Terragrunt that read files of the repository.
//!
//! Source: terragrunt `pkg/config/config_helpers.go`; terraform 0.15 `lang/funcs/filesystem.go`.

use super::file::ConfigFile;
use super::files::{Found, VALUES, join, parent};
use super::fileset::FileSet;
use super::functions::Call;
use super::place::{Names, unknown};
use crate::evaluate::syntax::Node;
use crate::evaluate::{Evaluated, Failure, Meter, Reference, Scope};
use crate::functions::{Function, Tools, clean};
use crate::value::{Elements, Type, Unevaluated, Value};

impl<'s> Names<'s> {
    /// The configuration file at a path, which may be that of its directory; what is not known of it, if so.
    fn config_file(&self, path: &str) -> Found<String> {
        let denied = |path: &str, reason: String| Found::Denied(format!("{}, {reason}", self.session.shown(path)));
        match self.session.look(path) {
            Found::Is(true) => {}
            Found::Is(false) => return Found::Is(path.to_owned()),
            Found::Missing => return Found::Missing,
            Found::Denied(reason) => return denied(path, reason),
        }
        for name in ["terragrunt.hcl.json", "terragrunt.hcl"] {
            let file = join(path, name);
            match self.session.look(&file) {
                Found::Is(_) => return Found::Is(file),
                Found::Missing => {}
                Found::Denied(reason) => return denied(&file, reason),
            }
        }
        Found::Missing
    }

    /// The names in a configuration file that is read, if it is one.
    pub(super) fn config_at(&self, path: &str) -> Option<Names<'s>> {
        let Found::Is(path) = self.config_file(&join(self.place.directory(), path)) else { return None };
        let is_config = !path.ends_with(VALUES) && !path.ends_with(".stack.hcl");
        if is_config { self.session.open_once(path, self.place.depth + 1).ok() } else { None }
    }

    /// The template in a file, whose path is relative to the file with the expression.
    pub(super) fn template(&self, path: &str) -> Result<Node, Failure> {
        if path.starts_with('~') {
            return Err(Failure::Final(Unevaluated::limit(outside(path))));
        }
        let path = join(self.place.base(), path);
        let not_template = |_| Failure::unknown(format!("{}, which is no template", self.session.shown(&path)));
        Node::parse_template(&self.file_text(&path)?, 0).map_err(not_template)
    }

    pub(super) fn file_text(&self, path: &str) -> Result<String, Failure> {
        let bytes = self.session.text(path)?;
        self.session.files.note_text(path);
        let not_text = |_| Failure::unknown(format!("{}, which is not UTF-8", self.session.shown(path)));
        String::from_utf8(bytes.to_vec()).map_err(not_text)
    }
}

impl Call<'_, '_> {
    /// The value of a function that reads files; `None` for all others.
    pub(super) fn of_files(&self) -> Option<Evaluated> {
        match self.name {
            "read_terragrunt_config" => Some(self.read_config()),
            "templatefile" => Some(self.template_file()),
            "read_tfvars_file" => Some(self.with_path(|path| self.read_variables(path))),
            _ => self.of_terraform(),
        }
    }

    /// The value of a function of Terraform that reads files, except for templates.
    fn of_terraform(&self) -> Option<Evaluated> {
        if self.name == "fileset" {
            return Some(self.file_set());
        }
        // Where relative paths begin, and where the home directory is, depends on the process.
        if self.name == "abspath" {
            return Some(self.with_path(|path| {
                let is_known = path.starts_with('/');
                Ok(if is_known { Value::text(clean(path)) } else { unknown("abspath() of a relative path".to_owned()) })
            }));
        }
        if self.name == "pathexpand" {
            return Some(self.with_path(|path| {
                let is_known = !path.starts_with('~');
                Ok(if is_known { Value::text(path) } else { unknown("the home directory".to_owned()) })
            }));
        }
        if !["file", "fileexists"].contains(&self.name) {
            return None;
        }
        Some(self.with_path(|path| {
            if path.starts_with('~') {
                return Ok(unknown(outside(path)));
            }
            let path = join(self.names.place.base(), path);
            match self.name {
                "fileexists" => self.file_exists(&path),
                _ => self.names.file_text(&path).map(Value::text),
            }
        }))
    }

    /// The value of a function with a path as its only argument.
    fn with_path(&self, read: impl FnOnce(&str) -> Evaluated) -> Evaluated {
        match self.texts() {
            Ok(texts) => match &texts[..] {
                [path] => read(path),
                _ => self.refuse("it takes one path"),
            },
            Err(value) => value,
        }
    }

    fn file_exists(&self, path: &str) -> Evaluated {
        match self.names.session.look(path) {
            Found::Is(false) => Ok(Value::Bool(true)),
            Found::Is(true) => self.refuse("it is a directory"),
            Found::Missing => Ok(Value::Bool(false)),
            Found::Denied(reason) => Ok(unknown(format!("{path}, {reason}"))),
        }
    }

    /// The files below a directory whose paths have a pattern.
    fn file_set(&self) -> Evaluated {
        let texts = match self.texts() {
            Ok(texts) => texts,
            Err(value) => return value,
        };
        let [path, pattern] = &texts[..] else { return self.refuse("it takes a path and a pattern") };
        let session = self.names.session;
        let Some(set) = FileSet::new(pattern) else { return Ok(unknown(format!("fileset() with {pattern:?}"))) };
        let found = set.find(session.files, &join(self.names.place.base(), path), &session.meter.budget)?;
        Ok(match found {
            Ok(paths) => Value::set(Type::String, paths.into_iter().map(Value::text).collect()),
            Err(what) => unknown(what),
        })
    }

    /// The values in a file of variables, as a text of JSON.
    fn read_variables(&self, path: &str) -> Evaluated {
        let session = self.names.session;
        let path = &join(self.names.place.directory(), path);
        let text = self.names.file_text(path)?;
        if path.ends_with("json") {
            return Ok(Value::text(text));
        }
        let shown = session.shown(path);
        let Ok(file) = ConfigFile::decode(shown.as_ref(), &text) else {
            return self.refuse(&format!("{shown} has errors"));
        };
        if file.has_blocks {
            return Ok(unknown(format!("read_tfvars_file() of {shown}, which has blocks")));
        }
        let mut values = Elements::new();
        for (name, expression) in &file.arguments {
            let value = expression.parse()?.constant(&session.meter);
            let value = value.map_or_else(|| self.refuse(&format!("{shown} has a value that is not constant")), Ok)?;
            values.insert((&**name).into(), value);
        }
        compute("jsonencode", vec![Value::object(values)], &session.meter)
    }

    /// What another file says, which is evaluated as a unit of its own.
    fn read_config(&self) -> Evaluated {
        let (session, place) = (self.names.session, &self.names.place);
        let (path, default) = match self.arguments {
            [path] => (path, None),
            [path, default] => (path, Some(default)),
            _ => return self.refuse("it takes a path and perhaps a default"),
        };
        let path = match path.convert(&Type::String)? {
            Value::String(path) => join(place.directory(), &path),
            Value::Unknown(reason) => return Ok(Value::from(&reason)),
            _ => return self.refuse("the path is not a string"),
        };
        if default.is_some_and(Value::is_null) {
            return Ok(unknown("read_terragrunt_config() with a default that is null".to_owned()));
        }
        let path = match self.names.config_file(&path) {
            Found::Is(path) => path,
            Found::Missing => return default.cloned().map_or_else(|| session.without(&path), Ok),
            Found::Denied(reason) => return Ok(unknown(reason)),
        };
        let name = path.rsplit('/').next().unwrap_or_default();
        if name.ends_with(".stack.hcl") {
            return Ok(unknown(format!("{}, a stack of Terragrunt", session.shown(&path))));
        }
        let is_values = name.ends_with(VALUES);
        let path = if is_values { join(parent(&path), VALUES) } else { path };
        let names = session.open_once(path, place.depth + 1)?;
        if is_values {
            return Ok(names.object(&names.place.file.arguments));
        }
        let shown = session.shown(&names.place.path);
        if session.meter.is_watched() && !names.is_valid() {
            return Ok(unknown(format!(
                "{shown}, of which Terragrunt may refuse a part: inside try() and can() that counts"
            )));
        }
        names.as_value()
    }

    fn template_file(&self) -> Evaluated {
        let [path, variables] = self.arguments else { return self.refuse("it takes a path and variables") };
        let template = match path.convert(&Type::String)? {
            Value::String(path) => self.names.template(&path)?,
            Value::Unknown(reason) => return Ok(Value::from(&reason)),
            _ => return self.refuse("the path is not a string"),
        };
        template.render(variables, &TemplateFunctions(self.names), &self.names.session.meter)
    }
}

/// Where a template is: it has the functions of Terraform alone.
pub(super) struct TemplateFunctions<'a, 's>(pub(super) &'a Names<'s>);

impl Scope for TemplateFunctions<'_, '_> {
    fn tools(&self) -> Tools {
        Tools::TERRAGRUNT
    }

    fn lookup(&self, reference: &Reference<'_>, meter: &Meter) -> Evaluated {
        self.0.lookup(reference, meter)
    }

    fn call(&self, name: &str, arguments: &[Value], _: &Meter) -> Option<Evaluated> {
        let call = Call { names: self.0, name, arguments };
        call.with_open().or_else(|| call.of_terraform())
    }
}

fn outside(path: &str) -> String {
    format!("{path}, which is outside of the repository")
}

/// A function of the table.
fn compute(name: &str, arguments: Vec<Value>, meter: &Meter) -> Evaluated {
    match Function::find(name, Tools::TERRAGRUNT) {
        Some(function) => Ok(function.call(arguments, &meter.budget)?),
        None => Ok(unknown(format!("{name}()"))),
    }
}
