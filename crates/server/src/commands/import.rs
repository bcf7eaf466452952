//! `stoa import`: imports bars and the pricing catalogue from files.

use std::io::{IsTerminal as _, Write as _};

use clock::{Clock as _, SystemClock};
use market::Interval;
use market_bars::BarStore;
use market_files::{
    BadRowPolicy, DateOrder, DecimalMark, FileFormat, ImportOptions, ImportProgress, ImportReport,
    import_bars,
};

use crate::app::open_store;
use crate::cli::{BadRow, Dates, Decimal, ImportBarsArgs, ImportCatalogArgs, ImportCommand};
use crate::commands::print;
use crate::config::Config;
use crate::exit::CommandError;

pub(crate) async fn run(command: ImportCommand, config: Config) -> Result<(), CommandError> {
    match command {
        ImportCommand::Bars(args) => bars(args, &config).await,
        ImportCommand::Catalog(args) => catalog(&args, &config).await,
    }
}

/// The largest catalogue file: a million rows of about 130 bytes.
const CATALOG_BYTES_MAX: u64 = 128 << 20;

async fn catalog(args: &ImportCatalogArgs, config: &Config) -> Result<(), CommandError> {
    let file = &args.file;
    let unreadable =
        |error: std::io::Error| CommandError::usage(format!("{}: {error}", file.display()));
    if std::fs::metadata(file).map_err(unreadable)?.len() > CATALOG_BYTES_MAX {
        let mib_max = CATALOG_BYTES_MAX >> 20;
        let message = format!("{} is larger than {mib_max} MiB", file.display());
        return Err(CommandError::usage(message));
    }
    let bytes = std::fs::read(file).map_err(unreadable)?;
    let decimal = args.decimal.map(decimal_mark);
    let db = open_store(config).await?;
    let imported = service_pricing::import_csv(&db, &bytes, decimal, SystemClock.now()).await;
    db.close().await;
    let imported = imported?;
    let mut problems = String::new();
    for (line, column, expected) in &imported.problems {
        problems.push_str(&match column.as_str() {
            "" => format!("\n  line {line}: {expected}"),
            _ => format!("\n  line {line}, column {column:?}: expected {expected}"),
        });
    }
    problems.push_str(&and_more(imported.refused() as u64, imported.problems.len()));
    if imported.good == 0 {
        return Err(CommandError::data(format!(
            "the file has no product; it needs a line for each product, with a sku{problems}"
        )));
    }
    print(&format!("{} imported\n", counted(imported.products as u64, "product")))?;
    if imported.refused() == 0 {
        return Ok(());
    }
    // Valid rows stay imported; the exit code says that some rows were refused.
    let refused = counted(imported.refused() as u64, "row");
    Err(CommandError::data(format!("{refused} refused{problems}")))
}

fn decimal_mark(decimal: Decimal) -> DecimalMark {
    match decimal {
        Decimal::Point => DecimalMark::Point,
        Decimal::Comma => DecimalMark::Comma,
    }
}

/// The line for bad rows that are not listed; empty if all are.
fn and_more(count: u64, listed: usize) -> String {
    match count.saturating_sub(listed as u64) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    }
}

/// `1 bar`, `2 bars`.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

async fn bars(args: ImportBarsArgs, config: &Config) -> Result<(), CommandError> {
    let known = || Interval::ALL.map(Interval::as_str).join(", ");
    let interval = Interval::parse(&args.interval).ok_or_else(|| {
        CommandError::usage(format!("interval {:?} is not one of {}", args.interval, known()))
    })?;
    if let Err(error) = std::fs::metadata(&args.file) {
        return Err(CommandError::usage(format!("{}: {error}", args.file.display())));
    }
    let options = ImportOptions {
        format: FileFormat::of(&args.file)?,
        ticker: args.ticker,
        interval,
        on_bad: match args.on_bad_row {
            BadRow::Stop => BadRowPolicy::Stop,
            BadRow::Skip => BadRowPolicy::Skip,
        },
        dates: args.dates.map(|order| match order {
            Dates::Dmy => DateOrder::DayFirst,
            Dates::Mdy => DateOrder::MonthFirst,
        }),
        decimal: args.decimal.map(decimal_mark),
        currency: args.currency,
        received_at: SystemClock.now(),
    };
    let db = open_store(config).await?;
    let store = BarStore::new(db.clone());
    let bar = ProgressBar::new();
    let report = import_bars(&store, &args.file, &options, |progress| bar.show(progress)).await;
    bar.clear();
    db.close().await;
    print_report(&report?)
}

fn print_report(report: &ImportReport) -> Result<(), CommandError> {
    let problems: Vec<String> =
        report.problems.iter().map(|it| format!("line {}: {}", it.line, it.reason)).collect();
    if report.stopped_at.is_some() {
        return Err(CommandError::data(format!(
            "stopped at a bad row; {} before it imported\n  {}\n\
             correct it and import again, or skip bad rows with --on-bad-row skip",
            counted(report.imported, "bar"),
            problems.join("\n  "),
        )));
    }
    if report.imported == 0 && report.skipped == 0 {
        return Err(CommandError::data(
            "the file has no bar; it needs a line for each bar, with a time and prices",
        ));
    }
    let bars = counted(report.imported, "bar");
    let mut text = format!("{bars} of {} series imported", report.series);
    if report.skipped > 0 {
        text.push_str(&format!(", {} skipped\n  {}", report.skipped, problems.join("\n  ")));
        text.push_str(&and_more(report.skipped, problems.len()));
    }
    print(&(text + "\n"))
}

/// A progress line on stderr, which is overwritten; nothing if stderr is not a terminal.
struct ProgressBar {
    is_terminal: bool,
}

impl ProgressBar {
    const WIDTH: u64 = 30;

    fn new() -> Self {
        Self { is_terminal: std::io::stderr().is_terminal() }
    }

    fn show(&self, progress: ImportProgress) {
        if !self.is_terminal {
            return;
        }
        let total = progress.bytes_total.max(1);
        let done = (progress.bytes_read * Self::WIDTH / total).min(Self::WIDTH);
        let bar = "#".repeat(done as usize) + &".".repeat((Self::WIDTH - done) as usize);
        let percent = progress.bytes_read * 100 / total;
        _ = write!(std::io::stderr(), "\r[{bar}] {percent:>3}%  {} bars", progress.rows_written);
    }

    fn clear(&self) {
        if self.is_terminal {
            _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
