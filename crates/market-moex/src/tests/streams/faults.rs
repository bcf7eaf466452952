//! Faults of the exchange during a subscription: no closed candle is lost.

use testkit::TestRng;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_failure_is_reported_and_missed_candles_come_in_order() {
    for (kind, away) in [
        (FaultKind::Status500, Duration::from_mins(10)),
        (FaultKind::Drop, Duration::from_mins(3)),
        (FaultKind::Html, Duration::from_mins(10)),
        (FaultKind::ErrorRows, Duration::from_mins(90)),
        (FaultKind::Status429, Duration::from_mins(10)),
        // More than one page, across a night.
        (FaultKind::Status503, Duration::from_hours(23)),
    ] {
        let fixture = live().await;
        let mut reader = fixture.follow("SBER", Interval::M1).await;
        reader.read_until(is_forming).await;
        fixture.clock.advance(Duration::from_mins(2));
        reader.read(2).await;
        fixture.inject(InjectedFault::new(kind, 1_000).on(CANDLES));
        reader.read_until(is_down).await;
        fixture.clock.advance(away);
        fixture.sim.faults().clear();
        let last = reader.closed.last().unwrap().open_time;
        let gap = reader.read_until(is_gap).await;
        let KlineEvent::GapFilled(span) = *gap else { panic!("{gap:?}") };
        let last_closed = reader.closed.last().unwrap().open_time;
        assert!(span.from > last && span.to == Millis(last_closed.0 + 60_000), "{kind:?} {span:?}");
        // The series continues as before.
        reader.read_until(is_forming).await;
        fixture.clock.advance(Duration::from_mins(2));
        reader.read(1).await;
        fixture.check(&reader).await;
        assert_eq!(reader.closed[0].open_time, moscow("2026-11-11T12:05:00"));
        assert_eq!(reader.count(is_down), 1, "{kind:?}");
        assert_eq!(reader.count(|it| *it == KlineEvent::Connected), 2, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_connected_only_after_its_gap_is_filled() {
    let fixture = live().await;
    let mut reader = fixture.follow("SBER", Interval::M1).await;
    reader.read_until(is_forming).await;
    fixture.inject(InjectedFault::new(FaultKind::Status503, 1_000).on(CANDLES));
    reader.read_until(is_down).await;
    // More candles than one page has.
    fixture.clock.advance(Duration::from_hours(23));
    fixture.sim.faults().clear();
    let mut order = Vec::new();
    loop {
        let kind = match *reader.next().await.unwrap() {
            KlineEvent::Candle { kline, .. } if kline.closed => "candles",
            KlineEvent::Candle { .. } => break,
            KlineEvent::GapFilled(_) => "gap_filled",
            KlineEvent::Connected => "connected",
            ref other => panic!("{other:?}"),
        };
        if order.last() != Some(&kind) {
            order.push(kind);
        }
    }
    assert_eq!(order, ["candles", "gap_filled", "candles", "gap_filled", "connected"]);
    fixture.check(&reader).await;
}

#[tokio::test(start_paused = true)]
async fn a_failure_before_the_first_poll_is_reported() {
    let fixture = live().await;
    fixture.moex.securities().await.unwrap();
    fixture.inject(InjectedFault::new(FaultKind::Status500, 1_000).on(CANDLES));
    let mut reader = fixture.follow("SBER", Interval::M1).await;
    assert_eq!(*reader.next().await.unwrap(), KlineEvent::Reconnecting);
    fixture.sim.faults().clear();
    fixture.clock.advance(Duration::from_mins(2));
    reader.read(2).await;
    reader.read_until(is_forming).await;
    assert_eq!(reader.statuses, [KlineEvent::Reconnecting, KlineEvent::Connected]);
    fixture.check(&reader).await;
}

#[tokio::test(start_paused = true)]
async fn a_gap_is_reported_after_the_machine_was_suspended() {
    let fixture = live().await;
    let mut reader = fixture.follow("SBER", Interval::M1).await;
    reader.read_until(is_forming).await;
    fixture.clock.advance(Duration::from_mins(30));
    reader.read_until(is_gap).await;
    assert!(reader.closed.len() >= 29);
    assert_eq!(reader.count(is_down), 0);
    fixture.check(&reader).await;
}

#[tokio::test(start_paused = true)]
async fn rows_lost_by_a_response_are_requested_again() {
    for interval in [Interval::M1, Interval::M5] {
        for kind in [FaultKind::MissingRows, FaultKind::EmptyBlocks, FaultKind::ShuffledRows] {
            let fixture = live().await;
            let mut reader = fixture.follow("SBER", interval).await;
            for step in [1, 1, 2, 5, 10, 1, 40] {
                reader.read_until(is_forming).await;
                fixture.inject(InjectedFault::new(kind, 1).on(CANDLES));
                fixture.clock.advance(Duration::from_mins(step));
            }
            reader.read_to(moscow("2026-11-11T13:05:00")).await;
            assert_eq!(reader.closed[0].open_time, moscow("2026-11-11T12:05:00"), "{kind:?}");
            fixture.check(&reader).await;
        }
    }
}

fn random_fault(rng: &mut TestRng) -> InjectedFault {
    let kind = match rng.below(9) {
        0 => FaultKind::Status500,
        1 => FaultKind::Status503,
        2 => FaultKind::Drop,
        3 => FaultKind::Html,
        4 => FaultKind::Truncated,
        5 => FaultKind::ErrorRows,
        6 => FaultKind::DuplicateRows,
        7 => FaultKind::MalformedRows,
        _ => return InjectedFault::new(FaultKind::MissingRows, 1).on(CANDLES),
    };
    InjectedFault::new(kind, 1 + rng.below(9) as u32).on(CANDLES)
}

#[tokio::test(start_paused = true)]
async fn no_candle_is_lost_in_hours_of_faults() {
    let fixture = live_at("2026-11-11T09:30:00", |_| {}).await;
    let mut readers = Vec::new();
    for (code, interval) in [("SBER", Interval::M1), ("GAZP", Interval::M5)] {
        readers.push(fixture.follow(code, interval).await);
    }
    let mut rng = TestRng::new(20_261_116);
    while fixture.clock.now() < moscow("2026-11-11T14:00:00") {
        fixture.clock.advance(Duration::from_secs(10 + rng.below(400)));
        if rng.below(2) == 0 && fixture.sim.faults().list().is_empty() {
            fixture.inject(random_fault(&mut rng));
        }
        for reader in &mut readers {
            reader.drain().await;
        }
    }
    fixture.sim.faults().clear();
    fixture.clock.advance(Duration::from_mins(10));
    for reader in &mut readers {
        reader.read_to(moscow("2026-11-11T13:45:00")).await;
        assert!(reader.closed.len() >= 40, "{} {}", reader.code, reader.closed.len());
        fixture.check(reader).await;
    }
    let down: usize = readers.iter().map(|reader| reader.count(is_down)).sum();
    assert!(down >= 5, "only {down} failures were reported");
}
