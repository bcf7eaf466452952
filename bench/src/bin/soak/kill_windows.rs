//! The times in which the server is down on purpose. A failure in such a time is not counted.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// A kill window ends this long after `/health` answered again.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
struct KillWindow {
    began: Instant,
    /// `None` while the server is down.
    ended: Option<Instant>,
}

#[derive(Debug, Default)]
pub(crate) struct KillWindows(Mutex<Vec<KillWindow>>);

impl KillWindows {
    /// Begins a window. It is called before the signal is sent, so that no failure is seen earlier.
    pub(crate) fn begin(&self) {
        self.0.lock().push(KillWindow { began: Instant::now(), ended: None });
    }

    /// `/health` answers again.
    pub(crate) fn end(&self) {
        if let Some(last) = self.0.lock().last_mut() {
            last.ended = Some(Instant::now() + GRACE);
        }
    }

    /// Whether something that began and ended then was under way in a window.
    pub(crate) fn overlap(&self, began: Instant, ended: Instant) -> bool {
        let windows = self.0.lock();
        let mut latest_first = windows.iter().rev();
        latest_first
            .find(|window| window.began <= ended)
            .is_some_and(|window| window.ended.is_none_or(|until| began <= until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_overlaps_a_window_is_in_it() {
        let second = |it| Duration::from_secs(it);
        let windows = KillWindows::default();
        let zero = Instant::now();
        tokio::time::advance(second(10)).await;
        windows.begin();
        assert!(!windows.overlap(zero, zero + second(9)));
        assert!(windows.overlap(zero, zero + second(10)));
        assert!(windows.overlap(zero + second(11), zero + second(99)), "the server is still down");
        tokio::time::advance(second(5)).await;
        windows.end();
        assert!(windows.overlap(zero + second(12), zero + second(13)));
        assert!(windows.overlap(zero + second(16), zero + second(20)), "the grace");
        assert!(!windows.overlap(zero + second(17), zero + second(20)));
        tokio::time::advance(second(10)).await;
        windows.begin();
        assert!(!windows.overlap(zero + second(17), zero + second(20)), "before the second");
        assert!(windows.overlap(zero + second(17), zero + second(26)));
    }
}
