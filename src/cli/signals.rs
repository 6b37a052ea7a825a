//! Ctrl-C and SIGTERM: the first one ends the run as soon as no file is being written, the second one at once.

use std::io;
use std::sync::mpsc;
use std::time::Duration;

use tokio::runtime::Builder;

use crate::error::ExitCode;
use crate::interrupt::Interrupt;

/// How long a run may take to come to its own end after a signal, in which it removes its temporary files.
const PATIENCE: Duration = Duration::from_secs(1);

/// Catches the signals of this process from now on, in a thread of its own. After the first one, `first` runs at once, and `last` when
/// nothing is written any more; then the process ends.
pub(super) fn listen(
    interrupt: Interrupt,
    first: impl FnOnce() + Send + 'static,
    last: impl FnOnce() + Send + 'static,
) {
    let (ready, is_ready) = mpsc::channel();
    let caught = move || {
        let Ok(runtime) = Builder::new_current_thread().enable_io().build() else { return };
        let Ok(mut signals) = ({
            let _entered = runtime.enter();
            Signals::open()
        }) else {
            return;
        };
        drop(ready);
        let code = runtime.block_on(signals.next());
        let ending = move || {
            if interrupt.request() {
                first();
                interrupt.wait_for_end(PATIENCE);
                last();
            } else {
                // The work is done: its result is being printed, which is better than a part of it.
                std::thread::sleep(PATIENCE);
            }
            end(code);
        };
        if std::thread::Builder::new().spawn(ending).is_err() {
            end(code);
        }
        end(runtime.block_on(signals.next()));
    };
    // Without it a signal ends the process at once, as it does if none is caught.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(caught);
    // Until the other end is dropped.
    let _: Result<(), _> = is_ready.recv();
}

#[expect(clippy::exit, reason = "other threads may wait for anything")]
fn end(code: ExitCode) {
    std::process::exit(code as i32)
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn open() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) -> ExitCode {
        tokio::select! {
            _ = self.interrupt.recv() => ExitCode::Interrupted,
            _ = self.terminate.recv() => ExitCode::Terminated,
        }
    }
}

#[cfg(windows)]
struct Signals {
    ctrl_c: tokio::signal::windows::CtrlC,
    ctrl_break: tokio::signal::windows::CtrlBreak,
    close: tokio::signal::windows::CtrlClose,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl Signals {
    fn open() -> io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};

        Ok(Self { ctrl_c: ctrl_c()?, ctrl_break: ctrl_break()?, close: ctrl_close()?, shutdown: ctrl_shutdown()? })
    }

    async fn next(&mut self) -> ExitCode {
        tokio::select! {
            _ = self.ctrl_c.recv() => ExitCode::Interrupted,
            _ = self.ctrl_break.recv() => ExitCode::Interrupted,
            _ = self.close.recv() => ExitCode::Terminated,
            _ = self.shutdown.recv() => ExitCode::Terminated,
        }
    }
}
