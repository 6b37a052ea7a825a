//! The terminal of the progress lines.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::TermLike;

/// How many columns stay free: a terminal echoes `^C`, which must not begin a line of its own that no one clears.
const FREE: u16 = 4;

/// The terminal behind standard error, taken to be a little narrower than it is.
///
/// What draws the lines fills each with spaces to the last column and leaves it to the terminal to go on in the next one;
/// here a line ends where its text does.
#[derive(Debug, Default)]
pub(super) struct Narrow {
    /// True behind the text of a line, until another one begins.
    ended: AtomicBool,
}

fn send(text: &str) -> io::Result<()> {
    io::stderr().write_all(text.as_bytes())
}

/// Moves the cursor; a way of no length would be taken for one of length one.
fn go(count: usize, direction: char) -> io::Result<()> {
    if count == 0 { Ok(()) } else { send(&format!("\x1b[{count}{direction}")) }
}

impl TermLike for Narrow {
    fn width(&self) -> u16 {
        let columns = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(columns, _)| columns.0);
        columns.saturating_sub(FREE).max(1)
    }

    fn height(&self) -> u16 {
        terminal_size::terminal_size_of(io::stderr()).map_or(24, |(_, lines)| lines.0)
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        go(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        go(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        go(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        go(count, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        send(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        let text = if text.trim_matches(' ').is_empty() {
            self.ended.store(true, Ordering::Relaxed);
            "\x1b[K".to_owned()
        } else {
            let begins = if self.ended.swap(false, Ordering::Relaxed) { "\r\n" } else { "" };
            format!("{begins}{text}")
        };
        send(&text)
    }

    fn clear_line(&self) -> io::Result<()> {
        send("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        self.ended.store(false, Ordering::Relaxed);
        io::stderr().flush()
    }
}
