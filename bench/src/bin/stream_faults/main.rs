//! 10,000 forced disconnects and all other stream faults, end to end: no closed candle may be lost,
//! duplicated, out of order or different. `bench/README.md` explains the output.
#![allow(clippy::print_stdout, reason = "the program prints its result")]

mod faults;
mod reader;
mod stack;

use std::process::ExitCode;
use std::time::Duration;

use clock::{Millis, TimeRange};
use market::{BarSource as _, Interval};
use market_sim::{FaultKind, InjectedFault};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use bench::delivery::{ClosedCandle, DeliveryTally};
pub(crate) use bench::outcome::Outcome;
use bench::outcome::exit_code;
use faults::random_fault;
use reader::Reader;
use stack::BenchStack;
use testkit::TestRng;

const CODES: [&str; 7] =
    ["BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "ADAUSDT", "DOGEUSDT", "BNBUSDT"];
/// Subscribers of each series.
const EACH: u64 = 3;
const DISCONNECTS: u64 = 10_000;
const TIMEOUT: Duration = Duration::from_mins(10);
const SEED: u64 = 20_261_115;

#[tokio::main]
async fn main() -> ExitCode {
    exit_code(run().await)
}

async fn run() -> Outcome<bool> {
    let wanted = match std::env::args().nth(1) {
        Some(count) => count.parse().map_err(|_| "usage: stream_faults [DISCONNECTS]")?,
        None => DISCONNECTS,
    };
    let (stack, began) = (BenchStack::start().await?, Instant::now());
    let (mut readers, stop) = (JoinSet::new(), CancellationToken::new());
    let series = CODES.iter().flat_map(|code| [Interval::M1, Interval::M3].map(|it| (*code, it)));
    for (code, interval) in series {
        for _ in 0..EACH {
            let reader = Reader::new(code, interval, SEED + readers.len() as u64);
            readers.spawn(reader.run(stack.address, stop.clone()));
        }
    }
    disconnect(&stack, wanted).await?;
    stack.sim.faults().clear();
    let until = stack.clock.now();
    // Gives the last faults time to be repaired and the last candles time to arrive.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let counts = stack.sim.stream_counts();
    stop.cancel();
    let (mut tally, mut disconnects, mut gaps) = (DeliveryTally::default(), 0, 0);
    while let Some(reader) = readers.join_next().await {
        let reader = reader??;
        tally.add(&reader.closed, &history(&stack, &reader, until).await?);
        disconnects += reader.disconnects;
        gaps += reader.gaps;
    }
    let seconds = began.elapsed().as_secs();
    println!("forced disconnects by the exchange  {}", counts.opened - counts.connections);
    println!("hang-ups and resumes of subscribers {}", disconnects);
    println!("gaps filled from the record         {}", gaps);
    println!("closed candles delivered            {}", tally.candles);
    println!("lost                                {}", tally.lost);
    println!("duplicated                          {}", tally.duplicated);
    println!("out of order                        {}", tally.out_of_order);
    println!("different from the record           {}", tally.different);
    println!("\n{} in {seconds} s", if tally.is_clean() { "clean" } else { "NOT CLEAN" });
    Ok(tally.is_clean())
}

/// Injects faults until `wanted` connections have ended.
async fn disconnect(stack: &BenchStack, wanted: u64) -> Outcome<()> {
    let (mut rng, began) = (TestRng::new(SEED), Instant::now());
    let ended = || {
        let counts = stack.sim.stream_counts();
        counts.opened.saturating_sub(counts.connections)
    };
    while ended() < wanted {
        if began.elapsed() > TIMEOUT {
            return Err(format!("only {} disconnects in {TIMEOUT:?}", ended()).into());
        }
        // Only a few kinds wait at a time, so that they mix.
        if stack.sim.faults().list().len() < 8 {
            stack.sim.faults().add(random_fault(&mut rng))?;
        }
        // Some kinds wait for closings and gaps; drops strike at once.
        stack.sim.faults().add(InjectedFault::new(FaultKind::WsDrop, CODES.len() as u32))?;
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    Ok(())
}

/// The exchange's history from the subscriber's first candle to its last, at least up to the last that
/// closed before `until`.
async fn history(stack: &BenchStack, reader: &Reader, until: Millis) -> Outcome<Vec<ClosedCandle>> {
    let opens = || reader.closed.iter().map(|it| Millis(it.open));
    let (Some(first), Some(last)) = (opens().min(), opens().max()) else {
        return Err(format!("{} {:?}: nothing came", reader.code, reader.interval).into());
    };
    let interval = reader.interval;
    let span = TimeRange::new(first, interval.next_open(last).max(interval.open_of(until)));
    loop {
        let record = stack.binance.bars(reader.code, interval, span).await?;
        if record.covered == span {
            return Ok(record.bars.iter().map(ClosedCandle::of).collect());
        }
        // The newest row is not final for a moment.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
