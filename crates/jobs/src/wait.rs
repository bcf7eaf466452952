//! Waiting for a job: changes of this process wake the waiter, changes of others are found by polling.

use std::time::Duration;

use fault::Fault;
use tokio::time::Instant;

use crate::job::Job;
use crate::queue::Jobs;

const POLL_FIRST: Duration = Duration::from_millis(250);
const POLL_MAX: Duration = Duration::from_secs(2);
/// Longer than any request.
const WAIT_MAX: Duration = Duration::from_secs(600);

impl Jobs {
    /// The job when it is finished, or as it is after the timeout (at most ten minutes).
    pub async fn wait(&self, id: &str, timeout: Duration) -> Result<Job, Fault> {
        self.wait_for(id, timeout, |job| job.state.is_finished()).await
    }

    /// The job when its revision differs from `seen`: after it starts, progresses or ends. A finished
    /// job is returned at once.
    pub async fn wait_change(&self, id: &str, seen: u64, timeout: Duration) -> Result<Job, Fault> {
        self.wait_for(id, timeout, |job| job.revision != seen || job.state.is_finished()).await
    }

    async fn wait_for(
        &self,
        id: &str,
        timeout: Duration,
        is_done: impl Fn(&Job) -> bool,
    ) -> Result<Job, Fault> {
        let until = Instant::now() + timeout.min(WAIT_MAX);
        let listening = self.0.wakeups.listen(id);
        let mut pause = POLL_FIRST;
        loop {
            // Enabled before the read, so that no change between the read and the wait is missed.
            let mut woken = std::pin::pin!(listening.notify.notified());
            woken.as_mut().enable();
            let job = self.get(id).await?;
            let now = Instant::now();
            if is_done(&job) || now >= until {
                return Ok(job);
            }
            tokio::select! {
                () = woken => {}
                () = tokio::time::sleep_until(until.min(now + pause)) => {
                    pause = (pause * 2).min(POLL_MAX);
                }
            }
        }
    }
}
