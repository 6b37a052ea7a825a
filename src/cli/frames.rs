//! A terminal for bars: it draws whole frames, and only those that differ from the one before.
//!
//! After each frame the cursor is at the beginning of the last line. At its end, where bars usually leave it, the `^C` that a
//! terminal prints for Ctrl-C would begin a new line, and the first bar would stay on the screen.

use std::io::{self, Write};
use std::sync::Mutex;

use indicatif::TermLike;

use crate::parallel::locked;

pub(super) struct Frames<W> {
    out: Mutex<Buffered<W>>,
    size: fn() -> Size,
}

pub(super) struct Size {
    pub(super) columns: u16,
    pub(super) rows: u16,
}

struct Buffered<W> {
    out: W,
    frame: String,
    before: String,
}

impl<W: Write> Frames<W> {
    pub(super) fn on(out: W, size: fn() -> Size) -> Self {
        Self { out: Mutex::new(Buffered { out, frame: String::new(), before: String::new() }), size }
    }

    fn add(&self, text: &str) -> io::Result<()> {
        locked(&self.out).frame.push_str(text);
        Ok(())
    }

    fn step(&self, count: usize, way: char) -> io::Result<()> {
        if count == 0 { Ok(()) } else { self.add(&format!("\x1b[{count}{way}")) }
    }
}

impl Size {
    /// The size of the terminal of standard error.
    pub(super) fn of_stderr() -> Self {
        let size = terminal_size::terminal_size_of(io::stderr());
        let (terminal_size::Width(columns), terminal_size::Height(rows)) =
            size.unwrap_or((terminal_size::Width(80), terminal_size::Height(24)));
        Self { columns, rows }
    }
}

impl<W> std::fmt::Debug for Frames<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frames").finish_non_exhaustive()
    }
}

impl<W: Write + Send> TermLike for Frames<W> {
    fn width(&self) -> u16 {
        (self.size)().columns
    }

    fn height(&self) -> u16 {
        (self.size)().rows
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        self.step(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        self.step(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        self.step(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        self.step(count, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.add(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.add("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        let Buffered { out, frame, before } = &mut *locked(&self.out);
        if frame == before {
            frame.clear();
            return Ok(());
        }
        // At once: a terminal that draws in between would flicker.
        out.write_all(format!("{frame}\r").as_bytes())?;
        out.flush()?;
        std::mem::swap(frame, before);
        frame.clear();
        Ok(())
    }
}
