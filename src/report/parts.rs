//! What a result says, as a list of parts that is made once, and the writers that show it: for a terminal, in Markdown
//! and on a page. The writers make text from outside harmless, each for its format.

use maud::{Markup, html};

use super::documentation::page;
use super::html::elements::{breakable, inline, section};
use super::layout::{Table, flow, width};
use super::markdown::escape::{code, escaped, fenced, sentences};
use super::printable;
use super::style::{Paint, Style};

pub(super) enum Part {
    Heading(String),
    Lines(Vec<TextLine>),
    Table(Table),
    /// A page of the documentation, in Markdown.
    Page(&'static str),
    /// Text that is shown as it is.
    Code(String),
}

impl Part {
    /// True if it shows nothing.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Lines(lines) => lines.is_empty(),
            Self::Table(table) => table.is_empty(),
            Self::Code(text) => text.is_empty(),
            Self::Heading(_) | Self::Page(_) => false,
        }
    }
}

/// A line; empty to separate others on a terminal, where its last span is wrapped unless it is code.
#[derive(Clone, Default)]
pub(super) struct TextLine {
    indent: usize,
    spans: Vec<Span>,
}

#[derive(Clone)]
struct Span {
    text: String,
    /// True for what users copy: addresses, paths, hashes, commands.
    is_code: bool,
    tone: Option<Paint>,
}

impl TextLine {
    /// Text, with commands between backticks.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self::default().plain(text)
    }

    pub(super) fn plain(self, text: impl Into<String>) -> Self {
        self.with(text.into(), false, None)
    }

    pub(super) fn code(self, text: impl Into<String>) -> Self {
        self.with(text.into(), true, None)
    }

    pub(super) fn painted(self, tone: Paint, text: impl Into<String>) -> Self {
        self.with(text.into(), false, Some(tone))
    }

    pub(super) fn indented(self, indent: usize) -> Self {
        Self { indent, ..self }
    }

    fn with(mut self, text: String, is_code: bool, tone: Option<Paint>) -> Self {
        self.spans.push(Span { text, is_code, tone });
        self
    }

    fn terminal(&self, style: Style) -> String {
        let mut text = " ".repeat(self.indent);
        let mut columns = self.indent;
        for (at, span) in self.spans.iter().enumerate() {
            let shown = printable(&span.text);
            let is_last = at + 1 == self.spans.len();
            let fits = !is_last || span.is_code || columns + width(&shown) <= style.room();
            let shown = if fits { shown.into_owned() } else { flow(columns, &shown, style) };
            columns += width(&shown);
            text.push_str(&match span.tone {
                Some(tone) => style.paint(tone, shown).to_string(),
                None => shown,
            });
        }
        text + "\n"
    }

    fn markdown(&self) -> String {
        let span = |span: &Span| {
            let text = span.text.trim();
            let before = if span.text.starts_with(' ') { " " } else { "" };
            let after = if span.text.ends_with(' ') && !text.is_empty() { " " } else { "" };
            let shown = match span {
                _ if text.is_empty() => String::new(),
                Span { is_code: true, .. } => code(text),
                Span { tone: Some(Paint::Strong | Paint::Bad), .. } => format!("**{}**", escaped(text)),
                _ => sentences(text),
            };
            format!("{before}{shown}{after}")
        };
        self.spans.iter().map(span).collect::<String>().trim().to_owned()
    }

    fn html(&self) -> Markup {
        html! { @for Span { text, is_code, tone } in &self.spans {
            @if *is_code { code { (printable(text)) } }
            @else if matches!(tone, Some(Paint::Strong | Paint::Bad)) { strong { (printable(text)) } }
            @else { (inline(text)) }
        } }
    }
}

/// Lines of text as a part.
pub(super) fn lines<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Part {
    Part::Lines(texts.into_iter().map(TextLine::new).collect())
}

pub(super) fn terminal(parts: &[Part], style: Style) -> String {
    parts.iter().fold(String::new(), |text, part| {
        let shown = match part {
            Part::Heading(title) => {
                let gap = if text.is_empty() { "" } else { "\n" };
                format!("{gap}{}\n", style.paint(Paint::Strong, printable(title)))
            }
            Part::Lines(lines) => lines.iter().map(|line| line.terminal(style)).collect(),
            Part::Table(table) => table.text(style),
            Part::Page(text) => page(text, style),
            Part::Code(text) => text.clone(),
        };
        text + &shown
    })
}

/// Parts within `room` bytes; the rows of a table that do not fit are counted, other parts are left out with a note.
pub(super) fn markdown(parts: &[Part], room: usize) -> String {
    let mut text = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let left = room.saturating_sub(text.len() + 100);
        let shown = match part {
            Part::Heading(title) => format!("#### {}\n\n", escaped(title)),
            Part::Lines(lines) => list(lines),
            Part::Table(table) => table.markdown(left.saturating_sub(100), escaped) + "\n",
            Part::Page(text) => format!("{}\n\n", text.trim_end()),
            Part::Code(text) => fenced("", text) + "\n",
        };
        if shown.len() > left {
            return text + "_Left out for lack of space: the rest._\n\n";
        }
        text.push_str(&shown);
    }
    text
}

/// A line as a paragraph, several as a list.
fn list(lines: &[TextLine]) -> String {
    let shown: Vec<(usize, String)> = lines.iter().map(|line| (line.indent, line.markdown())).collect();
    let shown: Vec<&(usize, String)> = shown.iter().filter(|(_, text)| !text.is_empty()).collect();
    match &shown[..] {
        [] => String::new(),
        [(_, one)] => format!("{one}\n\n"),
        all => {
            let items: Vec<String> =
                all.iter().map(|(indent, text)| format!("{}- {text}", " ".repeat(*indent))).collect();
            items.join("\n") + "\n\n"
        }
    }
}

/// A table; each cell says what its column is about, since a narrow page has no columns.
fn rows(table: &Table) -> Markup {
    let titles = table.shown_headings();
    html! { table.rows {
        @if !titles.is_empty() { thead { tr { @for title in &titles { th scope="col" { (title) } } } } }
        tbody { @for row in table.shown_rows() { tr data-row { @for (at, cell) in row.iter().enumerate() {
            td data-about=[titles.get(at).filter(|_| !cell.is_empty())] { (breakable(cell)) }
        } } } }
    } }
}

pub(super) fn html(parts: &[Part]) -> Markup {
    html! { @for part in parts { @match part {
        Part::Heading(title) => h3 { (printable(title)) },
        Part::Lines(lines) => ul { @for line in lines.iter().filter(|line| line.spans.iter().any(|span| !span.text.is_empty())) { li { (line.html()) } } },
        Part::Table(table) => (rows(table)),
        Part::Page(text) => (section(text)),
        Part::Code(text) => pre { code { (text) } },
    } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Vec<Part> {
        let line = TextLine::default().painted(Paint::Strong, "next ").code("a|b").plain("  run `tflock <x>` *now*");
        let rows = [["x<y".to_owned(), "1".to_owned()]];
        vec![
            Part::Heading("A <b>".to_owned()),
            Part::Lines(vec![line, TextLine::default(), TextLine::new("more").indented(2)]),
            Part::Table(Table::of(["A", "B"], rows).unwrap()),
            Part::Code("```\n".to_owned()),
        ]
    }

    #[test]
    fn one_document_in_three_formats() {
        let text = terminal(&parts(), Style::default());
        assert_eq!(text, "A <b>\nnext a|b  run `tflock <x>` *now*\n\n  more\nA    B\nx<y  1\n```\n");
        let wanted = "#### A &lt;b&gt;\n\n- **next** `a\\|b` run `tflock <x>` \\*now\\*\n  - more\n\n\
                      | A | B |\n|---|---|\n| x&lt;y | 1 |\n\n````\n```\n````\n\n";
        assert_eq!(markdown(&parts(), 1_000), wanted);
        let page = html(&parts()).into_string();
        let wanted = "<h3>A &lt;b&gt;</h3><ul><li><strong>next </strong><code>a|b</code>  run \
                      <code>tflock &lt;x&gt;</code> *now*</li><li>more</li></ul>";
        assert!(page.starts_with(wanted) && page.contains("<td data-about=\"A\">x&lt;y</td>"), "{page}");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let text = markdown(&parts(), 120);
        assert_eq!(text, "#### A &lt;b&gt;\n\n_Left out for lack of space: the rest._\n\n");
    }

    #[test]
    fn the_last_span_continues_on_the_next_line() {
        let style = Style { width: Some(40), ..Style::default() };
        let line = TextLine::new("label: ").plain("some words that are too many for one line");
        assert_eq!(
            terminal(&[Part::Lines(vec![line])], style),
            "label: some words that are too many for\n    one line\n"
        );
    }
}
