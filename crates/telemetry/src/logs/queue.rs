//! The bounded queue between logging threads and the one thread that writes.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// Queued lines; at a typical 300 bytes about a megabyte.
const LINES_MAX: usize = 4096;
/// Longer lines are cut, so that the queue is bounded in bytes too.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// How long the process waits at its end for the queued lines to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

enum LogCommand {
    Line(Vec<u8>),
    /// Answered once all earlier lines are written.
    Flush(SyncSender<()>),
}

/// The sending side. Writing never blocks and never fails.
#[derive(Clone)]
pub(super) struct LineQueue {
    queue: SyncSender<LogCommand>,
    lost: Arc<AtomicU64>,
}

impl Write for LineQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut bounded = line.to_vec();
        if bounded.len() > LINE_BYTES_MAX {
            bounded.truncate(LINE_BYTES_MAX);
            bounded.extend_from_slice(b"...\n");
        }
        if self.queue.try_send(LogCommand::Line(bounded)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps logging alive; dropping it writes the queued lines, for at most a second.
#[must_use = "dropping the guard ends logging"]
#[derive(Debug)]
pub struct LogGuard {
    queue: SyncSender<LogCommand>,
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        let (done, wait) = sync_channel(1);
        // With a full queue stderr is not being read, so do not wait.
        if self.queue.try_send(LogCommand::Flush(done)).is_ok() {
            match wait.recv_timeout(FLUSH_TIMEOUT) {
                Ok(()) | Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<(LineQueue, LogGuard)> {
    let (queue, lines) = sync_channel(LINES_MAX);
    let lost = Arc::new(AtomicU64::new(0));
    let guard = LogGuard { queue: queue.clone() };
    let counted = Arc::clone(&lost);
    thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || write_all(&lines, out, &counted))?;
    Ok((LineQueue { queue, lost }, guard))
}

fn write_all(lines: &Receiver<LogCommand>, mut out: impl Write, lost: &AtomicU64) {
    for message in lines {
        let line = match message {
            LogCommand::Line(line) => line,
            LogCommand::Flush(done) => {
                // The receiver may have timed out.
                done.try_send(()).unwrap_or_default();
                continue;
            }
        };
        let missing = lost.swap(0, Ordering::Relaxed);
        let mut written = out.write_all(&line);
        if missing > 0 && written.is_ok() {
            written =
                writeln!(out, "{{\"level\":\"WARN\",\"message\":\"{missing} log lines lost\"}}");
        }
        // There is no place to report that stderr is closed.
        drop(written);
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use std::sync::mpsc::Sender;

    use super::*;

    /// A writer that blocks until `open` is closed.
    struct BlockedWriter {
        entered: Sender<()>,
        open: Receiver<()>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for BlockedWriter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.entered.send(()).unwrap_or_default();
            self.open.recv().unwrap_or_default();
            self.written.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Waits until all queued lines are written.
    fn flush(guard: &LogGuard) {
        let (done, wait) = sync_channel(1);
        guard.queue.send(LogCommand::Flush(done)).unwrap();
        wait.recv().unwrap();
    }

    #[test]
    fn a_blocked_stderr_loses_lines_and_never_blocks_the_caller() {
        let (entered, is_entered) = std::sync::mpsc::channel();
        let (opener, open) = std::sync::mpsc::channel();
        let written = Arc::default();
        let writer = BlockedWriter { entered, open, written: Arc::clone(&written) };
        let (mut lines, guard) = start(writer).unwrap();
        lines.write_all(b"first\n").unwrap();
        is_entered.recv().unwrap();
        for _ in 0..LINES_MAX + 3 {
            lines.write_all(b"next\n").unwrap();
        }
        assert_eq!(lines.lost.load(Ordering::Relaxed), 3);
        drop(opener);
        flush(&guard);
        let text = String::from_utf8(written.lock().clone()).unwrap();
        assert_eq!(text.matches("next").count(), LINES_MAX);
        assert!(text.contains("3 log lines lost"), "{text}");
    }

    #[test]
    fn long_lines_are_cut() {
        let (entered, _entered) = std::sync::mpsc::channel();
        let (_, open) = std::sync::mpsc::channel();
        let written = Arc::default();
        let writer = BlockedWriter { entered, open, written: Arc::clone(&written) };
        let (mut lines, guard) = start(writer).unwrap();
        lines.write_all(&vec![b'x'; LINE_BYTES_MAX + 100]).unwrap();
        flush(&guard);
        assert_eq!(written.lock().len(), LINE_BYTES_MAX + 4);
        assert!(written.lock().ends_with(b"x...\n"));
    }
}
