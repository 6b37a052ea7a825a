//! The commands that ask no server, on real files.

use tempfile::TempDir;

use super::*;

const CANONICAL: &str = "# This file is maintained automatically by \"tofu init\".
# Manual edits may be lost in future updates.

provider \"registry.opentofu.org/acme/old\" {
  version = \"0.1.0\"
  hashes = [
    \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",
  ]
}

provider \"registry.opentofu.org/hashicorp/null\" {
  version     = \"3.2.4\"
  constraints = \"~> 3.2\"
}
";

const LOOSE: &str =
    "provider \"registry.opentofu.org/hashicorp/null\" {\nconstraints=\"~> 3.2\"\n version=\"3.2.4\"\n}\n";

/// A root module outside of any working tree.
struct Root(TempDir, String);

impl Root {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shown = crate::path::shown(folder.path());
        let root = Self(folder, shown);
        for (name, text) in files {
            let path = root.0.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    fn dir(&self) -> &str {
        &self.1
    }

    fn ran(&self, words: &[&str]) -> Ran {
        ran(&[&["-C", self.dir()], words].concat())
    }

    fn lock(&self) -> String {
        std::fs::read_to_string(self.0.path().join(LOCK)).unwrap()
    }
}

const LOCK: &str = ".terraform.lock.hcl";

#[test]
fn fmt_writes_the_canonical_text_once() {
    let root = Root::with(&[(LOCK, LOOSE)]);
    let line = format!("{}/{LOCK}\n", root.dir());
    let check = root.ran(&["fmt", "--check"]);
    assert_eq!(
        (check.code, &check.out, check.err.as_str(), root.lock().as_str()),
        (ExitCode::Findings, &line, "", LOOSE)
    );
    let written = root.ran(&["fmt"]);
    assert_eq!((written.code, &written.out), (ExitCode::Done, &line));
    assert!(root.lock().starts_with("# This file is maintained automatically by \"tofu init\"."), "{}", root.lock());
    for words in [&["fmt"][..], &["fmt", "--check"]] {
        let again = root.ran(words);
        assert_eq!((again.code, again.out.as_str()), (ExitCode::Done, ""));
    }
}

#[test]
fn fmt_of_standard_input() {
    let run = |stdin: &'static str, words: &[&str]| Run { stdin: stdin.as_bytes(), ..Run::default() }.of(words);
    let formatted = run(LOOSE, &["fmt", "-"]);
    assert_eq!(formatted.code, ExitCode::Done);
    assert!(formatted.out.contains("  version     = \"3.2.4\"\n"), "{}", formatted.out);
    assert!(run(LOOSE, &["fmt", "-", "--tool", "terraform"]).out.contains("\"terraform init\""));
    let check = run(LOOSE, &["fmt", "--check", "-"]);
    assert_eq!((check.code, check.out.as_str()), (ExitCode::Findings, ""));
    assert_eq!(run(CANONICAL, &["fmt", "--check", "-"]).code, ExitCode::Done);
    let refused = run("provider {", &["fmt", "-"]);
    assert_eq!((refused.code, refused.out.as_str()), (ExitCode::Failed, ""));
    assert!(refused.err.starts_with("error: ") && refused.err.contains("\n  --> <stdin>:1:"), "{}", refused.err);
}

#[test]
fn fmt_goes_on_after_a_file_that_is_refused() {
    let root = Root::with(&[("a.hcl", "provider {"), ("b.hcl", LOOSE)]);
    let ran = root.ran(&["-json", "fmt", "a.hcl", "b.hcl", "c.hcl"]);
    assert_eq!(ran.code, ExitCode::Failed);
    let document = ran.json();
    assert_eq!(document["files"][0]["path"], format!("{}/b.hcl", root.dir()));
    assert_eq!((&document["error"]["kind"], &document["error"]["line"]), (&"lock-file".into(), &1.into()));
    assert_eq!(document["error"]["others"].as_array().unwrap().last().unwrap()["kind"], "lock-file");
    let absent = Root::with(&[]).ran(&["-json", "fmt"]);
    assert_eq!((absent.code, &absent.json()["error"]["kind"]), (ExitCode::Failed, &"lock-file".into()));
    assert!(absent.json()["error"]["file"].as_str().unwrap().ends_with(".terraform.lock.hcl"));
}

const CONFIG: &str = "terraform {
  required_providers {
    null = { source = \"hashicorp/null\", version = \"~> 3.2\" }
  }
}
resource \"tls_private_key\" \"k\" {}
";

#[test]
fn list_prints_locked_providers() {
    let root = Root::with(&[(LOCK, CANONICAL), ("main.tf", CONFIG)]);
    let listed = root.ran(&["list", "--no-cache"]);
    let expected = "PROVIDER        VERSION  HASHES  REMARK\n\
                    acme/old        0.1.0    1 h1    not required\n\
                    hashicorp/null  3.2.4    none\n";
    assert_eq!((listed.code, listed.out.as_str(), listed.err.as_str()), (ExitCode::Done, expected, ""));
    let document = root.ran(&["-json", "list", "--no-cache"]).json();
    assert_eq!(document["entries"][1]["address"], "registry.opentofu.org/hashicorp/null");
    assert_eq!(
        (&document["entries"][0]["required"], &document["entries"][1]["required"]),
        (&false.into(), &true.into())
    );
    let bare = Root::with(&[(LOCK, CANONICAL)]).ran(&["-json", "list"]).json();
    assert_eq!(bare["entries"][0]["required"], serde_json::Value::Null);
}

#[test]
fn a_missing_module_may_require_other_providers() {
    let module = "module \"m\" {\n  source = \"acme/net/lab\"\n}\n";
    let root = Root::with(&[(LOCK, CANONICAL), ("main.tf", module)]);
    let list = root.ran(&["-json", "list", "--offline"]);
    assert!(list.err.contains("unknown which entries are required: module.m was not read"), "{}", list.err);
    assert_eq!(Ran { err: String::new(), ..list }.json()["entries"][0]["required"], serde_json::Value::Null);
    let why = root.ran(&["why", "--offline"]);
    assert!(why.code == ExitCode::Inconclusive && why.err.contains("acme/net/lab"), "{}", why.err);
}

#[test]
fn several_roots_are_reported_separately() {
    let (good, bad) = (Root::with(&[(LOCK, CANONICAL)]), Root::with(&[(LOCK, "provider {")]));
    let ran = good.ran(&["-C", bad.dir(), "-json", "list"]);
    assert_eq!(ran.code, ExitCode::Failed);
    let roots = &ran.json()["roots"];
    assert_eq!((&roots[0]["path"], &roots[1]["path"]), (&good.dir().into(), &bad.dir().into()));
    assert_eq!(roots[0]["entries"].as_array().unwrap().len(), 2);
    assert_eq!(roots[1]["error"]["kind"], "lock-file");
}

#[test]
fn why_names_file_and_line() {
    let root = Root::with(&[(LOCK, CANONICAL), ("main.tf", CONFIG)]);
    let all = root.ran(&["why"]);
    let expected = "hashicorp/null 3.2.4 (~> 3.2)\n  main.tf:3:5  required_providers \"null\"  ~> 3.2\n\n\
                    hashicorp/tls not locked\n  main.tf:6:1  resource \"tls_private_key\" \"k\"  any version\n";
    let out = all.out.replace(&format!("{}/", root.1), "");
    assert_eq!((all.code, out.as_str(), all.err.as_str()), (ExitCode::Done, expected, ""));
    let one = root.ran(&["-json", "why", "hashicorp/null"]).json();
    assert_eq!(one["requirements"].as_array().unwrap().len(), 1);
    assert_eq!(one["requirements"][0]["origins"][0]["line"], 3);
}

#[test]
fn why_of_a_provider_that_is_not_required() {
    let root = Root::with(&[(LOCK, CANONICAL), ("main.tf", CONFIG)]);
    let ran = root.ran(&["why", "null", "acme/old"]);
    assert_eq!(ran.code, ExitCode::Failed);
    assert!(ran.out.starts_with("hashicorp/null 3.2.4"), "{}", ran.out);
    assert!(ran.err.starts_with("error: provider acme/old is not required"), "{}", ran.err);
    assert_eq!(root.ran(&["why", "a/b/c/d"]).code, ExitCode::Failed);
    let wrong = Root::with(&[("main.tf", "terraform {\n  required_providers {\n    x = {\n")]).ran(&["-json", "why"]);
    let error = &wrong.json()["error"];
    assert_eq!((wrong.code, &error["kind"]), (ExitCode::Failed, &"configuration".into()), "{error}");
    assert!(error["file"].as_str().unwrap().ends_with("/main.tf") && error["line"].is_u64(), "{error}");
}

#[test]
fn packages_are_hashed_in_the_requested_directory() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("package")).unwrap();
    std::fs::write(folder.path().join("package/LICENSE"), "free\n").unwrap();
    let directory = &*crate::path::shown(folder.path());
    let hashed = ran(&["-C", directory, "hash", "package"]);
    let line = format!("  {directory}/package\n");
    assert_eq!((hashed.code, hashed.err.as_str()), (ExitCode::Done, ""));
    assert!(hashed.out.starts_with("h1:") && hashed.out.ends_with(&line), "{}", hashed.out);
    let half = ran(&["hash", "-C", directory, "package", "missing.zip"]);
    assert_eq!((half.code, &half.out), (ExitCode::Failed, &hashed.out));
    assert!(half.err.starts_with("error: ") && half.err.contains("missing.zip"), "{}", half.err);
    let document = ran(&["-json", "hash", "-C", directory, "missing.zip"]).json();
    assert_eq!(document["hashes"], serde_json::json!([]), "{document}");
    assert_eq!(document["error"]["kind"], "disk", "{document}");
}

#[test]
fn the_cache_has_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    let directory: &'static str = crate::path::shown(&folder.path().join("cache")).leak();
    let run = |words: &[&str]| Run { variables: vec![("TFLOCK_CACHE_DIR", directory)], ..Run::default() }.of(words);
    assert_eq!(run(&["cache", "dir"]).out, format!("{directory}\n"));
    let stats = run(&["cache", "stats"]);
    assert!(
        stats.code == ExitCode::Done && stats.out.contains("hashes     0 computed here, 0 imported\n"),
        "{}",
        stats.out
    );
    assert_eq!(run(&["cache", "prune"]).out, "removed 0 files, 0 B\n");
    assert_eq!(run(&["cache", "prune", "--all"]).out, "removed 0 files, 0 B\n");
}

#[test]
fn settings_that_are_wrong_stop_every_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = |name: &str, settings: &str| {
        let root = folder.path().join(name);
        std::fs::create_dir_all(root.join(".git")).unwrap();
        std::fs::write(root.join(".tflock.hcl"), settings).unwrap();
        root.to_str().unwrap().to_owned()
    };
    let (good, bad) = (root("good", "tool = \"tofu\"\n"), root("bad", "tol = 1\nplatforms = [\"linux\"]\n"));
    let refused = ran(&["-json", "-C", &good, "-C", &bad, "-C", "/nowhere/at/all", "lock"]);
    assert_eq!(refused.code, ExitCode::Failed);
    let error = &refused.json()["error"];
    assert_eq!((&error["kind"], &error["line"]), (&"settings".into(), &1.into()), "{error}");
    assert_eq!(error["others"].as_array().unwrap().len(), 2, "{error}");
}
