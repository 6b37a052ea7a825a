//! The functions of Terragrunt that depend on files, on the place of the expression, or on the environment.
//!
//! What would start a program, or depends on the machine, the command or a server, is unknown.
//!
//! Source: terragrunt `pkg/config/config_helpers.go`.

use std::sync::Arc;

use super::context::{Names, unknown};
use super::file::ConfigFile;
use super::files::{Found, join, parent, relative};
use super::merge::deep_merge;
use crate::evaluate::syntax::Node;
use crate::evaluate::{Evaluated, Failure, Meter};
use crate::functions::{Function, Tools};
use crate::value::{Elements, Type, Unevaluated, Value};

/// How many directories `find_in_parent_folders` climbs.
const MOST_PARENTS: usize = 100;

/// Functions whose values are never known, and why.
const OUTSIDE: &[(&[&str], &str)] = &[
    (&["run_cmd"], "a program, which tflock does not start"),
    (&["sops_decrypt_file"], "an encrypted file"),
    (
        &[
            "get_aws_account_alias",
            "get_aws_account_id",
            "get_aws_caller_identity_arn",
            "get_aws_caller_identity_user_id",
        ],
        "an account of AWS",
    ),
    (
        &[
            "get_terraform_command",
            "get_terraform_cli_args",
            "get_terraform_commands_that_need_vars",
            "get_terraform_commands_that_need_locking",
            "get_terraform_commands_that_need_input",
            "get_terraform_commands_that_need_parallelism",
            "get_terragrunt_source_cli_flag",
            "get_default_retryable_errors",
            "get_working_dir",
            "get_platform",
        ],
        "the command or the machine",
    ),
];

impl Names<'_> {
    /// The result of a function that depends on where the expression is; `None` for all others.
    pub(super) fn call_function(&self, name: &str, arguments: &[Value]) -> Option<Evaluated> {
        let is_known = |(names, _): &&(&[&str], &str)| names.contains(&name);
        if let Some((_, why)) = OUTSIDE.iter().find(is_known) {
            return Some(Ok(unknown(format!("{name}(): {why}"))));
        }
        let call = Call { names: self, name, arguments };
        match name {
            "read_terragrunt_config" => Some(call.read_config()),
            "templatefile" => Some(call.template_file()),
            "deep_merge" => Some(call.deep_merge()),
            _ => {
                let texts = match call.texts() {
                    Ok(texts) => texts,
                    Err(value) => return call.is_of_terragrunt().then_some(value),
                };
                let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
                call.with_texts(&texts).or_else(|| call.with_file(&texts))
            }
        }
    }
}

impl Names<'_> {
    /// The template in a file, whose path is relative to the file with the expression.
    pub(super) fn template(&self, path: &str) -> Result<Node, Failure> {
        let path = join(self.place.base(), path);
        let not_template = |_| Failure::refused(format!("{} is no template", self.session.shown(&path)));
        Node::parse_template(&self.file_text(&path)?, 0).map_err(not_template)
    }

    fn file_text(&self, path: &str) -> Result<String, Failure> {
        let bytes = self.session.text(path)?;
        let not_text = |_| Failure::Error(Unevaluated::refused(format!("{} is not UTF-8", self.session.shown(path))));
        String::from_utf8(bytes.to_vec()).map_err(not_text)
    }
}

/// A call of a function.
struct Call<'a, 's> {
    names: &'a Names<'s>,
    name: &'a str,
    arguments: &'a [Value],
}

/// Functions over the content of a file, and over its text.
const OF_FILES: &[(&str, &str)] = &[
    ("filebase64", "base64encode"),
    ("filebase64sha256", "base64sha256"),
    ("filebase64sha512", "base64sha512"),
    ("filemd5", "md5"),
    ("filesha1", "sha1"),
    ("filesha256", "sha256"),
    ("filesha512", "sha512"),
];

const WITH_TEXTS: &[&str] = &[
    "find_in_parent_folders",
    "get_env",
    "get_original_terragrunt_dir",
    "get_parent_terragrunt_dir",
    "get_path_from_repo_root",
    "get_path_to_repo_root",
    "get_repo_root",
    "get_terragrunt_dir",
    "mark_as_read",
    "path_relative_from_include",
    "path_relative_to_include",
    "read_tfvars_file",
    "file",
    "fileexists",
];

impl Call<'_, '_> {
    fn is_of_terragrunt(&self) -> bool {
        WITH_TEXTS.contains(&self.name) || OF_FILES.iter().any(|(name, _)| *name == self.name)
    }

    /// The arguments as texts; else the value of the call.
    fn texts(&self) -> Result<Vec<Arc<str>>, Evaluated> {
        let text = |argument: &Value| match argument.convert(&Type::String) {
            Ok(Value::String(text)) => Ok(text),
            Ok(Value::Unknown(kind, reason)) => Err(Ok(Value::Unknown(kind, reason))),
            _ => Err(self.refuse("an argument is not a string")),
        };
        self.arguments.iter().map(text).collect()
    }

    fn refuse(&self, reason: &str) -> Evaluated {
        Err(Failure::Error(Unevaluated::refused(format!("{}() fails: {reason}", self.name))))
    }

    fn with_texts(&self, texts: &[&str]) -> Option<Evaluated> {
        let (place, session) = (&self.names.place, self.names.session);
        let text = |text: &str| Ok(Value::text(text));
        Some(match (self.name, texts) {
            ("get_env", [name]) => self.environment(name, None),
            ("get_env", [name, default]) => self.environment(name, Some(default)),
            ("get_terragrunt_dir", []) => text(place.directory()),
            ("get_original_terragrunt_dir", []) => text(parent(session.unit)),
            ("get_parent_terragrunt_dir", labels) => self.of_include(labels, |included| included),
            ("path_relative_to_include", labels) => {
                self.of_include(labels, |included| relative(&included, place.directory()))
            }
            ("path_relative_from_include", labels) => {
                self.of_include(labels, |included| relative(place.directory(), &included))
            }
            ("get_repo_root", []) => text(session.top),
            ("get_path_from_repo_root", []) => text(&relative(session.top, place.directory())),
            ("get_path_to_repo_root", []) => text(&relative(place.directory(), session.top)),
            ("find_in_parent_folders", []) => self.find_in_parents(None, None),
            ("find_in_parent_folders", [name]) => self.find_in_parents(Some(name), None),
            ("find_in_parent_folders", [name, fallback]) => self.find_in_parents(Some(name), Some(fallback)),
            ("mark_as_read", [path]) => text(path),
            ("read_tfvars_file", [path]) => self.read_variables(&join(place.directory(), path)),
            ("constraint_check", _) => Ok(unknown("constraint_check()".to_owned())),
            _ => return None,
        })
    }

    /// What the settings say of a variable. The environment of the process is never read.
    fn environment(&self, name: &str, default: Option<&str>) -> Evaluated {
        let session = self.names.session;
        match (session.environment.get(name), default) {
            (Some(Some(value)), _) => Ok(Value::text(value)),
            (Some(None), Some(default)) => Ok(Value::text(default)),
            (Some(None), None) => self.refuse(&format!("the settings say that {name} is never set")),
            (None, None) => Ok(unknown(format!("get_env({name:?}), which the settings do not name"))),
            (None, Some(default)) => {
                session.used_default.set(true);
                if session.takes_defaults {
                    Ok(Value::text(default))
                } else {
                    let what = format!("get_env({name:?}), whose default counts only where {name} is not set");
                    Ok(unknown(what))
                }
            }
        }
    }

    /// Something about the directory of the file that includes this one, or that this one includes.
    fn of_include(&self, labels: &[&str], describe: impl FnOnce(String) -> String) -> Evaluated {
        let place = &self.names.place;
        let path = if place.is_included {
            place.path.clone()
        } else {
            let includes = self.names.includes()?;
            match (labels, &includes[..]) {
                (_, []) => place.of.clone(),
                ([], [only]) => only.names.place.path.clone(),
                ([label], all) => match all.iter().find(|include| include.label == *label) {
                    Some(include) => include.names.place.path.clone(),
                    None => return self.refuse(&format!("there is no include {label:?}")),
                },
                _ => return self.refuse("there are several includes, and no label says which"),
            }
        };
        Ok(Value::text(describe(parent(&path).to_owned())))
    }

    /// The first directory above with a file. Nothing is known of what is above the working tree.
    fn find_in_parents(&self, name: Option<&str>, fallback: Option<&str>) -> Evaluated {
        let files = self.names.session.files;
        let mut directory = self.names.place.directory();
        for _ in 0..MOST_PARENTS {
            if directory == "/" {
                break;
            }
            directory = parent(directory);
            let candidates = match name {
                Some(name) => vec![join(directory, name)],
                None => vec![join(directory, "terragrunt.hcl.json"), join(directory, "terragrunt.hcl")],
            };
            for candidate in candidates {
                match (files.is_directory(&candidate), fallback) {
                    (Found::Is(_), _) => return Ok(Value::text(candidate)),
                    (Found::Missing, _) => {}
                    (Found::Denied(_), Some(fallback)) => return Ok(Value::text(fallback)),
                    (Found::Denied(_), None) => {
                        let name = name.unwrap_or("terragrunt.hcl");
                        let what = format!("find_in_parent_folders({name:?}), which finds nothing in the repository");
                        return Ok(unknown(what));
                    }
                }
            }
        }
        fallback.map_or_else(|| self.refuse("no directory above has the file"), |fallback| Ok(Value::text(fallback)))
    }

    /// The values in a file of variables, as a text of JSON.
    fn read_variables(&self, path: &str) -> Evaluated {
        let session = self.names.session;
        let text = self.names.file_text(path)?;
        if path.ends_with("json") {
            return Ok(Value::text(text));
        }
        let shown = session.shown(path);
        let Ok(file) = ConfigFile::decode(shown.as_ref(), &text) else {
            return self.refuse(&format!("{shown} has errors"));
        };
        let mut values = Elements::new();
        for (name, expression) in &file.arguments {
            let value = expression.parse()?.constant(&session.meter);
            let value = value.map_or_else(|| self.refuse(&format!("{shown} has a value that is not constant")), Ok)?;
            values.insert((&**name).into(), value);
        }
        compute("jsonencode", vec![Value::Object(values.into())], &session.meter)
    }

    /// Functions over one file, whose path is relative to the file with the expression.
    fn with_file(&self, texts: &[&str]) -> Option<Evaluated> {
        let [path] = texts else { return None };
        let session = self.names.session;
        if path.starts_with('~') && self.is_of_terragrunt() {
            return Some(Ok(unknown(format!("{path}, which is outside of the repository"))));
        }
        let path = join(self.names.place.base(), path);
        match self.name {
            "file" => Some(self.names.file_text(&path).map(Value::text)),
            "fileexists" => Some(match session.files.is_directory(&path) {
                Found::Is(false) => Ok(Value::Bool(true)),
                Found::Is(true) => self.refuse("it is a directory"),
                Found::Missing => Ok(Value::Bool(false)),
                Found::Denied(reason) => Ok(unknown(format!("{path}, {reason}"))),
            }),
            name => {
                let (_, function) = OF_FILES.iter().find(|(of_file, _)| *of_file == name)?;
                Some(
                    self.names
                        .file_text(&path)
                        .and_then(|text| compute(function, vec![Value::text(text)], &session.meter)),
                )
            }
        }
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
            Value::Unknown(_, reason) => return Ok(Value::from(&reason)),
            _ => return self.refuse("the path is not a string"),
        };
        let path = match session.files.is_directory(&path) {
            Found::Is(true) => self.default_config(&path),
            Found::Is(false) => path,
            Found::Missing => {
                let missing = || Err(Failure::Error(Unevaluated::limit(session.missing(&path))));
                return default.cloned().map_or_else(missing, Ok);
            }
            Found::Denied(reason) => return Ok(unknown(format!("{path}, {reason}"))),
        };
        session.open_once(path, place.depth + 1)?.as_value()
    }

    /// The configuration file of a directory.
    fn default_config(&self, directory: &str) -> String {
        let json = join(directory, "terragrunt.hcl.json");
        match self.names.session.files.is_directory(&json) {
            Found::Is(false) => json,
            _ => join(directory, "terragrunt.hcl"),
        }
    }

    fn template_file(&self) -> Evaluated {
        let [path, variables] = self.arguments else { return self.refuse("it takes a path and variables") };
        let template = match path.convert(&Type::String)? {
            Value::String(path) => self.names.template(&path)?,
            Value::Unknown(_, reason) => return Ok(Value::from(&reason)),
            _ => return self.refuse("the path is not a string"),
        };
        template.render(variables, self.names, &self.names.session.meter)
    }

    fn deep_merge(&self) -> Evaluated {
        if let Some(reason) = self.arguments.iter().find_map(Value::unknown_part) {
            return Ok(Value::from(reason));
        }
        let merged = self.arguments.iter().cloned().reduce(|all, value| deep_merge(&all, &value));
        merged.map_or_else(|| self.refuse("it takes at least one map"), Ok)
    }
}

/// A function of the table.
fn compute(name: &str, arguments: Vec<Value>, meter: &Meter) -> Evaluated {
    match Function::find(name, Tools::TERRAGRUNT) {
        Some(function) => Ok(function.call(arguments, &meter.budget)?),
        None => Err(Failure::refused(format!("there is no function {name}()"))),
    }
}
