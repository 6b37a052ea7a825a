//! The scanner compared with the real program where it is at hand.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::outline;

/// White space of Unicode, and characters that look like it.
const BLANKS: &str = "\t\u{b}\u{c}\r \u{85}\u{a0}\u{1680}\u{2000}\u{2003}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\
                      \u{1c}\u{1f}\u{ad}\u{180e}\u{200b}\u{200d}\u{2060}\u{feff}";

/// The names of the files of a folder that `terraform` takes for HCL; none where there is no such program.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the real program reads files; a skipped test says so"
)]
fn accepted_by_terraform(folder: &Path, texts: &[(String, String)]) -> Option<BTreeSet<String>> {
    for (name, text) in texts {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let output = Command::new("terraform")
        .args(["fmt", "-no-color", "-check", "-list=false", "-write=false", "."])
        .current_dir(folder)
        .env("CHECKPOINT_DISABLE", "1")
        .env_remove("TF_CLI_CONFIG_FILE")
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: terraform is not here");
        return None;
    };
    let printed = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let refused = |name: &str| printed.contains(&format!(" on {name} line "));
    Some(texts.iter().map(|(name, _)| name.clone()).filter(|name| !refused(name)).collect())
}

#[test]
fn heredocs_end_where_they_do_for_terraform() {
    let mut texts = Vec::new();
    for (at, blank) in BLANKS.chars().enumerate() {
        let lines =
            [format!("{blank}EOT"), format!("EOT{blank}"), format!("{blank} EOT {blank}"), format!("x{blank}EOT")];
        for (form, line) in lines.into_iter().enumerate() {
            for (sign, open) in [(0, "<<"), (1, "<<-")] {
                texts.push((format!("f{at}-{form}-{sign}.tf"), format!("a {{\n  b = {open}EOT\nx\n{line}\n}}\n")));
            }
        }
    }
    assert!(judged_alike(&texts).is_none_or(|accepted| accepted > 50 && accepted < texts.len() - 50));
}

/// Panics where the scanner and `terraform` differ; how many texts both accept.
fn judged_alike(texts: &[(String, String)]) -> Option<usize> {
    let folder = tempfile::tempdir().unwrap();
    let accepted = accepted_by_terraform(folder.path(), texts)?;
    for (name, text) in texts {
        assert_eq!(outline(text, 0..text.len()).is_ok(), accepted.contains(name), "{text:?}");
    }
    Some(accepted.len())
}

#[test]
fn positions_agree_with_terraform() {
    let places = [
        "X",
        "Xa = 1\n",
        "aX = 1\n",
        "a X= 1\n",
        "a = 1",
        "a = \"X\"\n",
        "a = <<E\nx\nXy\nE\n",
        "a = <<E\nxX\nE\n",
        "a = <<EX\nx\nE\n",
        "# X\n",
        "/* X */\n",
        "aX {\n}\n",
        "a Xb {\n}\n",
        "a bX {\n}\n",
        "a X {\n}\n",
        "a \"X\" {\n}\n",
        "a {X\n}\n",
        "a {\n}X\n",
        "a {\nX}\n",
    ];
    // Of values and escapes the scanner knows no more than where they end, except for carriage returns.
    let values = [
        "a = \"b\\X\"\n",
        "a \"b\\X\" {\n}\n",
        "a =X 1\n",
        "a = 1X\n",
        "a = 1X",
        "a = [1,X 2]\n",
        "a = \"${X 1}\"\n",
        "a { b = 1X }\n",
    ];
    let characters = "\r \r\n \u{201c} \u{201d} \u{2018} \u{ab} \u{e9} \u{301} \u{b7} \u{4e2d} \u{2013} \u{a0} \u{feff} \u{1f600} \u{200b}";
    let mut texts = Vec::new();
    for character in characters.split(' ') {
        let values = values.iter().filter(|_| character.contains('\r'));
        for (at, place) in places.iter().chain(values).enumerate() {
            texts.push((
                format!("c{at}-{}.tf", character.escape_unicode().to_string().replace('\\', "")),
                place.replace('X', character),
            ));
        }
    }
    assert!(judged_alike(&texts).is_none_or(|accepted| accepted > 50 && accepted < texts.len() - 50));
}
