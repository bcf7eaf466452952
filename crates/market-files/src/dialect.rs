//! Finds out from the first block of a CSV file how it writes its numbers and times. If the block
//! does not decide it, the import fails and names the option that decides it.

use fault::Fault;
use spreadsheet::{DecimalMark, MarkEvidence};

use crate::instant;
use crate::layout::Layout;
use crate::local_time::{self, DateOrder, OrderEvidence};

/// How a file writes dates and numbers, as the user states it; `None` is found out from the file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DialectOptions {
    pub(crate) dates: Option<DateOrder>,
    pub(crate) decimal: Option<DecimalMark>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) mark: DecimalMark,
    /// `None` if the times are Unix times or ISO 8601.
    pub(crate) order: Option<DateOrder>,
}

/// At most this many rows are examined: two months of one-minute bars.
const SAMPLE_ROWS_MAX: usize = 100_000;

impl Dialect {
    /// Finds the dialect out from the first rows, each split into its fields. Rows that are too
    /// short are ignored.
    pub(crate) fn of<'a>(
        options: DialectOptions,
        layout: &Layout,
        numbers_may_have_commas: bool,
        rows: impl Iterator<Item = Vec<std::borrow::Cow<'a, [u8]>>>,
    ) -> Result<Self, Fault> {
        let mut marks = MarkEvidence::default();
        let mut dates = OrderEvidence::default();
        let (mut has_local_dates, mut has_unix_or_iso) = (false, false);
        let find_mark = options.decimal.is_none() && numbers_may_have_commas;
        for row in rows.take(SAMPLE_ROWS_MAX).filter(|row| row.len() >= layout.width()) {
            let time = row[layout.time].trim_ascii();
            has_unix_or_iso |= instant::parse(time).is_some();
            has_local_dates |= local_time::is_date(time);
            dates.observe(time);
            if find_mark && !marks.is_decided() {
                for at in layout.prices.into_iter().chain(layout.volume) {
                    if let Ok(text) = spreadsheet::decode(row[at].trim_ascii()) {
                        marks.observe(&text);
                    }
                }
            }
            let times_are_known = has_unix_or_iso || options.dates.is_some() || dates.is_decided();
            if times_are_known && (!find_mark || marks.is_decided()) {
                break;
            }
        }
        let mark = match options.decimal {
            Some(mark) => mark,
            None => marks.mark().map_err(|number| unclear_number(&number))?,
        };
        let order = match (options.dates, has_local_dates && !has_unix_or_iso) {
            (Some(order), _) => Some(order),
            (None, true) => Some(dates.order().map_err(|date| unclear_date(&date))?),
            (None, false) => None,
        };
        Ok(Self { mark, order })
    }
}

fn unclear_date(date: &str) -> Fault {
    let message = format!(
        "the date {date:?} can be read with the day or the month first, and no date in the file \
         decides it; choose with --dates dmy or --dates mdy"
    );
    Fault::invalid("unclear_dates", message).problem("dates", "dmy or mdy")
}

fn unclear_number(number: &str) -> Fault {
    let message = format!(
        "the comma of {number:?} can separate thousands or a fraction, and no number in the file \
         decides it; choose with --decimal point or --decimal comma"
    );
    Fault::invalid("unclear_numbers", message).problem("decimal", "point or comma")
}
