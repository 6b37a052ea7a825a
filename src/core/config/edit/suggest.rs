//! What a misspelt provider was meant to be.

/// How many suggestions there are at most.
const MOST: usize = 3;

/// The candidates that a name was probably meant to be, the nearest first, at most three.
///
/// Both are source addresses, short or full, or bare types; letter case does not count. A candidate is near if few
/// letters differ, or if it has the same type under another namespace.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&name, &candidate.to_lowercase())?, candidate)))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().map(|(_, candidate)| candidate).take(MOST).collect()
}

/// The edit distance of two addresses; `None` if too large.
fn distance(name: &str, candidate: &str) -> Option<usize> {
    let (kind, other) = (last_part(name), last_part(candidate));
    if kind.is_empty() {
        return None;
    }
    let kinds = strsim::damerau_levenshtein(kind, other);
    // A bare type says nothing of the namespace.
    let all = if name.contains('/') { strsim::damerau_levenshtein(name, candidate) } else { kinds };
    if kinds == 0 || kinds <= kind.chars().count() / 3 && all <= name.chars().count() / 3 {
        return Some(kinds * 64 + all);
    }
    None
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_only() {
        let candidates = ["hashicorp/aws", "hashicorp/awscc", "hashicorp/google", "DataDog/datadog", "grafana/grafana"];
        assert_eq!(suggest("hashicrop/aws", candidates), ["hashicorp/aws"]);
        assert_eq!(suggest("hashicorp/datadog", candidates), ["DataDog/datadog"]);
        assert_eq!(suggest("hashicorp/gogle", candidates), ["hashicorp/google"]);
        assert_eq!(suggest("Graffana", candidates), ["grafana/grafana"]);
        assert_eq!(suggest("aws", candidates), ["hashicorp/aws"]);
        assert_eq!(suggest("hashicorp/kubernetes", candidates), [""; 0]);
        assert_eq!(suggest("", candidates), [""; 0]);
    }
}
