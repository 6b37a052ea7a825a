//! The text of `.gitattributes`: our lines in it, every other byte as it was.

/// The name of the file, at the top of the working tree.
pub const FILE_NAME: &str = ".gitattributes";

/// The lines that we put there. Code hosts fold generated files away, which a lock file must not be.
pub const LINES: [&str; 3] = [
    ".terraform.lock.hcl merge=tflock diff=tflock linguist-generated=false",
    ".tflock.trust.hcl merge=tflock diff=tflock linguist-generated=false",
    ".tflock.modules.hcl merge=tflock linguist-generated=false",
];

/// The files that our lines are about, each with the attributes that its line sets, and their values.
pub fn wanted() -> impl Iterator<Item = (&'static str, Vec<(&'static str, &'static str)>)> {
    LINES.into_iter().filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?, words.filter_map(|word| word.split_once('=')).collect()))
    })
}

/// The text with our lines; those that are there stay where they are.
///
/// New ones go to the end, since the last line about an attribute decides. They get the line ends of the text, and a
/// text whose last line has no end still has none.
pub fn with_lines(text: &[u8]) -> Vec<u8> {
    let missing: Vec<&str> = LINES.into_iter().filter(|line| !lines(text).any(|there| is(there, line))).collect();
    let end = if text.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
    let mut text = text.to_owned();
    let ended = text.is_empty() || text.ends_with(b"\n");
    for line in missing {
        let line = if ended { format!("{line}{end}") } else { format!("{end}{line}") };
        text.extend_from_slice(line.as_bytes());
    }
    text
}

/// The text without our lines: what it was before [`with_lines`].
pub fn without_lines(text: &[u8]) -> Vec<u8> {
    let ours = |line: &&[u8]| LINES.iter().any(|ours| is(line, ours));
    let mut kept: Vec<u8> = lines(text).filter(|line| !ours(line)).collect::<Vec<_>>().concat();
    if !text.ends_with(b"\n") && lines(text).last().as_ref().is_some_and(ours) {
        let end = [&b"\r\n"[..], b"\n"].into_iter().find(|end| kept.ends_with(end)).map_or(0, <[u8]>::len);
        kept.truncate(kept.len() - end);
    }
    kept
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

fn is(line: &[u8], ours: &str) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line) == ours.as_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn installed(text: &str) -> String {
        String::from_utf8(with_lines(text.as_bytes())).unwrap()
    }

    #[test]
    fn lines_go_to_the_end_in_the_line_ends_of_the_text() {
        let [lock, trust, modules] = LINES;
        assert_eq!(installed(""), format!("{lock}\n{trust}\n{modules}\n"));
        assert_eq!(installed("* text\n"), format!("* text\n{lock}\n{trust}\n{modules}\n"));
        assert_eq!(installed("* text"), format!("* text\n{lock}\n{trust}\n{modules}"));
        assert_eq!(installed("* text\r\n"), format!("* text\r\n{lock}\r\n{trust}\r\n{modules}\r\n"));
        assert_eq!(installed("a b\r\n* text"), format!("a b\r\n* text\r\n{lock}\r\n{trust}\r\n{modules}"));
        assert_eq!(installed(&format!("{trust}\nx y\n")), format!("{trust}\nx y\n{lock}\n{modules}\n"));
        assert_eq!(installed(&format!("#{lock}\n")), format!("#{lock}\n{lock}\n{trust}\n{modules}\n"));
    }

    #[test]
    fn only_our_lines_are_taken_out() {
        let [lock, trust, _] = LINES;
        let other = ".terraform.lock.hcl merge=tflock\n";
        assert_eq!(
            without_lines(format!("{other}{lock}\r\nx y\n{trust}").as_bytes()),
            format!("{other}x y").as_bytes()
        );
        assert_eq!(without_lines(lock.as_bytes()), b"");
    }

    proptest! {
        #[test]
        fn there_and_back(text in "[a*# ]{0,3}(\r?\n[a*# \u{e9}]{0,3}){0,4}") {
            let once = with_lines(text.as_bytes());
            prop_assert_eq!(&with_lines(&once), &once);
            prop_assert!(once.starts_with(text.as_bytes()));
            prop_assert_eq!(without_lines(&once), text.as_bytes());
        }
    }
}
