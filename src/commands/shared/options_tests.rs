//! Which value of a variable counts: against a second way to say it, for any order of sources.

#![expect(clippy::disallowed_methods, reason = "a test makes files")]

use clap::Parser;
use proptest::prelude::*;

use super::options::Modules;
use crate::dialect::Dialect;
use crate::disk::roots::{MissingModules, ModuleTerms, StandInTerms, TreeOptions};

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    modules: Modules,
}

/// Files that the tools read without being told, in their order.
const AUTOMATIC: [&str; 6] = [
    "terraform.tfvars",
    "terraform.tfvars.json",
    "A.auto.tfvars",
    "b.auto.tfvars",
    "b.auto.tfvars.json",
    "terraform.tfvars.auto.tfvars",
];

const VARIABLES: [&str; 2] = ["f", "g"];

/// Something that sets one or both of the variables.
#[derive(Debug, Clone)]
struct Source {
    kind: Kind,
    sets: [bool; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Environment,
    Automatic(usize),
    Var,
    VarFile,
    VarFileJson,
}

fn source() -> impl Strategy<Value = Source> {
    let kind = prop_oneof![
        Just(Kind::Environment),
        (0..AUTOMATIC.len()).prop_map(Kind::Automatic),
        Just(Kind::Var),
        Just(Kind::VarFile),
        Just(Kind::VarFileJson),
    ];
    (kind, any::<[bool; 2]>()).prop_map(|(kind, sets)| Source { kind, sets })
}

/// The later in the list of the specification, and then the later on the command line, the stronger.
fn strength(kind: Kind, at: usize) -> (usize, usize) {
    match kind {
        Kind::Environment => (0, 0),
        Kind::Automatic(file) => (1, file),
        Kind::Var | Kind::VarFile | Kind::VarFileJson => (2, at),
    }
}

/// What a file of variables says.
fn file(json: bool, sets: [bool; 2], value: &str) -> String {
    let set = VARIABLES.iter().zip(sets).filter(|(_, set)| *set);
    if json {
        let members: Vec<String> = set.map(|(name, _)| format!("\"{name}\": \"{value}\"")).collect();
        return format!("{{{}}}", members.join(", "));
    }
    let lines: Vec<String> = set.map(|(name, _)| format!("{name} = \"{value}\"")).collect();
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_value_that_was_set_last_counts(sources in proptest::collection::vec(source(), 0..8)) {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let text = VARIABLES.map(|name| {
            format!("variable \"{name}\" {{\n  default = \"none\"\n}}\nmodule \"{name}\" {{\n  source = \"./m/${{var.{name}}}\"\n}}\n")
        });
        write("main.tofu", &text.concat());
        write("m/none/main.tf", "");
        let mut options = TreeOptions::new(Dialect::OpenTofu);
        let mut line = vec!["command".to_owned()];
        let mut expected = VARIABLES.map(|_| ((0, 0), "none".to_owned()));
        let mut seen = Vec::new();
        for (at, Source { kind, sets }) in sources.into_iter().enumerate() {
            // The environment, and each file that is read without being told, is there once.
            if matches!(kind, Kind::Environment | Kind::Automatic(_)) && seen.contains(&kind) {
                continue;
            }
            seen.push(kind);
            let value = format!("v{at}");
            write(&format!("m/{value}/main.tf"), "");
            match kind {
                Kind::Environment => {
                    let set = VARIABLES.iter().zip(sets).filter(|(_, set)| *set);
                    options.variables.extend(set.map(|(name, _)| ((*name).to_owned(), value.clone())));
                }
                Kind::Automatic(file_at) => {
                    let name = AUTOMATIC[file_at];
                    write(name, &file(name.contains("json"), sets, &value));
                }
                Kind::Var => {
                    let set = VARIABLES.iter().zip(sets).filter(|(_, set)| *set);
                    line.extend(set.flat_map(|(name, _)| ["--var".to_owned(), format!("{name}={value}")]));
                }
                Kind::VarFile | Kind::VarFileJson => {
                    let json = kind == Kind::VarFileJson;
                    let name = format!("{at}.tfvars{}", if json { ".json" } else { "" });
                    write(&name, &file(json, sets, &value));
                    line.push(format!("--var-file={}", folder.path().join(name).display()));
                }
            }
            for (expected, set) in expected.iter_mut().zip(sets) {
                if set && strength(kind, at) >= expected.0 {
                    *expected = (strength(kind, at), value.clone());
                }
            }
        }
        let terms = ModuleTerms {
            dialect: Dialect::OpenTofu,
            hosts: None,
            whole: false,
            fresh: false,
            work_tree: folder.path().to_owned(),
            root: folder.path().to_owned(),
            stand_ins: StandInTerms::default(),
        };
        options.missing = MissingModules::Refuse;
        let mut access = Command::try_parse_from(&line).unwrap().modules.access();
        let tree = access.load_tree(folder.path(), &options, &terms, &|_| {}).unwrap();
        let found: Vec<&str> = tree.local_calls.iter().map(|call| call.source.as_str()).collect();
        prop_assert_eq!(found, expected.map(|(_, value)| format!("./m/{value}")), "{:?}", line);
    }
}
