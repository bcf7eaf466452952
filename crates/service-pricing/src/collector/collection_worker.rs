//! Runs a collection. The transaction that completes the job also stores its ticks, so an
//! interrupted run stores nothing and a second run stores nothing twice. Files are the exception:
//! each is stored in its own transaction together with the record that it was imported.

use std::sync::Arc;

use async_trait::async_trait;
use clock::Clock;
use fault::Fault;
use jobs::{Fence, JobContext, JobHandler, JobOutcome};
use store::Db;

use crate::collector::collection_job::{CollectionResult, JobPayload};
use crate::collector::scheduler::{RUN_KIND, Scheduler};
use crate::connectors::{CollectedBatch, CollectionRequest, Connector, Connectors, Problems};
use crate::storage::products;
use crate::storage::sources::{self, SourceCheck};
use crate::storage::ticks::{self, Tick};

pub(super) struct CollectionWorker {
    pub(super) db: Db,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) connectors: Arc<Connectors>,
    pub(super) scheduler: Scheduler,
}

#[async_trait]
impl JobHandler for CollectionWorker {
    async fn run(&self, context: JobContext) -> JobOutcome {
        let stopping = context.stopping().clone();
        let work = async {
            match context.kind() == RUN_KIND {
                true => self.scheduler.run_page(&context).await,
                false => self.collect(&context).await,
            }
        };
        let ended = tokio::select! {
            biased;
            _ = context.cancelled() => return JobOutcome::Cancelled,
            () = stopping.cancelled() => return JobOutcome::Release,
            ended = work => ended,
        };
        match ended {
            Ok(()) => JobOutcome::Committed,
            Err(fault) => {
                self.note_failure(&context, &fault).await;
                fault.into()
            }
        }
    }
}

impl CollectionWorker {
    async fn collect(&self, context: &JobContext) -> Result<(), Fault> {
        let payload: JobPayload = context.payload()?;
        let connector = self.connector(&payload.connector)?;
        let request = CollectionRequest {
            product: products::find(&self.db, &payload.sku).await?,
            sku: payload.sku,
            market: payload.market,
            depth: payload.depth,
            asked_at: context.job().created_at,
            trial: payload.trial,
        };
        let batch_keys = connector.batch_keys(&request).await?;
        let mut collected_so_far = CollectedSoFar::default();
        for (at, batch_key) in batch_keys.iter().enumerate() {
            let batch = connector.fetch_batch(&request, batch_key).await?;
            if self.take(batch, &context.fence(), &mut collected_so_far).await? {
                connector.mark_stored(batch_key).await;
            }
            let note = format!("{}/{}", at + 1, batch_keys.len());
            context.progress(collected_so_far.found.collected, None, Some(&note));
        }
        // The source counts as failing only if every batch failed.
        let trouble = (!batch_keys.is_empty() && collected_so_far.found.collected == 0)
            .then(|| collected_so_far.problems.listed.first().cloned())
            .flatten();
        let check = SourceCheck { at: self.clock.now(), trouble };
        let CollectedSoFar { mut found, problems, ticks } = collected_so_far;
        let mut tx = self.db.begin().await?;
        found.new += ticks::add(&mut tx, &ticks, check.at).await?;
        (found.problem_count, found.problems) = (problems.count as u64, problems.listed);
        sources::checked(&mut tx, connector.name(), &check).await?;
        context.fence().complete_in(&mut tx, &found).await?;
        tx.commit().await
    }

    fn connector(&self, name: &str) -> Result<&dyn Connector, Fault> {
        let found = self.connectors.iter().find(|it| it.name() == name);
        found.map(AsRef::as_ref).ok_or_else(|| {
            Fault::invalid("unsupported_connector", format!("there is no connector {name:?}"))
        })
    }

    /// Adds a batch; a file is stored at once. Returns whether the batch is stored already.
    async fn take(
        &self,
        batch: CollectedBatch,
        fence: &Fence,
        collected_so_far: &mut CollectedSoFar,
    ) -> Result<bool, Fault> {
        let CollectedBatch { ticks, problems, file } = batch;
        collected_so_far.problems.join(problems);
        let brought = ticks.len() as u64;
        let Some((hash, name)) = file else {
            collected_so_far.found.collected += brought;
            collected_so_far.ticks.extend(ticks);
            return Ok(false);
        };
        let now = self.clock.now();
        let mut tx = self.db.begin().await?;
        fence.ensure_held(&mut tx).await?;
        if sources::record_import(&mut tx, &hash, &name, now).await? {
            let new = ticks::add(&mut tx, &ticks, now).await?;
            tx.commit().await?;
            collected_so_far.found.collected += brought;
            collected_so_far.found.new += new;
        }
        Ok(true)
    }

    /// Records that a source failed; an error in recording it is only logged.
    async fn note_failure(&self, context: &JobContext, fault: &Fault) {
        let Ok(payload) = context.payload::<JobPayload>() else { return };
        // An invalid request is the caller's mistake, so the source stays as it was.
        if !fault.kind().is_retryable() {
            return;
        }
        let check = SourceCheck { at: self.clock.now(), trouble: Some(fault.message().to_owned()) };
        let noted = async {
            let mut tx = self.db.begin().await?;
            sources::checked(&mut tx, &payload.connector, &check).await?;
            tx.commit().await
        };
        if let Err(fault) = noted.await {
            tracing::warn!(
                connector = payload.connector,
                "the state of a source was not kept: {fault}"
            );
        }
    }
}

#[derive(Default)]
struct CollectedSoFar {
    found: CollectionResult,
    problems: Problems,
    /// Ticks to store when the job completes.
    ticks: Vec<Tick>,
}
