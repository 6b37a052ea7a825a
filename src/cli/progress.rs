//! Shows events as bars on a terminal, or else as plain lines.

use std::collections::HashMap;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::frames::{Frames, Size};
use crate::dialect::Dialect;
use crate::parallel::locked;
use crate::query::{Event, Events, PackageKey};
use crate::report::{Detail, printable, size};
use crate::words::counted;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Silent,
    /// One final line with counts; with -v also a line for each package and request.
    Lines,
    /// A bar for each package, a line with the hosts of current requests, and lines above them.
    Bars,
}

impl Mode {
    /// Uses bars only on a terminal of a user.
    pub(super) fn choose(detail: Detail, stderr_is_terminal: bool, ci: bool) -> Self {
        match detail {
            Detail::Quiet => Mode::Silent,
            Detail::Normal | Detail::Verbose if stderr_is_terminal && !ci => Mode::Bars,
            Detail::Normal | Detail::Verbose => Mode::Lines,
        }
    }
}

/// How often bars are drawn at most.
const FRAMES_A_SECOND: u8 = 20;

/// How often idle bars are looked at, since the remaining time changes.
const TICK: Duration = Duration::from_millis(200);

/// Shows events until it is dropped, then removes the bars.
pub(super) struct Progress(Option<Arc<Mutex<Screen>>>);

struct Screen {
    /// The tool whose default registry host is omitted from addresses.
    dialect: Option<Dialect>,
    verbose: bool,
    bars: Option<MultiProgress>,
    packages: HashMap<PackageKey, Package>,
    fetched: Fetched,
    /// The line below the bars: the hosts of current requests, or the downloaded part of the total.
    status: Option<(BarKind, ProgressBar)>,
    lines: Box<dyn Write + Send>,
    /// True at the end of the run, or after Ctrl-C: threads that are being stopped may still emit events.
    closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BarKind {
    Questions,
    Packages,
}

struct Package {
    bytes: u64,
    total: Option<u64>,
    bar: Option<ProgressBar>,
}

#[derive(Clone, Copy, Default)]
struct Fetched {
    questions: usize,
    answered: usize,
    /// Packages to download, including finished ones and those given up.
    wanted: usize,
    packages: usize,
    given_up: usize,
    bytes: u64,
}

impl Progress {
    /// Shows events on `lines`, and bars on the terminal of standard error.
    pub(super) fn new(mode: Mode, detail: Detail, lines: Box<dyn Write + Send>) -> Self {
        Self::on(Frames::on(std::io::stderr(), Size::of_stderr), mode, detail, lines)
    }

    fn on<W: Write + Send + 'static>(
        frames: Frames<W>,
        mode: Mode,
        detail: Detail,
        lines: Box<dyn Write + Send>,
    ) -> Self {
        let bars = (mode == Mode::Bars).then(|| {
            let target = ProgressDrawTarget::term_like_with_hz(Box::new(frames), FRAMES_A_SECOND);
            MultiProgress::with_draw_target(target)
        });
        Self((mode != Mode::Silent).then(|| {
            let verbose = detail == Detail::Verbose;
            let (packages, fetched) = (HashMap::new(), Fetched::default());
            let (dialect, status, closed) = (None, None, false);
            Arc::new(Mutex::new(Screen { dialect, verbose, bars, packages, fetched, status, lines, closed }))
        }))
    }

    pub(super) fn events(&self) -> Events {
        match &self.0 {
            Some(screen) => {
                let screen = Arc::clone(screen);
                Events::to(move |event| locked(&screen).show(event))
            }
            None => Events::ignored(),
        }
    }

    /// Does what dropping it does.
    pub(super) fn closing(&self) -> impl FnOnce() + Send + 'static {
        let screen = self.0.clone();
        move || screen.iter().for_each(|screen| locked(screen).close())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.closing()();
    }
}

impl Screen {
    fn close(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.clear();
        self.bars.iter().for_each(|bars| bars.set_draw_target(ProgressDrawTarget::hidden()));
        let Fetched { packages, bytes, .. } = self.fetched;
        if packages > 0 {
            self.line(&format!("fetched {}, {}", counted(packages, "package"), size(bytes)));
        }
    }

    /// Removes the bars; the next event draws those that are left to show.
    fn clear(&mut self) {
        let Some(bars) = &self.bars else { return };
        self.status.take().iter().for_each(|(_, bar)| bar.finish_and_clear());
        self.packages.drain().filter_map(|(_, package)| package.bar).for_each(|bar| bar.finish_and_clear());
        // A closed terminal needs no clearing.
        let _ = bars.clear();
    }

    fn show(&mut self, event: Event) {
        if self.closed {
            return;
        }
        match event {
            Event::Questions { count } => {
                self.fetched.questions += count;
                return;
            }
            Event::Answered => {
                self.fetched.answered += 1;
                return;
            }
            Event::PackageWanted { .. } => {
                self.fetched.wanted += 1;
                return;
            }
            Event::PackageStarted { package, total } => {
                let bar = self.bars.as_ref().map(|bars| bars.insert(0, bar(&package, total)));
                let known = Package { bytes: 0, total, bar };
                known.show();
                self.packages.insert(package, known);
            }
            Event::PackageBytes { package, bytes } => {
                if let Some(known) = self.packages.get_mut(&package) {
                    known.bytes += bytes;
                    known.show();
                }
            }
            Event::PackageRestarted { package } => {
                if let Some(known) = self.packages.get_mut(&package) {
                    known.bytes = 0;
                    known.show();
                }
            }
            Event::PackageDone { package, ok, local } => self.done(&package, ok, local),
            Event::Tool { dialect } => self.dialect = dialect,
            Event::Asking => {
                self.clear();
                return;
            }
            Event::Request { url } => {
                if self.verbose {
                    self.line(&format!("contacting {}", printable(&url)));
                }
                self.requesting(&url);
                return;
            }
            Event::Note { text } => self.line(&printable(&text)),
            Event::Detail { text } if self.verbose => self.line(&printable(&text)),
            Event::Detail { .. } => {}
        }
        self.total();
    }

    /// Shows the hosts of current requests, unless packages are being downloaded.
    fn requesting(&mut self, url: &str) {
        if !self.packages.is_empty() {
            return;
        }
        let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        let Fetched { questions, answered, .. } = self.fetched;
        let count = if questions > 1 { format!(" ({answered} of {questions} answered)") } else { String::new() };
        self.status(BarKind::Questions, &format!("contacting {}{count}", printable(&host)), [0; 2]);
    }

    /// Shows the downloaded part of all current and waiting packages.
    fn total(&mut self) {
        let packages = &self.packages;
        if packages.is_empty() {
            return;
        }
        let sum = |of: fn(&Package) -> u64| packages.values().map(of).sum::<u64>();
        let (count, came) = (packages.len(), sum(|package| package.bytes));
        let announced = sum(|package| package.total.unwrap_or(package.bytes));
        let is_known = packages.values().all(|package| package.total.is_some());
        let fetched = self.fetched;
        let (done, wanted) = (fetched.packages, fetched.wanted.max(fetched.packages + count));
        let waiting = wanted.saturating_sub(done + fetched.given_up + count);
        let (known, got) = (fetched.bytes + announced, fetched.bytes + came);
        // Packages of unknown size are assumed to have the average size.
        let all = known + known / ((done + count) as u64).max(1) * waiting as u64;
        let of = match (is_known, waiting) {
            (true, 0) => format!(" of {}", size(all)),
            (true, _) => format!(" of about {}", size(all)),
            (false, _) => String::new(),
        };
        self.status(BarKind::Packages, &format!("{done} of {wanted} packages, {}{of}", size(got)), [got, all]);
    }

    fn status(&mut self, kind: BarKind, text: &str, [position, length]: [u64; 2]) {
        let Some(bars) = &self.bars else { return };
        if self.status.as_ref().is_none_or(|(known, _)| *known != kind) {
            let style = match kind {
                BarKind::Questions => style("{msg}", ["", ""]),
                BarKind::Packages => style("{msg}{left}", [", ", " left"]),
            };
            // A new bar, so the rate belongs to what it counts.
            self.status.take().iter().for_each(|(_, bar)| bar.finish_and_clear());
            let bar = bars.add(ProgressBar::new(length).with_style(style));
            // Also draws updates that arrived too soon after the last frame.
            bar.enable_steady_tick(TICK);
            self.status = Some((kind, bar));
        }
        if let Some((_, bar)) = &self.status {
            bar.set_length(length);
            bar.set_position(position);
            bar.set_message(text.to_owned());
        }
    }

    fn done(&mut self, package: &PackageKey, ok: bool, local: bool) {
        let Some(Package { bytes, bar, .. }) = self.packages.remove(package) else { return };
        if let (Some(bars), Some(bar)) = (&self.bars, bar) {
            bar.finish_and_clear();
            bars.remove(&bar);
        }
        if !ok && !local {
            self.fetched.given_up += 1;
        }
        if ok && !local {
            self.fetched.packages += 1;
            self.fetched.bytes += bytes;
        }
        if ok && self.verbose {
            let did = if local { "read" } else { "fetched" };
            self.line(&format!("{did} {} ({})", self.name(package), size(bytes)));
        }
    }

    fn line(&mut self, text: &str) {
        let mut write = || {
            // If standard error is closed, there is no other place to report that.
            let _ = writeln!(self.lines, "{}", crate::redact::secrets(text));
        };
        match &self.bars {
            Some(bars) => bars.suspend(write),
            None => write(),
        }
    }

    fn name(&self, package: &PackageKey) -> String {
        let PackageKey { address, version, platform } = package;
        let addr = self.dialect.map_or_else(|| address.to_string(), |dialect| address.short(dialect));
        printable(&format!("{addr} {version} for {platform}")).into_owned()
    }
}

/// The label begins with what distinguishes bars: platform, type and version of the provider.
fn bar(package: &PackageKey, total: Option<u64>) -> ProgressBar {
    let PackageKey { address, version, platform } = package;
    let name = printable(&format!("{platform:<15} {} {version}", address.type_name())).into_owned();
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "{prefix:40!} {wide_bar} {msg:>19} {left:>4}"),
        None => (ProgressBar::no_length(), "{prefix:40!} {msg:>19}"),
    };
    bar.with_style(style(template, ["", ""])).with_prefix(name)
}

/// A style in which `left` is the remaining time between two texts; empty until the first byte arrives.
fn style(template: &str, [before, after]: [&'static str; 2]) -> ProgressStyle {
    let left = move |state: &ProgressState, text: &mut dyn fmt::Write| {
        if state.pos() > 0 {
            // A failed write only hides the text.
            let _ = write!(text, "{before}{:#}{after}", HumanDuration(state.eta()));
        }
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("left", left)
}

impl Package {
    fn show(&self) {
        if let Some(bar) = &self.bar {
            bar.set_position(self.bytes);
            let total = self.total.map(|total| format!("/{}", size(total))).unwrap_or_default();
            bar.set_message(format!("{}{total}", size(self.bytes)));
        }
    }
}

#[cfg(test)]
mod tests;
