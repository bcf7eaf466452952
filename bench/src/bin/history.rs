//! The history benchmark: ten million bars of fifty tickers imported from CSV and paged, ours
//! beside DuckDB's import and beside OFFSET on plain SQLite rows.
//!
//! `cargo xtask bench history [BARS_PER_TICKER] [ROUNDS]`

#![expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use bench::outcome::{Outcome, exit_code};
use clock::{Millis, TimeRange};
use fault::Fault;
use market::{BarArchive as _, BarSeries, Interval, PageRequest, Symbol, Venue};
use market_bars::{BarStore, MIGRATIONS};
use market_files::{BadRowPolicy, FileFormat, ImportOptions, import_bars};
use store::{Db, StoreConfig, placeholders, sql, sql_built};
use testkit::TempFolder;

const TICKERS: usize = 50;
/// 2024-01-01T00:00:00Z.
const START_S: i64 = 1_704_067_200;
const PAGE: usize = 200;

#[tokio::main]
async fn main() -> ExitCode {
    exit_code(measure().await)
}

async fn measure() -> Outcome<bool> {
    let mut arguments = std::env::args().skip(1);
    let per_ticker: usize = arguments.next().map_or(Ok(200_000), |it| it.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(3), |it| it.parse())?;
    let folder = TempFolder::new();
    let csv = folder.path().join("bars.csv");
    write_csv(&csv, per_ticker)?;
    let bars = per_ticker * TICKERS;
    let megabytes = std::fs::metadata(&csv)?.len() / 1_000_000;
    println!("{bars} bars of {TICKERS} tickers, {megabytes} MB of CSV, best of {rounds} rounds\n");

    let python = duckdb_python();
    let data = folder.path().join("data");
    let (mut ours, mut typed, mut sniffed) = (Duration::MAX, None, None);
    for _ in 0..rounds {
        ours = ours.min(import_ours(&data, None, &csv, bars).await?);
        if let Some(python) = &python {
            better(&mut typed, duckdb(python, &csv, folder.path(), "typed")?);
            better(&mut sniffed, duckdb(python, &csv, folder.path(), "sniffed")?);
        }
    }
    let per_bar = |bytes: u64| bytes as f64 / bars as f64;
    let size = per_bar(sizes(&data)?);
    println!("| import of the CSV file | seconds | ours / theirs | bytes a bar |");
    println!("|---|---|---|---|");
    println!("| Stoa, SQLite | {:.2} | 1 | {size:.2} |", ours.as_secs_f64());
    let mut slowest = 0_f64;
    for (name, result) in [("DECIMAL columns", &typed), ("types it guesses", &sniffed)] {
        let Some((seconds, bytes, version)) = result else {
            return Err("DuckDB could not be installed".into());
        };
        let ratio = ours.as_secs_f64() / seconds;
        slowest = slowest.max(ratio);
        let bytes = per_bar(*bytes);
        println!("| DuckDB {version}, {name} | {seconds:.2} | {ratio:.2} | {bytes:.2} |");
    }
    let postgres = import_postgres(folder.path(), &csv, bars).await?;

    println!("\n| page of {PAGE}, total included | first | last | last / first |");
    println!("|---|---|---|---|");
    let db = Db::open(&StoreConfig::sqlite(&data)).await?;
    let (first, last) = pages("Stoa, SQLite", &db, per_ticker).await?;
    db.close().await;
    if let Some(db) = postgres {
        pages("Stoa, PostgreSQL (fsync off)", &db, per_ticker).await?;
        db.close().await;
    }
    let (_, by_offset) = plain_rows(&folder.path().join("plain"), per_ticker).await?;
    println!();
    let promises = [
        ("seconds to import, ours / DuckDB's better", slowest, 1.0),
        ("bytes a bar on disk", size, 8.0),
        ("last page / first page", ratio(last, first), 2.0),
        ("last page / the same by OFFSET on plain rows", ratio(last, by_offset), 0.1),
    ];
    for (what, found, most) in promises {
        let verdict = if found <= most { "kept" } else { "MISSED" };
        println!("{verdict}: {what}: {found:.4}, at most {most}");
    }
    Ok(promises.iter().all(|(_, found, most)| found <= most))
}

fn ratio(left: Duration, right: Duration) -> f64 {
    left.as_secs_f64() / right.as_secs_f64()
}

fn ms(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// A deterministic walk with two decimals, ticker after ticker, as exchanges publish it.
fn write_csv(path: &Path, per_ticker: usize) -> Outcome<()> {
    let mut out = std::io::BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    out.write_all(b"ticker,timestamp,open,high,low,close,volume\n")?;
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i64::try_from(state % below).unwrap_or_default()
    };
    for ticker in 0..TICKERS {
        let mut close = 10_000 + random(40_000);
        for at in 0..per_ticker {
            let open = (close + random(5) - 2).max(500);
            close = (open + random(41) - 20).max(500);
            let (high, low) = (open.max(close) + random(16), open.min(close) - random(16));
            let volume = random(100_000);
            let time = Millis((START_S + at as i64 * 60) * 1000);
            write!(out, "{},{time}", name(ticker))?;
            for cents in [open, high, low, close, volume] {
                write!(out, ",{}.{:02}", cents / 100, cents % 100)?;
            }
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    Ok(())
}

fn name(ticker: usize) -> String {
    format!("TICK{ticker:02}")
}

/// From opening an empty data folder until everything is closed and on disk.
async fn import_ours(
    data: &Path,
    url: Option<String>,
    csv: &Path,
    bars: usize,
) -> Outcome<Duration> {
    if data.exists() {
        std::fs::remove_dir_all(data)?;
    }
    let begun = Instant::now();
    let db = Db::open(&StoreConfig { data_dir: data.to_owned(), url }).await?;
    db.migrate(&[MIGRATIONS]).await?;
    let options = ImportOptions {
        format: FileFormat::Csv,
        ticker: None,
        interval: Interval::M1,
        on_bad: BadRowPolicy::Stop,
        dates: None,
        decimal: None,
        currency: "USD".to_owned(),
        received_at: Millis(0),
    };
    let report = import_bars(&BarStore::new(db.clone()), csv, &options, |_| {}).await?;
    db.close().await;
    let took = begun.elapsed();
    if report.imported != bars as u64 || !report.problems.is_empty() {
        return Err(format!("the import went wrong: {report:?}").into());
    }
    Ok(took)
}

async fn import_postgres(folder: &Path, csv: &Path, bars: usize) -> Outcome<Option<Db>> {
    let Some(url) = testkit::postgres::database() else {
        println!("| Stoa, PostgreSQL | not available | | |");
        return Ok(None);
    };
    let took = import_ours(&folder.join("pg"), Some(url.clone()), csv, bars).await?;
    let db = Db::open(&StoreConfig { data_dir: folder.join("pg"), url: Some(url) }).await?;
    db.execute(sql("VACUUM ANALYZE")).await?;
    let size = "SELECT CAST(SUM(pg_total_relation_size(oid)) AS BIGINT) FROM pg_class
        WHERE relname IN ('bar_chunk', 'bar_hot', 'bar_series', 'bar_span')";
    let row = db.fetch_optional(sql(size)).await?.ok_or("no size")?;
    let per_bar = row.int(0)? as f64 / bars as f64;
    println!("| Stoa, PostgreSQL (fsync off) | {:.2} | | {per_bar:.2} |", took.as_secs_f64());
    Ok(Some(db))
}

fn sizes(folder: &Path) -> Outcome<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        sum += entry?.metadata()?.len();
    }
    Ok(sum)
}

/// A virtual environment with DuckDB in it, made on first use.
fn duckdb_python() -> Option<PathBuf> {
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.tools/duckdb-venv");
    let python = venv.join("bin/python");
    let ready = || {
        Command::new(&python)
            .args(["-c", "import duckdb"])
            .output()
            .is_ok_and(|it| it.status.success())
    };
    if !ready() {
        Command::new("python3").args(["-m", "venv"]).arg(&venv).status().ok()?;
        Command::new(&python).args(["-m", "pip", "install", "--quiet", "duckdb"]).status().ok()?;
    }
    ready().then_some(python)
}

type Duck = (f64, u64, String);

fn duckdb(python: &Path, csv: &Path, folder: &Path, mode: &str) -> Outcome<Duck> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("history/duckdb_import.py");
    let output =
        Command::new(python).arg(script).arg(csv).arg(folder.join("duck.db")).arg(mode).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let fields: Vec<&str> = text.split_whitespace().collect();
    match fields[..] {
        [seconds, _, bytes, version] => Ok((seconds.parse()?, bytes.parse()?, version.to_owned())),
        _ => Err(format!("DuckDB failed: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

fn better(best: &mut Option<Duck>, new: Duck) {
    if best.as_ref().is_none_or(|best| new.0 < best.0) {
        *best = Some(new);
    }
}

/// First and last page over all tickers, in turn, the best of many; returns those with the index in
/// memory.
async fn pages(name: &str, db: &Db, per_ticker: usize) -> Outcome<(Duration, Duration)> {
    let symbol = |at| Symbol { venue: Venue::File, code: self::name(at) };
    let series: Vec<BarSeries> = (0..TICKERS)
        .map(|at| BarSeries {
            source: "file".to_owned(),
            symbol: symbol(at),
            interval: Interval::M1,
        })
        .collect();
    let span = TimeRange::new(Millis(0), Millis(i64::MAX));
    let total = (per_ticker * TICKERS) as u64;
    let ends = [0, total - PAGE as u64];
    let read = async |store: &BarStore, offset: u64| -> Result<Duration, Fault> {
        let begun = Instant::now();
        let request = PageRequest { series: &series, range: span, offset, limit: PAGE };
        let page = store.page(&request).await?;
        let took = begun.elapsed();
        if (page.total, page.bars.len()) == (total, PAGE) {
            Ok(took)
        } else {
            Err(Fault::internal(format!("{} bars of {}", page.bars.len(), page.total)))
        }
    };
    let (mut cold, mut warm) = ([Duration::MAX; 2], [Duration::MAX; 2]);
    for _ in 0..5 {
        for (best, &offset) in cold.iter_mut().zip(&ends) {
            *best = (*best).min(read(&BarStore::new(db.clone()), offset).await?);
        }
    }
    let store = BarStore::new(db.clone());
    for _ in 0..200 {
        for (best, &offset) in warm.iter_mut().zip(&ends) {
            *best = (*best).min(read(&store, offset).await?);
        }
    }
    for (kind, times) in [("nothing in memory", cold), ("index in memory", warm)] {
        println!(
            "| {name}, {kind} | {} | {} | {:.2} |",
            ms(times[0]),
            ms(times[1]),
            ratio(times[1], times[0])
        );
    }
    Ok((warm[0], warm[1]))
}

/// The same bars as rows of a plain table with the fitting primary key.
async fn plain_rows(folder: &Path, per_ticker: usize) -> Outcome<(Duration, Duration)> {
    let db = Db::open(&StoreConfig::sqlite(folder)).await?;
    db.execute(sql("CREATE TABLE plain (ticker TEXT, ts BIGINT, open BIGINT, high BIGINT, low BIGINT, close BIGINT, volume BIGINT, PRIMARY KEY (ticker, ts)) WITHOUT ROWID")).await?;
    for ticker in 0..TICKERS {
        let mut tx = db.begin().await?;
        let times: Vec<i64> = (0..per_ticker as i64).map(|at| (START_S + at * 60) * 1000).collect();
        for times in times.chunks(64) {
            let rows: Vec<String> =
                (0..times.len()).map(|row| format!("({})", placeholders(row * 7 + 1, 7))).collect();
            let mut insert = sql_built(format!("INSERT INTO plain VALUES {}", rows.join(", ")));
            for &time in times {
                insert = insert
                    .bind(name(ticker))
                    .bind(time)
                    .bind_all([10_000_i64, 10_016, 9_984, 10_002, 50_000]);
            }
            tx.execute(insert).await?;
        }
        tx.commit().await?;
    }
    let mut best = [Duration::MAX; 2];
    for _ in 0..3 {
        for (best, offset) in best.iter_mut().zip([0, (per_ticker * TICKERS - PAGE) as i64]) {
            let begun = Instant::now();
            let select = "SELECT ticker, ts, open, high, low, close, volume FROM plain ORDER BY ticker, ts LIMIT 200 OFFSET $1";
            let rows = db.fetch_all(sql(select).bind(offset)).await?;
            *best = (*best).min(begun.elapsed());
            if rows.len() != PAGE {
                return Err("the plain page is short".into());
            }
        }
    }
    db.close().await;
    println!(
        "| plain SQLite rows by OFFSET, without total | {} | {} | {:.0} |",
        ms(best[0]),
        ms(best[1]),
        ratio(best[1], best[0])
    );
    Ok((best[0], best[1]))
}
