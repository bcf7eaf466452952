//! Ten thousand forced disconnects and everything else an exchange does wrong, end to end: no
//! closed candle may be lost, doubled, out of order or different. `bench/README.md` says how to
//! read it.
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

mod reader;
mod sum;
mod trouble;
mod world;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clock::{Millis, TimeRange};
use market::{BarSource as _, Interval};
use market_sim::{FaultKind, InjectedFault as Trouble};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use reader::Reader;
use sum::{Closed, Sum};
use trouble::Dice;
use world::World;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const CODES: [&str; 7] =
    ["BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "ADAUSDT", "DOGEUSDT", "BNBUSDT"];
/// Subscribers of each series.
const EACH: u64 = 3;
const DISCONNECTS: u64 = 10_000;
const PATIENCE: Duration = Duration::from_mins(10);
const SEED: u64 = 20_261_115;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("the fault run could not be done: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run() -> Outcome<bool> {
    let wanted = match std::env::args().nth(1) {
        Some(count) => count.parse().map_err(|_| "usage: stream_faults [DISCONNECTS]")?,
        None => DISCONNECTS,
    };
    let (world, began) = (World::begin().await?, Instant::now());
    let (mut readers, stop) = (JoinSet::new(), CancellationToken::new());
    let series = CODES.iter().flat_map(|code| [Interval::M1, Interval::M3].map(|it| (*code, it)));
    for (code, interval) in series {
        for _ in 0..EACH {
            let reader = Reader::new(code, interval, SEED + readers.len() as u64);
            readers.spawn(reader.run(world.address, stop.clone()));
        }
    }
    disconnect(&world, wanted).await?;
    world.sim.faults().clear();
    let until = world.clock.now();
    // Whatever broke last is mended, and what closed before has had the time to come.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let counts = world.sim.stream_counts();
    stop.cancel();
    let (mut sum, mut hung_up, mut gaps) = (Sum::default(), 0, 0);
    while let Some(reader) = readers.join_next().await {
        let reader = reader??;
        sum.add(&reader.closed, &record(&world, &reader, until).await?);
        hung_up += reader.hung_up;
        gaps += reader.gaps;
    }
    let seconds = began.elapsed().as_secs();
    println!("forced disconnects by the exchange  {}", counts.opened - counts.connections);
    println!("hang-ups and resumes of subscribers {}", hung_up);
    println!("gaps filled from the record         {}", gaps);
    println!("closed candles delivered            {}", sum.candles);
    println!("lost                                {}", sum.lost);
    println!("duplicated                          {}", sum.doubled);
    println!("out of order                        {}", sum.misplaced);
    println!("different from the record           {}", sum.different);
    println!("\n{} in {seconds} s", if sum.is_clean() { "clean" } else { "NOT CLEAN" });
    Ok(sum.is_clean())
}

/// Makes trouble until enough connections have been broken.
async fn disconnect(world: &World, wanted: u64) -> Outcome<()> {
    let (mut dice, began) = (Dice(SEED), Instant::now());
    let ended = || {
        let counts = world.sim.stream_counts();
        counts.opened.saturating_sub(counts.connections)
    };
    while ended() < wanted {
        if began.elapsed() > PATIENCE {
            return Err(format!("only {} disconnects in {PATIENCE:?}", ended()).into());
        }
        // Only a few at a time, so that they mix as they are rolled.
        if world.sim.faults().list().len() < 8 {
            world.sim.faults().add(dice.trouble())?;
        }
        // The others wait for closings and gaps; drops need not.
        world.sim.faults().add(Trouble::new(FaultKind::WsDrop, CODES.len() as u32))?;
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    Ok(())
}

/// Everything the exchange's record holds from the subscriber's first candle to its last, and to
/// the last that closed before `until` in any case.
async fn record(world: &World, reader: &Reader, until: Millis) -> Outcome<Vec<Closed>> {
    let opens = || reader.closed.iter().map(|it| Millis(it.open));
    let (Some(first), Some(last)) = (opens().min(), opens().max()) else {
        return Err(format!("{} {:?}: nothing came", reader.code, reader.interval).into());
    };
    let interval = reader.interval;
    let span = TimeRange::new(first, interval.next_open(last).max(interval.open_of(until)));
    loop {
        let record = world.binance.bars(reader.code, interval, span).await?;
        if record.covered == span {
            return Ok(record.bars.iter().map(Closed::of).collect());
        }
        // What is known of the exchange's time is a little behind it, and time flies here.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
