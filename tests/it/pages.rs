//! `--format html`: the pages, opened in a real browser where there is one.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::browser::{Browser, Page};
use crate::support::locked::{LOCK, honest, locked};
use crate::support::workspace::Workspace;

/// Text that would be markup, a script or a style if it were not escaped.
const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\\\"'&";

const HEADER: &str =
    "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n";

fn entry(address: &str, version: &str, hash: char) -> String {
    let hash = hash.to_string().repeat(64);
    format!(
        "\nprovider \"registry.terraform.io/{address}\" {{\n  version = \"{version}\"\n  hashes = [\n    \"zh:{hash}\",\n  ]\n}}\n"
    )
}

/// Root modules that require two or three providers, in two versions, half of them through a module.
fn monorepo(count: usize) -> Workspace {
    let workspace = Workspace::with_files(&[(
        "modules/net/main.tf",
        "terraform {\n  required_providers {\n    null = { source = \"acme/null\" }\n  }\n}\n",
    )]);
    for number in 0..count {
        let (root, version) = (format!("live/app{number:04}"), format!("1.{}.0", number % 2));
        let module = if number % 2 == 0 { "module \"net\" {\n  source = \"../../modules/net\"\n}\n" } else { "" };
        let main = "terraform {\n  required_providers {\n    widget = { source = \"acme/widget\", version = \"~> 1.0\" }\n  }\n}\n";
        workspace.write(&format!("{root}/main.tf"), &format!("{main}{module}"));
        let null = if number % 2 == 0 { entry("acme/null", "3.0.0", 'c') } else { String::new() };
        workspace.write(
            &format!("{root}/.terraform.lock.hcl"),
            &format!("{HEADER}{null}{}", entry("acme/widget", &version, 'a')),
        );
    }
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "all"]);
    workspace
}

/// A page without the places where a browser may break a name.
fn shown(page: &str) -> String {
    page.replace("<wbr>", "")
}

fn page<'b>(browser: &'b Browser, workspace: &Workspace, args: &[&str]) -> Page<'b> {
    let report = ["--report", "html=page.html", "-q"];
    workspace.tflock(None, args.iter().chain(&report));
    browser.open(&workspace.path("page.html"), 1200)
}

fn is_clean(page: &Page<'_>) {
    let complaints = page.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert_eq!(page.evaluate("document.querySelectorAll('[style]').length + document.images.length"), 0);
    // Each link within the page leads to a part of it.
    let dangling = "[...document.querySelectorAll('a[href^=\"#\"]')].filter((a) => !document.getElementById(a.hash.slice(1))).map((a) => a.hash)";
    assert_eq!(page.evaluate(dangling), json!([]));
}

#[test]
fn the_page_of_a_repository_is_filtered_sorted_printed_and_read_aloud() {
    let workspace = monorepo(6);
    let text = shown(&workspace.tflock(None, ["list", "-r", "--format", "html"]).ended_with(0).stdout);
    for needed in ["default-src 'none'", "module.net in live/app0000", "live/app0005", "registry.terraform.io"] {
        assert!(text.contains(needed) != (needed == "registry.terraform.io"), "{needed}: {text}");
    }
    assert!(!text.contains("http://") && !text.contains("https://"), "{text}");
    let Some(browser) = Browser::start() else { return };
    let page = page(&browser, &workspace, &["list", "-r"]);
    is_clean(&page);
    let rows = "[...document.querySelectorAll('.matrix tbody tr')].filter((row) => !row.hidden).map((row) => row.cells[0].textContent.at(-1)).join('')";
    assert_eq!(page.evaluate(rows), "012345");
    // By keyboard: through the links of the sections to the filter, and what is typed there narrows the table.
    page.press(&["Tab", "Tab", "Tab", "Tab"]);
    assert_eq!(page.evaluate("document.activeElement.id"), "filter");
    page.press(&["1", ".", "1"]);
    assert_eq!(page.evaluate(rows), "135");
    assert_eq!(page.evaluate("document.getElementById('count').textContent"), "4 of 9");
    page.evaluate(
        "const filter = document.getElementById('filter'); filter.value = ''; filter.dispatchEvent(new Event('input'))",
    );
    page.evaluate("document.querySelector('.matrix th button').focus()");
    page.press(&["Enter", "Enter"]);
    assert_eq!(page.evaluate(rows), "543210");
    assert_eq!(page.evaluate("document.querySelector('.matrix th').ariaSort"), "descending");
    // What a screen reader finds its way by.
    let tree = page.call("Accessibility.getFullAXTree", &json!({}));
    let roles: Vec<&str> =
        tree["nodes"].as_array().unwrap().iter().filter_map(|node| node["role"]["value"].as_str()).collect();
    for role in ["banner", "navigation", "main", "table", "columnheader", "rowheader", "searchbox", "status", "heading"]
    {
        assert!(roles.contains(&role), "{role} is not in {roles:?}");
    }
    assert!(roles.contains(&"image") || roles.contains(&"img"), "{roles:?}");
    let back = "getComputedStyle(document.body).backgroundColor";
    assert_eq!(page.evaluate(back), "rgb(255, 255, 255)");
    page.call(
        "Emulation.setEmulatedMedia",
        &json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] }),
    );
    assert_eq!(page.evaluate(back), "rgb(20, 23, 27)");
    page.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    assert_eq!(page.evaluate("getComputedStyle(document.querySelector('nav')).display"), "none");
}

#[test]
fn findings_lead_to_what_their_rule_means() {
    let workspace = monorepo(3);
    workspace.write("live/app0001/.terraform.lock.hcl", &format!("{HEADER}{}", entry("acme/other", "1.0.0", 'b')));
    let text = workspace.tflock(None, ["verify", "-r", "--offline", "--format", "html"]).ended_with(1).stdout;
    for needed in [
        "id=\"finding-1\"",
        "module.net in live/app0000",
        "href=\"#rule-entry-missing\"",
        "<article id=\"rule-entry-missing\">",
        "<strong>Next:</strong>",
    ] {
        assert!(text.contains(needed), "{needed}: {text}");
    }
    let Some(browser) = Browser::start() else { return };
    is_clean(&page(&browser, &workspace, &["verify", "-r", "--offline"]));
}

#[test]
fn the_page_of_a_change_begins_with_what_is_dangerous() {
    let workspace = monorepo(3);
    workspace.write("live/app0001/.terraform.lock.hcl", &format!("{HEADER}{}", entry("acme/widget", "1.1.0", 'f')));
    workspace.write(
        "live/app0002/.terraform.lock.hcl",
        &format!("{HEADER}{}{}", entry("acme/null", "3.1.0", 'c'), entry("acme/widget", "1.0.0", 'a')),
    );
    let text = workspace.tflock(None, ["diff", "-r", "--format", "html"]).ended_with(0).stdout;
    let [dangerous, routine] =
        ["tr class=\"dangerous\"", "acme/null"].map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")));
    assert!(dangerous < routine && text.contains("3.0.0 → 3.1.0"), "{text}");
    let Some(browser) = Browser::start() else { return };
    is_clean(&page(&browser, &workspace, &["diff", "-r"]));
}

#[test]
fn what_others_wrote_stays_text() {
    let workspace = Workspace::with_files(&[(
        "main.tf",
        "terraform {\n  required_providers {\n    widget = { source = \"acme/widget\" }\n  }\n}\n",
    )]);
    workspace.write(
        ".terraform.lock.hcl",
        &format!("{HEADER}{}\n# {HOSTILE}\nextra \"{HOSTILE}\" {{\n}}\n", entry("acme/widget", "1.0.0", 'a')),
    );
    for args in [&["verify", "--offline"][..], &["list"], &["diff"], &["outdated", "--offline"]] {
        let text = workspace.tflock(None, args.iter().chain(&["--format", "html"])).stdout;
        assert!(
            text.starts_with("<!DOCTYPE html>") && text.matches("<script>").count() == 1 && !text.contains("<img"),
            "{args:?}: {text}"
        );
    }
    let Some(browser) = Browser::start() else { return };
    is_clean(&page(&browser, &workspace, &["verify", "--offline"]));
}

#[test]
#[ignore = "long"]
fn a_thousand_root_modules_stay_below_five_megabytes() {
    let workspace = monorepo(1000);
    for args in [&["list", "-r"][..], &["verify", "-r", "--offline"]] {
        let text = shown(&workspace.tflock(None, args.iter().chain(&["--format", "html"])).ended_with(0).stdout);
        assert!(text.len() < 5_000_000 && text.contains("live/app0999"), "{args:?}: {} bytes", text.len());
    }
    let Some(browser) = Browser::start() else { return };
    let page = page(&browser, &workspace, &["list", "-r"]);
    is_clean(&page);
    assert_eq!(page.evaluate("document.querySelectorAll('.matrix tbody tr').length"), 1000);
}

/// An arrow from several root modules is true of each.
#[test]
fn root_modules_that_require_the_same_are_one_line_of_the_drawing() {
    let workspace = monorepo(4);
    let main = workspace.read("live/app0000/main.tf");
    let more = "required_providers {\n    null = { source = \"acme/null\" }";
    workspace.write("live/app0000/main.tf", &main.replacen("required_providers {", more, 1));
    let page = workspace.tflock(None, ["list", "-r", "--format", "html"]).ended_with(0).stdout;
    let drawing = page.split_once("<svg").unwrap().1;
    let lines = [">live/app0001, live/app0002, live/app0003<", ">live/app0000<"];
    assert!(lines.iter().all(|line| drawing.contains(line)), "{drawing}");
}

#[test]
fn who_requires_what_is_a_graph() {
    let workspace = monorepo(1);
    let main = workspace.read("live/app0000/main.tf");
    let more = "required_providers {\n    null = { source = \"acme/null\", version = \"< 4\" }";
    workspace.write("live/app0000/main.tf", &main.replacen("required_providers {", more, 1));
    let dot = workspace.tflock(None, ["why", "-r", "--graph", "dot"]).ended_with(0).stdout;
    let wanted = "digraph requirements {\n  rankdir=LR\n  node [shape=box]\n  n1 [label=\"acme/null\"]\n  n2 [label=\"acme/widget\"]\n  n0 \
                  [label=\"live/app0000\"]\n  n3 [label=\"live/app0000: module.net\"]\n  n0 -> n1 [label=\"< 4\"]\n  n0 -> n2 [label=\"~> \
                  1.0\"]\n  n0 -> n3\n  n3 -> n1\n}\n";
    assert_eq!(dot, wanted);
    let mermaid = workspace.tflock_in("live/app0000", None, ["why", "--graph", "mermaid"]).ended_with(0).stdout;
    assert!(mermaid.starts_with("flowchart LR\n") && mermaid.contains("-->|\"#lt; 4\"| n"), "{mermaid}");
}

/// The words and numbers of a text.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

#[test]
#[ignore = "long"]
fn markdown_says_what_a_terminal_says() {
    let registry = honest();
    let workspace = locked(&registry);
    let run = |args: &[&str]| workspace.tflock(&registry, args).stdout;
    run(&["trust", "init"]);
    run(&["mirror", "mirror"]);
    run(&["install"]);
    let widget = format!("{}/acme/widget", registry.host());
    for args in [
        &["audit", "--offline"][..],
        &["cache", "stats"],
        &["explain", &widget],
        &["hash", "mirror"],
        &["install"],
        &["list"],
        &["mirror", "mirror"],
        &["outdated"],
        &["status", "--offline"],
        &["trust", "init"],
        &["trust", "list"],
        &["verify"],
        &["why", &widget],
    ] {
        let terminal = run(args).to_lowercase();
        let markdown = run(&[args, &["--format", "markdown"]].concat()).to_lowercase();
        let missing: Vec<&str> = words(&terminal).difference(&words(&markdown)).copied().collect();
        assert!(!terminal.is_empty() && missing.is_empty(), "{args:?}: {missing:?}\n{terminal}\n{markdown}");
    }
}

#[test]
fn commands_without_a_page_say_so() {
    let run = Workspace::with_files(&[]).tflock(None, ["fmt", "--format", "html"]).ended_with(2);
    assert!(run.stderr.contains("error: fmt ") && run.stderr.contains("list, outdated, verify, diff, audit"), "{run}");
}

/// Commands are set as code, long words break, and no table is cut off, in a window or on a phone.
#[test]
fn a_page_fits_a_phone_and_a_window() {
    let workspace = monorepo(2);
    let deep = "live/environments/staging-europe/service-with-a-long-name";
    workspace
        .write(&format!("{deep}/main.tf"), &workspace.read("live/app0000/main.tf").replace("../../", "../../../../"));
    workspace.write(&format!("{deep}/{LOCK}"), &format!("{HEADER}{}", entry("acme/widget", "1.1.0", 'f')));
    let long = format!("{HEADER}{}", entry("hooli/storage-and-compute-services", "1.1.0", 'e'));
    workspace.write(&format!("live/hooli/{LOCK}"), &long);
    let text = workspace.tflock(None, ["outdated", "-r", "--format", "html", "--offline"]).stdout;
    assert!(!text.contains("`tflock"), "{text}");
    let Some(browser) = Browser::start() else { return };
    for args in [&["verify", "-r", "--offline"][..], &["list", "-r"], &["diff", "-r"]] {
        let report = ["--report", "html=page.html", "-q"];
        workspace.tflock(None, args.iter().chain(&report));
        // A text without a space, as a fingerprint is.
        let long = workspace
            .read("page.html")
            .replace("<ul class=\"summary\">", &format!("<ul class=\"summary\"><li>{}</li>", "5A59".repeat(40)));
        workspace.write("page.html", &long);
        for width in [390, 1280] {
            let page = browser.open(&workspace.path("page.html"), width);
            assert_eq!(page.evaluate(&format!("document.documentElement.scrollWidth <= {width}")), true, "{args:?}");
            let scrolls = "[...document.querySelectorAll('main *')].filter((it) => ['auto', 'scroll'].includes(getComputedStyle(it).overflowY)).length";
            assert_eq!(page.evaluate(scrolls), 0, "{args:?} {width}");
            // Who requires what has names, in the drawing and in the list that takes its place on a phone.
            let drawn = "[...document.querySelectorAll('#graph :is(svg, ul)')].filter((it) => it.getBoundingClientRect().width > 0).map((it) => it.textContent).join()";
            let drawn = page.evaluate(drawn);
            assert!(args[0] == "diff" || drawn.as_str().unwrap().contains("live/app0001"), "{args:?} {width}: {drawn}");
        }
    }
}
