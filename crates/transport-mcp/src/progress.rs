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
    let answer = {
        let forward = async {
            while let Some(report) = waiting.recv().await {
                send(peer, report).await;
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
        send(peer, report).await;
    }
    answer
}

async fn send(peer: &Peer<RoleServer>, report: ProgressNotificationParam) {
    if let Err(error) = peer.notify_progress(report).await {
        tracing::trace!(%error, "a progress report found no client");
    }
}
