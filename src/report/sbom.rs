//! Inventories as CycloneDX 1.6 and SPDX 2.3.
//!
//! Source: <https://cyclonedx.org/docs/1.6/json/>, <https://spdx.github.io/spdx-spec/v2.3/>.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use packageurl::PackageUrl;
use serde::Serialize;
use serde_json::{Value, json};

use crate::goinfo::GoModule;
use crate::hash::{PackageHash, Sha256Digest};
use crate::outcome::{
    Body, Inventory, InventoryContents, InventoryModule, InventoryProgram, InventoryProvider, Outcome, RootOutcome,
};
use crate::report::json::Each;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The inventory in one of the two formats.
pub(super) fn render(outcome: &Outcome, text: fn(&Inventory) -> String) -> String {
    let inventory = |root: &RootOutcome| match &root.body {
        Ok(Body::Sbom(inventory)) => Some(text(inventory)),
        _ => None,
    };
    outcome.roots.iter().find_map(inventory).unwrap_or_default()
}

fn property(name: &str, value: impl Into<String>) -> Value {
    json!({ "name": format!("tflock:{name}"), "value": value.into() })
}

/// Adds the members that have a value to an object.
fn with(mut object: Value, members: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Value {
    for (name, value) in members {
        if let Some(value) = value.filter(|value| value.as_array().is_none_or(|list| !list.is_empty())) {
            object[name] = value;
        }
    }
    object
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CycloneDx<C, D> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    bom_format: &'static str,
    spec_version: &'static str,
    version: u8,
    metadata: Value,
    components: C,
    dependencies: D,
    #[serde(skip_serializing_if = "Option::is_none")]
    serial_number: Option<String>,
}

pub(super) fn cyclonedx(inventory: &Inventory) -> impl Serialize {
    let root = format!("inventory:{}", inventory.name);
    let roots = inventory.needs.keys().map(String::as_str).filter(|part| part.starts_with("root:"));
    let components = roots.clone().map(|part| {
        let path = part.trim_start_matches("root:");
        json!({ "type": "application", "bom-ref": part, "name": if path.is_empty() { "." } else { path } })
    });
    let components = components
        .chain(inventory.modules.iter().map(|(part, module)| module_component(part, module)))
        .chain(inventory.providers.iter().map(|(part, provider)| provider_component(part, provider)));
    let depends = |part: &str, on: Vec<&str>| json!({ "ref": part, "dependsOn": on });
    let of_all = std::iter::once(depends(&root, roots.collect()));
    let of_parts = inventory.needs.iter().map(move |(part, on)| depends(part, on.iter().map(String::as_str).collect()));
    let mut document = CycloneDx {
        schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
        bom_format: "CycloneDX",
        spec_version: "1.6",
        version: 1,
        metadata: json!({
            "timestamp": inventory.created,
            "tools": { "components": [{ "type": "application", "name": "tflock", "version": VERSION }] },
            "component": { "type": "application", "bom-ref": root, "name": inventory.name },
        }),
        components: Each(components),
        dependencies: Each(of_all.chain(of_parts)),
        serial_number: None,
    };
    document.serial_number = inventory.serial.then(|| serial(&document));
    document
}

/// A UUID of version 8, computed from the content.
fn serial(document: &impl Serialize) -> String {
    let digest = digest(document).to_hex();
    let part = |from: usize, to: usize| &digest[from..to];
    format!("urn:uuid:{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

fn module_component(part: &str, module: &InventoryModule) -> Value {
    let vcs = module.commit.as_ref().map(|commit| property("commit", commit.as_str()));
    let hash = module.hash.as_ref().map(|hash| property("h1", hash.as_str()));
    let local = module.is_local.then(|| property("local", "true"));
    let properties: Vec<Value> = vcs.into_iter().chain(hash).chain(local).collect();
    let component = json!({ "type": "library", "bom-ref": part, "name": module.source });
    with(component, [("version", module.version.as_ref().map(|it| json!(it))), ("properties", Some(json!(properties)))])
}

fn provider_component(part: &str, provider: &InventoryProvider) -> Value {
    let InventoryProvider { address, version, hashes, signer, download_host, program } = provider;
    let mut properties = vec![property("registry", address.host().to_string())];
    properties.extend(download_host.as_ref().map(|host| property("download-host", host.as_str())));
    properties.extend(signer.as_ref().map(|signer| property("signer", signer.as_str())));
    properties.extend(
        hashes.keys().filter(|hash| hash.zh_digest().is_none()).map(|hash| property("h1", described(provider, hash))),
    );
    properties.extend(program.iter().flat_map(program_properties));
    let archives: Vec<Value> = hashes.keys().filter_map(|hash| archive(provider, hash)).collect();
    let programs = program.iter().flat_map(|program| &program.programs);
    let inside: Vec<Value> = programs.flat_map(|it| components_of(it, program.as_ref())).collect();
    let component = json!({
        "type": "application",
        "bom-ref": part,
        "group": format!("{}/{}", address.host(), address.namespace()),
        "name": address.type_name(),
        "version": version.to_string(),
    });
    with(
        component,
        [
            ("externalReferences", Some(json!(archives))),
            ("properties", Some(json!(properties))),
            ("components", Some(json!(inside))),
        ],
    )
}

fn described(provider: &InventoryProvider, hash: &PackageHash) -> String {
    format!("{hash} ({})", platforms(provider, hash))
}

fn platforms(provider: &InventoryProvider, hash: &PackageHash) -> String {
    let known = provider.hashes.get(hash).into_iter().flatten();
    let names: Vec<&str> = known.map(crate::platform::Platform::as_str).collect();
    if names.is_empty() { "platform unknown".to_owned() } else { names.join(", ") }
}

fn page(provider: &InventoryProvider) -> String {
    let address = &provider.address;
    format!(
        "https://{}/providers/{}/{}/{}",
        address.host(),
        address.namespace(),
        address.type_name(),
        provider.version.to_string().replace('+', "%2B")
    )
}

fn archive(provider: &InventoryProvider, hash: &PackageHash) -> Option<Value> {
    let digest = hash.zh_digest()?.to_hex();
    Some(json!({
        "type": "distribution",
        "url": page(provider),
        "comment": platforms(provider, hash),
        "hashes": [{ "alg": "SHA-256", "content": digest }],
    }))
}

fn program_properties(program: &InventoryProgram) -> Vec<Value> {
    let mut properties: Vec<Value> =
        program.platform.iter().map(|platform| property("platform", platform.as_str())).collect();
    let own = program.programs.iter().find(|contents| contents.path.is_none());
    match (&program.unknown, own) {
        (Some(why), _) => properties.push(property("contents", format!("unknown: {why}"))),
        (None, own) => properties.extend(own.into_iter().flat_map(|own| contents_properties(own, program.is_reported))),
    }
    if program.unread > 0 {
        properties.push(property("unread-programs", program.unread.to_string()));
    }
    properties
}

/// What one program says of itself.
fn contents_properties(contents: &InventoryContents, is_reported: bool) -> Vec<Value> {
    let evidence = if is_reported { "reported by an import or a shared index" } else { "read from the program" };
    let mut properties: Vec<Value> = Vec::new();
    for info in &contents.built_from {
        let said = match info {
            Err(why) => vec![property("contents", format!("unknown: {why}"))],
            Ok(info) => {
                let main = info.main().map(|main| property("main-module", format!("{} {}", main.path, main.version)));
                let vcs = ["vcs", "vcs.revision", "vcs.time", "vcs.modified"]
                    .into_iter()
                    .filter_map(|setting| Some(property(setting, info.setting(setting)?)));
                let found = [property("contents", evidence), property("go", info.go.as_str())];
                found.into_iter().chain(main).chain(vcs).collect()
            }
        };
        // The programs of a universal binary mostly say the same.
        let news: Vec<Value> = said.into_iter().filter(|it| !properties.contains(it)).collect();
        properties.extend(news);
    }
    properties
}

/// The standard library and the modules of a program, those of a universal binary once.
fn go_modules(contents: &InventoryContents) -> Vec<GoModule> {
    let mut modules = Vec::new();
    let mut seen = BTreeSet::new();
    for info in contents.built_from.iter().flatten() {
        let version = info.go.split_whitespace().next().unwrap_or_default();
        let version = version.strip_prefix("go").unwrap_or(version).to_owned();
        let stdlib = GoModule { path: "stdlib".to_owned(), version, sum: String::new(), replace: None };
        let all = [stdlib].into_iter().chain(info.dependencies());
        modules.extend(all.filter(|module| contents.built_from.len() == 1 || seen.insert(module.clone())));
    }
    modules
}

/// The package that a module was built from; a local directory is none, and no package has a path with `..` in it.
fn purl(module: &GoModule) -> Option<String> {
    if module.is_local() {
        return None;
    }
    let module = module.built();
    if module.path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return None;
    }
    let (namespace, name) =
        module.path.rsplit_once('/').map_or((None, &*module.path), |(space, name)| (Some(space), name));
    let mut url = PackageUrl::new("golang", name).ok()?;
    if let Some(namespace) = namespace {
        url.with_namespace(namespace).ok()?;
    }
    if !module.version.is_empty() {
        url.with_version(module.version.as_str()).ok()?;
    }
    Some(url.to_string())
}

/// The modules of the program of a provider; another program of the package as a component that has its own.
fn components_of(contents: &InventoryContents, program: Option<&InventoryProgram>) -> Vec<Value> {
    let inside = go_components(contents);
    let Some(path) = &contents.path else { return inside };
    let properties = contents_properties(contents, program.is_some_and(|program| program.is_reported));
    let component = json!({ "type": "application", "name": path, "properties": properties });
    vec![with(component, [("components", Some(json!(inside)))])]
}

fn go_components(contents: &InventoryContents) -> Vec<Value> {
    let component = |module: &GoModule| {
        let built = module.built();
        let sum = (!built.sum.is_empty()).then(|| property("sum", built.sum.as_str()));
        let replaces =
            module.replace.is_some().then(|| property("replaces", format!("{} {}", module.path, module.version)));
        let properties: Vec<Value> = sum.into_iter().chain(replaces).collect();
        let component = json!({ "type": "library", "name": built.path });
        with(
            component,
            [
                ("version", (!built.version.is_empty()).then(|| json!(built.version))),
                ("purl", purl(module).map(Value::from)),
                ("properties", Some(json!(properties))),
            ],
        )
    };
    go_modules(contents).iter().map(component).collect()
}

/// An SPDX package with placeholders for unknown values.
fn package(id: &str, name: &str, members: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Value {
    let package = json!({
        "SPDXID": id,
        "name": name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": false,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    });
    with(package, members)
}

fn relation(one: &str, kind: &str, other: &str) -> Value {
    json!({ "spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other })
}

/// A property of CycloneDX as text.
fn line_of(property: &Value) -> String {
    let text = |name: &str| property[name].as_str().unwrap_or_default();
    format!("{}: {}", text("name"), text("value"))
}

fn module_package(id: &str, module: &GoModule) -> Value {
    let built = module.built();
    let reference = purl(module).map(
        |purl| json!([{ "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl }]),
    );
    let sum = (!built.sum.is_empty()).then(|| json!(format!("sum: {}", built.sum)));
    let version = (!built.version.is_empty()).then(|| json!(built.version));
    package(id, &built.path, [("versionInfo", version), ("externalRefs", reference), ("comment", sum)])
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spdx<P, R> {
    spdx_version: &'static str,
    data_license: &'static str,
    #[serde(rename = "SPDXID")]
    id: &'static str,
    name: String,
    document_namespace: String,
    creation_info: Value,
    packages: P,
    relationships: R,
}

pub(super) fn spdx(inventory: &Inventory) -> impl Serialize {
    let id = |(at, part): (usize, &String)| (part.clone(), format!("SPDXRef-{}", at + 1));
    let ids: Rc<BTreeMap<String, String>> = Rc::new(inventory.needs.keys().enumerate().map(id).collect());
    let parts = inventory.needs.keys().zip(0..).map(|(part, at)| (part.as_str(), format!("SPDXRef-{}", at + 1)));
    let packages = parts.clone().flat_map(|(part, id)| packages_of(inventory, part, &id).0);
    let relations = parts.flat_map(|(part, id)| packages_of(inventory, part, &id).1);
    let depends = inventory.needs.iter().flat_map(move |(part, on)| {
        let ids = Rc::clone(&ids);
        on.iter().filter_map(move |on| Some(relation(&ids[part], "DEPENDS_ON", ids.get(on)?)))
    });
    let (packages, relationships) = (Each(packages), Each(relations.chain(depends)));
    let content = digest(&(&packages, &relationships)).to_hex();
    Spdx {
        spdx_version: "SPDX-2.3",
        data_license: "CC0-1.0",
        id: "SPDXRef-DOCUMENT",
        name: inventory.name.clone(),
        document_namespace: format!("https://spdx.org/spdxdocs/tflock-{content}"),
        creation_info: json!({ "created": inventory.created, "creators": [format!("Tool: tflock-{VERSION}")] }),
        packages,
        relationships,
    }
}

fn digest(document: &impl Serialize) -> Sha256Digest {
    // Only keys that are no strings cannot be written, and there are none.
    Sha256Digest::of(serde_json::to_string(document).unwrap_or_default().as_bytes())
}

/// What SPDX calls packages of a part and of what is inside of it, and how they are related.
fn packages_of(inventory: &Inventory, part: &str, id: &str) -> (Vec<Value>, Vec<Value>) {
    let (mut packages, mut relations) = (Vec::new(), Vec::new());
    let (mut programs, mut comment, mut name, mut version) = (None, Vec::new(), part.to_owned(), None);
    if let Some(path) = part.strip_prefix("root:") {
        relations.push(relation("SPDXRef-DOCUMENT", "DESCRIBES", id));
        name = if path.is_empty() { inventory.name.clone() } else { path.to_owned() };
    } else if let Some(provider) = inventory.providers.get(part) {
        name = provider.address.to_string();
        version = Some(provider.version.to_string());
        comment.extend(provider.download_host.iter().map(|host| format!("download host: {host}")));
        comment.extend(provider.signer.iter().map(|signer| format!("signer: {signer}")));
        comment.extend(provider.hashes.keys().map(|hash| described(provider, hash)));
        comment.extend(provider.program.iter().flat_map(program_properties).map(|it| line_of(&it)));
        programs = provider.program.as_ref();
    } else if let Some(module) = inventory.modules.get(part) {
        name.clone_from(&module.source);
        version.clone_from(&module.version);
        comment.extend(module.commit.iter().map(|commit| format!("commit: {commit}")));
        comment.extend(module.hash.clone());
    }
    let comment = (!comment.is_empty()).then(|| json!(comment.join("\n")));
    packages.push(package(id, &name, [("versionInfo", version.map(Value::from)), ("comment", comment)]));
    for (at, contents) in programs.iter().flat_map(|it| it.programs.iter().enumerate()) {
        let mut holder = id.to_owned();
        if let Some(path) = &contents.path {
            holder = format!("{id}-program-{}", at + 1);
            let properties = contents_properties(contents, programs.is_some_and(|it| it.is_reported));
            let comment = properties.iter().map(line_of).collect::<Vec<_>>().join("\n");
            packages.push(package(&holder, path, [("comment", Some(json!(comment)))]));
            relations.push(relation(id, "CONTAINS", &holder));
        }
        for (at, module) in go_modules(contents).iter().enumerate() {
            let inner = format!("{holder}-{}", at + 1);
            packages.push(module_package(&inner, module));
            relations.push(relation(&holder, "CONTAINS", &inner));
        }
    }
    (packages, relations)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a program says it was built from may be anything.
    #[test]
    fn no_package_is_outside_of_its_namespace() {
        for (path, expected) in [
            ("example.com/a/b", Some("pkg:golang/example.com/a/b@v1")),
            ("stdlib", Some("pkg:golang/stdlib@v1")),
            ("..", None),
            ("example.com/../a", None),
            ("example.com/./a", None),
            ("example.com//a", None),
            ("/a", None),
            ("a/", None),
        ] {
            let module =
                GoModule { path: path.to_owned(), version: "v1".to_owned(), sum: String::new(), replace: None };
            assert_eq!(purl(&module).as_deref(), expected, "{path}");
        }
    }
}
