//! The load: idle and active clients, faults of the exchange, and kills, until the time is over.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use testkit::TestRng;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::Outcome;
use crate::clients::{Client, Shared, archive, idle, market, pricing};
use crate::exchange::Exchange;
use crate::lives::Lives;
use crate::observations::value_of;
use crate::options::Options;
use crate::verify::{self, Findings};

const PROGRESS_EVERY: Duration = Duration::from_mins(1);
/// Clients notice the end of the load within the time of a request.
const CLIENTS_END_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Load<'a> {
    pub(crate) options: &'a Options,
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) exchange: Exchange,
    /// Idle connections.
    pub(crate) idle: usize,
}

/// Active connections that read streams; the others send requests.
pub(crate) fn stream_readers(active: usize) -> usize {
    active / 5
}

impl Load<'_> {
    /// Runs the load and ends it with a last kill; returns what the checks between kills found.
    pub(crate) async fn run(&self, lives: &mut Lives) -> Outcome<Findings> {
        let mut clients = self.start_clients();
        let (shared, seed) = (Arc::clone(self.shared), self.options.seed);
        let exchange = self.exchange;
        let mut faults = JoinSet::new();
        faults.spawn(async move {
            exchange.inject_faults(seed, &shared.observations, &shared.stop).await
        });
        let findings = self.kill_repeatedly(lives).await?;
        self.shared.stop.cancel();
        while let Some(ended) = faults.join_next().await {
            ended??;
        }
        let ended = async { while clients.join_next().await.is_some() {} };
        timeout(CLIENTS_END_TIMEOUT, ended)
            .await
            .map_err(|_| "clients did not end with the load")?;
        lives.kill_and_restart(self.shared).await?;
        Ok(findings)
    }

    fn start_clients(&self) -> JoinSet<()> {
        let mut clients = JoinSet::new();
        for number in 0..self.idle {
            clients.spawn(idle::run(Arc::clone(self.shared), number));
        }
        for number in stream_readers(self.options.active)..self.options.active {
            let client = Client::new(self.shared, self.options.seed, number);
            match number % 8 {
                0 => clients.spawn(archive::run(client)),
                1..=3 => clients.spawn(pricing::run(client)),
                _ => clients.spawn(market::run(client)),
            };
        }
        clients
    }

    /// Kills the server until the time is over or the number of kills is reached.
    async fn kill_repeatedly(&self, lives: &mut Lives) -> Outcome<Findings> {
        let (options, shared) = (self.options, self.shared);
        let (mut rng, mut findings) = (TestRng::new(options.seed), Findings::default());
        let (began, length) = (Instant::now(), options.load_time_max()?);
        let (mut checks, mut printed) = (JoinSet::<Findings>::new(), Instant::now());
        let mut kills = 0;
        while began.elapsed() < length && options.kills.is_none_or(|wanted| kills < wanted) {
            let life = options.kill_every.mul_f64(0.5 + rng.unit());
            let left = length.saturating_sub(began.elapsed());
            lives.run_for(shared, life.min(left)).await?;
            if life > left {
                break;
            }
            lives.kill_and_restart(shared).await?;
            kills += 1;
            while let Some(found) = checks.try_join_next() {
                findings.add(found?);
            }
            if checks.is_empty() {
                checks.spawn(verify::check_sample(Arc::clone(shared), rng.next_u64()));
            }
            if printed.elapsed() > PROGRESS_EVERY {
                printed = Instant::now();
                self.print_progress(lives, kills, &findings);
            }
        }
        shared.stop.cancel();
        while let Some(found) = checks.join_next().await {
            findings.add(found?);
        }
        Ok(findings)
    }

    fn print_progress(&self, lives: &Lives, kills: u32, findings: &Findings) {
        let (observations, idle) = (&self.shared.observations, &self.shared.idle);
        println!(
            "{:>5.0} s  {kills} kills  {} requests  {} acknowledged  {} lost  {} failures  {} idle \
             open at most  {:.0} MB",
            observations.elapsed().as_secs_f64(),
            value_of(&observations.counts.requests),
            self.shared.acknowledged.counts().total(),
            findings.lost.len(),
            observations.failure_count(),
            idle.open_max.load(Ordering::Relaxed),
            lives.memory_mb(),
        );
    }
}
