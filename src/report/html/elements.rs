//! Pieces of our own documentation and text from outside as elements of a page.

use maud::{Markup, html};

use crate::report::printable;

/// Text from outside, without characters that a browser would hide or interpret.
pub(in crate::report) fn text(text: &str) -> String {
    printable(text).into_owned()
}

/// The same, which a browser may break behind a slash; behind a hyphen it may anyway.
pub(in crate::report) fn breakable(text: &str) -> Markup {
    html! { @for part in self::text(text).split_inclusive('/') { (part) @if part.ends_with('/') { wbr; } } }
}

/// A section of the documentation, which begins with its title.
pub(in crate::report) fn section(markdown: &str) -> Markup {
    let (title, rest) = markdown.split_once("\n\n").unwrap_or((markdown, ""));
    html! {
        h3 { (title) }
        @for (at, part) in rest.split("```").enumerate() {
            @if at % 2 == 1 { pre { code { (part.split_once('\n').map_or(part, |(_language, code)| code)) } } }
            @else { @for block in part.trim().split("\n\n").filter(|block| !block.is_empty()) { p { (inline(block)) } } }
        }
    }
}

/// A line of text: code between backticks, bold between two asterisks.
pub(in crate::report) fn inline(line: &str) -> Markup {
    html! { @for (at, part) in line.split('`').enumerate() {
        @if at % 2 == 1 { code { (text(part)) } }
        @else { @for (at, part) in part.split("**").enumerate() { @if at % 2 == 1 { strong { (text(part)) } } @else { (text(&part.replace('\n', " "))) } } }
    } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_break_behind_slashes() {
        assert_eq!(breakable("a/b<c/").into_string(), "a/<wbr>b&lt;c/<wbr>");
    }

    #[test]
    fn text_stays_text() {
        let page = section("a <b>\n\n**Next.** Run `x <y>`\nnow & then.\n\n```sh\nls -l <&2\n```\n").into_string();
        let wanted = "<h3>a &lt;b&gt;</h3><p><strong>Next.</strong> Run <code>x &lt;y&gt;</code> now &amp; then.</p>\
                      <pre><code>ls -l &lt;&amp;2\n</code></pre>";
        assert_eq!(page, wanted);
    }
}
