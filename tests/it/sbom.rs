//! Software bills of materials.

use serde_json::Value;

use crate::support::packages::Shape;
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

const MAIN: &str = r#"terraform {
  required_providers {
    widget = {
      source = "{{registry}}/acme/widget"
    }
  }
}

module "net" {
  source = "./net"
}
"#;
const NET: &str = r#"terraform {
  required_providers {
    widget = {
      source = "{{registry}}/acme/widget"
    }
  }
}
"#;

fn registry() -> Registry {
    Registry::start().release("acme/widget", "2.0.0", &["linux_amd64", "windows_386"]).shaped(Shape::Go)
}

fn locked(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[("main.tf", MAIN), ("net/main.tf", NET)]);
    let workspace = workspace.env("SOURCE_DATE_EPOCH", "1700000000");
    workspace.tflock(registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    workspace
}

fn component<'d>(document: &'d Value, name: &str) -> &'d Value {
    document["components"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap()
}

fn properties(component: &Value) -> Vec<String> {
    let all = component["properties"].as_array().into_iter().flatten();
    all.map(|it| format!("{}={}", it["name"].as_str().unwrap(), it["value"].as_str().unwrap())).collect()
}

#[test]
fn an_inventory_needs_no_request() {
    let registry = registry();
    let workspace = locked(&registry);
    registry.forget_requests();
    let run = workspace.tflock(&registry, ["sbom"]).ended_with(0);
    assert_eq!(registry.requests().len(), 0);
    let document = run.json();
    assert_eq!(
        (&document["specVersion"], &document["metadata"]["timestamp"]),
        (&"1.6".into(), &"2023-11-14T22:13:20Z".into())
    );
    assert!(document.get("serialNumber").is_none());
    let widget = component(&document, "widget");
    assert!(properties(widget).iter().any(|it| it.starts_with("tflock:signer=")), "{widget:#}");
    let host = format!("tflock:download-host={}", registry.host());
    assert!(properties(widget).contains(&host), "{widget:#}");
    assert!(
        properties(widget).iter().any(|it| it.starts_with("tflock:h1=h1:") && it.ends_with("(linux_amd64)")),
        "{widget:#}"
    );
    assert_eq!(widget["externalReferences"][0]["hashes"][0]["alg"], "SHA-256");
    assert!(widget.get("components").is_none() && widget.get("purl").is_none());
    let provider = widget["bom-ref"].as_str().unwrap();
    let needs = document["dependencies"].as_array().unwrap();
    let of = |part: &str| needs.iter().find(|it| it["ref"] == part).unwrap()["dependsOn"].clone();
    assert_eq!(of("root:"), serde_json::json!(["module:./net", provider]));
    assert_eq!(of("module:./net"), serde_json::json!([provider]));
    // The same input gives the same bytes.
    assert_eq!(workspace.tflock(&registry, ["sbom"]).stdout, run.stdout);
    let serial = workspace.tflock(&registry, ["sbom", "--serial"]).ended_with(0).json();
    assert!(serial["serialNumber"].as_str().unwrap().starts_with("urn:uuid:"));
    let unknown = workspace.tflock(&registry, ["sbom", "--no-cache"]).ended_with(0);
    assert!(unknown.stdout.contains("platform unknown"), "{unknown}");
    let asked = workspace.tflock(&registry, ["sbom", "--no-cache", "--online"]).ended_with(0);
    // Without the index nothing says which platform an `h1:` is for.
    let archives = component(&asked.json(), "widget")["externalReferences"].clone();
    assert!(archives.as_array().unwrap().iter().all(|it| it["comment"] != "platform unknown"), "{asked}");
    assert_eq!(registry.downloads("acme/widget"), 0);
}

/// What is not read may call modules: the document does not show that it lacks them.
#[test]
fn modules_that_are_not_read_are_noted() {
    let registry = registry();
    let workspace = locked(&registry);
    let noted = |args: &[&str]| {
        let run = workspace.tflock(&registry, args).ended_with(0);
        run.stderr.contains("the inventory may lack modules")
    };
    assert!(!noted(&["sbom"]));
    workspace.write("net/more.tf", "module \"far\" {\n  source = \"acme/far/lab\"\n}\n");
    assert!(noted(&["sbom"]) && noted(&["sbom", "-r"]));
    workspace.write("net/more.tf", "module {\n");
    assert!(noted(&["sbom"]));
}

#[test]
fn the_inside_of_a_provider_is_listed() {
    let registry = registry();
    let workspace = locked(&registry);
    let run =
        workspace.tflock(&registry, ["sbom", "--deep", "--platform", "linux_amd64", "--report", "spdx=bom.spdx.json"]);
    let document = run.ended_with(0).json();
    let widget = component(&document, "widget");
    assert!(properties(widget).contains(&"tflock:go=go1.21.4".to_owned()), "{widget:#}");
    let inside = widget["components"].as_array().unwrap();
    let of = |name: &str| inside.iter().find(|it| it["name"] == name).unwrap();
    assert_eq!(of("stdlib")["purl"], "pkg:golang/stdlib@1.21.4");
    assert_eq!(of("example.com/m01")["purl"], "pkg:golang/example.com/m01@v1.2.0");
    assert_eq!(of("example.com/m24")["purl"], "pkg:golang/example.com/m24@v28.1.1%2Bincompatible");
    assert_eq!(properties(of("example.com/fork")), ["tflock:sum=h1:x=", "tflock:replaces=example.com/forked v1.9.0"]);
    assert!(of("./local").get("purl").is_none());
    let spdx: Value = serde_json::from_str(&workspace.read("bom.spdx.json")).unwrap();
    assert_eq!(
        (&spdx["spdxVersion"], &spdx["creationInfo"]["created"]),
        (&"SPDX-2.3".into(), &"2023-11-14T22:13:20Z".into())
    );
    let packages = spdx["packages"].as_array().unwrap();
    assert!(packages.iter().any(|it| it["name"] == "example.com/m01" && it["versionInfo"] == "v1.2.0"));
    let json = workspace.tflock(&registry, ["sbom", "--format", "json"]).ended_with(0).json();
    assert_eq!(json["sbom"]["bomFormat"], "CycloneDX");
    workspace.tflock(&registry, ["list", "--format", "spdx"]).ended_with(2);
}

/// The documents match their schemas, by the validators that `.ci/run` installs.
#[test]
fn documents_are_valid() {
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = top.join("target/venv/bin/python");
    let is_there = std::process::Command::new(&python)
        .args(["-c", "import cyclonedx.validation.json, spdx_tools.spdx.validation.document_validator"])
        .output()
        .is_ok_and(|run| run.status.success());
    if !is_there {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: target/venv has no cyclonedx-python-lib and spdx-tools\n",
        );
        return;
    }
    let registry = registry();
    let workspace = locked(&registry);
    let args = ["sbom", "--deep", "--serial", "--report", "cyclonedx=bom.cdx.json", "--report", "spdx=bom.spdx.json"];
    workspace.tflock(&registry, args).ended_with(0);
    let script = "import sys\nfrom cyclonedx.schema import SchemaVersion\nfrom cyclonedx.validation.json import JsonStrictValidator\n\
                  error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())\nassert error is None, error\n\
                  from spdx_tools.spdx.parser.parse_anything import parse_file\n\
                  from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document\n\
                  errors = validate_full_spdx_document(parse_file(sys.argv[2]))\nassert not errors, errors\n";
    let run = std::process::Command::new(&python)
        .args(["-c", script])
        .args([workspace.path("bom.cdx.json"), workspace.path("bom.spdx.json")])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
