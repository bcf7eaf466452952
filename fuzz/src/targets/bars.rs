//! Files of bars: every row is imported or skipped, and CSV is read the same in any pieces.

use std::sync::Arc;

use market::Interval;
use market_files::fuzzing::{read_csv, read_parquet};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::pieces;

pub(super) const WORDS: &[&str] = &[
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    "\"",
    "\"\"",
    "time,open,high,low,close\n",
    "2024-01-01T00:01:00Z",
    "2024-02-30",
    "1704067200",
    "1704067200000",
    "-1",
    "1e5",
    "nan",
    "null",
    "+",
    ".",
    "0.00000000000000000001",
    "99999999999999999999999999999",
    "\u{feff}",
];

pub(super) fn csvs() -> Vec<Vec<u8>> {
    [
        "time,open,high,low,close,volume\n1704067200,1.50,2.5,1,2,7\n1704067260,2,3,2,2.50,\n",
        "Date;Open;High;Low;Close;Adj Close;Volume\r\n2023-12-01;1;1;1;1;1;9\r\n\"2023-12-04\";1;2;\"0.5\";1;1;n/a\r\n",
        "1704067200000,1,2,0.5,1.5,9\n1704067260000,1,2,0.5,1.5,9\n",
        "\u{feff}<DATE>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\n2024-01-01 00:00:00\t1\t1\t1\t1\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

pub(super) fn parquets() -> Vec<Vec<u8>> {
    vec![parquet_file().expect("a valid file of bars")]
}

fn parquet_file() -> parquet::errors::Result<Vec<u8>> {
    let schema = "message bars { required int64 time (timestamp_micros); required int64 open (decimal(18,2));
        required double high; required double low; required double close; optional int64 volume; }";
    let schema = Arc::new(parse_message_type(schema)?);
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties)?;
    let mut group = writer.next_row_group()?;
    let mut at = 0;
    while let Some(mut column) = group.next_column()? {
        let time = |row: i64| (1_704_067_200 + row * 60) * 1_000_000;
        match at {
            0 => column.typed::<Int64Type>().write_batch(&[time(0), time(1)], None, None)?,
            1 => column.typed::<Int64Type>().write_batch(&[150, 151], None, None)?,
            5 => column.typed::<Int64Type>().write_batch(&[7], Some(&[1, 0]), None)?,
            _ => column.typed::<DoubleType>().write_batch(&[2.5, 2.25], None, None)?,
        };
        column.close()?;
        at += 1;
    }
    group.close()?;
    writer.into_inner()
}

pub(super) fn csv(bytes: &[u8]) {
    for interval in [Interval::M1, Interval::D1, Interval::Month] {
        let shown = |outcome: Result<_, _>| format!("{outcome:?}");
        let whole = read_csv(&[bytes], interval);
        if let Ok(report) = &whole {
            assert_eq!(report.read, report.imported + report.skipped, "{report:?}");
        }
        assert_eq!(shown(read_csv(&pieces(bytes), interval)), shown(whole));
    }
}

pub(super) fn parquet(bytes: &[u8]) {
    if let Ok(report) = read_parquet(bytes, Interval::M1) {
        assert_eq!(report.read, report.imported + report.skipped, "{report:?}");
    }
}
