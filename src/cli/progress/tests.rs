//! Progress on a terminal and in a log.

use super::*;
use crate::addr::ProviderAddr;
use crate::version::Version;

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        locked(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn printed(mode: Mode, detail: Detail) -> String {
    let package = PackageKey {
        address: ProviderAddr::parse("hashicorp/aws", Dialect::Terraform).unwrap(),
        version: Version::new(5, 31, 0),
        platform: "linux_amd64".parse().unwrap(),
    };
    let page = Page::default();
    let progress = Progress::new(mode, detail, Box::new(page.clone()));
    let events = progress.events();
    events.emit(Event::Tool { dialect: Some(Dialect::Terraform) });
    events.emit(Event::Questions { count: 2 });
    events.emit(Event::Request { url: "https://example.com/".to_owned() });
    events.emit(Event::Answered);
    events.emit(Event::PackageWanted { package: package.clone() });
    events.emit(Event::PackageStarted { package: package.clone(), total: Some(12_345_678) });
    events.emit(Event::PackageBytes { package: package.clone(), bytes: 700 });
    events.emit(Event::PackageRestarted { package: package.clone() });
    events.emit(Event::Note { text: "again\x1b[2J".to_owned() });
    events.emit(Event::PackageBytes { package: package.clone(), bytes: 12_000_000 });
    events.emit(Event::PackageBytes { package: package.clone(), bytes: 345_678 });
    events.emit(Event::PackageDone { package, ok: true, local: false });
    drop(progress);
    String::from_utf8(locked(&page.0).clone()).unwrap()
}

#[test]
fn plain_lines() {
    let expected = "again\\u{1b}[2J\nfetched 1 package, 12.3 MB\n";
    assert_eq!(printed(Mode::Lines, Detail::Normal), expected);
    let each = "again\\u{1b}[2J\nfetched hashicorp/aws 5.31.0 for linux_amd64 (12.3 MB)\nfetched 1 package, 12.3 MB\n";
    assert_eq!(printed(Mode::Lines, Detail::Verbose), format!("contacting https://example.com/\n{each}"));
    assert_eq!(printed(Mode::Silent, Detail::Quiet), "");
}

#[test]
fn bars_are_drawn_on_terminals_only() {
    assert_eq!(Mode::choose(Detail::Normal, true, false), Mode::Bars);
    assert_eq!(Mode::choose(Detail::Normal, true, true), Mode::Lines);
    assert_eq!(Mode::choose(Detail::Verbose, false, false), Mode::Lines);
    assert_eq!(Mode::choose(Detail::Quiet, true, false), Mode::Silent);
}

/// A terminal of 80 columns, as far as bars are drawn on it.
#[derive(Clone, Default)]
struct Terminal(Arc<Mutex<Shown>>);

#[derive(Default)]
struct Shown {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    written: usize,
}

impl Shown {
    fn put(&mut self, character: char) {
        // A line that is full is continued by the next character, not before.
        if self.column == 80 {
            (self.row, self.column) = (self.row + 1, 0);
        }
        let rows = self.rows.len().max(self.row + 1);
        self.rows.resize(rows, vec![' '; 80]);
        self.rows[self.row][self.column] = character;
        self.column += 1;
    }

    fn escape(&mut self, sequence: &str) {
        let (count, way) = sequence.split_at(sequence.len() - 1);
        match way {
            "A" => self.row = self.row.saturating_sub(count.parse().unwrap()),
            "B" => self.row += count.parse::<usize>().unwrap(),
            "K" => {
                if let Some(row) = self.rows.get_mut(self.row) {
                    row.fill(' ');
                }
            }
            "m" => {}
            other => panic!("{other}"),
        }
    }
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut shown = locked(&self.0);
        shown.written += 1;
        let mut text = std::str::from_utf8(bytes).unwrap().chars();
        while let Some(character) = text.next() {
            match character {
                '\n' => (shown.row, shown.column) = (shown.row + 1, 0),
                '\r' => shown.column = 0,
                '\x1b' => {
                    assert_eq!(text.next(), Some('['));
                    let mut sequence = String::new();
                    while !sequence.ends_with(char::is_alphabetic) {
                        sequence.extend(text.next());
                    }
                    shown.escape(&sequence);
                }
                character => shown.put(character),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn drawn() -> (Progress, Terminal) {
    let terminal = Terminal::default();
    let frames = Frames::on(terminal.clone(), || Size { columns: 80, rows: 24 });
    (Progress::on(frames, Mode::Bars, Detail::Normal, Box::new(Page::default())), terminal)
}

fn package(at: usize) -> PackageKey {
    PackageKey {
        address: ProviderAddr::parse(&format!("acme/p{at:02}"), Dialect::Terraform).unwrap(),
        version: Version::new(1, 0, 0),
        platform: "linux_amd64".parse().unwrap(),
    }
}

#[test]
fn no_bar_stays_on_the_screen_after_ctrl_c() {
    for count in [1, 3, 14, 40] {
        let (progress, mut terminal) = drawn();
        let events = progress.events();
        events.emit(Event::Request { url: "https://example.com/".to_owned() });
        for at in 0..count {
            events.emit(Event::PackageStarted { package: package(at), total: Some(6_000_000) });
            events.emit(Event::PackageBytes { package: package(at), bytes: 3_000_000 });
        }
        for at in 0..count / 2 {
            events.emit(Event::PackageDone { package: package(at), ok: true, local: false });
        }
        terminal.write_all(b"^C").unwrap();
        progress.closing()();
        // A thread that is being stopped.
        events.emit(Event::PackageStarted { package: package(count), total: Some(6_000_000) });
        let rows: Vec<String> = locked(&terminal.0).rows.iter().map(|row| row.iter().collect()).collect();
        assert!(rows.iter().all(|row| row.trim().is_empty()), "{count}: {rows:#?}");
    }
}

#[test]
fn a_question_is_asked_on_a_clear_screen() {
    let (progress, terminal) = drawn();
    let events = progress.events();
    events.emit(Event::Questions { count: 43 });
    events.emit(Event::Request { url: "https://example.com/".to_owned() });
    events.emit(Event::Asking);
    let text = || -> String { locked(&terminal.0).rows.concat().into_iter().collect() };
    assert_eq!(text().trim(), "");
    std::thread::sleep(2 * TICK);
    assert_eq!(text().trim(), "");
}

#[test]
fn what_did_not_change_is_not_drawn_again() {
    let (progress, terminal) = drawn();
    let events = progress.events();
    events.emit(Event::Questions { count: 8 });
    for _ in 0..8 {
        events.emit(Event::Request { url: "https://example.com/".to_owned() });
    }
    let status = locked(progress.0.as_ref().unwrap()).status.as_ref().unwrap().1.clone();
    // The first ones clear what was drawn before, too, and some come too soon after each other.
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(60));
        status.tick();
    }
    let before = locked(&terminal.0).written;
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(10));
        status.tick();
    }
    assert_eq!(locked(&terminal.0).written, before);
    events.emit(Event::Answered);
    events.emit(Event::Request { url: "https://example.com/".to_owned() });
    let text = || -> String { locked(&terminal.0).rows.concat().into_iter().collect() };
    let is_shown = || {
        std::thread::sleep(Duration::from_millis(10));
        status.tick();
        text().contains("contacting example.com (1 of 8 answered)")
    };
    assert!((0..6000).any(|_| is_shown()), "{}", text());
}
