//! Events as bars on a terminal, or as plain lines elsewhere.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::dialect::Dialect;
use crate::engine::{Event, Events, PackageKey};
use crate::report::{Detail, printable, size};

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Not at all.
    Silent,
    /// A line for each package.
    Lines,
    /// A bar for each package, and lines above them.
    Bars,
}

impl Mode {
    /// Bars only where people watch them.
    pub(super) fn choose(detail: Detail, stderr_is_terminal: bool, ci: bool) -> Self {
        match detail {
            Detail::Quiet => Mode::Silent,
            Detail::Normal | Detail::Verbose if stderr_is_terminal && !ci => Mode::Bars,
            Detail::Normal | Detail::Verbose => Mode::Lines,
        }
    }
}

/// Shows events until it is dropped; then no bar stays behind.
pub(super) struct Progress(Option<Arc<Screen>>);

struct Screen {
    /// The tool whose default registry host is left out of addresses.
    dialect: Mutex<Option<Dialect>>,
    verbose: bool,
    bars: Option<MultiProgress>,
    /// What is on its way, with the bytes so far.
    packages: Mutex<HashMap<PackageKey, (u64, Option<ProgressBar>)>>,
    lines: Mutex<Box<dyn Write + Send>>,
}

impl Progress {
    /// Shows events on `lines`, and bars on the terminal behind standard error.
    pub(super) fn new(mode: Mode, detail: Detail, lines: Box<dyn Write + Send>) -> Self {
        let bars = (mode == Mode::Bars).then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr()));
        Self((mode != Mode::Silent).then(|| {
            let (packages, lines) = (Mutex::default(), Mutex::new(lines));
            Arc::new(Screen { dialect: Mutex::default(), verbose: detail == Detail::Verbose, bars, packages, lines })
        }))
    }

    /// Where the engine sends its events.
    pub(super) fn events(&self) -> Events {
        match &self.0 {
            Some(screen) => {
                let screen = Arc::clone(screen);
                Events::to(move |event| screen.show(event))
            }
            None => Events::ignored(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bars) = self.0.as_ref().and_then(|screen| screen.bars.as_ref()) {
            // A terminal that is gone needs no clearing.
            let _ = bars.clear();
        }
    }
}

impl Screen {
    fn show(&self, event: Event) {
        match event {
            Event::PackageStarted { package, total } => {
                let bar = self.bars.as_ref().map(|bars| bars.add(self.bar(&package, total)));
                locked(&self.packages).insert(package, (0, bar));
            }
            Event::PackageBytes { package, bytes } => {
                if let Some((sum, bar)) = locked(&self.packages).get_mut(&package) {
                    *sum += bytes;
                    if let Some(bar) = bar {
                        bar.inc(bytes);
                    }
                }
            }
            Event::PackageRestarted { package } => {
                if let Some((sum, bar)) = locked(&self.packages).get_mut(&package) {
                    *sum = 0;
                    if let Some(bar) = bar {
                        bar.reset();
                    }
                }
            }
            Event::PackageDone { package, ok, local } => self.done(&package, ok, local),
            Event::Tool { dialect } => *locked(&self.dialect) = dialect,
            Event::Request { url } if self.verbose => self.line(&format!("asking {}", printable(&url))),
            Event::Request { .. } => {}
            Event::Note { text } => self.line(&printable(&text)),
        }
    }

    fn done(&self, package: &PackageKey, ok: bool, local: bool) {
        let Some((bytes, bar)) = locked(&self.packages).remove(package) else { return };
        if let (Some(bars), Some(bar)) = (&self.bars, bar) {
            bar.finish_and_clear();
            bars.remove(&bar);
        }
        // Bars have told it already.
        if ok && (self.bars.is_none() || self.verbose) {
            let did = if local { "read" } else { "fetched" };
            self.line(&format!("{did} {} ({})", self.name(package), size(bytes)));
        }
    }

    fn line(&self, text: &str) {
        let write = || {
            // Nobody is left to be told that nobody reads this.
            let _ = writeln!(locked(&self.lines), "{}", crate::redact::secrets(text));
        };
        match &self.bars {
            Some(bars) => bars.suspend(write),
            None => write(),
        }
    }

    fn name(&self, package: &PackageKey) -> String {
        let PackageKey { address, version, platform } = package;
        let addr = locked(&self.dialect).map_or_else(|| address.to_string(), |dialect| address.short(dialect));
        printable(&format!("{addr} {version} for {platform}")).into_owned()
    }

    fn bar(&self, package: &PackageKey, total: Option<u64>) -> ProgressBar {
        let (bar, template) = match total {
            Some(total) => (ProgressBar::new(total), "{prefix:40!} {wide_bar} {bytes:>10} {bytes_per_sec:>12}"),
            None => (ProgressBar::no_length(), "{prefix:40!} {bytes:>10} {bytes_per_sec:>12}"),
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.with_style(style).with_prefix(self.name(package))
    }
}

/// A panic elsewhere does not make counts of bytes wrong.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
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

    fn told(mode: Mode, detail: Detail) -> String {
        let package = PackageKey {
            address: ProviderAddr::parse("hashicorp/aws", Dialect::Terraform).unwrap(),
            version: Version::new(5, 31, 0),
            platform: "linux_amd64".parse().unwrap(),
        };
        let page = Page::default();
        let events = Progress::new(mode, detail, Box::new(page.clone())).events();
        events.emit(Event::Tool { dialect: Some(Dialect::Terraform) });
        events.emit(Event::Request { url: "https://example.com/".to_owned() });
        events.emit(Event::PackageStarted { package: package.clone(), total: Some(12_345_678) });
        events.emit(Event::PackageBytes { package: package.clone(), bytes: 700 });
        events.emit(Event::PackageRestarted { package: package.clone() });
        events.emit(Event::Note { text: "again\x1b[2J".to_owned() });
        events.emit(Event::PackageBytes { package: package.clone(), bytes: 12_000_000 });
        events.emit(Event::PackageBytes { package: package.clone(), bytes: 345_678 });
        events.emit(Event::PackageDone { package, ok: true, local: false });
        String::from_utf8(locked(&page.0).clone()).unwrap()
    }

    #[test]
    fn plain_lines() {
        let expected = "again\\u{1b}[2J\nfetched hashicorp/aws 5.31.0 for linux_amd64 (12.3 MB)\n";
        assert_eq!(told(Mode::Lines, Detail::Normal), expected);
        assert_eq!(told(Mode::Lines, Detail::Verbose), format!("asking https://example.com/\n{expected}"));
        assert_eq!(told(Mode::Silent, Detail::Quiet), "");
    }

    #[test]
    fn bars_only_for_people() {
        assert_eq!(Mode::choose(Detail::Normal, true, false), Mode::Bars);
        assert_eq!(Mode::choose(Detail::Normal, true, true), Mode::Lines);
        assert_eq!(Mode::choose(Detail::Verbose, false, false), Mode::Lines);
        assert_eq!(Mode::choose(Detail::Quiet, true, false), Mode::Silent);
    }
}
