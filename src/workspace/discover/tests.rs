use super::*;

#[expect(clippy::disallowed_methods, reason = "a test makes files")]
fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        write(&path, text);
    }
    folder
}

fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| crate::path::shown(path)).collect()
}

const CALL: &str = "module \"m\" {\n  source = \"../../modules/m\"\n}\n";
const BACKEND: &str = "terraform {\n  backend \"s3\" {}\n}\nresource \"null_resource\" \"x\" {}\n";

const CLOUD: &str = "terraform {\n  cloud {}\n}\n";

#[test]
fn called_modules_are_no_roots() {
    let folder = tree(&[
        ("env/a/main.tf", CALL),
        ("env/a/.terraform.lock.hcl", ""),
        ("env/b/main.tf", BACKEND),
        ("env/unneeding/main.tf", CLOUD),
        ("env/unknown/main.tf", &format!("{}{}", CLOUD, CALL.replace("../../modules/m", "acme/m/lab"))),
        ("modules/m/main.tf", BACKEND),
        ("modules/n/main.tf", ""),
        ("new/main.tf", "provider \"null\" {\n}\n"),
        ("terragrunt/.terraform.lock.hcl", ""),
    ]);
    let found = discover(folder.path(), false, Search::default()).unwrap();
    assert_eq!(texts(&found.roots), ["env/a", "terragrunt"]);
    assert_eq!(texts(&found.without_lock), ["env/b", "env/unknown"]);
    assert_eq!(texts(&found.beside.like_roots), ["new"]);
    let found = discover(folder.path(), true, Search::default()).unwrap();
    let all = ["env/a", "env/b", "env/unknown", "env/unneeding", "modules/n", "new", "terragrunt"];
    assert_eq!(texts(&found.roots), all);
    assert_eq!(texts(&found.without_lock), [""; 0]);
}

#[test]
fn a_caller_that_is_no_root_module_hides_nothing() {
    let calls = |path: &str| format!("module \"m\" {{\n  source = \"{path}\"\n}}\n");
    let folder = tree(&[
        ("prod/main.tf", BACKEND),
        ("unused/main.tf", &calls("../prod")),
        ("one/main.tf", &format!("{BACKEND}{}", calls("../two"))),
        ("two/main.tf", &format!("{BACKEND}{}", calls("../one"))),
        ("env/main.tf", &calls("../middle")),
        ("env/.terraform.lock.hcl", ""),
        ("middle/main.tf", &calls("../deep")),
        ("deep/main.tf", BACKEND),
    ]);
    assert_eq!(texts(&discover(folder.path(), false, Search::default()).unwrap().without_lock), ["one", "prod", "two"]);
    write(&folder.path().join(".git/HEAD"), "");
    assert_eq!(texts(&discover(&folder.path().join("deep"), false, Search::default()).unwrap().without_lock), [""; 0]);
    assert_eq!(texts(&discover(&folder.path().join("prod"), false, Search::default()).unwrap().without_lock), [""]);
}

#[test]
fn callers_elsewhere_in_the_work_tree_count() {
    let folder = tree(&[("env/a/main.tf", CALL), ("modules/m/main.tf", ""), ("modules/n/main.tf", "")]);
    let modules = folder.path().join("modules");
    assert_eq!(texts(&discover(&modules, true, Search::default()).unwrap().roots), ["m", "n"]);
    write(&folder.path().join(".git/HEAD"), "");
    assert_eq!(texts(&discover(&modules, true, Search::default()).unwrap().roots), ["n"]);
}
