//! What a misspelt word was meant to be.

/// The word nearest to a text, if it is near enough for a suggestion.
pub fn nearest(text: &str, words: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    let text = text.to_lowercase();
    let distance = |word: &&str| strsim::damerau_levenshtein(&text, word);
    let near = |word: &&str| {
        distance(word) <= word.len() / 3 || strsim::jaro_winkler(&text, word) >= 0.85 || has_word(&text, word)
    };
    words.into_iter().filter(near).min_by_key(distance)
}

/// True if one is a word of the other: `platform` and `optional_platform`, `tofu` and `opentofu`.
fn has_word(text: &str, word: &str) -> bool {
    let (short, long) = if text.len() < word.len() { (text, word) } else { (word, text) };
    short.len() >= 4 && long.ends_with(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_only() {
        let names = ["platforms", "optional_platforms", "tool", "source", "policy", "host"];
        assert_eq!(nearest("plattforms", names), Some("platforms"));
        assert_eq!(nearest("platform", names), Some("platforms"));
        assert_eq!(nearest("optional_platform", names), Some("optional_platforms"));
        assert_eq!(nearest("Tool", names), Some("tool"));
        assert_eq!(nearest("hosts", names), Some("host"));
        assert_eq!(nearest("polcy", names), Some("policy"));
        assert_eq!(nearest("banana", names), None);
        assert_eq!(nearest("opentofu", ["auto", "terraform", "tofu"]), Some("tofu"));
        assert_eq!(nearest("", names), None);
    }
}
