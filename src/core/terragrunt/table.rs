//! The blocks and arguments of Terragrunt, and what each of them has to do with what a unit requires. What has no row is not known,
//! and a unit with it is not read: a newer Terragrunt may have given it any meaning.
//!
//! Source: terragrunt `pkg/config/config.go`, `terragruntConfigFile`, and the types of its blocks; `internal/remotestate/config.go`.

use crate::config::body::BodySchema;

/// What an argument does to the requirements of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It counts, and is evaluated.
    Read,
    /// Whatever it says, the requirements are the same.
    None,
    /// It may change them in ways that are not followed.
    Unread,
}

use Effect::{None as Nothing, Read, Unread};

/// Arguments of one block, by the way to it from the file; `*` is any name.
type Row = (&'static str, Effect, &'static [&'static str]);

pub(super) const TABLE: &[Row] = &[
    ("", Read, &["inputs", "generate", "remote_state", "terraform_binary", "download_dir"]),
    (
        "",
        Nothing,
        &[
            "iam_assume_role_duration",
            "iam_assume_role_session_name",
            "iam_role",
            "iam_web_identity_token",
            "prevent_destroy",
            "terraform_version_constraint",
            "terragrunt_version_constraint",
            // Of versions before 1.0.
            "retry_max_attempts",
            "retry_sleep_interval_sec",
            "retryable_errors",
            "skip",
        ],
    ),
    ("include", Read, &["path", "expose", "merge_strategy"]),
    ("locals", Read, &["*"]),
    ("feature", Read, &["default"]),
    ("terraform", Read, &["source", "version", "include_in_copy", "exclude_from_copy"]),
    ("terraform", Nothing, &["copy_terraform_lock_file", "mutable", "update_source_with_cas"]),
    (
        "terraform.extra_arguments",
        Read,
        &["commands", "arguments", "env_vars", "required_var_files", "optional_var_files"],
    ),
    ("terraform.before_hook", Read, HOOK),
    ("terraform.after_hook", Read, HOOK),
    ("terraform.error_hook", Read, &["commands", "execute", "working_dir", "suppress_stdout", "on_errors"]),
    (
        "generate",
        Read,
        &["path", "if_exists", "if_disabled", "disable", "disable_signature", "comment_prefix", "contents"],
    ),
    ("generate", Nothing, &["hcl_fmt", "mutable"]),
    ("remote_state", Read, &["generate", "config", "encryption"]),
    ("remote_state", Nothing, &["backend", "disable_init", "disable_dependency_optimization"]),
    (
        "dependency",
        Read,
        &[
            "config_path",
            "enabled",
            "skip_outputs",
            "mock_outputs",
            "mock_outputs_allowed_terraform_commands",
            "mock_outputs_merge_strategy_with_state",
            "mock_outputs_merge_with_state",
        ],
    ),
    ("dependency.expansion", Unread, &["*"]),
    ("dependencies", Nothing, &["paths"]),
    ("engine", Read, &["source", "version", "type", "meta"]),
    ("exclude", Nothing, &["if", "actions", "no_run", "exclude_dependencies"]),
    ("errors.retry", Nothing, &["retryable_errors", "max_attempts", "sleep_interval_sec"]),
    ("errors.ignore", Nothing, &["ignorable_errors", "message", "signals"]),
    ("errors", Nothing, &[]),
    ("catalog", Nothing, &["urls", "default_template", "no_shell", "no_hooks"]),
];

const HOOK: &[&str] = &["commands", "execute", "working_dir", "if", "run_on_error", "suppress_stdout"];

/// The blocks of a file, with the number of labels of an include.
const fn blocks(labels: usize) -> [(&'static str, usize); 12] {
    [
        ("include", labels),
        ("locals", 0),
        ("feature", 1),
        ("terraform", 0),
        ("generate", 1),
        ("remote_state", 0),
        ("dependency", 1),
        ("dependencies", 0),
        ("exclude", 0),
        ("errors", 0),
        ("engine", 0),
        ("catalog", 0),
    ]
}

pub(super) const FILE: BodySchema = &blocks(1);
/// Where JSON has an include without a label.
pub(super) const BARE: BodySchema = &blocks(0);

/// The blocks in a block.
pub(super) fn blocks_in(block: &str) -> BodySchema {
    match block {
        "terraform" => &[("extra_arguments", 1), ("before_hook", 1), ("after_hook", 1), ("error_hook", 1)],
        "errors" => &[("retry", 1), ("ignore", 1)],
        "dependency" => &[("expansion", 0)],
        _ => &[],
    }
}

/// What an argument of a block does; `None` without a row.
pub(super) fn effect(block: &str, name: &str) -> Option<Effect> {
    let has = |names: &[&str]| names.iter().any(|known| *known == name || *known == "*");
    TABLE.iter().find(|(place, _, names)| *place == block && has(names)).map(|(_, effect, _)| *effect)
}

/// True for blocks whose arguments have rows, and that do not make a unit unread.
pub(super) fn is_followed(block: &str) -> bool {
    TABLE.iter().any(|(place, effect, _)| *place == block && *effect != Effect::Unread)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::terragrunt::functions;

    const PAGE: &str = include_str!("../../../docs/terragrunt.md");

    fn in_one_line(page: &str) -> String {
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Names as the page lists them.
    fn cell(names: &[&str]) -> String {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn the_page_has_the_lists() {
        let page = in_one_line(PAGE);
        for (start, effect) in [("`read_terragrunt_config`:", Read), ("decide no requirement:", Nothing)] {
            let mut list = String::new();
            for rows in TABLE.chunk_by(|one, next| one.1 == next.1 && one.2 == next.2) {
                let (_, its, names) = rows[0];
                if its != effect || names.is_empty() {
                    continue;
                }
                let blocks: Vec<&str> = rows.iter().map(|row| row.0).collect();
                let blocks = if blocks == [""] { "the file".to_owned() } else { cell(&blocks) };
                let _ = write!(list, " - {blocks}: {}", cell(names));
            }
            let after = page.split_once(start).and_then(|(_, rest)| rest.strip_prefix(&list));
            assert!(after.is_some_and(|rest| !rest.starts_with(" - ")), "docs/terragrunt.md: {start}{list}");
        }
    }

    #[test]
    fn the_page_has_the_functions() {
        for names in [functions::evaluated(), functions::outside().collect()] {
            let wanted = cell(&names);
            assert!(in_one_line(PAGE).contains(&wanted), "docs/terragrunt.md lacks these functions:\n{wanted}");
        }
    }
}
