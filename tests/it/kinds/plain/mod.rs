//! A second reader of Terragrunt units, slow and plain: everything is evaluated at once, in Terragrunt's order, and nothing is shared
//! with the program. It reads as much of the language as the recorded trees and the random ones of the tests use.

mod functions;
mod module;
mod syntax;
pub mod trees;
mod unit;

use std::collections::BTreeMap;

/// The files of a repository at [`TOP`], by their path from there.
pub type Files = BTreeMap<String, String>;

/// Where the repository is, to this reader.
const TOP: &str = "/repo";

/// The providers that a unit requires, each with its constraints; else why Terragrunt or the tool refuses.
pub fn requirements(files: &Files, unit: &str) -> Result<BTreeMap<String, String>, String> {
    module::requirements(&assembled(files, unit)?)
}

/// The configuration files of the directory in which Terragrunt would run the tool, by name.
pub fn assembled(files: &Files, unit: &str) -> Result<Files, String> {
    let config = unit::read(files, &format!("{TOP}/{unit}/terragrunt.hcl"))?;
    module::assembled(files, unit, &config)
}

/// A path without `.` and `..`.
fn clean(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') { clean(path) } else { clean(&format!("{directory}/{path}")) }
}

fn parent(path: &str) -> String {
    clean(&format!("{path}/.."))
}

fn relative(from: &str, to: &str) -> String {
    let names = |path: &str| path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (mut from, mut to) = (names(from), names(to));
    while !from.is_empty() && !to.is_empty() && from[0] == to[0] {
        from.remove(0);
        to.remove(0);
    }
    let way: Vec<String> = from.iter().map(|_| "..".to_owned()).chain(to).collect();
    if way.is_empty() { ".".to_owned() } else { way.join("/") }
}
