//! Everything at once, at random but repeatably: hundreds of disconnects, no candle lost.

use super::*;

/// The same sequence for the same start.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn trouble(&mut self) -> Trouble {
        let klines = Served::Klines.path();
        match self.roll(27) {
            0..=13 => Trouble::new(FaultKind::WsDrop, 1 + self.roll(8) as u32),
            14 => Trouble::new(FaultKind::WsShutdown, 1),
            15 => Trouble::new(FaultKind::WsStall, 1),
            16 => Trouble::new(FaultKind::WsMissingClose, 1 + self.roll(3) as u32),
            17 => Trouble::new(FaultKind::WsLateClose, 1).delay_ms(self.roll(200_000)),
            18 => Trouble::new(FaultKind::WsDuplicate, 1 + self.roll(20) as u32),
            19 => Trouble::new(FaultKind::WsReorder, 1 + self.roll(20) as u32),
            20 => {
                let times = 1 + self.roll(5) as u32;
                Trouble::new(FaultKind::RestLag, times).delay_ms(self.roll(200_000))
            }
            21 => Trouble::new(FaultKind::Status500, 1 + self.roll(3) as u32).on(klines),
            22 => Trouble::new(FaultKind::ShuffledRows, 1).on(klines),
            23 => Trouble::new(FaultKind::MissingRows, 1 + self.roll(2) as u32).on(klines),
            24 => Trouble::new(FaultKind::Truncated, 1).on(klines),
            _ => Trouble::new(FaultKind::WsRefused, 1 + self.roll(10) as u32),
        }
    }
}

/// Follows these through random trouble until enough connections were opened, and compares.
async fn soak(series: &[(&str, Interval)], per_connection: usize, opened: u64) {
    let change = |config: &mut BinanceConfig| {
        config.streams.streams_per_connection = per_connection;
        config.streams.silence_max = Duration::from_millis(120);
        config.streams.backoff_max = Duration::from_millis(5);
    };
    let live = live_with(start(), |_| {}, change).await;
    let mut readers = JoinSet::new();
    let stop = CancellationToken::new();
    for (code, interval) in series {
        let mut reader = live.follow(code, *interval).await;
        let stop = stop.clone();
        readers.spawn(async move {
            while !stop.is_cancelled() {
                reader.read(1).await;
            }
            reader
        });
    }
    let mut dice = Dice(20_261_115);
    let connections = series.len().div_ceil(per_connection) as u32;
    let began = Instant::now();
    while live.sim.stream_counts().opened < opened {
        assert!(began.elapsed() < Duration::from_mins(5), "{:?}", live.sim.stream_counts());
        // Only a few at a time, so that they mix as they are rolled.
        if live.sim.faults().list().len() < 8 {
            live.trouble(dice.trouble());
        }
        // The others wait for closings and gaps; drops need not.
        if live.sim.faults().list().len() < 50 {
            live.trouble(Trouble::new(FaultKind::WsDrop, connections.div_ceil(2)));
        }
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    live.sim.faults().clear();
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.cancel();
    let (mut closed, mut gaps) = (0, 0);
    while let Some(reader) = readers.join_next().await {
        let reader = reader.unwrap();
        live.check(&reader).await;
        closed += reader.closed.len();
        gaps += reader.count(is_gap);
    }
    println!("{:?}, {closed} closed candles, {gaps} gaps filled", live.sim.stream_counts());
    assert!(closed >= series.len() * 5, "only {closed} closed candles");
}

#[tokio::test]
async fn no_candle_is_lost_doubled_or_misplaced_whatever_happens() {
    let series = [
        ("BTCUSDT", Interval::M1),
        ("BTCUSDT", Interval::M1),
        ("ETHUSDT", Interval::M1),
        ("SOLUSDT", Interval::M1),
        ("OBOLBNB", Interval::M1),
    ];
    soak(&series, 2, 300).await;
}
