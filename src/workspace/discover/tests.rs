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
fn configuration_that_cannot_be_read_may_call_any_directory() {
    const WRONG: &str = "module {\n";
    let found = |files: &[(&str, &str)], create| {
        let folder = tree(files);
        let found = discover(folder.path(), create, Search::default()).unwrap();
        let caller = found.beside.unread_caller_of(Path::new("net")).map(crate::path::shown);
        (texts(&found.roots), texts(&found.beside.withheld), texts(&found.without_lock), caller)
    };
    let texts_of = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let app = || Some("app".to_owned());
    let (net, lock) = (("net/main.tf", BACKEND), ("app/.terraform.lock.hcl", ""));
    let wrong = ("app/main.tf", WRONG);
    assert_eq!(found(&[net, wrong, lock], true), (texts_of(&["app"]), texts_of(&["net"]), texts_of(&[]), app()));
    assert_eq!(found(&[net, wrong, lock], false), (texts_of(&["app"]), texts_of(&[]), texts_of(&["net"]), app()));
    // Its own error is reported where it would get a lock file; without one, it installs nothing.
    assert_eq!(found(&[net, wrong], true), (texts_of(&["app"]), texts_of(&["net"]), texts_of(&[]), app()));
    assert_eq!(found(&[net, wrong], false), (texts_of(&[]), texts_of(&[]), texts_of(&["net"]), None));
    // What one file does not say by itself is no error.
    let part = "module \"m\" {\n  version = \"1.0.0\"\n}\n";
    let other = ("app/main.tf", "module \"m\" {\n  source = \"acme/m/lab\"\n}\n");
    let read = found(&[net, other, ("app/a_override.tf", part), lock], true);
    assert_eq!(read, (texts_of(&["app", "net"]), texts_of(&[]), texts_of(&[]), None));
}

#[test]
fn callers_elsewhere_in_the_work_tree_count() {
    let folder = tree(&[("env/a/main.tf", CALL), ("modules/m/main.tf", ""), ("modules/n/main.tf", "")]);
    let modules = folder.path().join("modules");
    assert_eq!(texts(&discover(&modules, true, Search::default()).unwrap().roots), ["m", "n"]);
    write(&folder.path().join(".git/HEAD"), "");
    assert_eq!(texts(&discover(&modules, true, Search::default()).unwrap().roots), ["n"]);
}
