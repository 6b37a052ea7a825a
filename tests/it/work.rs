//! How much work a run does for how much there is.

use std::time::Duration;

use crate::audit::MAIN;
use crate::support::extent::times;
use crate::support::packages::Shape;
use crate::support::proposal::commit;
use crate::support::registry::Registry;
use crate::support::tools;
use crate::support::workspace::Workspace;

const HEADER: &str = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in \
                      future updates.\n";
const LOCK: &str = ".terraform.lock.hcl";
const TRUST: &str = ".tflock.trust.hcl";

const NOTHING: &[(&str, String)] = &[];

/// An entry with so many checksums of archives.
fn entry(name: &str, hashes: usize) -> String {
    let hashes = (0..hashes).fold(String::new(), |text, n| text + &format!("    \"zh:{n:064x}\",\n"));
    format!(
        "\nprovider \"registry.terraform.io/acme/{name}\" {{\n  version = \"1.0.0\"\n  hashes = [\n{hashes}  ]\n}}\n"
    )
}

fn pins(count: usize) -> String {
    let pin =
        |n| format!("provider \"registry.terraform.io/acme/p{n:05}\" {{\n  signers = [\"{n:040X}\"] # key {n}\n}}\n\n");
    (0..count).map(pin).collect()
}

/// What a run took: CPU time with that of its children, and the most memory in KiB; `None` without Python.
fn taken(workspace: &Workspace, args: &[&str]) -> Option<(Duration, u64)> {
    const MEASURE: &str = "import resource, subprocess, sys\n\
                           subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)\n\
                           it = resource.getrusage(resource.RUSAGE_CHILDREN)\n\
                           print(int((it.ru_utime + it.ru_stime) * 1e6), it.ru_maxrss)";
    let python = tools::found("python3")?;
    let run = ["-c", MEASURE, env!("CARGO_BIN_EXE_tflock")];
    let output = workspace.command(&python, None, run.iter().chain(args)).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let (micros, memory) = said.trim().split_once(' ').unwrap_or_else(|| panic!("{output:?}"));
    Some((Duration::from_micros(micros.parse().unwrap()), memory.parse().unwrap()))
}

/// The CPU time of a run in a repository whose last commit has `before`.
fn work(before: &[(impl AsRef<str>, String)], now: &[(impl AsRef<str>, String)], args: &[&str]) -> Option<Duration> {
    let workspace = Workspace::with_files(&[]);
    workspace.git(["init", "--quiet"]);
    for (path, text) in before {
        workspace.write(path.as_ref(), text);
    }
    workspace.git(["add", "."]);
    workspace.git(["commit", "--quiet", "--allow-empty", "-m", "x"]);
    for (path, text) in now {
        workspace.write(path.as_ref(), text);
    }
    taken(&workspace, args).map(|(time, _)| time)
}

/// Some times a real size, and four times as much.
fn sizes(real: usize) -> [usize; 2] {
    let times = 25 * usize::try_from(times(1)).unwrap();
    [times * real, 4 * times * real]
}

/// Four times as much takes about four times the work, somewhat more if it is n log n, and not sixteen times.
///
/// CPU time, not instructions: to count those takes a hundred times as long as the run, and larger sizes show more. A busy
/// machine slows all sizes down, so only their ratio counts, and the best of three.
#[track_caller]
fn grows_linearly(work: impl Fn(usize) -> Option<Duration>, real: usize) {
    /// What takes less than that is no attack, and cannot be measured.
    const LEAST: Duration = Duration::from_millis(20);
    let [few, many] = sizes(real);
    let mut seen = Vec::new();
    for _ in 0..3 {
        let [Some(without), Some(of_few), Some(of_many)] = [0, few, many].map(&work) else {
            return;
        };
        let (of_few, of_many) = (of_few.saturating_sub(without), of_many.saturating_sub(without));
        if of_many < 8 * of_few.max(LEAST) {
            return;
        }
        seen.push((of_few, of_many));
    }
    panic!("{few} things and {many} things: {seen:?}");
}

#[test]
fn many_hashes_are_no_square() {
    let lock = |count| [(LOCK, HEADER.to_owned() + &entry("a", count))];
    grows_linearly(|count| work(NOTHING, &lock(count + 1), &["verify", "--offline"]), 40);
}

#[test]
fn many_replaced_hashes_are_no_square() {
    let lock = |count| [(LOCK, HEADER.to_owned() + &entry("a", count))];
    let replaced = |count| [(LOCK, HEADER.to_owned() + &entry("a", count).replace("zh:0", "zh:1"))];
    grows_linearly(|count| work(&lock(count + 1), &replaced(count + 1), &["diff", "-v"]), 40);
}

/// The findings of a lock file in one format.
fn many_findings(format: &str) {
    // An argument that no tool writes, one in each entry.
    let strange = |n| entry(&format!("p{n:05}"), 1).replace("  hashes", "  odd = 1\n  hashes");
    let lock = |count: usize| [(LOCK, HEADER.to_owned() + &(0..count).map(strange).collect::<String>())];
    grows_linearly(|count| work(NOTHING, &lock(count), &["verify", "--offline", "--format", format]), 7);
}

#[test]
fn many_findings_are_no_square() {
    many_findings("human");
}

#[test]
#[ignore = "long"]
fn many_findings_in_markdown_are_no_square() {
    many_findings("markdown");
}

/// A lock file, and a trust file with twice as many pins.
fn pinned(count: usize) -> Vec<(&'static str, String)> {
    let entries: String = (0..count / 2).map(|n| entry(&format!("p{n:05}"), 1)).collect();
    vec![(LOCK, HEADER.to_owned() + &entries), (TRUST, pins(count))]
}

#[test]
#[ignore = "long"]
fn many_pins_are_no_square() {
    grows_linearly(|count| work(NOTHING, &pinned(count), &["verify", "--offline"]), 7);
}

#[test]
#[ignore = "long"]
fn many_new_pins_are_no_square() {
    grows_linearly(|count| work(NOTHING, &pinned(count), &["verify", "--offline", "--base", "HEAD"]), 7);
}

/// Names of which large parts are the same, and none is similar to those of another namespace.
#[test]
#[ignore = "long"]
fn many_new_names_are_no_square() {
    let lock = |namespace: &str, count: usize| {
        let entries: String = (0..count).map(|n| entry(&format!("p{n:05}"), 1)).collect();
        [(LOCK, HEADER.to_owned() + &entries.replace("/acme/", &format!("/{namespace}/")))]
    };
    let run = |count| {
        let args = ["verify", "--offline", "--base", "HEAD"];
        work(&lock("acme-of-the-clouds", count), &lock("acne-in-all-the-clouds", count), &args)
    };
    grows_linearly(run, 7);
}

#[test]
#[ignore = "long"]
fn many_new_providers_are_no_square() {
    let files = |count: usize| {
        let required = |n| format!("    p{n:05} = {{\n      source = \"acme/p{n:05}\"\n    }}\n");
        let main = (0..count).map(required).collect::<String>();
        let main = format!("terraform {{\n  required_providers {{\n{main}  }}\n}}\n");
        let shelf =
            |n| format!("mirror/registry.terraform.io/acme/p{n:05}/1.0.0/linux_amd64/terraform-provider-p{n:05}");
        let packages = (0..count).map(|n| (shelf(n), "#!\n".to_owned()));
        std::iter::once(("main.tf".to_owned(), main)).chain(packages).collect::<Vec<_>>()
    };
    let args = ["lock", "--fs-mirror", "mirror", "--platform", "linux_amd64"];
    grows_linearly(|count| work(NOTHING, &files(count), &args), 5);
}

/// A file of each of so many root modules.
fn in_each(count: usize, file: &str, text: impl Fn(usize) -> String) -> Vec<(String, String)> {
    (0..count).map(|n| (format!("live/r{n:05}/{file}"), text(n))).collect()
}

/// Root modules that differ, with an entry and its requirement.
fn root_modules(count: usize, constraint: &str, hashes: usize) -> Vec<(String, String)> {
    let required = format!(
        "terraform {{\n  required_providers {{\n    a = {{\n      source  = \"acme/a\"\n      version = \"{constraint}\"\n    \
         }}\n  }}\n}}\n"
    );
    let noted = format!("\"1.0.0\"\n  constraints = \"{constraint}\"\n");
    let lock = |n| {
        HEADER.to_owned()
            + &entry("a", hashes).replace("\"1.0.0\"\n", &noted).replace("zh:0", &format!("zh:{:x}", n % 9))
    };
    let files = in_each(count, LOCK, lock).into_iter();
    files.chain(in_each(count, "main.tf", |n| format!("{required}# {n}\n"))).collect()
}

/// The most memory of a run, in KiB; `None` without Python.
#[cfg(target_os = "linux")]
fn memory(files: &[(String, String)], args: &[&str]) -> Option<u64> {
    let workspace = Workspace::with_files(&[]);
    for (path, text) in files {
        workspace.write(path, text);
    }
    taken(&workspace, args).map(|(_, memory)| memory)
}

/// 10,000 root modules take less than 150 MiB in a release build.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "long"]
fn a_root_module_takes_little_memory() {
    let [few, many] =
        [100, 1_100].map(|count| memory(&root_modules(count, "~> 1.0", 14), &["verify", "-r", "--offline"]));
    let (Some(few), Some(many)) = (few, many) else { return };
    let each = many.saturating_sub(few) * 1_024 / 1_000;
    assert!(each < 15_000, "a root module takes {each} bytes; 100 take {few} KiB, 1,100 {many} KiB");
}

#[test]
#[ignore = "long"]
fn many_root_modules_are_no_square() {
    grows_linearly(|count| work(NOTHING, &root_modules(count + 1, "~> 1.0", 2), &["verify", "-r", "--offline"]), 3);
}

/// Root modules before and after a change of all of them.
fn changed(count: usize) -> [Vec<(String, String)>; 2] {
    [("~> 1.0", 2), (">= 1.0", 3)].map(|(constraint, hashes)| root_modules(count + 1, constraint, hashes))
}

#[test]
#[ignore = "long"]
fn many_changed_files_are_no_square() {
    let run = |count| {
        let [before, now] = changed(count);
        work(&before, &now, &["verify", "-r", "--offline", "--base", "HEAD"])
    };
    grows_linearly(run, 3);
}

#[test]
#[ignore = "long"]
fn many_differences_are_no_square() {
    let run = |count| {
        let [before, now] = changed(count);
        work(&before, &now, &["diff", "-r"])
    };
    grows_linearly(run, 3);
}

#[test]
#[ignore = "long"]
fn many_new_files_are_no_square() {
    let run = |count| work(NOTHING, &changed(count)[1], &["verify", "-r", "--offline", "--base", "HEAD"]);
    grows_linearly(run, 3);
}

/// Root modules that cannot be read.
fn broken(count: usize) -> Vec<(String, String)> {
    let files = in_each(count + 1, LOCK, |_| HEADER.to_owned() + &entry("a", 1)).into_iter();
    files.chain(in_each(count + 1, "main.tf", |n| format!("variable {{\n# {n}\n"))).collect()
}

#[test]
#[ignore = "long"]
fn many_errors_of_lock_are_no_square() {
    grows_linearly(|count| work(NOTHING, &broken(count), &["lock", "-r", "--offline"]), 3);
}

#[test]
#[ignore = "long"]
fn many_errors_of_verify_are_no_square() {
    grows_linearly(|count| work(NOTHING, &broken(count), &["verify", "-r", "--offline"]), 3);
}

#[test]
fn many_errors_in_one_root_module_are_no_square() {
    let broken = |count: usize| {
        let file = |n| (format!("f{n:05}.tf"), "variable {\n".to_owned());
        std::iter::once((LOCK.to_owned(), HEADER.to_owned())).chain((0..=count).map(file)).collect::<Vec<_>>()
    };
    grows_linearly(|count| work(NOTHING, &broken(count), &["lock", "--offline"]), 7);
}

/// Calls of so many modules, and the blocks that lock them.
fn module_calls(count: usize) -> [(&'static str, String); 2] {
    let call = |n| format!("module \"m{n}\" {{\n  source  = \"acme/m{n}/aws\"\n  version = \"1.0.0\"\n}}\n");
    let pin = |n| {
        format!(
            "module \"registry.terraform.io/acme/m{n}/aws\" {{\n  version     = \"1.0.0\"\n  constraints = \"1.0.0\"\n  \
                 calls       = [\"m{n}\"]\n  location    = \"git::https://g.example/m{n}.git\"\n  hash        = \
                 \"h1:C2U9ox1R6cZ67gfuUfYJI+oaNd7zIHqaC5SttDXu6mI=\"\n}}\n\n"
        )
    };
    [("main.tf", (0..=count).map(call).collect::<String>()), (".tflock.modules.hcl", (0..=count).map(pin).collect())]
}

#[test]
#[ignore = "long"]
fn many_module_references_are_no_square() {
    grows_linearly(|count| work(NOTHING, &module_calls(count), &["verify", "--offline"]), 7);
}

#[test]
#[ignore = "long"]
fn many_new_module_references_are_no_square() {
    grows_linearly(|count| work(&module_calls(0), &module_calls(count), &["diff"]), 7);
}

/// Bans in each of so many nested directories, and a lock file in the innermost one.
fn nested_settings(count: usize, versions: &str) -> Vec<(String, String)> {
    let folder = |depth: usize| "d/".repeat(depth);
    let ban = |depth, n| format!("ban \"acme/p{depth}x{n}\" {{\n  versions = \"{versions}\"\n}}\n");
    let settings = |depth| (folder(depth) + ".tflock.hcl", (0..5).map(|n| ban(depth, n)).collect());
    let lock = (folder(count) + LOCK, HEADER.to_owned() + &entry("a", 1));
    (0..count).map(settings).chain([lock]).collect()
}

#[test]
#[ignore = "long"]
fn nested_settings_are_no_square() {
    let run = |count, now| {
        work(
            &nested_settings(count, "< 2.0.0"),
            &nested_settings(count, now),
            &["verify", "-r", "--offline", "--base", "HEAD"],
        )
    };
    // Settings may add up to 1,000 bans, which is 200 levels. A path has as many parts as there are levels, so few levels tell best.
    grows_linearly(|count| run((count / 4).min(160), "< 1.0.0"), 2);
}

#[test]
fn settings_that_add_up_are_bounded() {
    let workspace = Workspace::with_files(&[]);
    for (path, text) in nested_settings(201, "< 2.0.0") {
        workspace.write(&path, &text);
    }
    workspace.git(["init", "--quiet"]);
    let run = workspace.tflock(None, ["verify", "-r", "--offline"]).ended_with(2);
    let said = run.stdout.clone() + &run.stderr;
    assert!(said.contains("more than 1000 bans, exemptions, hosts") && said.contains("d/d/.tflock.hcl"), "{run}");
}

#[test]
#[ignore = "long"]
fn many_module_calls_on_one_line_are_no_square() {
    let call = |n| format!("\"m{n}\":{{\"source\":\"./{}\"}}", "x".repeat(100));
    let calls = |count| (0..=count).map(call).collect::<Vec<_>>().join(",");
    let files = |count| {
        [("main.tf.json", format!("{{\"module\":{{{}}}}}", calls(count))), (LOCK, HEADER.to_owned() + &entry("a", 1))]
    };
    grows_linearly(|count| work(NOTHING, &files(count), &["verify", "--offline"]), 100);
}

/// So many mistakes on one line, as files of programs have them.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "long"]
fn mistakes_on_one_line_take_little_memory() {
    const COUNT: usize = 20_000;
    let many = |item: &dyn Fn(usize) -> String| (0..COUNT).map(item).collect::<Vec<_>>().join(",");
    let rows = [
        ("x.tf.json", format!("{{{}}}", many(&|n| format!("\"k{n}\":1")))),
        ("x.tf.json", format!("{{\"resource\":{{{}}}}}", many(&|n| format!("\"k{n}\":1")))),
        ("x.tf.json", format!("{{\"module\":{{{}}}}}", many(&|n| format!("\"k{n}\":{{}}")))),
        ("x.tf.json", format!("{{\"provider\":{{{}}}}}", many(&|n| format!("\"k_{n}\":1")))),
        ("x.tf.json", format!("{{\"module\":[{}]}}", many(&|_| "1".to_owned()))),
        ("x.tf.json", format!("{{\"terraform\":{{\"required_providers\":{{{}}}}}}}", many(&|n| format!("\"k{n}\":1")))),
        ("x.tofu.json", format!("{{{}}}", many(&|n| format!("\"k{n}\":1")))),
        (
            "x.tf",
            format!(
                "terraform {{\n  required_providers {{\n    a = {{ {} }}\n  }}\n}}\n",
                many(&|n| format!("k{n} = 1"))
            ),
        ),
        ("x.tftest.json", format!("{{{}}}", many(&|n| format!("\"k{n}\":1")))),
    ];
    let other = ("main.tf".to_owned(), "terraform {}\n".to_owned());
    for (path, text) in rows {
        let files = [(path.to_owned(), text), (LOCK.to_owned(), HEADER.to_owned()), other.clone()];
        let Some(used) = memory(&files, &["verify", "--offline"]) else { return };
        assert!(used < 200_000, "{path}: {used} KiB");
    }
}

#[test]
fn the_problems_of_a_file_are_counted() {
    let keys = |count: usize| (0..count).map(|n| format!("\"k{n}\":1")).collect::<Vec<_>>().join(",");
    let unknown = |count: usize| (0..count).map(|n| format!("k{n} = 1\n")).collect::<Vec<_>>().concat();
    let rows = [
        ("x.tf.json", format!("{{{}}}", keys(5_000)), "4900 more problems of this file are not listed"),
        ("x.tf.json", format!("{{{}}}", keys(101)), "1 more problem of this file is not listed"),
        (".tflock.hcl", unknown(5_000), "not listed: 4900 more problems of this file"),
        (TRUST, unknown(5_000), "not listed: 4900 more problems of this file"),
    ];
    for (path, text, message) in rows {
        let workspace = Workspace::with_files(&[(LOCK, HEADER), ("main.tf", "terraform {}\n")]);
        workspace.write(path, &text);
        let run = workspace.tflock(None, ["verify", "--offline", "--format", "json"]).ended_with(2);
        assert_eq!((run.stdout.matches("\"kind\"").count(), run.stdout.contains(message)), (101, true), "{path} {run}");
    }
}

#[test]
#[ignore = "long"]
fn many_settings_are_no_square() {
    let many = |count: usize, item: fn(usize) -> String| (0..count).map(item).collect::<String>();
    let optional = |count| {
        let lines = many(count, |n| format!("  \"acme/p{n}\" = [\"linux_amd64\"]\n"));
        format!("optional_platforms = {{\n{lines}}}\n")
    };
    let platforms = |count| format!("platforms = [\"linux_amd64\"{}]\n", many(count, |n| format!(", \"linux_a{n}\"")));
    let levels = |count| many(count, |n| format!("level \"bogus{n}\" {{\n  is = \"deny\"\n}}\n"));
    for (text, path) in [
        (&optional as &dyn Fn(usize) -> String, ".tflock.hcl"),
        (&platforms, ".tflock.hcl"),
        (&levels, ".tflock.hcl"),
        (&optional, TRUST),
        (&optional, ".tflock.modules.hcl"),
    ] {
        let files = |count| [(LOCK, HEADER.to_owned()), ("main.tf", "terraform {}\n".to_owned()), (path, text(count))];
        grows_linearly(|count| work(NOTHING, &files(count), &["verify", "--offline"]), 100);
    }
}

/// Forty modules, each called three times by the one before, of which the last calls what is not there or cannot be read: a run
/// that followed each path would not end. What is wrong is said once, or once for each call of the last module.
#[test]
#[ignore = "long"]
fn calls_that_multiply_are_no_power() {
    let calls = |source: &str| {
        (0..3).map(|n| format!("module \"m{n}\" {{\n  source = \"{source}\"\n}}\n")).collect::<Vec<_>>().concat()
    };
    for (end, code, errors) in [
        ("../none", 2, 1),
        ("../broken", 2, 1),
        ("acme/x/aws", 4, 1),
        ("/etc", 2, 1),
        ("../m0", 2, 3),
        ("${var.x}", 2, 3),
    ] {
        let workspace = Workspace::with_files(&[]);
        workspace.git(["init", "--quiet"]);
        workspace.git(["commit", "--quiet", "--allow-empty", "-m", "x"]);
        for at in 0..40 {
            let next = if at < 39 { format!("../m{}", at + 1) } else { end.to_owned() };
            workspace.write(&format!("m{at}/main.tf"), &calls(&next));
        }
        for (path, text) in [("main.tf", calls("./m0").as_str()), (LOCK, HEADER), ("broken/main.tf", "module {\n")] {
            workspace.write(path, text);
        }
        let run = workspace.tflock(None, ["verify", "-r", "--offline", "--base", "HEAD"]).ended_with(code);
        let found = run.stderr.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(found, errors, "{end}: {run}");
        let run = workspace.tflock(None, ["status"]).ended_with(0);
        assert!(run.stdout.contains("1 root module not checked"), "{end}: {run}");
    }
}

/// Resources of so many types, each of another provider.
fn implied(count: usize) -> String {
    (0..count).fold(String::new(), |text, n| text + &format!("resource \"p{n}_x\" \"y\" {{}}\n"))
}

#[test]
fn implied_providers_are_bounded() {
    let workspace = Workspace::with_files(&[("main.tf", &implied(10_003)), (LOCK, HEADER)]);
    for args in [&["verify", "--offline"][..], &["lock", "--offline"]] {
        let run = workspace.tflock(None, args).ended_with(2);
        let said = run.stdout.clone() + &run.stderr;
        let wanted = "this requires one more provider than the 10000 that a root module can require";
        assert_eq!(said.matches(wanted).count(), 1, "{args:?}: {run}");
        assert!(said.contains("main.tf:10001:1"), "{args:?}: {run}");
    }
}

#[test]
#[ignore = "long"]
fn many_imports_are_no_square() {
    let block = |n| format!("resource \"a_b\" \"r{n}\" {{}}\nimport {{\n  to = a_b.r{n}\n  id = \"x\"\n}}\n");
    let files = |count: usize| [("main.tf", (0..=count).map(block).collect::<String>()), (LOCK, HEADER.to_owned())];
    grows_linearly(|count| work(NOTHING, &files(count), &["verify", "--offline"]), 70);
}

#[test]
#[ignore = "long"]
fn many_providers_without_an_answer_are_no_square() {
    let files = |count| [("main.tf", implied(count + 1)), (LOCK, HEADER.to_owned())];
    grows_linearly(|count| work(NOTHING, &files(count), &["lock", "--offline"]), 7);
}

#[test]
fn the_errors_of_module_calls_are_bounded() {
    let call = |n| format!("module \"m{n}\" {{\n  source = \"./x{n}\"\n}}\n");
    let workspace = Workspace::with_files(&[("main.tf", &(0..1_200).map(call).collect::<String>()), (LOCK, HEADER)]);
    let run = workspace.tflock(None, ["verify", "--offline", "--format", "json"]).ended_with(2);
    assert_eq!(run.stdout.matches("\"kind\"").count(), 1_000);
}

#[test]
#[ignore = "long"]
fn listed_findings_are_bounded() {
    let workspace = Workspace::with_files(&[]);
    for n in 0..3 {
        workspace.write(&format!("r{n}/main.tf"), &implied(if n == 2 { 5 } else { 5_500 }));
        workspace.write(&format!("r{n}/{LOCK}"), HEADER);
    }
    let run = workspace.tflock(None, ["verify", "-r", "--offline", "--format", "json"]).ended_with(1);
    let json = run.json();
    let listed = |at: usize| json["roots"][at]["findings"].as_array().unwrap().len();
    assert_eq!([0, 1, 2].map(listed), [5_500, 4_500, 1]);
    assert!(run.stderr.contains("1004 more findings of entry-missing are not listed"), "{}", run.stderr);
    // The limit is one of the run, though root modules with another source are judged apart.
    workspace.write("r1/.tflock.hcl", "source = \"configured\"\n");
    let run = workspace.tflock(None, ["verify", "-r", "--offline", "--format", "json"]).ended_with(1);
    let json = run.json();
    let listed = |at: usize| json["roots"][at]["findings"].as_array().unwrap().len();
    assert_eq!([0, 1, 2].map(listed), [5_500, 4_495, 5]);
    assert!(run.stderr.contains("1005 more findings of entry-missing are not listed"), "{}", run.stderr);
}

/// Equal root modules are judged once; what each of them has beyond the limit is counted for each.
#[test]
#[ignore = "long"]
fn findings_that_are_not_listed_are_counted_for_each_of_equal_root_modules() {
    let workspace = Workspace::with_files(&[]);
    let lines = (0..3_334).fold(String::new(), |text, n| text + &format!("    \"zh:{n}\",\n"));
    let entry = |name| {
        format!(
            "\nprovider \"registry.terraform.io/acme/{name}\" {{\n  version = \"1.0.0\"\n  hashes = [\n{lines}  ]\n}}\n"
        )
    };
    let text: String = [HEADER.to_owned()].into_iter().chain(["a", "b", "c"].map(entry)).collect();
    for root in ["a", "b", "c"] {
        workspace.write(&format!("{root}/{LOCK}"), &text);
    }
    let run = workspace.tflock(None, ["verify", "-r", "--offline", "--format", "json"]);
    // Of 10,002 in the first are 10,000 listed, of those in each other one.
    assert!(run.stderr.contains("20004 more findings of malformed-hash are not listed"), "{}", run.stderr);
}

/// Findings that follow from the other tool are left out before anything is counted.
#[test]
fn findings_that_are_left_out_are_not_counted() {
    let workspace = Workspace::with_files(&[]);
    for root in ["a", "b"] {
        workspace.write(&format!("{root}/main.tf"), &implied(5_500));
        workspace.write(&format!("{root}/{LOCK}"), HEADER);
    }
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "main");
    for root in ["a", "b"] {
        workspace.write(&format!("{root}/{LOCK}"), &HEADER.replace("terraform init", "tofu init"));
    }
    commit(&workspace, "the other tool");
    let run =
        workspace.tflock(None, ["verify", "-r", "--offline", "--base", "HEAD~1", "--format", "json"]).ended_with(3);
    assert!(run.stdout.contains("dialect-changed"), "{run}");
    assert!(!run.stderr.contains("are not listed"), "{}", run.stderr);
}

/// As the action runs it: three formats of the same findings.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "long"]
fn the_action_takes_little_memory() {
    let strange = |n| entry(&format!("p{n:05}"), 1).replace("  hashes", "  odd = 1\n  hashes");
    let lock = HEADER.to_owned() + &(0..2_000).map(strange).collect::<String>();
    let args = ["verify", "-r", "--offline", "--format", "github", "--report", "sarif=s", "--report", "markdown=m"];
    let many_findings = (0..2).map(|n| (format!("live/{n}/{LOCK}"), lock.clone())).collect::<Vec<_>>();
    let many_types = vec![("main.tf".to_owned(), implied(40_000)), (LOCK.to_owned(), HEADER.to_owned())];
    for (files, most) in [(many_findings, 64_000), (many_types, 130_000)] {
        let Some(used) = memory(&files, &args) else { return };
        assert!(used < most, "{used} KiB");
    }
}

#[test]
#[ignore = "long"]
fn more_than_any_project_has_is_refused() {
    let entries = |count: usize| (0..count).map(|n| entry(&format!("p{n:05}"), 1)).collect::<String>();
    let files = [
        (LOCK, HEADER.to_owned() + &entries(2_001), "more than 2000 entries"),
        (LOCK, HEADER.to_owned() + &entry("a", 10_001), "more than 10000 hashes in one entry"),
        (LOCK, HEADER.to_owned() + &entry("a", 60_000), "than 50000 hashes need"),
        (TRUST, pins(10_001), "more than 10000 blocks"),
    ];
    for (path, text, message) in files {
        let workspace = Workspace::with_files(&[(LOCK, &(HEADER.to_owned() + &entry("a", 1)))]);
        workspace.write(path, &text);
        for args in [&["verify", "--offline"][..], &["list"]] {
            if path == TRUST && args[0] != "verify" {
                continue;
            }
            let code = if args[0] == "verify" && path == LOCK { 1 } else { 2 };
            let run = workspace.tflock(None, args).ended_with(code);
            let said = run.stdout.clone() + &run.stderr;
            assert!(said.contains(message) && said.contains(&format!("{path}:")), "{args:?}: {run}");
        }
    }
}

#[test]
fn findings_of_one_rule_are_counted() {
    let strange = |n| entry(&format!("p{n:05}"), 1).replace("  hashes", "  odd = 1\n  hashes");
    let text = HEADER.to_owned() + &(0..120).map(strange).collect::<String>();
    let workspace = Workspace::with_files(&[(LOCK, &text)]);
    let verify = |format| workspace.tflock(None, ["verify", "--offline", "--format", format]).ended_with(1);
    for (format, count, left) in [
        ("human", 50, Some("and 70 more of this kind; `--format json` lists all")),
        ("markdown", 50, Some("_Left out: 70 more findings._")),
        ("gitlab", 52, Some("70 more findings of lock-schema")),
        ("github", 10, Some("not annotated: 110 more errors")),
        ("json", 120, None),
        ("sarif", 120, None),
    ] {
        let run = verify(format);
        // SARIF describes the rule too.
        let lines = if format == "sarif" { "\"ruleId\": \"lock-schema\"" } else { "lock-schema" };
        let found = run.stdout.lines().filter(|line| line.contains(lines)).count();
        assert_eq!(found, count, "{format}: {run}");
        assert!(left.is_none_or(|left| run.stdout.contains(left)), "{format}: {run}");
    }
}

/// Each module of a program is looked up, not compared with each advisory.
#[test]
#[ignore = "long"]
fn many_modules_and_advisories_are_no_square() {
    let audited = |count| {
        let registry = Registry::start().release("acme/widget", "2.0.0", &["linux_amd64"]).shaped(Shape::GoWith(count));
        let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
        workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
        let listed = |n| {
            let (id, fixed) = (format!("GO-2020-{n}"), r#""modified":"2026-01-01T00:00:00Z","fixed":"0.9.0""#);
            format!(r#"{{"path":"example.com/n{n}","vulns":[{{"id":"{id}",{fixed}}}]}}"#)
        };
        let modules: Vec<String> = (0..count).map(listed).collect();
        workspace.write("db/index/modules.json", &format!("[{}]", modules.join(",")));
        workspace.write("db/index/db.json", r#"{"modified":"2099-02-01T12:00:00Z"}"#);
        let args = ["audit", "--offline", "--db", "db", "--platform", "linux_amd64"];
        let said = workspace.tflock(None, args).ended_with(0).stdout;
        assert!(said.contains("0 advisories") && !said.contains("not judged"), "{said}");
        taken(&workspace, &args).map(|(time, _)| time)
    };
    grows_linearly(audited, 250);
}

/// Whatever an expression is, its evaluation ends soon, in little memory, and with the limit in the message.
#[test]
#[ignore = "long"]
fn expressions_are_bounded() {
    const MOST: u64 = 400 << 10;
    let locals = |lines: String| format!("locals {{\n  l0 = \"ab\"\n{lines}}}\n");
    let doubled =
        (1..60).map(|n| format!("  l{n} = \"${{local.l{0}}}${{local.l{0}}}\"\n", n - 1)).collect::<Vec<_>>().concat();
    let chain = (1..100_000).map(|n| format!("  l{n} = local.l{}\n", n - 1)).collect::<Vec<_>>().concat();
    for (declared, source, limit) in [
        (String::new(), "[".repeat(1 << 20) + &"]".repeat(1 << 20), "more than 100 levels deep"),
        (String::new(), format!("join(\"\", [{}])", "1,".repeat(1 << 20)), "more than 200000 parts"),
        (String::new(), "join(\"\", range(1000000000))".to_owned(), "more than 1024 numbers"),
        (
            String::new(),
            format!("regex(\"{}\", \"a\")", "(a|b)*".repeat(200_000)),
            "a regular expression of more than 1024 bytes",
        ),
        (locals(doubled), "local.l59".to_owned(), "64 MB"),
        (locals(chain), "local.l99999".to_owned(), "over more than 250 levels"),
        (locals("  a = local.b\n  b = [local.a]\n".to_owned()), "local.a".to_owned(), "refers to itself"),
    ] {
        let main = format!("{declared}module \"x\" {{\n  source = {source}\n}}\n");
        let workspace = Workspace::with_files(&[("main.tf", &main)]);
        let arguments = ["lock", "--offline", "--platform", "linux_amd64"];
        let run = workspace.tflock(None, arguments);
        assert!(run.stderr.contains(limit), "{limit}: {}", run.stderr.chars().take(2000).collect::<String>());
        if let Some((_, memory)) = taken(&workspace, &arguments) {
            assert!(memory < MOST, "{limit}: {memory} KiB");
        }
    }
}
