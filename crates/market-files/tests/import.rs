//! Imports of CSV and Parquet files: which bars are stored, what is refused, and the reports.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use parking_lot::Mutex;

use clock::{Millis, TimeRange};
use market::{
    ArchivePage, BarArchive as _, BarSeries, BarSource as _, Interval, PageRequest,
    QuoteSource as _, Symbol, SymbolSource as _, Venue,
};
use market_bars::{BarStore, MIGRATIONS};
use market_files::{
    BadRowPolicy, DateOrder, DecimalMark, FileFormat, FileVenue, ImportOptions, ImportProgress,
    ImportReport, import_bars,
};
use store::{Db, StoreConfig};
use testkit::TempFolder;

struct Fixture {
    folder: TempFolder,
    store: BarStore,
}

impl Fixture {
    async fn new() -> Self {
        let folder = TempFolder::new();
        let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
        db.migrate(&[MIGRATIONS]).await.unwrap();
        Self { folder, store: BarStore::new(db) }
    }

    async fn import(
        &self,
        text: &[u8],
        options: &ImportOptions,
    ) -> Result<ImportReport, fault::Fault> {
        let path = self.folder.path().join("bars.csv");
        std::fs::write(&path, text).unwrap();
        import_bars(&self.store, &path, options, |_| {}).await
    }

    async fn page(&self, code: &str, interval: Interval) -> ArchivePage {
        let range = TimeRange::new(Millis(i64::MIN), Millis(i64::MAX));
        let request =
            PageRequest { series: &[series(code, interval)], range, offset: 0, limit: 5000 };
        self.store.page(&request).await.unwrap()
    }

    /// Each bar as `time open high low close volume`.
    async fn stored_bars(&self, code: &str, interval: Interval) -> Vec<String> {
        let page = self.page(code, interval).await;
        let text_of = |bar: &market::Bar| {
            let volume = bar.volume.map_or("-".to_owned(), |volume| volume.to_string());
            format!(
                "{} {} {} {} {} {volume}",
                bar.open_time, bar.open, bar.high, bar.low, bar.close
            )
        };
        page.bars.iter().map(|(_, bar)| text_of(bar)).collect()
    }
}

fn series(code: &str, interval: Interval) -> BarSeries {
    let symbol = Symbol { venue: Venue::File, code: code.to_owned() };
    BarSeries { source: "file".to_owned(), symbol, interval }
}

fn options(ticker: Option<&str>) -> ImportOptions {
    ImportOptions {
        format: FileFormat::Csv,
        ticker: ticker.map(str::to_owned),
        interval: Interval::M1,
        on_bad: BadRowPolicy::Stop,
        dates: None,
        decimal: None,
        currency: "USD".to_owned(),
        received_at: Millis(1),
    }
}

async fn check_text(text: &str, ticker: Option<&str>, code: &str, expected: &[&str]) {
    let fixture = Fixture::new().await;
    let report = fixture.import(text.as_bytes(), &options(ticker)).await.unwrap();
    assert_eq!(report.problems, [], "{text}");
    assert_eq!(fixture.stored_bars(code, Interval::M1).await, expected, "{text}");
}

#[tokio::test]
async fn common_csv_formats_are_imported() {
    let two = ["2024-01-01T00:00:00Z 1.0 3.50 0.5 2 10", "2024-01-01T00:01:00Z 2 2 2 2 -"];
    check_text("ticker,timestamp,open,high,low,close,volume\nabc,1704067200000,1.0,3.50,0.5,2,10\nABC,2024-01-01T00:01:00Z,2,2,2,2,\n", None, "ABC", &two).await;
    check_text("\u{feff}Symbol;Date;O;H;L;C;Vol\r\nABC;2024-01-01 00:00;1.0;3.50;0.5;2;10\r\nABC;2024-01-01 00:01:00;2;2;2;2;nan", None, "ABC", &two).await;
    check_text(
        "c\tl\th\to\tts\tv\n2\t0.5\t3.50\t1.0\t1704067200\t10\n\n2\t2\t2\t2\t1704067260\t\n",
        Some("abc"),
        "ABC",
        &two,
    )
    .await;
    check_text("\"Open Time\",\"Open\",\"High\",\"Low\",\"Close\",\"Volume\",\"Note\"\n\"1704067200000\",\"1.0\",3.50,\"0.5\",2,\"10\",\"a, \"\"b\"\"\"\n1704067260000, 2 ,2,2,2,null,x\n", Some("FILE:abc"), "ABC", &two).await;
    check_text(
        "1704067200000,1.0,3.50,0.5,2,10,1704067259999,0\n1704067260000,2,2,2,2,,0,0\n",
        Some("ABC"),
        "ABC",
        &two,
    )
    .await;
    check_text(
        "time,open,high,low,close,volume\n1704067200,1,1e3,1.5e-05,1,12345678901234567890.123\n",
        Some("A"),
        "A",
        &["2024-01-01T00:00:00Z 1 1000 0.000015 1 12345678901234567890.123"],
    )
    .await;
}

/// Imports daily bars and compares the first one.
async fn check_days(text: &[u8], expected: &str) {
    let fixture = Fixture::new().await;
    let options = ImportOptions { interval: Interval::D1, ..options(Some("X")) };
    let shown = String::from_utf8_lossy(text);
    let report = fixture.import(text, &options).await;
    assert!(report.is_ok(), "{shown}: {report:?}");
    assert_eq!(report.unwrap().problems, [], "{shown}");
    assert_eq!(fixture.stored_bars("X", Interval::D1).await[0], expected, "{shown}");
}

#[tokio::test]
async fn files_of_exchanges_brokers_and_spreadsheets_are_imported() {
    let one = "2024-01-03T00:00:00Z 271.9 274.5 270.1 274.2 36552";
    for text in [
        // The Moscow Exchange, as its own page and as its interface write it.
        "TRADEDATE;OPEN;LOW;HIGH;CLOSE;VOLUME\n2024-01-03;271.9;270.1;274.5;274.2;36552\n",
        "history\n\nBOARDID;TRADEDATE;SECID;OPEN;LOW;HIGH;LEGALCLOSEPRICE;CLOSE;VOLUME\n\
         TQBR;2024-01-03;X;271.9;270.1;274.5;274;274.2;36552\n\nhistory.cursor\n\n\
         INDEX;TOTAL;PAGESIZE\n0;1;100\n",
        "candles\r\n\r\nopen;close;high;low;value;volume;begin;end\r\n\
         271.9;274.2;274.5;270.1;1;36552;2024-01-03 00:00:00;2024-01-03 23:59:59\r\n",
        // Finam.
        "<TICKER>;<PER>;<DATE>;<TIME>;<OPEN>;<HIGH>;<LOW>;<CLOSE>;<VOL>\n\
         X;D;20240103;000000;271.9;274.5;270.1;274.2;36552\n",
        "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>\n\
         X,D,03/01/24,00:00:00,271.9,274.5,270.1,274.2,36552\nX,D,15/01/24,0,1,1,1,1,1\n",
        // MetaTrader.
        "<DATE>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\n\
         2024.01.03\t271.9\t274.5\t270.1\t274.2\t9\t36552\n",
        // Spreadsheets with decimal commas.
        "\u{feff}Дата;Открытие;Максимум;Минимум;Закрытие;Объём\r\n\
         03.01.2024;271,9;274,5;270,1;274,2;36\u{a0}552\r\n",
        "sep=;\nDate;Open;High;Low;Close;Volume\n03.01.2024;271,9;274,5;270,1;274,2;36.552\n",
        "03.01.2024;271,9;274,5;270,1;274,2;36552\n",
        // American exports, whose second date shows that the month comes first.
        "Date,Close/Last,Volume,Open,High,Low\n\
         01/03/2024,$274.2,36552,$271.9,$274.5,$270.1\n01/31/2024,$1,1,$1,$1,$1\n",
        "\"Date\",\"Price\",\"Open\",\"High\",\"Low\",\"Vol.\",\"Change %\"\n\
         \"01/03/2024\",\"274.2\",\"271.9\",\"274.5\",\"270.1\",\"36.552K\",\"1.2%\"\n\
         \"01/31/2024\",\"1\",\"1\",\"1\",\"1\",\"-\",\"\"\n",
    ] {
        check_days(text.as_bytes(), one).await;
    }
    let cyrillic =
        b"\xc4\xe0\xf2\xe0;\xce\xf2\xea\xf0;\xcc\xe0\xea\xf1;\xcc\xe8\xed;\xc7\xe0\xea\xf0\n\
                     03.01.2024;1,5;2;1;1\xa0000,25\n";
    check_days(cyrillic, "2024-01-03T00:00:00Z 1.5 2 1 1000.25 -").await;
}

#[tokio::test]
async fn options_decide_ambiguous_dates_and_numbers() {
    let fixture = Fixture::new().await;
    let text = "date;open;high;low;close\n03/04/2024;1,234;2,345;1,000;2,000\n";
    let with = |dates, decimal| ImportOptions {
        interval: Interval::D1,
        dates: Some(dates),
        decimal: Some(decimal),
        ..options(Some("A"))
    };
    let day_first = with(DateOrder::DayFirst, DecimalMark::Comma);
    fixture.import(text.as_bytes(), &day_first).await.unwrap();
    let month_first = with(DateOrder::MonthFirst, DecimalMark::Point);
    fixture.import(text.as_bytes(), &month_first).await.unwrap();
    assert_eq!(
        fixture.stored_bars("A", Interval::D1).await,
        [
            "2024-03-04T00:00:00Z 1234 2345 1000 2000 -",
            "2024-04-03T00:00:00Z 1.234 2.345 1.000 2.000 -"
        ]
    );
    for options in [day_first, options(Some("A"))] {
        let fault = fixture.import(b"\xff\xfed\0", &options).await.unwrap_err();
        assert_eq!(fault.code(), "not_utf8");
    }
}

#[tokio::test]
async fn the_ticker_option_allows_one_ticker_in_the_file() {
    let text =
        "ticker,time,open,high,low,close\nSBER,1704067200,1,1,1,1\nGAZP,1704067260,1,1,1,1\n";
    let fixture = Fixture::new().await;
    let report = fixture.import(text.as_bytes(), &options(Some("MINE"))).await.unwrap();
    assert_eq!((report.imported, report.stopped_at), (1, Some(3)));
    assert!(report.problems[0].reason.contains("\"SBER\" and of \"GAZP\""), "{report:?}");
    assert_eq!(fixture.stored_bars("MINE", Interval::M1).await.len(), 1);
}

#[tokio::test]
async fn a_bad_row_stops_the_import_or_is_skipped_and_is_reported() {
    let text = "time,open,high,low,close,volume\n\
        1704067200,1,2,1,2,5\n\
        1704067260,1,x,1,2,5\n\
        1704067320,1,1,2,2,5\n\
        1704067321,1,2,1,2,5\n\
        noon,1,2,1,2,5\n\
        1704067380,1,2,1\n\
        1704067380,1,2,1,2,-5\n\
        1704067440,1,2,1,,5\n\
        1704067500,3,4,3,3,5\n";
    let fixture = Fixture::new().await;
    let report = fixture.import(text.as_bytes(), &options(Some("A"))).await.unwrap();
    assert_eq!((report.read, report.imported, report.skipped), (2, 1, 0));
    assert_eq!(report.stopped_at, Some(3));
    assert_eq!(fixture.stored_bars("A", Interval::M1).await.len(), 1);

    let skip = ImportOptions { on_bad: BadRowPolicy::Skip, ..options(Some("A")) };
    let report = fixture.import(text.as_bytes(), &skip).await.unwrap();
    assert_eq!((report.read, report.imported, report.skipped, report.stopped_at), (9, 2, 7, None));
    let problems: Vec<(u64, &str)> =
        report.problems.iter().map(|it| (it.line, it.reason.as_str())).collect();
    assert_eq!(
        problems,
        [
            (3, "high \"x\" is not a decimal number"),
            (4, "high 1 is below low 2"),
            (5, "2024-01-01T00:02:01Z does not open a 1m bar"),
            (6, "\"noon\" is not a time"),
            (7, "the line has 4 fields and needs 6"),
            (8, "volume -5 is negative"),
            (9, "close \"\" is not a decimal number"),
        ]
    );
    assert_eq!(fixture.stored_bars("A", Interval::M1).await.len(), 2);
}

#[tokio::test]
async fn unreadable_files_are_refused_with_their_code() {
    let fixture = Fixture::new().await;
    let no_ticker = "time,open,high,low,close\n";
    for (text, ticker, code) in [
        ("", Some("A"), "empty_file"),
        (no_ticker, None, "ticker_needed"),
        ("date,open,high,low,close\n03/04/2024,1,2,1,2\n", Some("A"), "unclear_dates"),
        (
            "date;open;high;low;close\n2024-01-01;1,234;2,345;1,000;2,000\n",
            Some("A"),
            "unclear_numbers",
        ),
        ("time,open,high,low\n", Some("A"), "missing_column"),
        (no_ticker, Some("a b"), "invalid_ticker"),
        (no_ticker, Some("MOEX:SBER"), "invalid_ticker"),
        ("\0\u{1}\u{2}", Some("A"), "missing_column"),
    ] {
        let fault = fixture.import(text.as_bytes(), &options(ticker)).await.unwrap_err();
        assert_eq!(fault.code(), code, "{text:?}");
    }
    let path = fixture.folder.path().join("absent.csv");
    let fault = import_bars(&fixture.store, &path, &options(None), |_| {}).await.unwrap_err();
    assert_eq!(fault.code(), "no_such_file");
    assert_eq!(FileFormat::of(&path).unwrap(), FileFormat::Csv);
    assert!(FileFormat::of(std::path::Path::new("x.doc")).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_shuffled_file_is_imported_whole_and_again_without_change() {
    let fixture = Fixture::new().await;
    let mut text = "ticker,timestamp,open,high,low,close,volume\n".to_owned();
    let rows = 100_000_i64;
    for at in 0..2 * rows {
        // Every minute of every ticker twice, in a scattered order; the second one has another volume
        // and must be the one that is stored.
        let row = (at * 7919) % rows;
        let (ticker, minute) = (row % 5, row / 5);
        let second = i64::from(at >= rows);
        text.push_str(&format!(
            "T{ticker},{},{minute}.5,{minute}.75,{minute}.25,{minute}.5,{second}\n",
            (minute + 28_401_120) * 60
        ));
    }
    // A line of 3 MiB, and a last line without a line break.
    text.push_str(&"x".repeat(3 << 20));
    text.push_str("\nT9,1704067200,1,1,1,1,1");
    let seen = Mutex::new(Vec::new());
    let path = fixture.folder.path().join("large.csv");
    std::fs::write(&path, &text).unwrap();
    let skip = ImportOptions { on_bad: BadRowPolicy::Skip, ..options(None) };
    for _ in 0..2 {
        let note = |progress: ImportProgress| seen.lock().push(progress);
        let report = import_bars(&fixture.store, &path, &skip, note).await.unwrap();
        assert_eq!((report.imported, report.skipped, report.series), (200_001, 1, 6));
        assert_eq!(report.problems[0].line, 200_002);
    }
    let last = *seen.lock().last().unwrap();
    assert_eq!((last.rows_written, last.bytes_read), (200_001, text.len() as u64));
    for ticker in 0..5 {
        let page = fixture.page(&format!("T{ticker}"), Interval::M1).await;
        assert_eq!(page.total, 20_000);
        for (at, (_, bar)) in page.bars.iter().enumerate() {
            assert_eq!(bar.open_time, Millis((at as i64 + 28_401_120) * 60_000));
            assert_eq!(bar.open.to_string(), format!("{at}.5"));
            assert_eq!(bar.volume.map(|it| it.to_string()).as_deref(), Some("1"));
        }
        let all =
            TimeRange::new(Millis(28_401_120 * 60_000), Millis((28_401_120 + 20_000) * 60_000));
        assert_eq!(
            fixture.store.missing(&series(&format!("T{ticker}"), Interval::M1), all).await.unwrap(),
            []
        );
    }
    assert_eq!(fixture.page("T9", Interval::M1).await.total, 1);
    assert_eq!(
        fixture.store.currency(&series("T9", Interval::M1)).await.unwrap().as_deref(),
        Some("USD")
    );
}

/// A file as a data frame would write it: decimals, floats, microseconds, and a column of no use.
fn parquet(path: &std::path::Path) {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    let schema = "message bars {
        required binary symbol (utf8); required int64 time (timestamp_micros);
        required int64 open (decimal(18,2)); required double high; required double low;
        required double close; optional int64 volume; required double vwap; }";
    let schema = parquet::schema::parser::parse_message_type(schema).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer =
        parquet::file::writer::SerializedFileWriter::new(file, schema.into(), Default::default())
            .unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut at = 0;
    while let Some(mut column) = group.next_column().unwrap() {
        let written = match at {
            0 => {
                let names = vec![ByteArray::from("abc"); 3];
                column.typed::<ByteArrayType>().write_batch(&names, None, None)
            }
            1 => {
                let time = |row: i64| (1_704_067_200 + row * 60) * 1_000_000;
                column.typed::<Int64Type>().write_batch(&[time(0), time(1), time(2)], None, None)
            }
            2 => column.typed::<Int64Type>().write_batch(&[150, 151, 152], None, None),
            6 => column.typed::<Int64Type>().write_batch(&[7, 9], Some(&[1, 0, 1]), None),
            _ => {
                // The last row's low is above its high.
                let last = if at == 4 { 9.5 } else { 0.1 };
                column.typed::<DoubleType>().write_batch(&[2.5, 2.25, last], None, None)
            }
        };
        written.unwrap();
        column.close().unwrap();
        at += 1;
    }
    group.close().unwrap();
    writer.close().unwrap();
}

#[tokio::test]
async fn parquet_files_are_imported() {
    let fixture = Fixture::new().await;
    let path = fixture.folder.path().join("bars.parquet");
    parquet(&path);
    let options = ImportOptions { format: FileFormat::of(&path).unwrap(), ..options(None) };
    let report = import_bars(&fixture.store, &path, &options, |_| {}).await.unwrap();
    assert_eq!((report.read, report.imported, report.stopped_at), (3, 2, Some(3)));
    assert_eq!(report.problems[0].reason, "high 0.1 is below low 9.5");
    assert_eq!(
        fixture.stored_bars("ABC", Interval::M1).await,
        ["2024-01-01T00:00:00Z 1.50 2.5 2.5 2.5 7", "2024-01-01T00:01:00Z 1.51 2.25 2.25 2.25 -",]
    );
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&path, bytes).unwrap();
    let fault = import_bars(&fixture.store, &path, &options, |_| {}).await.unwrap_err();
    assert_eq!(fault.code(), "unreadable_file");
}

#[tokio::test]
async fn the_file_venue_serves_imported_bars() {
    let fixture = Fixture::new().await;
    let minutes = "time,open,high,low,close\n1704067200,1,2,1,2\n1704067260,2,3,2,2.50\n";
    let euro = ImportOptions { currency: "EUR".to_owned(), ..options(Some("A")) };
    fixture.import(minutes.as_bytes(), &euro).await.unwrap();
    let days = ImportOptions { interval: Interval::D1, ..euro };
    fixture.import(b"date,open,high,low,close\n2023-12-01,1,1,1,1\n", &days).await.unwrap();
    let Fixture { folder: _folder, store } = fixture;
    let venue = FileVenue::new(std::sync::Arc::new(store));
    let symbol = |code: &str| Symbol { venue: Venue::File, code: code.to_owned() };
    let quotes = venue.latest(&[symbol("A"), symbol("B")]).await.unwrap();
    let quote = quotes[0].as_ref().unwrap();
    assert_eq!((quote.price.to_string(), quote.currency.as_str()), ("2.50".to_owned(), "EUR"));
    assert_eq!(quote.freshness.as_of.to_rfc3339(), "2024-01-01T00:02:00Z");
    assert_eq!(quotes[1].as_ref().unwrap_err().kind(), fault::Kind::NotFound);
    assert_eq!(venue.listing().await.unwrap().quote_assets["A"], "EUR");
    assert_eq!(venue.first_open("A", Interval::M1).await.unwrap(), Some(Millis(1_704_067_200_000)));
    assert_eq!(venue.first_open("B", Interval::M1).await.unwrap(), None);
    let batch = venue.bars("A", Interval::M1, TimeRange::new(Millis(0), Millis(9))).await.unwrap();
    assert!(batch.bars.is_empty() && batch.covered.is_empty());
}
