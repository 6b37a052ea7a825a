//! What `terraform console` says of expressions.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::tools;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Refused,
    /// The tool waits for a type that it does not know yet.
    Unknown,
    /// A tuple with the value as JSON, empty if JSON has no such value; its type without white space.
    Value {
        json: String,
        kind: String,
    },
}

/// The values of expressions; `None` if terraform is not installed.
pub fn evaluate(expressions: &[&str]) -> Option<Vec<Answer>> {
    let program = tools::found("terraform")?;
    let folder = tempfile::tempdir().unwrap();
    let list = |before: &str, after: &str| {
        let each = expressions.iter().map(|text| format!("    try({before}[{text}]{after}, \"ERR\"),\n"));
        each.collect::<String>()
    };
    let locals =
        format!("locals {{\n  values = [\n{}  ]\n  types = [\n{}  ]\n}}\n", list("jsonencode(", ")"), list("", ""));
    std::fs::write(folder.path().join("main.tf"), locals).unwrap();
    let ask = |expression: &str| {
        let mut command = Command::new(&program);
        command
            .args(["console", "-no-color"])
            .current_dir(&folder)
            .env_remove("TF_CLI_CONFIG_FILE")
            .env("CHECKPOINT_DISABLE", "1");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        process.stdin.take().unwrap().write_all(expression.as_bytes()).unwrap();
        let output = process.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    };
    let values = values(&ask("local.values\n"));
    let kinds = kinds(&ask("type(local.types)\n"));
    assert_eq!((values.len(), kinds.len()), (expressions.len(), expressions.len()));
    let answer = |(json, kind): (Option<String>, String)| match (json, &kind[..]) {
        (None, _) => Answer::Unknown,
        (_, "string") => Answer::Refused,
        (Some(json), _) if json == "ERR" => Answer::Value { json: String::new(), kind },
        (Some(json), _) => Answer::Value { json, kind },
    };
    Some(values.into_iter().zip(kinds).map(answer).collect())
}

/// The texts in a tuple, one a line; `None` for those that are unknown.
fn values(printed: &str) -> Vec<Option<String>> {
    let elements = printed.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(','));
    let text = |quoted: &str| {
        let plain = quoted.replace("$${", "${").replace("%%{", "%{");
        serde_json::from_str(&plain).unwrap_or_else(|_| panic!("{quoted}"))
    };
    elements.map(|element| if element == "(known after apply)" { None } else { Some(text(element)) }).collect()
}

/// The types of the elements of a tuple, which are four columns in.
fn kinds(printed: &str) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    let inner = printed.trim_end().lines().skip(1).filter(|line| *line != "])");
    for line in inner {
        if line.starts_with("    ") && !line[4..].starts_with([' ', ']']) {
            kinds.push(String::new());
        }
        if let Some(kind) = kinds.last_mut() {
            kind.extend(line.chars().filter(|c| !c.is_whitespace()));
        }
    }
    for kind in &mut kinds {
        *kind = kind.trim_end_matches(',').to_owned();
    }
    kinds
}
