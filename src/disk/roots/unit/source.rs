//! Sources of units, which differ from those of modules: paths need no `./`, and registries are written `tfr://`.
//!
//! Source: terragrunt `internal/tf/source.go`, `internal/getter/tfr.go`.

use std::path::Path;

use crate::config::{CallSource, CallVersion, Location, ModuleCall, Text};
use crate::path::lexical;
use crate::terragrunt;
use crate::version::ModuleConstraints;

/// The name of the call that stands for the source of a unit.
pub(in crate::disk::roots) const CALL: &str = "(source)";

/// Where the module of a unit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::disk::roots) struct SourceCall {
    pub(in crate::disk::roots) call: ModuleCall,
    /// For a directory of the working tree: the directory that calls of modules must not leave, relative to the unit.
    pub(in crate::disk::roots) package: Option<std::path::PathBuf>,
    /// True if a function or a local value is a part of the source.
    pub(in crate::disk::roots) is_computed: bool,
}

impl SourceCall {
    /// Reads an address; `place` is the directory of the unit.
    pub(super) fn parse(address: &str, version: Option<&str>, place: &str, written: &Location) -> Result<Self, String> {
        let address = address.replace('\\', "/");
        if let Some(module) = address.strip_prefix("tfr://") {
            return registry(module, version, written);
        }
        let local = address.strip_prefix("file://");
        let is_remote = local.is_none() && address.contains("://")
            || address.contains("::")
            || ["github.com/", "gitlab.com/", "bitbucket.org/", "git@"].iter().any(|start| address.starts_with(start));
        if is_remote {
            return Ok(Self { call: call(without_user(&address), None, written), package: None, is_computed: false });
        }
        // A query says nothing of a directory.
        let path = local.unwrap_or(&address).split('?').next().unwrap_or_default();
        let (package, within) = path.split_once("//").unwrap_or((path, ""));
        let package = terragrunt::relative(place, &terragrunt::join(place, package));
        let dir = format!("./{package}/{within}");
        Ok(Self {
            call: call(dir, None, written),
            package: Some(lexical(Path::new(""), Path::new(&package))),
            is_computed: false,
        })
    }
}

/// The directory of a module that is in the working tree, relative to the unit.
pub(super) fn local_module(address: &str, place: &str, written: &Location) -> Option<String> {
    let parsed = SourceCall::parse(address, None, place, written).ok()?;
    parsed.package.as_ref()?;
    let source = parsed.call.source?.text;
    if let Text::Known(text) = source { Some(text) } else { None }
}

/// A module of a registry: `HOST/NAMESPACE/NAME/SYSTEM//DIRECTORY?version=VERSION`, with an empty host for the default one.
fn registry(module: &str, version: Option<&str>, written: &Location) -> Result<SourceCall, String> {
    let (address, query) = module.split_once('?').unwrap_or((module, ""));
    let of_query = query.split('&').find_map(|pair| pair.strip_prefix("version="));
    let Some(version) = of_query.or(version) else {
        return Err("the source is a module of a registry, and no version is written".to_owned());
    };
    let Ok(constraints) = version.parse::<ModuleConstraints>() else {
        return Err(format!("the version of the source is {version:?}, which is not a version"));
    };
    let version =
        CallVersion { place: written.clone(), text: Text::Known(version.to_owned()), constraints: Some(constraints) };
    let address = address.strip_prefix('/').unwrap_or(address);
    Ok(SourceCall { call: call(address.to_owned(), Some(version), written), package: None, is_computed: false })
}

fn call(address: String, version: Option<CallVersion>, written: &Location) -> ModuleCall {
    ModuleCall {
        place: written.clone(),
        name: CALL.to_owned(),
        source: Some(CallSource { place: written.clone(), text: Text::Known(address) }),
        version,
        inputs: std::collections::BTreeMap::new(),
    }
}

/// An address of HTTP without its user, which may be a secret: git has credentials of its own.
fn without_user(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://").filter(|(scheme, _)| scheme.contains("http")) else {
        return address.to_owned();
    };
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Position;

    #[test]
    fn sources_of_units_are_those_of_modules_by_other_names() {
        let place = Location { file: Path::new("terragrunt.hcl").into(), position: Position::default() };
        let parse = |address: &str, version| {
            let source = SourceCall::parse(address, version, "/w/live/a", &place)?;
            let Some(Text::Known(text)) = source.call.source.map(|source| source.text) else {
                return Err(String::new());
            };
            let package = source.package.map(|path| crate::path::shown(&path));
            Ok((text, package.unwrap_or_default()))
        };
        for (address, wanted, package) in [
            ("../../modules/lake", "./../../modules/lake/", "../../modules/lake"),
            ("/w/modules//lake/x", "./../../modules/lake/x", "../../modules"),
            ("modules//lake", "./modules/lake", "modules"),
            ("../../modules//lake?ref=v1", "./../../modules/lake", "../../modules"),
            ("file:///w/modules//lake", "./../../modules/lake", "../../modules"),
            ("", "././", ""),
            ("git::https://t:k@h.example/r.git//d?ref=v1", "git::https://h.example/r.git//d?ref=v1", ""),
            ("git@github.com:a/b.git", "git@github.com:a/b.git", ""),
            ("github.com/a/b//c", "github.com/a/b//c", ""),
            ("tfr:///a/b/c//d?version=1.2.3", "a/b/c//d", ""),
            ("tfr://h.example/a/b/c?version=1.2.3", "h.example/a/b/c", ""),
        ] {
            assert_eq!(parse(address, None), Ok((wanted.to_owned(), package.to_owned())), "{address}");
        }
        assert!(parse("tfr:///a/b/c", None).is_err() && parse("tfr:///a/b/c", Some("~> 1.0")).is_ok());
    }
}
