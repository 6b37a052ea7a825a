//! Two module lock files, merged block by block.
//!
//! What a block locks is taken from the one side that changed it; changed on both sides it is a conflict, unless both lock
//! the same content: then only calls and constraints are put together.

use std::collections::BTreeSet;
use std::path::Path;

use super::entry::{MergeRemark, Side};
use super::text::Markers;
use super::{MergeOptions, MergedText, Three, both};
use crate::modulelock::{self, FILE_NAME, LockedModule, ModuleKey, ModuleLockFile};

/// Merges the texts of module lock files. What two sides of a text with markers agree about decides a conflict.
pub(super) fn merge(texts: Three<&[u8]>, sides: Option<[&[u8]; 2]>, options: MergeOptions) -> MergedText {
    let decided = both(sides, |side| read(side).ok());
    let markers = Markers { size: options.marker_size };
    let Three { base, ours, theirs } = texts;
    match (read(ours), read(theirs)) {
        (Ok(our_file), Ok(their_file)) => {
            let base = read(base);
            let no_base = base.is_err().then_some(MergeRemark::NoBase);
            let base = base.unwrap_or_default();
            let files = Three { base, ours: our_file, theirs: their_file };
            let mut merged = merge_files(&files, decided.as_ref(), markers);
            merged.remarks.extend(no_base);
            merged
        }
        (ours_read, theirs_read) => {
            let wrong = [(Side::Ours, ours_read.err()), (Side::Theirs, theirs_read.err())];
            let wrong = wrong.into_iter().filter_map(|(side, why)| Some(MergeRemark::Unreadable(side, why?)));
            markers.whole_file(ours, theirs, wrong.collect())
        }
    }
}

/// Whether a text can be one side of a merge.
pub(super) fn is_readable(text: &[u8]) -> bool {
    read(text).is_ok()
}

fn read(text: &[u8]) -> Result<ModuleLockFile, String> {
    let text = std::str::from_utf8(text).map_err(|_| "the file is not UTF-8 text".to_owned())?;
    modulelock::decode(text, Path::new(FILE_NAME)).map_err(|errors| {
        let first = errors.first().and_then(|error| Some(format!("line {}: {error}", error.position?.line)));
        first.unwrap_or_default()
    })
}

fn merge_files(files: &Three<ModuleLockFile>, decided: Option<&[ModuleLockFile; 2]>, markers: Markers) -> MergedText {
    let Three { base, ours, theirs } = files;
    let (mut conflicts, mut remarks) = (Vec::new(), Vec::new());
    let mut merged = ModuleLockFile { lock: modulelock::ModuleLock::default(), ..ours.clone() };
    merged.comments.join(&theirs.comments);
    let keys: BTreeSet<&ModuleKey> = ours.lock.iter().chain(theirs.lock.iter()).map(|(key, _)| key).collect();
    for key in keys {
        let sides = Three { base: base.lock.get(key), ours: ours.lock.get(key), theirs: theirs.lock.get(key) };
        let settled = settle_block(sides).or_else(|Conflict| {
            // Both sides of the text have one of the two: someone has decided.
            let [one, other] = decided.ok_or(Conflict)?.each_ref().map(|file| file.lock.get(key));
            let is_decided = one == other && (one == sides.ours || one == sides.theirs);
            if is_decided { Ok(one.cloned()) } else { Err(Conflict) }
        });
        match settled {
            Ok(None) => {}
            Ok(Some(block)) => drop(merged.lock.insert(key.clone(), block)),
            Err(Conflict) => {
                remarks.push(MergeRemark::BlockConflict(format!("module {:?}", key.to_string())));
                conflicts.push(key);
            }
        }
    }
    if conflicts.is_empty() {
        return MergedText { text: merged.encode().into_bytes(), remarks, ..MergedText::default() };
    }
    let header = ModuleLockFile { lock: modulelock::ModuleLock::default(), ..merged.clone() }.encode();
    let mut parts: Vec<Vec<u8>> = if header.is_empty() { Vec::new() } else { vec![header.into_bytes()] };
    let all: BTreeSet<&ModuleKey> = merged.lock.iter().map(|(key, _)| key).chain(conflicts.iter().copied()).collect();
    for key in all {
        if !conflicts.contains(&key) {
            parts.push(merged.encode_block(key).into_bytes());
            continue;
        }
        let mut text = Vec::new();
        let [ours, theirs] = [ours, theirs].map(|file| file.encode_block(key));
        markers.push_conflict(&mut text, ours.as_bytes(), theirs.as_bytes());
        parts.push(text);
    }
    MergedText { text: parts.join(&b'\n'), conflicts: true, remarks, ..MergedText::default() }
}

struct Conflict;

fn settle_block(block: Three<Option<&LockedModule>>) -> Result<Option<LockedModule>, Conflict> {
    let Three { base, ours, theirs } = block;
    if ours == theirs || theirs == base {
        return Ok(ours.cloned());
    }
    if ours == base {
        return Ok(theirs.cloned());
    }
    match (ours, theirs) {
        (Some(ours), Some(theirs)) if ours.content == theirs.content => Ok(Some(joined(base, ours, theirs))),
        _ => Err(Conflict),
    }
}

/// The same content with the calls of both sides, except for those that one of them took out.
fn joined(base: Option<&LockedModule>, ours: &LockedModule, theirs: &LockedModule) -> LockedModule {
    let none = BTreeSet::new();
    let before = base.map_or(&none, |base| &base.calls);
    let stays = |call: &&String| !before.contains(*call) || ours.calls.contains(*call) && theirs.calls.contains(*call);
    let calls = ours.calls.union(&theirs.calls).filter(stays).cloned().collect();
    let terms = |block: &LockedModule| -> BTreeSet<String> {
        block.constraints.iter().flat_map(|text| text.split(", ").map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    // Which terms belong to removed calls is unknown here; `lock` finds out.
    let terms: Vec<String> = terms(ours).union(&terms(theirs)).cloned().collect();
    let constraints = (!terms.is_empty()).then(|| terms.join(", "));
    LockedModule { constraints, calls, content: ours.content.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(source: &str, calls: &str, commit: char) -> String {
        let commit = commit.to_string().repeat(40);
        format!(
            "module \"{source}\" {{\n  calls  = [{calls}]\n  commit = \"{commit}\"\n  hash   = \
             \"h1:C2U9ox1R6cZ67gfuUfYJI+oaNd7zIHqaC5SttDXu6mI=\"\n}}\n"
        )
    }

    fn merged(texts: [&str; 3]) -> (String, bool) {
        let [base, ours, theirs] = texts.map(str::as_bytes);
        let merged = merge(Three { base, ours, theirs }, None, MergeOptions::default());
        (String::from_utf8(merged.text).unwrap(), merged.conflicts)
    }

    #[test]
    fn what_one_side_changed_is_taken() {
        let [a, b, c] = ["git::https://g/a", "git::https://g/b", "git::https://g/c"];
        let base = format!("# kept\n\n{}\n{}", block(a, "\"a\"", '1'), block(b, "\"b\"", '1'));
        let ours = base.replacen(&"1".repeat(40), &"2".repeat(40), 1);
        let theirs = format!("{base}\n{}", block(c, "\"c\"", '1'));
        let (text, conflicts) = merged([&base, &ours, &theirs]);
        assert!(!conflicts);
        assert_eq!(text, format!("{ours}\n{}", block(c, "\"c\"", '1')));
    }

    #[test]
    fn calls_of_both_sides_come_together() {
        let source = "git::https://g/a";
        let [base, ours, theirs] =
            ["\"a\", \"b\"", "\"a\", \"b\", \"c\"", "\"a\", \"d\""].map(|calls| block(source, calls, '1'));
        assert_eq!(merged([&base, &ours, &theirs]), (block(source, "\"a\", \"c\", \"d\"", '1'), false));
    }

    #[test]
    fn two_contents_are_a_conflict() {
        let source = "git::https://g/a";
        let [base, ours, theirs] = ['1', '2', '3'].map(|commit| block(source, "\"a\"", commit));
        let (text, conflicts) = merged([&base, &ours, &theirs]);
        assert!(conflicts);
        assert_eq!(text, format!("<<<<<<< OURS\n{ours}=======\n{theirs}>>>>>>> THEIRS\n"));
        let (_, conflicts) = merged(["", &ours, &theirs]);
        assert!(conflicts);
        let [base, one, other] = [&base, &ours, &theirs].map(String::as_bytes);
        let texts = Three { base, ours: one, theirs: other };
        let decided = merge(texts, Some([one, one]), MergeOptions::default());
        assert_eq!((decided.text, decided.conflicts), (one.to_vec(), false));
        let base = String::from_utf8_lossy(base).into_owned();
        // Nothing of a text that cannot be read is lost.
        let (text, conflicts) = merged([&base, "<<<", &theirs]);
        assert!(conflicts && text.contains("<<<\n") && text.contains(&theirs));
    }
}
