//! Which version is taken from mirrors: a pure function between two questions.

use super::criteria::ReleaseCriteria;
use super::question::{Selection, Step};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::platform::Platform;
use crate::version::Version;

/// What mirrors have of one provider, as far as they were asked.
#[derive(Debug, Clone, Copy)]
pub struct Shelf<'a> {
    /// The provider.
    pub addr: &'a ProviderAddr,
    /// The versions, ascending.
    pub versions: &'a [Version],
    /// Where they are, in words.
    pub place: &'a str,
}

impl Shelf<'_> {
    /// The version that a step asks for. `has` says whether a version has a package for a platform; true where that is
    /// not known yet.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`], without the place of the mirror.
    pub fn select(&self, step: &Step, has: &dyn Fn(&Version, &Platform) -> bool) -> Result<Version, Error> {
        let chosen = match &step.selection {
            Selection::Keep(version) | Selection::Exactly(version) => {
                self.versions.iter().find(|offered| *offered == version)
            }
            Selection::Newest(criteria) => {
                let newest = |allows: &dyn Fn(&Version) -> bool, release: &ReleaseCriteria| {
                    self.versions.iter().filter(|version| allows(version) && self.will_do(release, version, has)).max()
                };
                let same =
                    criteria.same.as_ref().and_then(|same| newest(&|it| same.allows(it), &same.release_criteria()));
                same.or_else(|| newest(&|version| criteria.allows(version), &step.release_criteria(criteria.complete)))
            }
        };
        chosen.cloned().ok_or_else(|| self.nothing(step))
    }

    /// True if a version may be selected. A mirror signs nothing, so that the age of what is not recorded is unknown.
    fn will_do(&self, release: &ReleaseCriteria, version: &Version, has: &dyn Fn(&Version, &Platform) -> bool) -> bool {
        let suits = || !release.asks_for_age() && release.platforms.iter().all(|platform| has(version, platform));
        release.ban(self.addr, version).is_none() && (release.recorded.as_ref() == Some(version) || suits())
    }

    /// The newest release of all, pre-releases left out, if it is newer than a version.
    pub fn newer(&self, version: &Version) -> Option<Version> {
        let releases = self.versions.iter().filter(|other| !other.is_prerelease());
        releases.max().filter(|other| *other > version).cloned()
    }

    /// The error where a locked version is not on offer.
    pub fn lacking(&self, version: &Version) -> Error {
        let Shelf { addr, place, .. } = self;
        let message = format!("the locked version {version} of {addr} is not in {place}");
        self.hinted(Error::new(ErrorKind::NotFound, message))
    }

    fn hinted(&self, error: Error) -> Error {
        let newest = self.versions.last().map(|newest| format!("the newest version there is {newest}"));
        newest.into_iter().fold(error, Error::hint)
    }

    fn nothing(&self, step: &Step) -> Error {
        let Shelf { addr, place, .. } = self;
        let message = match (&step.selection, self.versions.is_empty()) {
            (_, true) => format!("provider {addr} was not found in {place}"),
            (Selection::Keep(version), _) => return self.lacking(version),
            (Selection::Exactly(version), _) => format!("version {version} of {addr} is not in {place}"),
            (Selection::Newest(_), _) if step.rules.exclusions.asks_for_age() => {
                format!("a mirror does not tell how old the releases of provider {addr} are")
            }
            (Selection::Newest(criteria), _) if criteria.constraints.is_empty() => {
                format!("the mirror has no release of provider {addr} that may be selected")
            }
            (Selection::Newest(criteria), _) => format!(
                "no release of provider {addr} in {place} matches the version constraint \"{}\"",
                criteria.constraints
            ),
        };
        self.hinted(Error::new(ErrorKind::NotFound, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::criteria::Criteria;
    use crate::ask::rules::Rules;
    use crate::dialect::Dialect;
    use crate::settings::{Ban, ProviderScope};
    use crate::version::Constraints;

    const OFFERED: [&str; 4] = ["1.0.0", "1.1.0", "2.0.0-rc1", "2.0.0"];

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    fn step(selection: Selection) -> Step {
        Step {
            constraints: Constraints::default(),
            selection,
            platforms: vec!["linux_amd64".parse().unwrap()],
            recorded: None,
            moved: None,
            accept_republished: false,
            rules: Rules::default(),
        }
    }

    fn newest(constraints: &str, complete: bool) -> Step {
        let constraints = if constraints.is_empty() { Constraints::default() } else { constraints.parse().unwrap() };
        step(Selection::Newest(Criteria { complete, ..Criteria::of(constraints) }))
    }

    /// What is selected of 1.0.0, 1.1.0, 2.0.0-rc1 and 2.0.0, of which the last has no package for linux.
    fn selected(step: &Step) -> Result<String, String> {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let versions = OFFERED.map(version);
        let shelf = Shelf { addr: &addr, versions: &versions, place: "the mirror" };
        let chosen = shelf.select(step, &|of, _| *of != version("2.0.0"));
        chosen.map(|version| version.to_string()).map_err(|error| error.message)
    }

    #[test]
    fn the_newest_that_is_allowed() {
        assert_eq!(selected(&newest("", false)).unwrap(), "2.0.0");
        assert_eq!(selected(&newest("~> 1.0", false)).unwrap(), "1.1.0");
    }

    #[test]
    fn a_prerelease_only_where_it_is_asked_for_exactly() {
        assert_eq!(selected(&newest("2.0.0-rc1", false)).unwrap(), "2.0.0-rc1");
        assert_eq!(selected(&newest("< 2.0.0", false)).unwrap(), "1.1.0");
    }

    #[test]
    fn the_newest_with_all_wanted_packages() {
        assert_eq!(selected(&newest("", true)).unwrap(), "1.1.0");
    }

    #[test]
    fn a_banned_release_is_passed_over() {
        let mut step = newest("~> 1.0", false);
        step.rules.exclusions.bans.push(Ban {
            providers: ProviderScope::parse("acme/widget").unwrap(),
            versions: "1.1.0".parse().unwrap(),
            reason: None,
        });
        assert_eq!(selected(&step).unwrap(), "1.0.0");
    }

    #[test]
    fn the_age_of_what_a_mirror_has_is_unknown() {
        let mut step = newest("", false);
        step.rules.exclusions.not_after = Some(std::time::SystemTime::UNIX_EPOCH);
        assert!(selected(&step).unwrap_err().starts_with("a mirror does not tell how old"));
    }

    #[test]
    fn the_locked_version_stays_whatever_it_lacks() {
        assert_eq!(selected(&step(Selection::Keep(version("2.0.0")))).unwrap(), "2.0.0");
        let gone = selected(&step(Selection::Keep(version("1.2.0")))).unwrap_err();
        assert!(gone.starts_with("the locked version 1.2.0") && gone.ends_with("is not in the mirror"), "{gone}");
    }

    #[test]
    fn nothing_that_matches() {
        let none = selected(&newest("~> 3.0", false)).unwrap_err();
        assert!(none.ends_with("matches the version constraint \"~> 3.0\""), "{none}");
    }
}
