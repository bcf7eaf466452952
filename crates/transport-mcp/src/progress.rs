//! Forwards progress reports of a handler to the client without blocking the handler.

use std::future::Future;

use contract::Progress;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc;

/// Reports queued for a slow client; further ones are dropped.
const QUEUE_MAX: usize = 32;

/// Runs a call and forwards its progress reports under the client's token.
pub(crate) async fn forward_while<F, T>(
    peer: &Peer<RoleServer>,
    token: ProgressToken,
    call: impl FnOnce(Progress) -> F,
) -> T
where
    F: Future<Output = T>,
{
    let (sender, mut waiting) = mpsc::channel(QUEUE_MAX);
    let progress = Progress::to(move |done, total, message| {
        let mut report = ProgressNotificationParam::new(token.clone(), done);
        report.total = total;
        report.message = (!message.is_empty()).then(|| message.to_owned());
        if sender.try_send(report).is_err() {
            tracing::trace!("a progress report was dropped because the client reads too slowly");
        }
    });
    let mut reporter = ProgressReporter { peer, furthest: f64::NEG_INFINITY };
    let answer = {
        let forward = async {
            while let Some(report) = waiting.recv().await {
                reporter.send(report).await;
            }
            std::future::pending().await
        };
        tokio::select! {
            biased;
            answer = call(progress) => answer,
            never = forward => never,
        }
    };
    // Reports made just before the end are sent ahead of the answer.
    while let Ok(report) = waiting.try_recv() {
        reporter.send(report).await;
    }
    answer
}

/// Sends only reports above the last one, because the protocol requires progress to increase.
struct ProgressReporter<'a> {
    peer: &'a Peer<RoleServer>,
    furthest: f64,
}

impl ProgressReporter<'_> {
    async fn send(&mut self, report: ProgressNotificationParam) {
        if report.progress > self.furthest {
            self.furthest = report.progress;
            if let Err(error) = self.peer.notify_progress(report).await {
                tracing::trace!(%error, "a progress report could not be sent");
            }
        }
    }
}
