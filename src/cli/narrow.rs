//! The terminal of the progress lines.

use std::io::{self, Write};

use indicatif::TermLike;

/// How many columns stay free: a terminal echoes `^C`, which must not begin a line of its own that no one clears.
const FREE: u16 = 4;

/// The terminal behind standard error, taken to be a little narrower than it is.
#[derive(Debug)]
pub(super) struct Narrow;

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
        send(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        send("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
