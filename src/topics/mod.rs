//! The pages that `explain` prints: those of `docs/topics`, and the sections of `docs/rules.md`.

use crate::finding::Rule;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topic {
    pub name: &'static str,
    /// Markdown, with its title first.
    pub text: &'static str,
}

macro_rules! topics {
    ($($name:literal),*) => {
        /// All pages, in the order of the list.
        pub const TOPICS: &[Topic] = &[$(Topic { name: $name, text: include_str!(concat!("../../docs/topics/", $name, ".md")) }),*];
    };
}

topics!("h1", "zh", "trust", "settings", "environment", "exit-codes");

impl Topic {
    pub fn named(name: &str) -> Option<&'static Topic> {
        TOPICS.iter().find(|topic| topic.name == name)
    }

    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

/// The URL of the section of a rule; `None` for an unknown id.
pub fn url_of_rule(id: &str) -> Option<String> {
    let page = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/v", env!("CARGO_PKG_VERSION"), "/docs/rules.md");
    Rule::ALL.iter().any(|rule| rule.id() == id).then(|| format!("{page}#{id}"))
}

/// The section of a rule: its meaning, harmless causes, signs of an attack, how to check, and next steps.
pub fn of_rule(rule: Rule) -> &'static str {
    const RULES: &str = include_str!("../../docs/rules.md");
    let mut sections = RULES.split("\n## ").skip(1);
    sections.find(|section| section.lines().next() == Some(rule.id())).unwrap_or(rule.summary())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test looks at the folder")]
    fn every_page_is_brought_along() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/topics");
        let mut pages: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().trim_end_matches(".md").to_owned())
            .collect();
        pages.sort();
        let mut names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
        names.sort_unstable();
        assert_eq!(names, pages);
        assert!(TOPICS.iter().all(|topic| topic.text.starts_with("# ") && !topic.title().is_empty()));
    }
}
