//! The module registry: versions, where a module is, its archive.

use serde_json::{Value, json};

use super::routes::{Place, Reply};
use super::world::World;

/// One version of a module.
#[derive(Debug, Clone)]
pub struct Module {
    /// `namespace/name/system`.
    pub name: String,
    pub version: String,
    pub zip: Vec<u8>,
}

pub fn versions(world: &World, name: &str) -> Option<Reply> {
    let of_name = world.modules.iter().filter(|module| module.name == name);
    let versions: Vec<Value> = of_name.map(|module| json!({ "version": module.version })).collect();
    (!versions.is_empty()).then(|| Reply::json(&json!({ "modules": [{ "versions": versions }] })))
}

pub fn download(world: &World, place: &Place<'_>) -> Option<Reply> {
    let module = find(world, &place.provider, place.rest.first()?)?;
    let location = format!("/modules/{}/{}.zip", module.name, module.version);
    let mut reply = Reply::new(204, "text/plain", "");
    reply.headers.push(("x-terraform-get", location));
    Some(reply)
}

pub fn archive(world: &World, place: &Place<'_>) -> Option<Reply> {
    let version = place.rest.first()?.strip_suffix(".zip")?;
    find(world, &place.provider, version).map(|module| Reply::bytes(module.zip.clone()))
}

fn find<'a>(world: &'a World, name: &str, version: &str) -> Option<&'a Module> {
    world.modules.iter().find(|module| module.name == name && module.version == version)
}
