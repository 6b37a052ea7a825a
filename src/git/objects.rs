//! Files of commits, and the lists of those that matter.

use super::changes::Listed;
use super::{Commit, Git, GitError};
use crate::lockfile;

impl Git {
    /// The lock files of a commit below the directory, relative to the top.
    pub fn lock_files(&self, commit: &Commit) -> Result<Vec<String>, GitError> {
        let mut args = vec!["ls-tree", "-r", "-z", "--name-only", "--full-tree", &commit.id];
        let prefix = self.directory.prefix();
        if !prefix.is_empty() {
            args.extend(["--", &prefix]);
        }
        self.names("ls-tree", args)
    }

    /// The lock files of the working tree below the directory, relative to the top: tracked ones, and others that are not
    /// ignored.
    pub fn lock_files_now(&self) -> Result<Vec<String>, GitError> {
        let pattern = format!(":(top,glob){}**/{}", escaped(&self.directory.prefix()), lockfile::FILE_NAME);
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", "--", &pattern];
        let mut names = self.names("ls-files", args)?;
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// The lock files, trust files and module lock files of the whole working tree, relative to the top: tracked ones, and
    /// others that are not ignored.
    pub fn own_files(&self) -> Result<Vec<String>, GitError> {
        let patterns = [lockfile::FILE_NAME, crate::trust::pins::FILE_NAME, crate::modulelock::FILE_NAME]
            .map(|name| format!(":(top,glob)**/{name}"));
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", "--"];
        let args = args.into_iter().chain(patterns.iter().map(String::as_str));
        let mut names: Vec<String> = self.launcher.run(args)?.checked("ls-files")?.texts().collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// Adds the files that a sparse working tree leaves out, as the index has them.
    pub fn add_left_out(&self, paths: &[String], texts: &mut [Option<Vec<u8>>]) -> Result<(), GitError> {
        if texts.iter().all(Option::is_some) {
            return Ok(());
        }
        let answer = self.launcher.run(["ls-files", "-z", "-t", "--stage", "--cached"])?.checked("ls-files")?;
        let tracked = Listed::of(&answer).tracked;
        let left_out = |path: &String| tracked.get(path.as_str()).filter(|(.., skipped)| *skipped).map(|(_, id, _)| id);
        let absent = paths.iter().zip(texts).filter(|(_, text)| text.is_none());
        let (places, ids): (Vec<&mut Option<Vec<u8>>>, Vec<&str>) =
            absent.filter_map(|(path, text)| Some((text, left_out(path)?.as_str()))).unzip();
        for (text, found) in places.into_iter().zip(self.blobs(&ids)?) {
            *text = Some(found);
        }
        Ok(())
    }

    fn names<'a>(&self, task: &'static str, args: impl IntoIterator<Item = &'a str>) -> Result<Vec<String>, GitError> {
        let answer = self.launcher.run(args)?.checked(task)?;
        let is_lock_file = |name: &String| name.rsplit('/').next() == Some(lockfile::FILE_NAME);
        Ok(answer.texts().filter(is_lock_file).collect())
    }

    /// Files of a commit by their paths from the top, in that order; none for those that are not there. Links inside
    /// of the tree are followed.
    pub fn files(&self, commit: &Commit, paths: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let failed = |reason: &str| GitError::Failed { task: "cat-file", reason: reason.to_owned() };
        if paths.iter().any(|path| path.contains('\n')) {
            return Err(failed("a path has a line feed"));
        }
        let lines: Vec<String> = paths.iter().map(|path| format!("{}:{path}\n", commit.id)).collect();
        let args = ["cat-file", "--batch", "--follow-symlinks"];
        let answer = self.launcher.run_with(args, lines.concat().into_bytes())?.checked("cat-file")?;
        let files = objects(&answer.stdout, paths.len())?;
        let absent = paths.iter().zip(&files).filter(|(_, file)| file.is_none()).map(|(path, _)| path.as_str());
        self.make_sure_absent(commit, absent.collect())?;
        Ok(files)
    }

    /// A partial clone calls missing what it has not fetched; then the tree knows the path all the same.
    fn make_sure_absent(&self, commit: &Commit, paths: Vec<&str>) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let args = ["ls-tree", "-z", "--full-tree", &commit.id, "--"];
        let answer = self.launcher.run(args.into_iter().chain(paths))?.checked("ls-tree")?;
        let is_file = |line: &String| line.starts_with("100");
        if answer.texts().any(|line| is_file(&line)) { Err(GitError::Partial) } else { Ok(()) }
    }

    /// Objects by their names, in that order.
    pub(super) fn blobs(&self, ids: &[&str]) -> Result<Vec<Vec<u8>>, GitError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let lines: Vec<String> = ids.iter().map(|id| format!("{id}\n")).collect();
        let answer =
            self.launcher.run_with(["cat-file", "--batch"], lines.concat().into_bytes())?.checked("cat-file")?;
        let objects = objects(&answer.stdout, ids.len())?;
        objects.into_iter().map(|object| object.ok_or(GitError::Partial)).collect()
    }
}

/// All objects of the answer of `cat-file --batch`.
pub(super) fn objects(answer: &[u8], count: usize) -> Result<Vec<Option<Vec<u8>>>, GitError> {
    let failed = |CutOff| GitError::Failed { task: "cat-file", reason: "its answer was cut off".to_owned() };
    let mut rest = answer;
    (0..count).map(|_| next_object(&mut rest).map_err(failed)).collect()
}

/// An answer that ends before it should.
#[derive(Debug, PartialEq, Eq)]
struct CutOff;

/// Takes one object from the answer of `cat-file --batch`; `None` if there is no such file.
fn next_object(rest: &mut &[u8]) -> Result<Option<Vec<u8>>, CutOff> {
    let end = memchr::memchr(b'\n', rest).ok_or(CutOff)?;
    let head = String::from_utf8_lossy(&rest[..end]).into_owned();
    *rest = &rest[end + 1..];
    let fields: Vec<&str> = head.rsplit(' ').take(2).collect();
    let take = |size: &str, rest: &mut &[u8]| {
        let size: usize = size.parse().ok()?;
        let bytes = rest.get(..size)?.to_vec();
        *rest = rest.get(size + 1..)?;
        Some(bytes)
    };
    match fields[..] {
        // `missing`, or `ambiguous`.
        [word] | [word, _] if !word.bytes().all(|byte| byte.is_ascii_digit()) => Ok(None),
        [size, "blob"] => take(size, rest).map(Some).ok_or(CutOff),
        // A directory, or a dangling link; the answer contains its text.
        [size, _] => take(size, rest).map(|_| None).ok_or(CutOff),
        _ => Err(CutOff),
    }
}

/// A path in which no character is special to git's patterns.
pub(super) fn escaped(path: &str) -> String {
    path.chars().flat_map(|c| if "*?[\\".contains(c) { vec!['\\', c] } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_a_batch() {
        let mut rest: &[u8] = b"0123 blob 3\nab\n\nabc:x y missing\ndangling 4\nHEAD\n0123 tree 2\nzz\n0 blob 0\n\n";
        let mut objects = Vec::new();
        while let Ok(object) = next_object(&mut rest) {
            objects.push(object.map(|bytes| String::from_utf8(bytes).unwrap()));
        }
        assert_eq!(objects, [Some("ab\n".to_owned()), None, None, None, Some(String::new())]);
        assert_eq!(next_object(&mut b"0123 blob 30\nab\n".as_slice()), Err(CutOff));
    }

    #[test]
    fn patterns_match_literally() {
        assert_eq!(escaped("a[1]/b*?\\"), "a\\[1]/b\\*\\?\\\\");
    }
}
