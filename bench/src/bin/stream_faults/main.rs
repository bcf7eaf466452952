//! Ten thousand forced disconnects and everything else an exchange does wrong, end to end: no
//! closed candle may be lost, doubled, out of order or different. `bench/README.md` says how to
//! read it.
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

mod reader;
mod trouble;
mod world;

use std::collections::HashSet;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use exchange_sim::{Fault as Trouble, FaultKind};
use market::{BarSource as _, Interval, Millis, Span};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use reader::{Closed, Reader};
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

/// What came of all subscribers together.
#[derive(Default)]
struct Sum {
    candles: usize,
    hung_up: u64,
    gaps: u64,
    lost: usize,
    doubled: usize,
    misplaced: usize,
    different: usize,
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
    // Whatever broke last is mended, and candles close after it.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let counts = world.sim.streams();
    stop.cancel();
    let mut sum = Sum::default();
    while let Some(reader) = readers.join_next().await {
        sum.add(&world, &reader??).await?;
    }
    let seconds = began.elapsed().as_secs();
    println!("forced disconnects by the exchange  {}", counts.opened - counts.connections);
    println!("hang-ups and resumes of subscribers {}", sum.hung_up);
    println!("gaps filled from the record         {}", sum.gaps);
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
        let counts = world.sim.streams();
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

impl Sum {
    /// What the subscriber saw closed must be what the exchange's record holds from its first
    /// candle to its last.
    async fn add(&mut self, world: &World, reader: &Reader) -> Outcome<()> {
        let opens: HashSet<i64> = reader.closed.iter().map(|it| it.open).collect();
        let (Some(first), Some(last)) = (opens.iter().min(), opens.iter().max()) else {
            return Err(format!("{} {:?}: nothing came", reader.code, reader.interval).into());
        };
        let span = Span::new(Millis(*first), reader.interval.next_open(Millis(*last)));
        let record = loop {
            // What is known of the exchange's time is a little behind it, and time flies here.
            let record = world.binance.bars(reader.code, reader.interval, span).await?;
            if record.covered == span {
                break record.bars;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        };
        let record = record.iter().map(|bar| {
            let volume = bar.volume.map_or(0.0, |volume| volume.to_f64());
            let prices = [bar.open, bar.high, bar.low, bar.close].map(|price| price.to_f64());
            let [o, h, l, c] = prices;
            Closed { open: bar.open_time.0, numbers: [o, h, l, c, volume] }
        });
        let record: Vec<Closed> = record.collect();
        self.candles += reader.closed.len();
        self.hung_up += reader.hung_up;
        self.gaps += reader.gaps;
        self.lost += record.iter().filter(|it| !opens.contains(&it.open)).count();
        self.doubled += reader.closed.len() - opens.len();
        self.misplaced += reader.closed.windows(2).filter(|it| it[1].open < it[0].open).count();
        self.different += reader.closed.iter().filter(|it| !record.contains(it)).count();
        Ok(())
    }

    fn is_clean(&self) -> bool {
        self.lost + self.doubled + self.misplaced + self.different == 0
    }
}
