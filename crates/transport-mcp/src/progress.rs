//! Progress on its way from a handler to the client, without ever holding the handler up.

use std::future::Future;

use contract::Progress;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc;

/// Reports that wait for a slow client; later ones are dropped while it is full.
const WAITING_MAX: usize = 32;

/// Runs a call that may report progress under the client's token.
pub(crate) async fn forwarded<F, T>(
    peer: &Peer<RoleServer>,
    token: ProgressToken,
    call: impl FnOnce(Progress) -> F,
) -> T
where
    F: Future<Output = T>,
{
    let (sender, mut waiting) = mpsc::channel(WAITING_MAX);
    let progress = Progress::to(move |done, total, message| {
        let mut report = ProgressNotificationParam::new(token.clone(), done);
        report.total = total;
        report.message = (!message.is_empty()).then(|| message.to_owned());
        if sender.try_send(report).is_err() {
            tracing::trace!("a progress report was dropped: the client reads too slowly");
        }
    });
    let mut told = Told { peer, furthest: f64::NEG_INFINITY };
    let answer = {
        let forward = async {
            while let Some(report) = waiting.recv().await {
                told.tell(report).await;
            }
            std::future::pending().await
        };
        tokio::select! {
            biased;
            answer = call(progress) => answer,
            never = forward => never,
        }
    };
    // What was reported just before the end still goes out ahead of the answer.
    while let Ok(report) = waiting.try_recv() {
        told.tell(report).await;
    }
    answer
}

/// How far the client knows the call to be. The protocol wants every report to be further on.
struct Told<'a> {
    peer: &'a Peer<RoleServer>,
    furthest: f64,
}

impl Told<'_> {
    async fn tell(&mut self, report: ProgressNotificationParam) {
        if report.progress > self.furthest {
            self.furthest = report.progress;
            if let Err(error) = self.peer.notify_progress(report).await {
                tracing::trace!(%error, "a progress report found no client");
            }
        }
    }
}
