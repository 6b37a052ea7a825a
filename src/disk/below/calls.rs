//! What one directory says of root modules: which local modules it calls, and whether it has a backend.

use std::path::{Path, PathBuf};

use super::Directory;
use crate::config::{Module, ModuleSource, SourceFile, Syntax, Text};
use crate::dialect::Dialect;
use crate::disk::files;
use crate::disk::roots::join;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    pub local_modules: Vec<PathBuf>,
    /// True if there is a `backend` or `cloud` block.
    pub has_backend: bool,
    /// True if a provider is configured, as root modules do.
    pub configures_providers: bool,
}

pub fn calls(start: &Path, place: &Directory) -> Calls {
    let mut calls = Calls::default();
    for name in &place.configuration {
        let path = start.join(&place.path).join(name);
        let Ok(Some(bytes)) = files::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        calls.configures_providers |= text.lines().any(|line| line.starts_with("provider \""));
        if Syntax::of(name) == Syntax::Native && !["module", "backend", "cloud"].iter().any(|word| text.contains(word))
        {
            continue;
        }
        let file = SourceFile { path: PathBuf::from(name), text };
        // OpenTofu takes whatever Terraform takes, where only calls count.
        let Ok(module) = Module::decode(&[file], &[], Dialect::OpenTofu) else { continue };
        calls.has_backend |= module.has_backend;
        for call in module.calls.values() {
            let Some(Text::Known(source)) = call.source.as_ref().map(|source| &source.text) else { continue };
            if let Ok(ModuleSource::Local(path)) =
                ModuleSource::parse(source, call.version.is_some(), Dialect::OpenTofu)
            {
                calls.local_modules.push(join(&place.path, &path));
            }
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_modules_are_named_from_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            std::fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(path), text).unwrap();
        };
        write("env/prod/main.tf", "module \"a\" {\n  source = \"../../modules/a\"\n}\n");
        write("env/prod/b.tf.json", r#"{"module": {"b": {"source": "./b"}}, "terraform": {"backend": {"s3": {}}}}"#);
        write("env/prod/other.tf", "module \"c\" {\n  source = \"acme/c/lab\"\n}\n");
        write("env/prod/wrong.tf", "module {");
        let place = Directory {
            path: "env/prod".into(),
            has_lock: false,
            configuration: ["main.tf", "b.tf.json", "other.tf", "wrong.tf"].map(str::to_owned).to_vec(),
        };
        let found = calls(folder.path(), &place);
        assert_eq!(found.local_modules, [Path::new("modules/a"), Path::new("env/prod/b")]);
        assert!(found.has_backend);
    }
}
