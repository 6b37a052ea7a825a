//! What git says, while it works and when it has ended.

use std::io::Read;
use std::process::Child;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::GitError;
use crate::interrupt::{Interrupt, Interrupted};

/// How often a signal is looked for while git works.
const GLANCE: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Git at work. Dropped, it is ended.
#[derive(Debug)]
pub struct Running {
    pub(super) child: Child,
    pub(super) outputs: [Receiver<Vec<u8>>; 2],
    pub(super) task: String,
    pub(super) limit: Duration,
    pub(super) most: u64,
    pub(super) interrupt: Interrupt,
}

impl Running {
    pub fn answer(mut self) -> Result<Answer, GitError> {
        let (stdout, stderr) = (self.output(0)?, self.output(1)?);
        let status = self.child.wait().map_err(|error| GitError::Start(error.to_string()))?;
        Ok(Answer { code: status.code(), stdout, stderr })
    }

    fn output(&self, at: usize) -> Result<Vec<u8>, GitError> {
        let slow = || GitError::TooSlow { task: self.task.clone(), limit: self.limit };
        let began = Instant::now();
        loop {
            let left = self.limit.checked_sub(began.elapsed()).ok_or_else(slow)?;
            match self.outputs[at].recv_timeout(left.min(GLANCE)) {
                Ok(bytes) if bytes.len() as u64 > self.most => {
                    return Err(GitError::TooLarge { task: self.task.clone(), most: self.most });
                }
                Ok(bytes) => return Ok(bytes),
                Err(RecvTimeoutError::Timeout) if self.interrupt.is_requested() => return Err(Interrupted.into()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(slow()),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Most often it has ended and was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    pub fn succeeded(&self) -> bool {
        self.code == Some(0)
    }

    /// The first line of what git says, without the word before it.
    pub fn said(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
        let line = ["fatal: ", "error: "].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
        // Git prints the address that it used, after the user's rewriting: with passwords and tokens.
        crate::redact::words(line)
    }

    /// The same answer, if git succeeded.
    pub fn checked(self, task: &'static str) -> Result<Self, GitError> {
        // "could not fetch ID from promisor remote": what is not here may not be fetched.
        let is_partial = || memchr::memmem::find(&self.stderr, b"promisor remote").is_some();
        match self.succeeded() {
            true => Ok(self),
            false if is_partial() => Err(GitError::Partial),
            false => Err(GitError::Failed { task, reason: self.said() }),
        }
    }

    /// What is between zero bytes.
    pub fn records(&self) -> impl Iterator<Item = &[u8]> {
        self.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty())
    }

    /// The texts between zero bytes. Text that is not UTF-8 is kept with replacement characters.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.records().map(|text| String::from_utf8_lossy(text).into_owned())
    }
}

/// Reads to the end, but no more than one byte beyond what an answer may have.
pub(super) fn read_aside(pipe: Option<impl Read + Send + 'static>, most: u64) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // A cut answer shows in the exit code.
            let _ = pipe.take(most.saturating_add(1)).read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}
