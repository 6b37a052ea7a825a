//! Resolves the name of a provider in a root module: a source address, full or short, a local name of the root module,
//! or a type that only one provider has.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::addr::ProviderAddr;
use crate::config::edit::suggest;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::finding::shell_word;
use crate::lockfile::LockFile;
use crate::requirements::Requirements;

#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    pub requirements: Option<&'a Requirements>,
    pub lock: Option<&'a LockFile>,
    /// The tool whose registry is the default for short addresses.
    pub dialect: Dialect,
}

impl Names<'_> {
    pub fn resolve(&self, text: &str) -> Result<ProviderAddr, Error> {
        let parsed = ProviderAddr::parse(text, self.dialect);
        if !text.contains('/') {
            let is_known = |addr: &ProviderAddr| self.known().contains(addr);
            let by_type = || match &self.of_type(text)[..] {
                [one] => Some(one.clone()),
                _ => None,
            };
            let known = || parsed.as_ref().ok().filter(|addr| is_known(addr)).cloned();
            if let Some(addr) = self.of_local_name(text).or_else(known).or_else(by_type) {
                return Ok(addr);
            }
        }
        if let (Ok(addr), Some(hint)) = (&parsed, directory(text))
            && !self.known().contains(addr)
        {
            let message = format!("the root module neither requires nor locks a provider {text}");
            return Err(Error::new(ErrorKind::Usage, message).hint(hint));
        }
        parsed.map_err(|problem| {
            let error = Error::new(ErrorKind::Usage, format!("invalid provider argument: {problem}"));
            match directory(text) {
                Some(hint) => error.hint(hint),
                None => error.hint("write it as in required_providers, such as hashicorp/aws"),
            }
        })
    }

    pub fn knows(&self, text: &str) -> bool {
        self.resolve(text).is_ok_and(|addr| self.known().contains(&addr))
    }

    pub fn known(&self) -> BTreeSet<ProviderAddr> {
        let required = self.requirements.into_iter().flat_map(Requirements::iter).map(|(addr, _)| addr);
        let locked = self.lock.into_iter().flat_map(LockFile::iter).map(|(addr, _)| addr);
        required.chain(locked).cloned().collect()
    }

    fn of_local_name(&self, name: &str) -> Option<ProviderAddr> {
        let mut required = self.requirements.into_iter().flat_map(Requirements::iter);
        let calls_it = |origins: &[crate::requirements::Origin]| {
            origins.iter().any(|origin| origin.module.is_empty() && origin.local_name == name)
        };
        required.find(|(_, requirement)| calls_it(&requirement.origins)).map(|(addr, _)| addr.clone())
    }

    fn of_type(&self, name: &str) -> Vec<ProviderAddr> {
        self.known().into_iter().filter(|addr| addr.type_name() == name).collect()
    }
}

/// A hint for a directory that was typed instead of something else.
pub fn directory(text: &str) -> Option<String> {
    let advice = || format!("{text} is a directory; to work there, pass it as -C {}", shell_word(text));
    Path::new(text).is_dir().then(advice)
}

/// Records which of the named providers a root module of the run knows.
#[derive(Debug, Default)]
pub struct NamedProviders {
    texts: Vec<String>,
    seen: Mutex<SeenNames>,
    missed: AtomicBool,
}

#[derive(Debug, Default)]
struct SeenNames {
    found: BTreeSet<String>,
    known: BTreeSet<String>,
    /// The tool of one root module.
    dialect: Option<Dialect>,
}

impl NamedProviders {
    pub fn new(texts: &[String]) -> Self {
        Self { texts: texts.to_vec(), ..Self::default() }
    }

    pub fn see(&self, names: Names<'_>) {
        if self.texts.is_empty() {
            return;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.found.extend(self.texts.iter().filter(|text| names.knows(text)).cloned());
        seen.dialect = Some(names.dialect);
        seen.known.extend(names.known().iter().map(|addr| addr.short(names.dialect)));
    }

    pub fn miss(&self) {
        self.missed.store(true, Ordering::Relaxed);
    }

    /// An error with similar names for each text that no root module knows; `None` if a root module could not be read.
    pub fn missing(self, error: impl Fn(&str) -> Error) -> Option<Error> {
        if self.missed.into_inner() {
            return None;
        }
        let SeenNames { found, known, dialect } = self.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        let missing = self.texts.iter().filter(|text| !found.contains(*text));
        Error::all(missing.map(|text| {
            let mut error = error(text);
            let addr = dialect.and_then(|dialect| ProviderAddr::parse(text, dialect).ok());
            error.address = addr.map(Box::new);
            let near = suggest(text, known.iter().map(String::as_str));
            let near = near.into_iter().map(|near| format!("did you mean {near}?")).chain(directory(text));
            error.hints.splice(0..0, near);
            error
        }))
    }

    /// Like `missing`, for root modules below a directory, which need not require or lock each of the providers.
    pub fn unknown(self) -> Option<Error> {
        self.missing(|text| {
            let message = format!("no root module requires or locks a provider {text}");
            Error::new(ErrorKind::NotFound, message).hint("`tflock list -r` shows what is locked")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Position;
    use crate::requirements::{Origin, OriginKind};
    use crate::version::Constraints;

    fn requirements(all: &[(&str, &str, &str)]) -> Requirements {
        let mut requirements = Requirements::new();
        for (module, local_name, address) in all {
            let origin = Origin {
                module: (*module).to_owned(),
                file: "main.tf".into(),
                position: Position::default(),
                kind: OriginKind::RequiredProviders,
                local_name: (*local_name).to_owned(),
                constraint: None,
                in_tests: false,
                block: None,
            };
            let addr = ProviderAddr::parse(address, Dialect::Terraform).unwrap();
            requirements.add(&addr, &Constraints::default(), origin);
        }
        requirements
    }

    #[test]
    fn names_are_addresses_local_names_or_types() {
        let requirements = requirements(&[
            ("", "gh", "integrations/github"),
            ("", "random", "hashicorp/random"),
            ("net", "cf", "cloudflare/cloudflare"),
            ("", "one", "acme/twin"),
            ("", "two", "other/twin"),
        ]);
        let names = Names { requirements: Some(&requirements), lock: None, dialect: Dialect::Terraform };
        let short = |text: &str| names.resolve(text).unwrap().short(Dialect::Terraform);
        for (text, wanted) in [
            ("gh", "integrations/github"),
            ("github", "integrations/github"),
            ("random", "hashicorp/random"),
            ("cloudflare", "cloudflare/cloudflare"),
            // The local names of other modules mean nothing here, and two providers have this type.
            ("cf", "hashicorp/cf"),
            ("twin", "hashicorp/twin"),
            ("acme/twin", "acme/twin"),
            ("example.com/a/b", "example.com/a/b"),
        ] {
            assert_eq!(short(text), wanted, "{text}");
        }
        assert!(names.knows("github") && !names.knows("cf") && !names.knows("twin") && !names.knows("a//b"));
    }

    #[test]
    fn an_unknown_name_is_an_error_with_a_suggestion() {
        let (one, two) =
            (requirements(&[("", "aws", "hashicorp/aws")]), requirements(&[("", "gh", "integrations/github")]));
        let named = NamedProviders::new(&["gh", "aws", "hashicorp/awz", "src"].map(str::to_owned));
        for requirements in [&one, &two] {
            named.see(Names { requirements: Some(requirements), lock: None, dialect: Dialect::Terraform });
        }
        let error = named.unknown().unwrap();
        assert_eq!(error.message, "no root module requires or locks a provider hashicorp/awz");
        assert_eq!(error.hints[0], "did you mean hashicorp/aws?");
        assert!(error.others[0].hints[0].contains("-C src"), "{error:?}");
        assert!(NamedProviders::new(&[]).unknown().is_none());
    }
}
