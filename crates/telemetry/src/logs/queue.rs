//! The bounded queue between those who log and the one thread that writes.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// Lines waiting at most; at a typical 300 bytes this is about a megabyte.
const LINES_MAX: usize = 4096;
/// A longer line is cut, so that the queue is bounded in bytes too.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// How long the end of the process waits for a reader that may never come.
const GOODBYE: Duration = Duration::from_secs(1);

enum Message {
    Line(Vec<u8>),
    /// Answered once everything before it has been written.
    Goodbye(SyncSender<()>),
}

/// Where lines are put. Writing never blocks and never fails.
#[derive(Clone)]
pub(super) struct Lines {
    queue: SyncSender<Message>,
    lost: Arc<AtomicU64>,
}

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut kept = line.to_vec();
        if kept.len() > LINE_BYTES_MAX {
            kept.truncate(LINE_BYTES_MAX);
            kept.extend_from_slice(b"...\n");
        }
        if self.queue.try_send(Message::Line(kept)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps logging alive; dropping it writes what is queued, or gives up after a second.
#[must_use = "dropping the guard ends logging"]
#[derive(Debug)]
pub struct Guard {
    queue: SyncSender<Message>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let (done, wait) = sync_channel(1);
        // With a full queue and no reader there is nothing to wait for.
        if self.queue.try_send(Message::Goodbye(done)).is_ok() {
            match wait.recv_timeout(GOODBYE) {
                Ok(()) | Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<(Lines, Guard)> {
    let (queue, lines) = sync_channel(LINES_MAX);
    let lost = Arc::new(AtomicU64::new(0));
    let guard = Guard { queue: queue.clone() };
    let counted = Arc::clone(&lost);
    thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || write_all(&lines, out, &counted))?;
    Ok((Lines { queue, lost }, guard))
}

fn write_all(lines: &Receiver<Message>, mut out: impl Write, lost: &AtomicU64) {
    for message in lines {
        let line = match message {
            Message::Line(line) => line,
            Message::Goodbye(done) => {
                // Whoever asked may have given up waiting.
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
        // A closed stderr is nobody's error: there is no place left to report it.
        drop(written);
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use std::sync::mpsc::Sender;

    use super::*;

    /// Blocks in its first write until told to go on.
    struct Gate {
        entered: Sender<()>,
        open: Receiver<()>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Gate {
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

    /// Waits, as long as it takes, until everything queued has been written.
    fn settle(guard: &Guard) {
        let (done, wait) = sync_channel(1);
        guard.queue.send(Message::Goodbye(done)).unwrap();
        wait.recv().unwrap();
    }

    #[test]
    fn a_reader_that_does_not_read_costs_lines_but_never_blocks() {
        let (entered, is_entered) = std::sync::mpsc::channel();
        let (opener, open) = std::sync::mpsc::channel();
        let written = Arc::default();
        let gate = Gate { entered, open, written: Arc::clone(&written) };
        let (mut lines, guard) = start(gate).unwrap();
        lines.write_all(b"first\n").unwrap();
        is_entered.recv().unwrap();
        for _ in 0..LINES_MAX + 3 {
            lines.write_all(b"next\n").unwrap();
        }
        assert_eq!(lines.lost.load(Ordering::Relaxed), 3);
        drop(opener);
        settle(&guard);
        let text = String::from_utf8(written.lock().clone()).unwrap();
        assert_eq!(text.matches("next").count(), LINES_MAX);
        assert!(text.contains("3 log lines lost"), "{text}");
    }

    #[test]
    fn long_lines_are_cut() {
        let (entered, _entered) = std::sync::mpsc::channel();
        let (_, open) = std::sync::mpsc::channel();
        let written = Arc::default();
        let gate = Gate { entered, open, written: Arc::clone(&written) };
        let (mut lines, guard) = start(gate).unwrap();
        lines.write_all(&vec![b'x'; LINE_BYTES_MAX + 100]).unwrap();
        settle(&guard);
        assert_eq!(written.lock().len(), LINE_BYTES_MAX + 4);
        assert!(written.lock().ends_with(b"x...\n"));
    }
}
