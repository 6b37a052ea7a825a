//! What one directory says of root modules: which local modules it calls, and whether it has a backend.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::Directory;
use crate::config::{Inputs, Module, ModuleSource, Scope, SourceFile, Surroundings, Syntax, Text};
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
        let scope = Scope { module: Rc::new(module), directory: Some(".".to_owned()), inputs: Inputs::Root };
        for call in scope.module.calls.values() {
            let source = match call.source.as_ref().map(|source| &source.text) {
                Some(Text::Known(source)) => Ok(source.clone()),
                // What the file says by itself.
                Some(Text::Expression(source)) => scope.evaluate(source, &Surroundings::new(Dialect::OpenTofu)),
                None => continue,
            };
            let Ok(source) = source else { continue };
            if let Ok(ModuleSource::Local(path)) =
                ModuleSource::parse(&source, call.version.is_some(), Dialect::OpenTofu)
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
        write("env/prod/paths.tofu", "module \"p\" {\n  source = \"${path.module}/p\"\n}\n");
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
