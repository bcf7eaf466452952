//! Random but repeatable faults: hundreds of disconnects, no candle lost.

use testkit::TestRng;

use super::*;

fn random_fault(rng: &mut TestRng) -> InjectedFault {
    let klines = Endpoint::Klines.path();
    match rng.below(27) {
        0..=13 => InjectedFault::new(FaultKind::WsDrop, 1 + rng.below(8) as u32),
        14 => InjectedFault::new(FaultKind::WsShutdown, 1),
        15 => InjectedFault::new(FaultKind::WsStall, 1),
        16 => InjectedFault::new(FaultKind::WsMissingClose, 1 + rng.below(3) as u32),
        17 => InjectedFault::new(FaultKind::WsLateClose, 1).delay_ms(rng.below(200_000)),
        18 => InjectedFault::new(FaultKind::WsDuplicate, 1 + rng.below(20) as u32),
        19 => InjectedFault::new(FaultKind::WsReorder, 1 + rng.below(20) as u32),
        20 => {
            let times = 1 + rng.below(5) as u32;
            InjectedFault::new(FaultKind::RestLag, times).delay_ms(rng.below(200_000))
        }
        21 => InjectedFault::new(FaultKind::Status500, 1 + rng.below(3) as u32).on(klines),
        22 => InjectedFault::new(FaultKind::ShuffledRows, 1).on(klines),
        23 => InjectedFault::new(FaultKind::MissingRows, 1 + rng.below(2) as u32).on(klines),
        24 => InjectedFault::new(FaultKind::Truncated, 1).on(klines),
        _ => InjectedFault::new(FaultKind::WsRefused, 1 + rng.below(10) as u32),
    }
}

/// Follows these series until `opened` connections were opened, and compares them with the history.
async fn soak(series: &[(&str, Interval)], per_connection: usize, opened: u64) {
    let change = |config: &mut BinanceConfig| {
        config.streams.streams_per_connection = per_connection;
        config.streams.silence_max = Duration::from_secs(72);
        config.streams.backoff_max = Duration::from_secs(3);
    };
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    let mut readers = JoinSet::new();
    let stop = CancellationToken::new();
    for (code, interval) in series {
        let mut reader = fixture.follow(code, *interval).await;
        let stop = stop.clone();
        readers.spawn(async move {
            while !stop.is_cancelled() {
                reader.read(1).await;
            }
            reader
        });
    }
    let mut rng = TestRng::new(20_261_115);
    let connections = series.len().div_ceil(per_connection) as u32;
    let began = Instant::now();
    while fixture.sim.stream_counts().opened < opened {
        assert!(began.elapsed() < Duration::from_hours(48), "{:?}", fixture.sim.stream_counts());
        // Only a few kinds wait at a time, so that they mix.
        if fixture.sim.faults().list().len() < 8 {
            fixture.inject(random_fault(&mut rng));
        }
        // Some kinds wait for closings and gaps; drops strike at once.
        if fixture.sim.faults().list().len() < 50 {
            fixture.inject(InjectedFault::new(FaultKind::WsDrop, connections.div_ceil(2)));
        }
        tokio::time::sleep(Duration::from_secs(9)).await;
    }
    fixture.sim.faults().clear();
    tokio::time::sleep(Duration::from_mins(3)).await;
    stop.cancel();
    let (mut closed, mut gaps) = (0, 0);
    while let Some(reader) = readers.join_next().await {
        let reader = reader.unwrap();
        fixture.check(&reader).await;
        closed += reader.closed.len();
        gaps += reader.count(is_gap);
    }
    println!("{:?}, {closed} closed candles, {gaps} gaps filled", fixture.sim.stream_counts());
    assert!(closed >= series.len() * 5, "only {closed} closed candles");
}

#[tokio::test(start_paused = true)]
async fn no_candle_is_lost_duplicated_or_reordered() {
    let series = [
        ("BTCUSDT", Interval::M1),
        ("BTCUSDT", Interval::M1),
        ("ETHUSDT", Interval::M1),
        ("SOLUSDT", Interval::M1),
        ("OBOLBNB", Interval::M1),
    ];
    soak(&series, 2, 300).await;
}
