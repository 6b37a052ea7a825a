//! The files of the merge base as Terragrunt reads them: what was there, whatever the change made of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::config::UNIT_FILES;
use crate::disk::files;
use crate::disk::roots::place_of;
use crate::git::{ChangedFiles, FileKind, Git, GitError, GitTree};
use crate::parallel::locked;
use crate::path::RepoPath;
use crate::path::links::FileRefusal;
use crate::terragrunt::{DirectoryEntry, EntryKind, Files, Found};

/// The files of the merge base, at the paths that they have in the working tree.
pub(super) struct FilesBefore<'b> {
    git: &'b Git,
    top: &'b Path,
    tree: &'b GitTree,
    changes: &'b ChangedFiles,
    /// What was read of those that changed, from the top: at first what most units read.
    texts: Mutex<BTreeMap<String, Option<Arc<[u8]>>>>,
}

impl<'b> FilesBefore<'b> {
    pub fn of(git: &'b Git, tree: &'b GitTree, changes: &'b ChangedFiles) -> Result<Self, GitError> {
        let is_there = |path: &&str| tree.kind(path) == Some(FileKind::File);
        let paths: Vec<&str> = changes.paths().filter(|path| is_of_terragrunt(path)).filter(is_there).collect();
        let texts = git.files_of(tree, &paths)?.into_iter().map(|text| text.map(Arc::from));
        let texts = Mutex::new(paths.into_iter().map(str::to_owned).zip(texts).collect());
        Ok(Self { git, top: git.top(), tree, changes, texts })
    }

    /// The name of the file of the unit in a directory.
    pub fn unit_file(&self, way: &RepoPath) -> Option<&'static str> {
        UNIT_FILES.into_iter().rev().find(|name| self.tree.kind(&way.join(name)).is_some())
    }

    /// Where a path leads, from the top; else why it is not read.
    fn place(&self, path: &str) -> Result<RepoPath, String> {
        let outside = || "which is outside of the working tree".to_owned();
        let place = place_of(self.top, path).ok_or_else(outside)?;
        let way = RepoPath::below(self.top, &place).ok_or_else(outside)?;
        let tree = self.tree;
        let refused = |refusal: FileRefusal| format!("which is not read: {refusal}");
        let place = tree.place(&way).ok_or_else(|| refused(FileRefusal::Outside))?;
        let is_there = tree.kind(&place).is_some() || tree.below(&place).next().is_some();
        if place != way && !is_there {
            return Err(refused(FileRefusal::Nowhere));
        }
        Ok(place)
    }

    /// The text of a file by the path that no link leads over.
    pub fn text(&self, place: &RepoPath) -> Option<Arc<[u8]>> {
        let now = self.top.join(&**place);
        if !self.changes.touch(&now) {
            return files::read(&now).ok().flatten().map(Arc::from);
        }
        self.git.files_of(self.tree, &[place]).ok()?.pop()?.map(Arc::from)
    }
}

impl Files for FilesBefore<'_> {
    fn read(&self, path: &str) -> Found<Arc<[u8]>> {
        let file = match self.place(path) {
            Ok(place) if self.tree.kind(&place).is_some() => place,
            Ok(_) => return Found::Missing,
            Err(reason) => return Found::Denied(reason),
        };
        let known = locked(&self.texts).get(&*file).cloned();
        let text = known.unwrap_or_else(|| {
            let text = self.text(&file);
            locked(&self.texts).insert(file.to_string(), text.clone());
            text
        });
        text.map_or_else(|| Found::Denied("which cannot be read at the base".to_owned()), Found::Is)
    }

    fn is_directory(&self, path: &str) -> Found<bool> {
        let tree = self.tree;
        match self.place(path) {
            Ok(place) if tree.kind(&place) == Some(FileKind::File) => Found::Is(false),
            Ok(place) if tree.below(&place).next().is_some() => Found::Is(true),
            Ok(_) => Found::Missing,
            Err(reason) => Found::Denied(reason),
        }
    }

    fn list(&self, path: &str) -> Found<Vec<DirectoryEntry>> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(reason) => return Found::Denied(reason),
        };
        let (tree, start) = (self.tree, place.prefix().len());
        let below = tree.below(&place).map(|path| &path[start..]);
        let names: BTreeSet<&str> = below.map(|path| path.split('/').next().unwrap_or(path)).collect();
        if names.is_empty() {
            return Found::Missing;
        }
        let entry = |name: &str| {
            let is_link = tree.kind(&place.join(name)) == Some(FileKind::Link);
            let kind = match self.is_directory(&format!("{path}/{name}")) {
                Found::Is(true) if is_link => Found::Is(EntryKind::LinkedDirectory),
                Found::Is(true) => Found::Is(EntryKind::Directory),
                Found::Is(false) => Found::Is(EntryKind::File),
                Found::Missing => Found::Missing,
                Found::Denied(reason) => Found::Denied(reason),
            };
            DirectoryEntry { name: name.to_owned(), kind }
        };
        Found::Is(names.into_iter().map(entry).collect())
    }
}

/// True for the names of files that Terragrunt may read as its own.
pub(super) fn is_of_terragrunt(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_hcl = name.rsplit_once('.').is_some_and(|(stem, end)| end == "hcl" && !stem.is_empty());
    UNIT_FILES.contains(&name) || is_hcl && !name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_terragrunt_end_in_hcl() {
        let names = ["a/terragrunt.hcl", "terragrunt.hcl.json", "a/b.hcl", "a/.b.hcl", "a/.hcl", "main.tf", "x.json"];
        assert_eq!(names.map(is_of_terragrunt), [true, true, true, false, false, false, false]);
    }

    /// Where links are files of their own.
    #[cfg(unix)]
    #[expect(clippy::disallowed_methods, reason = "a test makes files and a repository")]
    mod links {
        use super::super::super::{Base, BaseOptions};
        use super::super::*;
        use crate::path::canonical;

        fn git(top: &Path, args: &[&str]) {
            let own = ["-c", "user.name=x", "-c", "user.email=x", "-c", "commit.gpgsign=false"];
            let status = std::process::Command::new("git").arg("-C").arg(top).args(own).args(args).status().unwrap();
            assert!(status.success(), "{args:?}");
        }

        /// What was there, whatever the change made of it.
        #[test]
        fn files_of_the_base_are_as_they_were() {
            let folder = tempfile::tempdir().unwrap();
            let top = canonical(folder.path()).unwrap();
            std::fs::create_dir_all(top.join("d/deep")).unwrap();
            for (path, text) in
                [("d/changed.hcl", "old"), ("d/same.hcl", "same"), ("d/removed.hcl", "gone"), ("d/deep/x", "")]
            {
                std::fs::write(top.join(path), text).unwrap();
            }
            std::os::unix::fs::symlink("deep", top.join("d/linked")).unwrap();
            std::os::unix::fs::symlink("nowhere", top.join("d/broken")).unwrap();
            git(&top, &["init", "--quiet"]);
            git(&top, &["add", "--all"]);
            git(&top, &["commit", "--quiet", "--message", "base"]);
            std::fs::write(top.join("d/changed.hcl"), "new").unwrap();
            std::fs::write(top.join("d/added.hcl"), "new").unwrap();
            std::fs::remove_file(top.join("d/removed.hcl")).unwrap();
            let options = BaseOptions { revision: "HEAD".to_owned(), trust_change_allowed: false };
            let base = Base::of_work_tree(&top, &options).unwrap();
            let files = FilesBefore::of(&base.git, base.before.tree(), &base.changes).unwrap();
            let path = |name: &str| format!("{}/d/{name}", top.display());
            let read = |name: &str| match files.read(&path(name)) {
                Found::Is(text) => Some(String::from_utf8_lossy(&text).into_owned()),
                Found::Missing => None,
                Found::Denied(reason) => Some(reason),
            };
            let texts = ["changed.hcl", "same.hcl", "removed.hcl", "added.hcl"].map(read);
            assert_eq!(texts, [Some("old".to_owned()), Some("same".to_owned()), Some("gone".to_owned()), None]);
            let Found::Is(entries) = files.list(&format!("{}/d", top.display())) else { panic!("a directory") };
            let kinds: Vec<(&str, Option<EntryKind>)> = entries
                .iter()
                .map(|entry| (&*entry.name, if let Found::Is(kind) = entry.kind { Some(kind) } else { None }))
                .collect();
            let wanted = [
                ("broken", None),
                ("changed.hcl", Some(EntryKind::File)),
                ("deep", Some(EntryKind::Directory)),
                ("linked", Some(EntryKind::LinkedDirectory)),
                ("removed.hcl", Some(EntryKind::File)),
                ("same.hcl", Some(EntryKind::File)),
            ];
            assert_eq!(kinds, wanted);
        }
    }
}
