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

topics!("hashes", "trust", "provenance", "witnesses", "settings", "environment", "exit-codes");

impl Topic {
    pub fn named(name: &str) -> Option<&'static Topic> {
        // Users type what they see in the lock file.
        let name = if ["h1", "zh"].contains(&name) { "hashes" } else { name };
        TOPICS.iter().find(|topic| topic.name == name)
    }

    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// The rows of the table of two columns in the page, without Markdown marks.
    pub fn rows(&self) -> impl Iterator<Item = (String, String)> {
        let lines = self.text.lines().filter(|line| line.starts_with("| ")).skip(1);
        lines.filter_map(|line| {
            let (what, means) = line.trim_matches('|').split_once('|')?;
            Some((what.trim().replace('`', ""), means.trim().replace('`', "")))
        })
    }
}

/// The page of the most frequent findings, each with one command.
const RED: &str = include_str!("../../docs/my-check-is-red.md");

/// The URL of the section of a rule; `None` for an unknown id, and while the repository has no home.
pub fn url_of_rule(id: &str) -> Option<String> {
    url_at(env!("CARGO_PKG_REPOSITORY"), id)
}

fn url_at(home: &str, id: &str) -> Option<String> {
    let is_rule = Rule::ALL.iter().any(|rule| rule.id() == id);
    if !is_rule || home.contains("/OWNER/") {
        return None;
    }
    let is_frequent = RED.lines().any(|line| line.strip_prefix("## ") == Some(id));
    let page = if is_frequent { "my-check-is-red.md" } else { "rules.md" };
    Some(format!("{home}/blob/v{}/docs/{page}#{id}", env!("CARGO_PKG_VERSION")))
}

/// Where a reader finds more about a rule: the URL of its section, else the command that prints it.
pub fn more_about_rule(id: &str) -> Option<String> {
    let is_rule = Rule::ALL.iter().any(|rule| rule.id() == id);
    url_of_rule(id).or_else(|| is_rule.then(|| format!("`tflock explain {id}` has more")))
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
    fn links_lead_to_pages_that_exist() {
        let url = |id| url_at("https://example.com/a/tflock", id);
        let page = concat!("https://example.com/a/tflock/blob/v", env!("CARGO_PKG_VERSION"), "/docs");
        assert_eq!(url("republished").unwrap(), format!("{page}/rules.md#republished"));
        assert_eq!(url("platform-uncovered").unwrap(), format!("{page}/my-check-is-red.md#platform-uncovered"));
        assert_eq!((url("x"), url_at("https://example.com/OWNER/tflock", "republished")), (None, None));
        // The sections of that page are rules, except the last one.
        let sections: Vec<&str> = RED.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let (last, rules) = sections.split_last().unwrap();
        assert_eq!((rules.len(), *last), (11, "My rule is not here"));
        assert!(rules.iter().all(|id| Rule::ALL.iter().any(|rule| rule.id() == *id)));
    }

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
