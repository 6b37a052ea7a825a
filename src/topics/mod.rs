//! What `explain` tells of beside rules, hashes and providers: the pages of `docs/topics`.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topic {
    pub name: &'static str,
    /// Markdown, which begins with its title.
    pub text: &'static str,
}

macro_rules! topics {
    ($($name:literal),*) => {
        /// All pages, in the order in which they are listed.
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
