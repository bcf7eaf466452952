//! The bar store on both engines, against the simplest model of it: a sorted map.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use clock::{Millis, TimeRange};
use market::{
    Bar, BarArchive as _, BarBatch, BarSeries, Decimal, Interval, PageRequest, Symbol, Venue,
};
use market_bars::{BarColumns, BarStore, MIGRATIONS, PackedBatch};
use store::{Db, sql};
use testkit::{TestRng, on_every_engine};

const MINUTE: i64 = 60_000;

fn series(code: &str) -> BarSeries {
    let symbol = Symbol { venue: Venue::Binance, code: code.to_owned() };
    BarSeries { source: "test".to_owned(), symbol, interval: Interval::M1 }
}

/// A bar whose numbers contain the minute and the generation it was written in.
fn bar(minute: i64, generation: i64) -> Bar {
    let price = |by: i64| Decimal::from_parts(i128::from(minute * 100 + by), 2).unwrap();
    Bar {
        open_time: Millis(minute * MINUTE),
        open: price(generation),
        high: price(90),
        low: price(-5),
        close: price(7),
        volume: (minute % 3 != 0)
            .then(|| Decimal::from_parts(10_i128.pow(24) + i128::from(minute), 8).unwrap()),
    }
}

fn minutes(from: i64, to: i64) -> TimeRange {
    TimeRange::new(Millis(from * MINUTE), Millis(to * MINUTE))
}

fn batch(bars: Vec<Bar>, covered: TimeRange) -> BarBatch {
    BarBatch { bars, covered, received_at: Millis(5) }
}

async fn new_store(db: &Db) -> BarStore {
    db.migrate(&[MIGRATIONS]).await.unwrap();
    BarStore::new(db.clone())
}

/// Everything in the span, in pages of `size`, each page checked against the same total.
async fn read_in_pages(
    store: &BarStore,
    series: &[BarSeries],
    range: TimeRange,
    size: usize,
) -> Vec<(usize, Bar)> {
    let mut all = Vec::new();
    loop {
        let request = PageRequest { series, range, offset: all.len() as u64, limit: size };
        let page = store.page(&request).await.unwrap();
        assert_eq!(page.totals.iter().sum::<u64>(), page.total);
        let before = all.len();
        all.extend(page.bars);
        if all.len() == before {
            assert_eq!(all.len() as u64, page.total);
            return all;
        }
    }
}

fn debug_texts(bars: &[(usize, Bar)]) -> Vec<String> {
    bars.iter().map(|bar| format!("{bar:?}")).collect()
}

/// Appends random batches (long, short, overlapping, with gaps, in any order) and checks after each
/// that the store has the same bars as the map.
async fn check_random(db: &Db, seed: u64) {
    let store = new_store(db).await;
    let series = [series(&format!("S{seed}"))];
    let mut rng = TestRng::new(seed);
    let mut below = |limit: u64| rng.below(limit).cast_signed();
    let mut model: BTreeMap<i64, Bar> = BTreeMap::new();
    for generation in 0..25 {
        let length = [1, 3, 40, 700, 1024, 3000][below(6) as usize];
        let from = below(9000);
        let stride = 1 + below(2) * below(3);
        let bars: Vec<Bar> =
            (0..length).map(|at| bar(from + at * stride, generation % 50)).collect();
        for bar in &bars {
            model.insert(bar.open_time.0, *bar);
        }
        store.append(&series[0], &batch(bars, minutes(from, from))).await.unwrap();
        let (from, to) = (below(10_000), below(20_000));
        let range = minutes(from, to.max(from + 1));
        let expected: Vec<(usize, Bar)> =
            model.range(range.from.0..range.to.0).map(|(_, bar)| (0, *bar)).collect();
        let size = [1000, 777, 4096][below(3) as usize];
        assert_eq!(
            debug_texts(&read_in_pages(&store, &series, range, size).await),
            debug_texts(&expected),
            "seed {seed}, batch {generation}"
        );
        // A store with empty caches returns the same page.
        let cold = BarStore::new(db.clone());
        let request = PageRequest { series: &series, range, offset: 5, limit: 10 };
        assert_eq!(cold.page(&request).await.unwrap(), store.page(&request).await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_batches_in_any_order_make_the_same_archive() {
    on_every_engine(async |db| {
        for seed in 1..6 {
            check_random(db, seed).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn appending_in_pieces_gives_the_same_bars_as_at_once() {
    on_every_engine(async |db| {
        let store = new_store(db).await;
        let bars: Vec<Bar> = (0..5000).map(|minute| bar(minute, 1)).collect();
        let names: Vec<BarSeries> =
            [0, 1, 60, 999, 1024, 2500].map(|size| series(&format!("P{size}"))).to_vec();
        for (series, size) in names.iter().zip([5000_usize, 1, 60, 999, 1024, 2500]) {
            let pieces: Vec<_> = if size == 1 {
                bars[..1500].chunks(1).collect()
            } else {
                bars.chunks(size).collect()
            };
            for piece in pieces {
                let covered = TimeRange::new(
                    piece[0].open_time,
                    Millis(piece[piece.len() - 1].open_time.0 + MINUTE),
                );
                store.append(series, &batch(piece.to_vec(), covered)).await.unwrap();
            }
            let kept =
                read_in_pages(&store, std::slice::from_ref(series), minutes(0, 9999), 4000).await;
            let kept: Vec<Bar> = kept.into_iter().map(|(_, bar)| bar).collect();
            assert_eq!(kept, bars[..kept.len()]);
            assert_eq!(kept.len(), if size == 1 { 1500 } else { 5000 });
            assert_eq!(store.missing(series, minutes(0, kept.len() as i64)).await.unwrap(), []);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_run_across_series_in_the_order_of_the_request() {
    on_every_engine(async |db| {
        let store = new_store(db).await;
        let all: Vec<BarSeries> = ["B", "NONE", "A", "C"].map(series).to_vec();
        let mut expected = Vec::new();
        for (at, (series, count)) in all.iter().zip([1500_i64, 0, 3, 2600]).enumerate() {
            if count == 0 {
                continue;
            }
            let bars: Vec<Bar> = (0..count).map(|minute| bar(minute * 2, 0)).collect();
            store.append(series, &batch(bars.clone(), minutes(0, 1))).await.unwrap();
            expected.extend(bars.into_iter().map(|bar| (at, bar)));
        }
        let got = read_in_pages(&store, &all, minutes(0, 100_000), 500).await;
        assert_eq!(debug_texts(&got), debug_texts(&expected));
        let request = PageRequest { series: &all, range: minutes(0, 6), offset: 4, limit: 3 };
        let page = store.page(&request).await.unwrap();
        assert_eq!((page.total, page.totals), (9, vec![3, 0, 3, 3]));
        assert_eq!(
            debug_texts(&page.bars),
            debug_texts(&[(2, bar(2, 0)), (2, bar(4, 0)), (3, bar(0, 0))])
        );
        let beyond = PageRequest { offset: 9, ..request };
        assert_eq!(store.page(&beyond).await.unwrap().bars, []);
        let empty = PageRequest { range: minutes(5, 5), ..request };
        assert_eq!(store.page(&empty).await.unwrap().total, 0);
        let huge = PageRequest { limit: 1_000_000, ..request };
        assert_eq!(store.page(&huge).await.unwrap_err().code(), "page_too_large");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn complete_ranges_are_stored() {
    on_every_engine(async |db| {
        let store = new_store(db).await;
        let series = series("A");
        let whole = minutes(0, 100);
        assert_eq!(store.missing(&series, whole).await.unwrap(), [whole]);
        assert_eq!(store.received_at(std::slice::from_ref(&series)).await.unwrap(), [None]);
        for (from, to) in [(10, 20), (30, 40), (20, 25), (35, 60)] {
            store.append(&series, &batch(vec![], minutes(from, to))).await.unwrap();
        }
        assert_eq!(
            store.missing(&series, whole).await.unwrap(),
            [minutes(0, 10), minutes(25, 30), minutes(60, 100)]
        );
        store.append(&series, &batch(vec![bar(27, 0)], minutes(25, 30))).await.unwrap();
        assert_eq!(store.missing(&series, minutes(10, 60)).await.unwrap(), []);
        let spans = db.fetch_all(sql("SELECT COUNT(*) FROM bar_span")).await.unwrap();
        assert_eq!(spans[0].count(0).unwrap(), 1);
        assert_eq!(
            store.received_at(std::slice::from_ref(&series)).await.unwrap(),
            [Some(Millis(5))]
        );
        assert_eq!(store.codes("test").await.unwrap(), ["A"]);
        assert_eq!(store.codes("other").await.unwrap(), [] as [&str; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writing_the_same_again_changes_nothing() {
    on_every_engine(async |db| {
        let store = new_store(db).await;
        let bars: Vec<Bar> = (0..3000).map(|minute| bar(minute, 1)).collect();
        let packed = PackedBatch::new(
            series("A"),
            BarColumns::from_bars(&bars),
            minutes(0, 3000),
            Millis(1),
        )
        .unwrap();
        let chunks = async || {
            let rows = db.fetch_all(sql("SELECT id FROM bar_chunk ORDER BY id")).await.unwrap();
            rows.iter().map(|row| row.int(0).unwrap()).collect::<Vec<_>>()
        };
        store
            .append_packed(std::slice::from_ref(&packed.clone().with_currency("EUR")))
            .await
            .unwrap();
        let before = chunks().await;
        store.append_packed(&[packed.clone(), packed]).await.unwrap();
        assert_eq!(chunks().await, before);
        assert_eq!(read_in_pages(&store, &[series("A")], minutes(0, 9999), 2000).await.len(), 3000);
        assert_eq!(store.currency(&series("A")).await.unwrap().as_deref(), Some("EUR"));
        assert_eq!(store.currency(&series("B")).await.unwrap(), None);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writers_of_one_series_lose_no_bar() {
    on_every_engine(async |db| {
        let stores = [new_store(db).await, new_store(db).await, new_store(db).await];
        let series = series("A");
        let write = async |store: &BarStore, start: i64| {
            for at in 0..30 {
                let from = (at * 3 + start) * 100;
                let bars = (from..from + 150).map(|minute| bar(minute, 1)).collect();
                store.append(&series, &batch(bars, minutes(from, from + 150))).await.unwrap();
            }
        };
        tokio::join!(write(&stores[0], 0), write(&stores[1], 1), write(&stores[2], 2));
        let got =
            read_in_pages(&stores[0], std::slice::from_ref(&series), minutes(0, 99_999), 5000)
                .await;
        let expected: Vec<_> = (0..9050).map(|minute| (0, bar(minute, 1))).collect();
        assert_eq!(debug_texts(&got), debug_texts(&expected));
        assert_eq!(stores[1].missing(&series, minutes(0, 9050)).await.unwrap(), []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_chunk_is_a_fault() {
    on_every_engine(async |db| {
        let store = new_store(db).await;
        let bars: Vec<Bar> = (0..2000).map(|minute| bar(minute, 1)).collect();
        store.append(&series("A"), &batch(bars, minutes(0, 2000))).await.unwrap();
        db.execute(sql("UPDATE bar_chunk SET data = $1").bind(vec![1_u8; 900])).await.unwrap();
        let request =
            PageRequest { series: &[series("A")], range: minutes(0, 2000), offset: 0, limit: 5 };
        let fault = store.page(&request).await.unwrap_err();
        assert_eq!(fault.kind(), fault::Kind::Internal);
        let again = batch(vec![bar(5, 2)], minutes(5, 6));
        assert!(store.append(&series("A"), &again).await.is_err());
    })
    .await;
}
