//! The latency of single candles: from the write of the exchange's frame to Stoa's socket until
//! each reader has the event.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::relay::{Candle, Relay};
use crate::servers::Running;
use crate::swarm::Swarm;

/// The time until all readers have subscribed and the first candles have passed.
const SETTLE: Duration = Duration::from_secs(3);

pub(crate) struct Latency {
    pub(crate) candles: usize,
    /// Of every delivery, ascending.
    each: Vec<Duration>,
    /// Until the last reader had a candle, ascending.
    last: Vec<Duration>,
}

pub(crate) fn measure(
    server: &Running,
    relay: &Relay,
    readers: usize,
    hello: &str,
    length: Duration,
) -> Outcome<Latency> {
    let mut swarm = Swarm::new()?;
    swarm.grow(server.address, readers, Some(hello))?;
    let mut arrived: HashMap<Candle, Vec<Instant>> = HashMap::new();
    let started = Instant::now();
    let until = started + SETTLE + length;
    while Instant::now() < until {
        swarm.read(Duration::from_millis(50), |_, payload| {
            if let Some(candle) = read(payload) {
                arrived.entry(candle).or_default().push(Instant::now());
            }
        })?;
    }
    let counted = started + SETTLE..until.checked_sub(Duration::from_secs(1)).unwrap_or(until);
    let mut sent: HashMap<Candle, Vec<Instant>> = HashMap::new();
    for (candle, at) in relay.take_seen() {
        sent.entry(candle).or_default().push(at);
    }
    let (mut candles, mut each, mut last) = (0, Vec::new(), Vec::new());
    for (candle, sent) in sent {
        // Two forming states of the same candle cannot be distinguished.
        let &[sent] = &*sent else { continue };
        if !counted.contains(&sent) {
            continue;
        }
        let arrivals = arrived.get(&candle).map_or(&[][..], |all| all);
        if arrivals.len() != readers {
            let (got, (open, _)) = (arrivals.len(), candle);
            return Err(format!("{got} of {readers} got the candle of {open}").into());
        }
        candles += 1;
        let ways = arrivals.iter().map(|at| at.saturating_duration_since(sent));
        last.extend(ways.clone().max());
        each.extend(ways);
    }
    each.sort_unstable();
    last.sort_unstable();
    Ok(Latency { candles, each, last })
}

impl Latency {
    pub(crate) fn print(&self, readers: usize) {
        println!("\nfrom the exchange's frame to {readers} subscribers, {} candles", self.candles);
        println!("{:<32} {:>9} {:>9} {:>9}", "", "p50 ms", "p99 ms", "most ms");
        for (name, all) in [("every delivery", &self.each), ("the last of each candle", &self.last)]
        {
            let share = |percent: usize| {
                let at = (all.len() * percent / 100).min(all.len().saturating_sub(1));
                all.get(at).map_or(0.0, Duration::as_secs_f64) * 1e3
            };
            println!("{name:<32} {:>9.2} {:>9.2} {:>9.2}", share(50), share(99), share(100));
        }
    }
}

/// The opening time of the candle in an event and whether it is closed, without parsing the rest.
fn read(payload: &[u8]) -> Option<Candle> {
    let after = |mark: &[u8]| {
        let at = payload.windows(mark.len()).position(|it| it == mark)?;
        payload.get(at + mark.len()..)
    };
    let digits = after(b"\"t\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    let open = std::str::from_utf8(&digits[..end]).ok()?.parse().ok()?;
    Some((open, after(b"\"closed\":")?.starts_with(b"true")))
}
