//! Text to lock file, or all that is wrong with it.

use super::content::Content;
use super::header::{BYTE_ORDER_MARK, header_dialect};
use super::syntax::{Problem, Source, parse};
use super::{LockFile, Spans, canonical, layout};
use crate::dialect::Dialect;
use crate::finding::{Finding, Level, LineIndex, Position, Rule};

/// The largest lock file that is read, in bytes; the tools have no limit.
const LARGEST: usize = 16 << 20;

/// A lock file as read.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// What it says.
    pub lock: LockFile,
    /// Where it says it.
    pub spans: Spans,
    /// The tool whose header it has, if it has one.
    pub header: Option<Dialect>,
    /// Warnings: what is accepted, but not as the tools would write it. Never at level deny.
    pub warnings: Vec<Finding>,
    /// True if the text is exactly what `encode` gives in the dialect of its header.
    pub canonical: bool,
}

/// Decodes the bytes of a lock file as `dialect` would.
///
/// Texts above 16 MiB are refused. The findings name no file.
///
/// # Errors
///
/// All findings of the file, by position, when one of them is at level deny.
pub fn decode(text: &[u8], dialect: Dialect) -> Result<Decoded, Vec<Finding>> {
    if text.len() > LARGEST {
        return Err(vec![refusal(format!("the file has {} bytes; a lock file has at most {LARGEST}", text.len()))]);
    }
    match canonical::scan(text, dialect) {
        Some(found) => Ok(Decoded {
            lock: found.lock,
            spans: found.spans,
            header: Some(found.header),
            warnings: Vec::new(),
            canonical: true,
        }),
        None => decode_any(text, dialect),
    }
}

/// Decodes any text, the long way.
pub(super) fn decode_any(bytes: &[u8], dialect: Dialect) -> Result<Decoded, Vec<Finding>> {
    let after_mark = bytes.strip_prefix(BYTE_ORDER_MARK);
    let Some(source) = Source::new(after_mark.unwrap_or(bytes)) else {
        return Err(vec![refusal("the file is not a text".to_owned())]);
    };
    let tree = parse(&source);
    let index = LineIndex::new(&source.text);
    let mut content = Content::new(&source.text, &index, dialect);
    for problem in &tree.problems {
        content.unreadable(problem.at, say(problem, &source.text, bytes));
    }
    content.read(&tree.body);
    let Content { lock, spans, mut findings, .. } = content;
    let refused = findings.iter().any(|finding| finding.level == Level::Deny);
    let header = header_dialect(bytes);
    let canonical = !refused && header.is_some_and(|header| lock.encode(header).as_bytes() == bytes);
    if !refused && !canonical {
        let layout = layout::Layout { text: &source.text, index: &index, comments: &tree.comments };
        findings.extend(layout::warnings(&layout, &lock, &spans, header));
        if after_mark.is_some() {
            let message = "the file begins with a byte order mark";
            findings.push(Finding::new(Rule::NotCanonical, message).at(Position::default()));
        }
    }
    findings.sort_by_key(|finding| finding.position);
    if refused { Err(findings) } else { Ok(Decoded { lock, spans, header, warnings: findings, canonical }) }
}

fn refusal(message: String) -> Finding {
    Finding::new(Rule::LockSyntax, message).at(Position::default())
}

/// The message of a problem; a better one where it is clear what happened.
fn say(problem: &Problem, text: &str, bytes: &[u8]) -> String {
    let start = text[..problem.at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let marker = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].into_iter().find(|marker| line.starts_with(marker));
    if let Some(marker) = marker {
        return format!(
            "conflict marker `{marker}` of an unfinished merge; `tflock merge --resolve FILE` merges both sides"
        );
    }
    if problem.at == 0 && (bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")) {
        return "not UTF-8; the file seems to be UTF-16".to_owned();
    }
    problem.message.clone()
}
