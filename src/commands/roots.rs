//! Groups of root modules; each keeps its path, so results need no matching by number.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::sources::{Group, Opened, Sources};
use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::workspace::RootSource;

type Roots<T> = Vec<(PathBuf, Result<T, Error>)>;

/// Groups root modules by their sources. `queries` returns the sources of a root module and its providers; root modules
/// without queries, and failed ones, form a group of their own.
pub(super) fn by_source<T>(
    sources: &Sources<'_>,
    roots: Roots<T>,
    queries: impl Fn(&T) -> Option<(RootSource, Vec<ProviderAddr>)>,
) -> Vec<(Opened, Roots<T>)> {
    let opened = roots.iter().enumerate().filter_map(|(at, (_, root))| Some((at, root.as_ref().ok()?)));
    let open: Vec<_> = opened.filter_map(|(at, root)| Some((at, queries(root)?))).collect();
    let groups = sources.groups(open.iter().map(|(at, (source, requested))| (*at, source, requested.iter())));
    let mut left: BTreeMap<usize, _> = roots.into_iter().enumerate().collect();
    let mut all: Vec<(Opened, Roots<T>)> = Vec::new();
    for Group { members, opened } in groups {
        all.push((opened, members.iter().filter_map(|at| left.remove(at)).collect()));
    }
    all.push((Ok(None), left.into_values().collect()));
    all
}
