//! The functions of Terragrunt that depend on the place of the expression or on the environment.
//!
//! What would start a program, or depends on the machine, the command or a server, is unknown.
//!
//! Source: terragrunt `pkg/config/config_helpers.go`.

use std::sync::Arc;

use super::files::{Found, join, parent, relative};
use super::place::{Names, unknown};
use crate::evaluate::Evaluated;
use crate::functions::clean;
use crate::value::{Cause, Type, Value};

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
            "get_terragrunt_source_cli_flag",
            "get_default_retryable_errors",
            "get_working_dir",
            "get_platform",
        ],
        "the command or the machine",
    ),
];

/// The names of those that are evaluated.
#[cfg(test)]
pub(super) fn evaluated() -> Vec<&'static str> {
    let of_commands = COMMANDS.iter().map(|(name, _)| *name);
    let of_files = ["read_terragrunt_config", "read_tfvars_file"];
    let mut names: Vec<_> = of_commands.chain(of_files).chain(WITH_TEXTS.iter().copied()).collect();
    names.sort_unstable();
    names
}

/// The names of those whose values are never known.
#[cfg(test)]
pub(super) fn outside() -> impl Iterator<Item = &'static str> {
    OUTSIDE.iter().flat_map(|(names, _)| names.iter().copied())
}

/// Functions that list commands of the tools.
const COMMANDS: &[(&str, &[&str])] = &[
    ("get_terraform_commands_that_need_vars", &["apply", "console", "destroy", "import", "plan", "push", "refresh"]),
    (
        "get_terraform_commands_that_need_locking",
        &["apply", "destroy", "import", "plan", "refresh", "taint", "untaint"],
    ),
    ("get_terraform_commands_that_need_input", &["apply", "import", "init", "plan", "refresh"]),
    ("get_terraform_commands_that_need_parallelism", &["apply", "plan", "destroy"]),
];

impl Names<'_> {
    /// The result of a function that depends on where the expression is; `None` for all others.
    pub(super) fn call_function(&self, name: &str, arguments: &[Value]) -> Option<Evaluated> {
        let call = Call { names: self, name, arguments };
        if let Some(value) = call.with_open() {
            return Some(value);
        }
        let is_known = |(names, _): &&(&[&str], &str)| names.contains(&name);
        if let Some((_, why)) = OUTSIDE.iter().find(is_known) {
            return Some(Ok(unknown(format!("{name}(): {why}"))));
        }
        if let Some((_, commands)) = COMMANDS.iter().find(|(listing, _)| *listing == name) {
            return Some(Ok(Value::list(Type::String, commands.iter().map(Value::text).collect())));
        }
        // A mark changes no value.
        if let ("sensitive", [value]) = (name, arguments) {
            return Some(Ok(value.clone()));
        }
        call.of_files().or_else(|| WITH_TEXTS.contains(&name).then(|| call.with_texts()))
    }
}

/// A call of a function.
pub(super) struct Call<'a, 's> {
    pub(super) names: &'a Names<'s>,
    pub(super) name: &'a str,
    pub(super) arguments: &'a [Value],
}

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
];

impl Call<'_, '_> {
    /// Whatever looks at all attributes of an object is unknown if it may have further ones.
    pub(super) fn with_open(&self) -> Option<Evaluated> {
        let open = self.arguments.iter().find(|argument| argument.is_open())?;
        Some(Ok(open.unknown_part().map_or_else(|| unknown(format!("{}()", self.name)), Value::from)))
    }

    /// The arguments as texts; else the value of the call.
    pub(super) fn texts(&self) -> Result<Vec<Arc<str>>, Evaluated> {
        let text = |argument: &Value| match argument.convert(&Type::String) {
            Ok(Value::String(text)) => Ok(text),
            Ok(Value::Unknown(reason)) => Err(Ok(Value::Unknown(reason))),
            _ => Err(self.refuse("an argument is not a string")),
        };
        self.arguments.iter().map(text).collect()
    }

    /// What Terragrunt may refuse: no certain error.
    #[expect(clippy::unnecessary_wraps, reason = "it is the result of a call")]
    pub(super) fn refuse(&self, reason: &str) -> Evaluated {
        Ok(unknown(format!("{}() where {reason}", self.name)))
    }

    fn with_texts(&self) -> Evaluated {
        let texts = match self.texts() {
            Ok(texts) => texts,
            Err(value) => return value,
        };
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let (place, session) = (&self.names.place, self.names.session);
        let text = |text: &str| Ok(Value::text(text));
        match (self.name, &texts[..]) {
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
            _ => self.refuse("the number of arguments is wrong"),
        }
    }

    /// What the settings say of a variable. The environment of the process is never read.
    fn environment(&self, name: &str, default: Option<&str>) -> Evaluated {
        let session = self.names.session;
        match (session.environment.get(name), default) {
            (Some(Some(value)), _) => Ok(Value::text(value)),
            (Some(None), Some(default)) => Ok(Value::text(default)),
            (Some(None), None) => Err(Cause::Null.refuses(format!("the settings say that {name} is never set"))),
            (None, None) => {
                let setting = format!("`terragrunt {{ env = {{ {name} = \"…\" }} }}`");
                Ok(unknown(format!("get_env({name:?}): if it is always the same, add {setting} to .tflock.hcl")))
            }
            (None, Some(default)) => {
                session.used_default.set(true);
                if session.takes_defaults {
                    Ok(Value::text(default))
                } else {
                    let setting = format!("`terragrunt {{ env = {{ {name} = null }} }}`");
                    let what = format!("get_env({name:?}), which a run may set");
                    Ok(unknown(format!("{what}: if it is never set, add {setting} to .tflock.hcl")))
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
                (_, [only]) => only.names.place.path.clone(),
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
        let session = self.names.session;
        let name = name.filter(|name| !name.is_empty());
        let mut directory = self.names.place.directory();
        for _ in 0..MOST_PARENTS {
            if directory == "/" {
                break;
            }
            directory = parent(directory);
            let candidates = match name {
                Some(name) => vec![clean(&format!("{directory}/{name}"))],
                None => vec![join(directory, "terragrunt.hcl.json"), join(directory, "terragrunt.hcl")],
            };
            for candidate in candidates {
                let is_above = !is_within(session.top, &candidate);
                match session.look(&candidate) {
                    Found::Is(_) => return Ok(Value::text(candidate)),
                    Found::Missing => {}
                    Found::Denied(_) if is_above => return Ok(self.not_found_in_parents(name, fallback)),
                    Found::Denied(reason) => return Ok(unknown(format!("{}, {reason}", session.shown(&candidate)))),
                }
            }
        }
        fallback.map_or_else(|| self.refuse("no directory above has the file"), |fallback| Ok(Value::text(fallback)))
    }

    /// What is assumed where the working tree has no such file: nothing is known of what is above it.
    fn not_found_in_parents(&self, name: Option<&str>, fallback: Option<&str>) -> Value {
        let name = name.unwrap_or("terragrunt.hcl");
        let Some(fallback) = fallback else {
            return unknown(format!("find_in_parent_folders({name:?}), which finds nothing in the repository"));
        };
        self.names.note(format!("find_in_parent_folders({name:?}) gives its second argument: the repository has no such file in a directory above"));
        Value::text(fallback)
    }
}

/// True for a path that is below a directory, or is that directory.
fn is_within(top: &str, path: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || top.ends_with('/'))
}
