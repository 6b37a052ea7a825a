//! Texts made to hurt: too large, too deep, too many.

use super::*;
use crate::finding::Rule;

fn messages(text: &[u8]) -> String {
    let findings = decode(text, Dialect::OpenTofu).unwrap_err();
    findings.into_iter().flat_map(|finding| [finding.message().to_owned(), "\n".to_owned()]).collect()
}

#[test]
fn too_large() {
    let text = vec![b'\n'; (16 << 20) + 1];
    assert!(messages(&text).contains("at most 16777216"));
    assert!(decode(&vec![b'#'; 16 << 20], Dialect::OpenTofu).is_ok());
}

#[test]
#[ignore = "long"]
fn too_many() {
    let text = |entries: usize, hashes: usize| -> String {
        let hashes = (0..hashes).fold(String::new(), |text, n| text + &format!("    \"h1:{n:08}\",\n"));
        let list = if hashes.is_empty() { hashes } else { format!("  hashes = [\n{hashes}  ]\n") };
        let block = |n| format!("\nprovider \"example.com/a/b{n:05}\" {{\n  version = \"1.0.0\"\n{list}}}\n");
        LockFile::new().encode(Dialect::OpenTofu) + &(0..entries).map(block).collect::<String>()
    };
    let cases = [
        (2_001, 0, "more than 2000 entries"),
        (1, 10_001, "more than 10000 hashes in one entry"),
        (6, 9_000, "more than 50000 hashes"),
    ];
    for (entries, hashes, message) in cases {
        let text = text(entries, hashes);
        // As a tool writes it, and with a comment, which goes the long way.
        for text in [text.clone(), text + "# x\n"] {
            let findings = decode(text.as_bytes(), Dialect::OpenTofu).unwrap_err();
            let [finding] = &findings[..] else { panic!("{findings:?}") };
            assert!(finding.message().contains(message) && finding.rule == Rule::LockSyntax, "{finding:?}");
            assert!(finding.position.unwrap().line > 100, "{finding:?}");
            assert!(salvage(text.as_bytes(), Dialect::OpenTofu).lock.is_empty());
        }
    }
    for (entries, hashes) in [(2_000, 25), (1, 10_000), (5, 10_000)] {
        assert!(decode(text(entries, hashes).as_bytes(), Dialect::OpenTofu).is_ok(), "{entries} {hashes}");
    }
    // Nothing is parsed of a text with more quotes than that.
    assert!(messages("\"".repeat(120_000).as_bytes()).contains("50000 hashes need"));
}

#[test]
fn too_deep() {
    let many = 20_000;
    let value = |open: &str, inner: &str, close: &str| {
        format!("provider \"example.com/a/b\" {{\nversion = {}{inner}{}\n}}\n", open.repeat(many), close.repeat(many))
    };
    let texts = [
        value("(", "1", ")"),
        value("[", "", "]"),
        value("{a=", "1", "}"),
        value("\"${", "1", "}\""),
        value("!", "true", ""),
        value("-", "1", ""),
        value("1 ? 1 : ", "1", ""),
        value("f(", "", ")"),
        value("a[", "0", "]"),
        value("\"%{ if true }", "\"", "%{ endif }"),
        value("[for a in ", "[]", ": a]"),
        value("[][*].", "a", ""),
        value("1 + (", "1", ")"),
        value("", "1", " + 1"),
        value("", "a", ".b"),
        value("", "a", "[0]"),
        value("", "a", "[*]"),
        value("", "a.*", ".b"),
        "a {\n".repeat(many),
        "a \"".repeat(many),
        "<<A\n${".repeat(many),
    ];
    for text in texts {
        assert!(decode(text.as_bytes(), Dialect::OpenTofu).is_err(), "{}", &text[..60]);
    }
}

#[test]
fn nested_expressions_are_no_literals() {
    for deep in [1, 16, 17, 70, 10_000] {
        let nested = format!("{}\"1.2.3\"{}", "(".repeat(deep), ")".repeat(deep));
        let text = format!("provider \"example.com/a/b\" {{\n  version = {nested}\n}}\n");
        let findings = decode(text.as_bytes(), Dialect::OpenTofu).unwrap_err();
        assert_eq!(findings[0].rule, Rule::LockNotLiteral, "{deep}");
    }
}

#[test]
fn endless_work() {
    let block =
        |hashes: &str| format!("provider \"example.com/a/b\" {{\nversion = \"1.0.0\"\nhashes = [{hashes}]\n}}\n");
    let numbers = format!("[{}]", "0,".repeat(200));
    let loops = format!("[for a in {numbers} : [for b in {numbers} : [for c in {numbers} : a]]]");
    assert!(messages(block(&loops).as_bytes()).contains("not one quoted string"));
    assert!(!messages("/*".repeat(1 << 18).as_bytes()).is_empty());
    assert!(!messages("<<".repeat(1 << 18).as_bytes()).is_empty());
    assert!(messages(&vec![0; 1 << 18]).len() < 100_000);
    assert!(messages(block(&"\"x\",".repeat(50_000)).as_bytes()).contains("not a hash"));
    assert!(messages(&vec![0xff; 1 << 18]).contains("not UTF-8"));
}

#[test]
fn large_files_are_read_the_short_way() {
    let lock = large(200, 60);
    let text = lock.encode(Dialect::OpenTofu);
    let found = super::syntax::scan_canonical(text.as_bytes(), Dialect::Terraform).unwrap();
    assert_eq!(found.lock, lock);
    let lines: Vec<&str> = text.lines().collect();
    for entry in found.spans.entries.values() {
        assert!(lines[entry.block.line - 1].starts_with("provider"));
        assert!(entry.each_hash.iter().all(|(hash, at)| lines[at.line - 1][at.column - 1..] == format!("\"{hash}\",")));
    }
    assert!(super::syntax::scan_canonical(text.replacen("1.0.0", "1.0", 1).as_bytes(), Dialect::Terraform).is_none());
}

#[test]
fn what_is_wrong_at_the_ends_of_a_text_is_at_a_line_of_it() {
    let text = super::large(2, 3).encode(Dialect::Terraform);
    let (lines, places) = (text.lines().count(), |text: &str| {
        super::places(&decode(text.as_bytes(), Dialect::Terraform).unwrap().warnings)
    });
    assert_eq!(places(&text), [(0, 0); 0]);
    assert_eq!(places(&format!("\u{feff}{text}")), [(1, 1)]);
    assert_eq!(places(text.trim_end()), [(lines, 1)]);
    assert_eq!(places(&format!("{text}\n")), [(lines + 1, 1)]);
}

#[test]
fn other_encodings() {
    assert!(messages(b"\xff\xfep\0r\0o\0v\0").starts_with("not UTF-8; the file seems to be UTF-16"));
    assert!(decode(b"# caf\xe9 \xff\xfe\n", Dialect::OpenTofu).is_ok());
    assert!(messages(b"# \xe9\nx \xe9\n").contains("not UTF-8"));
}
