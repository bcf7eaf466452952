//! Bounds how often all clients together do something.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

pub(crate) struct Pace {
    gap: Duration,
    next: Mutex<Instant>,
}

impl Pace {
    pub(crate) fn per_second(rate: f64) -> Self {
        Self { gap: Duration::from_secs_f64(1.0 / rate), next: Mutex::new(Instant::now()) }
    }

    /// Waits until it may happen again. Times that were missed are not made up for.
    pub(crate) async fn wait(&self) {
        let at = {
            let mut next = self.next.lock();
            let at = (*next).max(Instant::now());
            *next = at + self.gap;
            at
        };
        tokio::time::sleep_until(at).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn turns_are_a_gap_apart_and_missed_ones_do_not_come_together() {
        let (pace, zero) = (Pace::per_second(10.0), Instant::now());
        for _ in 0..3 {
            pace.wait().await;
        }
        assert_eq!(zero.elapsed().as_millis(), 200);
        tokio::time::advance(Duration::from_secs(5)).await;
        pace.wait().await;
        pace.wait().await;
        assert_eq!(zero.elapsed().as_millis(), 5_300);
    }
}
