//! One round: a fresh server, its memory with a number of readers, then events as fast as the
//! readers take them.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::servers::Running;
use crate::swarm::Swarm;

/// Long enough for every buffer to have its size.
const WARM_UP: Duration = Duration::from_millis(700);
/// The pause before memory is measured.
const REST: Duration = Duration::from_millis(1_000);
/// Heartbeats and status events are shorter than any candle.
const EVENT_BYTES_MIN: usize = 150;
/// After this time without an event, the missing events count as left out.
const STILL: Duration = Duration::from_millis(500);
const SETTLE_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Plan<'a> {
    pub(crate) readers: usize,
    pub(crate) ahead: u64,
    pub(crate) length: Duration,
    /// The first message of a reader.
    pub(crate) hello: Option<&'a str>,
}

/// The result of a round.
pub(crate) struct Round {
    pub(crate) per_second: f64,
    pub(crate) cpu_us: f64,
    /// The share of the first processor that the server used, from 0 to 1.
    pub(crate) busy: f64,
    /// Bytes of memory of one more idle reader.
    pub(crate) idle: f64,
    /// Bytes per reader over the server without readers, before and after the events; this includes
    /// state that the first reader made the server build.
    pub(crate) whole: f64,
    pub(crate) after: f64,
    /// The share of events that were left out, of all that were addressed to a reader.
    pub(crate) left_out: f64,
    /// One of the events.
    pub(crate) event: String,
}

pub(crate) fn run(mut server: Running, plan: &Plan<'_>) -> Outcome<Round> {
    let mut swarm = Swarm::new()?;
    rest(&mut swarm)?;
    let none = server.memory()?;
    let half = plan.readers / 2;
    swarm.grow(server.address, half, plan.hello)?;
    rest(&mut swarm)?;
    let some = server.memory()?;
    swarm.grow(server.address, plan.readers, plan.hello)?;
    rest(&mut swarm)?;
    let all = server.memory()?;
    let mut flow = Flow::new(plan, &swarm);
    flow.run(&mut server, &mut swarm, WARM_UP)?;
    let (cpu, taken, started) = (server.cpu()?, flow.taken, Instant::now());
    flow.run(&mut server, &mut swarm, plan.length)?;
    let (cpu, taken, elapsed) = (server.cpu()? - cpu, flow.taken - taken, started.elapsed());
    flow.drain(&mut swarm)?;
    rest(&mut swarm)?;
    let meant = flow.sent * flow.readers;
    Ok(Round {
        per_second: number(taken) / elapsed.as_secs_f64(),
        cpu_us: cpu * 1e6 / number(taken),
        busy: cpu / elapsed.as_secs_f64(),
        idle: (all - some) / number((plan.readers - half) as u64),
        whole: (all - none) / number(flow.readers),
        after: (server.memory()? - none) / number(flow.readers),
        left_out: number(meant.saturating_sub(flow.taken)) / number(meant),
        event: flow.event,
    })
}

fn rest(swarm: &mut Swarm) -> Outcome<()> {
    let until = Instant::now() + REST;
    while Instant::now() < until {
        swarm.read(Duration::from_millis(10), |_, _| {})?;
    }
    Ok(())
}

/// Events from the source to the readers. The source is always a little ahead of the average
/// reader, so that no reader waits for it and nothing has to be left out.
struct Flow {
    readers: u64,
    ahead: u64,
    sent: u64,
    taken: u64,
    /// Events per reader that will not arrive, as far as known.
    missed: u64,
    event: String,
}

impl Flow {
    fn new(plan: &Plan<'_>, swarm: &Swarm) -> Self {
        let readers = swarm.len() as u64;
        Self { readers, ahead: plan.ahead, sent: 0, taken: 0, missed: 0, event: String::new() }
    }

    fn run(&mut self, server: &mut Running, swarm: &mut Swarm, length: Duration) -> Outcome<()> {
        let (started, mut moved) = (Instant::now(), Instant::now());
        while started.elapsed() < length {
            let allowed = self.taken / self.readers + self.missed + self.ahead;
            if allowed > self.sent {
                server.feed(allowed - self.sent)?;
                self.sent = allowed;
            }
            let before = self.taken;
            self.read(swarm, Duration::from_millis(1))?;
            if self.taken > before {
                moved = Instant::now();
            } else if moved.elapsed() > STILL {
                self.missed = self.sent - self.taken / self.readers;
            }
        }
        Ok(())
    }

    fn read(&mut self, swarm: &mut Swarm, timeout: Duration) -> Outcome<()> {
        let mut last = None;
        let mut taken = 0;
        swarm.read(timeout, |_, payload| {
            if payload.len() >= EVENT_BYTES_MIN {
                taken += 1;
                if self.event.is_empty() && last.is_none() {
                    last = Some(String::from_utf8_lossy(payload).into_owned());
                }
            }
        })?;
        self.taken += taken;
        if let Some(event) = last {
            self.event = event;
        }
        Ok(())
    }

    fn drain(&mut self, swarm: &mut Swarm) -> Outcome<()> {
        let (started, mut moved) = (Instant::now(), Instant::now());
        while moved.elapsed() < STILL && started.elapsed() < SETTLE_TIMEOUT {
            let before = self.taken;
            self.read(swarm, Duration::from_millis(10))?;
            if self.taken > before {
                moved = Instant::now();
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of events are far below 2^52")]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}
