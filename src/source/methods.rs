//! Installation methods: which sources are used for which providers, in which order.
//!
//! Plain values; nothing is opened here. `origin`, `fs:`, `net:` and `oci:` are lists of one.
//!
//! Source: `internal/command/cliconfig/provider_installation.go`, `internal/getproviders/multi_source.go` and
//! `provider_source.go` of both tools.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::addr::{AddrPattern, PatternError, ProviderAddr};
use crate::dialect::Dialect;
use crate::disk::cli_config::{CliConfig, Installation, Method as Written, MethodKind};
use crate::disk::mirror::{FilesystemMirror, MirrorError};
use crate::error::{Error, ErrorKind};
use crate::settings::SourceChoice;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Method {
    pub place: Location,
    pub filter: Filter,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    Direct {
        /// Further attempts of a download, where they are stated.
        download_retries: Option<u32>,
    },
    Directory(PathBuf),
    Network {
        url: String,
        /// Further attempts of a download, where they are stated.
        download_retries: Option<u32>,
        trust_all_hashes: bool,
    },
    /// An OCI mirror, by its template as written.
    Oci(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Filter {
    pub include: Vec<AddrPattern>,
    /// Not these, even if included.
    pub exclude: Vec<AddrPattern>,
}

impl Filter {
    pub fn takes(&self, addr: &ProviderAddr) -> bool {
        let any = |patterns: &[AddrPattern]| patterns.iter().any(|pattern| pattern.matches(addr));
        !any(&self.exclude) && (self.include.is_empty() || any(&self.include))
    }
}

impl From<Location> for Method {
    fn from(place: Location) -> Self {
        Self { place, filter: Filter::default() }
    }
}

impl Method {
    /// The registries and nothing else.
    pub fn origin() -> Self {
        Location::Direct { download_retries: None }.into()
    }

    /// The methods that a source of packages means, in the order in which they are used. A relative path in the
    /// CLI configuration starts from `root`, the directory that the tools would run in.
    pub fn of(
        choice: &SourceChoice,
        config: &CliConfig,
        (dialect, root): (Dialect, &Path),
    ) -> Result<Vec<Self>, Error> {
        Ok(match choice {
            SourceChoice::Origin => vec![Self::origin()],
            SourceChoice::Directory(directory) => vec![Location::Directory(directory.clone()).into()],
            SourceChoice::Network(url) => {
                let (url, download_retries) = (url.clone(), None);
                vec![Location::Network { url, download_retries, trust_all_hashes: false }.into()]
            }
            SourceChoice::Oci(template) => vec![Location::Oci(template.clone()).into()],
            SourceChoice::Configured => match &config.installation {
                Some(installation) => {
                    stated(installation, dialect, root).map_err(|error| error.in_file(&config.files[0]))?
                }
                None => implied(config, root)?,
            },
        })
    }
}

/// The methods of a `provider_installation` block.
fn stated(installation: &Installation, dialect: Dialect, root: &Path) -> Result<Vec<Method>, Error> {
    installation.methods.iter().map(|written| method(written, dialect, root)).collect()
}

fn method(written: &Written, dialect: Dialect, root: &Path) -> Result<Method, Error> {
    let patterns = |texts: &[String]| -> Result<Vec<AddrPattern>, Error> {
        let parsed: Result<_, PatternError> = texts.iter().map(|text| AddrPattern::parse(text, dialect)).collect();
        parsed.map_err(|problem| {
            let message = format!("invalid CLI configuration: {problem}");
            Error::new(ErrorKind::Settings, message).at(written.position)
        })
    };
    let place = match written.kind.clone() {
        MethodKind::Direct { download_retry_count } => Location::Direct { download_retries: download_retry_count },
        MethodKind::FilesystemMirror { path } => Location::Directory(root.join(path)),
        MethodKind::NetworkMirror { url, download_retry_count, trust_all_hashes } => {
            Location::Network { url, download_retries: download_retry_count, trust_all_hashes }
        }
        MethodKind::OciMirror { repository_template } => Location::Oci(repository_template),
    };
    Ok(Method { place, filter: Filter { include: patterns(&written.include)?, exclude: patterns(&written.exclude)? } })
}

/// The methods without such a block: directories of plugins, as far as they are there, then the registries for the
/// providers of which they have no package, of whatever version and platform.
fn implied(config: &CliConfig, root: &Path) -> Result<Vec<Method>, Error> {
    let mut methods = Vec::new();
    let mut found: BTreeSet<ProviderAddr> = BTreeSet::new();
    for directory in config.plugin_dirs(root) {
        match FilesystemMirror::open(&directory) {
            Ok(mirror) => found.extend(mirror.providers()?),
            Err(MirrorError::Missing(_) | MirrorError::NotADirectory(_)) => continue,
            Err(error) => return Err(error.into()),
        }
        methods.push(Location::Directory(directory).into());
    }
    let exclude = found.into_iter().map(AddrPattern::from).collect();
    methods.push(Method { filter: Filter { include: Vec::new(), exclude }, ..Method::origin() });
    Ok(methods)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Variables;

    fn methods(config: &str) -> Result<Vec<Method>, Error> {
        let dialect = Dialect::OpenTofu;
        let mut config = CliConfig::decode(config, dialect, &Variables::default()).unwrap();
        config.files.push("x.tfrc".into());
        Method::of(&SourceChoice::Configured, &config, (dialect, Path::new("root")))
    }

    fn taking(methods: &[Method], addr: &str) -> Vec<usize> {
        let addr = ProviderAddr::parse(addr, Dialect::OpenTofu).unwrap();
        (0..methods.len()).filter(|at| methods[*at].filter.takes(&addr)).collect()
    }

    #[test]
    fn every_combination_of_include_and_exclude() {
        for (filter, taken) in [
            ("", true),
            ("include = [\"acme/x\"]", true),
            ("include = [\"acme/*\"]", true),
            ("include = [\"*/*\"]", true),
            ("include = [\"*/*/*\"]", true),
            ("include = [\"registry.opentofu.org/acme/x\"]", true),
            ("include = [\"registry.terraform.io/acme/x\"]", false),
            ("include = [\"acme/y\"]", false),
            ("include = [\"acme/y\", \"acme/x\"]", true),
            ("exclude = [\"acme/x\"]", false),
            ("exclude = [\"acme/*\"]", false),
            ("exclude = [\"*/*/*\"]", false),
            ("exclude = [\"acme/y\"]", true),
            ("include = [\"acme/*\"]\n exclude = [\"acme/x\"]", false),
            ("include = [\"acme/x\"]\n exclude = [\"acme/*\"]", false),
            ("include = [\"acme/*\"]\n exclude = [\"acme/y\"]", true),
            ("include = [\"acme/y\"]\n exclude = [\"acme/y\"]", false),
        ] {
            let read = methods(&format!("provider_installation {{\n direct {{\n {filter}\n }}\n}}\n")).unwrap();
            assert_eq!(!taking(&read, "acme/x").is_empty(), taken, "{filter}");
        }
    }

    #[test]
    fn methods_keep_their_order_and_arguments() {
        let read = methods(
            "provider_installation {\n filesystem_mirror {\n path = \"m\"\n exclude = [\"acme/y\"]\n }\n network_mirror {\n \
             url = \"https://m.example/\"\n trust_all_hashes = true\n download_retry_count = 5\n }\n direct {\n include = \
             [\"acme/y\"]\n }\n}\n",
        )
        .unwrap();
        assert_eq!(read[0].place, Location::Directory("root/m".into()));
        let (url, download_retries) = ("https://m.example/".to_owned(), Some(5));
        assert_eq!(read[1].place, Location::Network { url, download_retries, trust_all_hashes: true });
        assert_eq!((taking(&read, "acme/x"), taking(&read, "acme/y")), (vec![0, 1], vec![1, 2]));
    }

    #[test]
    fn without_methods_there_is_no_source() {
        assert_eq!(methods("provider_installation {}").unwrap(), []);
    }

    #[test]
    fn an_invalid_pattern_is_reported_with_its_place() {
        let error = methods("provider_installation {\n direct {\n include = [\"a\"]\n }\n}\n").unwrap_err();
        assert!(error.message.contains("must have either two or three"), "{error:?}");
        assert!(error.file.is_some() && error.position.is_some());
    }
}
