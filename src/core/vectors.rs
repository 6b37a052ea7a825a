//! Tables of facts about the reference programs, for tests: `testdata/vectors/*.tsv`.

use std::path::Path;
use std::str::Chars;

/// The rows of a table without its first line, cells unescaped.
#[expect(clippy::disallowed_methods, reason = "tests read what the library must not")]
pub fn rows(file: &str) -> Vec<Vec<String>> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|top| top.join("testdata").is_dir());
    let text = std::fs::read_to_string(top.unwrap().join("testdata/vectors").join(file)).unwrap();
    let rows: Vec<_> = text.lines().skip(1).map(|line| line.split('\t').map(unescape).collect()).collect();
    assert!(!rows.is_empty(), "{file} has no rows");
    rows
}

/// Panics unless a table had no disagreement; names the first few.
pub fn agree(file: &str, disagreements: &[String]) {
    let shown = disagreements.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(disagreements.is_empty(), "{} rows of {file} disagree:\n{shown}", disagreements.len());
}

fn unescape(cell: &str) -> String {
    let mut bytes = Vec::with_capacity(cell.len());
    let mut rest = cell.chars();
    while let Some(c) = rest.next() {
        if c == '\\' { escape(&mut rest, &mut bytes) } else { push(c, &mut bytes) }
    }
    String::from_utf8(bytes).unwrap()
}

fn escape(rest: &mut Chars<'_>, bytes: &mut Vec<u8>) {
    match rest.next().unwrap() {
        't' => bytes.push(b'\t'),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        '\\' => bytes.push(b'\\'),
        'x' => bytes.push(u8::try_from(hex(rest, 2)).unwrap()),
        'u' => push(char::from_u32(hex(rest, 4)).unwrap(), bytes),
        'U' => push(char::from_u32(hex(rest, 8)).unwrap(), bytes),
        other => panic!("unknown escape {other:?}"),
    }
}

fn hex(rest: &mut Chars<'_>, digits: usize) -> u32 {
    u32::from_str_radix(&rest.take(digits).collect::<String>(), 16).unwrap()
}

fn push(c: char, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

#[test]
fn cells_are_unescaped() {
    assert_eq!(unescape(r"a\\b\tc\x20\u00e9\U0001f469\xc3\xa9"), "a\\b\tc é👩é");
}
