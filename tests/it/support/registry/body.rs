//! Bodies of answers: whole, in slow pieces, or broken off.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame};
use tokio::time::Sleep;

/// The pieces of a body.
pub struct Pieces {
    left: VecDeque<Bytes>,
    pause: Option<Duration>,
    sleep: Option<Pin<Box<Sleep>>>,
    end: End,
    /// Counts the bytes of a body without end.
    endless: Option<Arc<AtomicU64>>,
    /// What has to come before.
    gate: Option<Gate>,
}

/// Other answers that have to be under way.
struct Gate {
    waiting: Arc<AtomicUsize>,
    wanted: usize,
    looks: usize,
}

/// How often a request checks whether a gate is open, and how long after the last check.
const LOOKS: usize = 4000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Proper,
    /// The connection is to break, once what was said before is on its way.
    Broken,
    BreakingNow,
}

/// A piece of a body without end.
const ENDLESS: &[u8] = &[b' '; 64 * 1024];

impl Pieces {
    pub fn whole(bytes: &[u8]) -> Self {
        let left = VecDeque::from([Bytes::copy_from_slice(bytes)]);
        Self { left, pause: None, sleep: None, end: End::Proper, endless: None, gate: None }
    }

    pub fn endless(counter: Arc<AtomicU64>) -> Self {
        Self { endless: Some(counter), ..Self::whole(b"") }
    }

    /// Ends in an error, upon which the server drops the connection.
    pub fn first_half(bytes: &[u8]) -> Self {
        Self { end: End::Broken, ..Self::whole(&bytes[..bytes.len() / 2]) }
    }

    pub fn together(bytes: &[u8], waiting: Arc<AtomicUsize>, wanted: usize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self { gate: Some(Gate { waiting, wanted, looks: 0 }), ..Self::whole(bytes) }
    }

    pub fn slow(bytes: &[u8], pause: Duration) -> Self {
        let pieces = bytes.chunks(bytes.len().div_ceil(4).max(1)).map(Bytes::copy_from_slice).collect();
        Self { left: pieces, pause: Some(pause), ..Self::whole(b"") }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        while let Some(gate) = self.gate.as_mut().filter(|gate| gate.waiting.load(Ordering::SeqCst) < gate.wanted) {
            gate.looks += 1;
            if gate.looks > LOOKS {
                return Poll::Ready(Some(Err(io::Error::other("no one else came"))));
            }
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(BETWEEN_LOOKS)));
            ready!(sleep.as_mut().poll(cx));
            self.sleep = None;
        }
        if let Some(counter) = &self.endless {
            counter.fetch_add(ENDLESS.len() as u64, Ordering::Relaxed);
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(ENDLESS)))));
        }
        if let Some(pause) = self.pause.filter(|_| !self.left.is_empty()) {
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(pause)));
            ready!(sleep.as_mut().poll(cx));
            self.sleep = None;
        }
        Poll::Ready(match self.left.pop_front() {
            Some(piece) => Some(Ok(Frame::data(piece))),
            None if self.end == End::Broken => {
                self.end = End::BreakingNow;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            None if self.end == End::BreakingNow => Some(Err(io::Error::other("broken off on purpose"))),
            None => None,
        })
    }
}
