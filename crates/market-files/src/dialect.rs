//! How one CSV file writes its numbers and times, decided from its first block. What the file does
//! not show is asked for, never guessed.

use fault::Fault;
use spreadsheet::{DecimalMark, MarkEvidence};

use crate::layout::Layout;
use crate::local_time::{self, DateOrder, OrderEvidence};
use crate::moment;

/// What the owner of a file says about it; `None` is left to the file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Said {
    pub(crate) dates: Option<DateOrder>,
    pub(crate) decimal: Option<DecimalMark>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) mark: DecimalMark,
    /// `None` where times are Unix times or ISO 8601.
    pub(crate) order: Option<DateOrder>,
}

/// Rows that the evidence is taken from: enough for two months of one-minute bars.
const SAMPLE_ROWS: usize = 100_000;

impl Dialect {
    /// Looks at the rows of a sample. `fields` gives the columns of a row that were asked for, or
    /// nothing where the row is too short.
    pub(crate) fn of<'a>(
        said: Said,
        layout: &Layout,
        numbers_may_have_commas: bool,
        rows: impl Iterator<Item = Vec<std::borrow::Cow<'a, [u8]>>>,
    ) -> Result<Self, Fault> {
        let mut marks = MarkEvidence::default();
        let mut dates = OrderEvidence::default();
        let (mut local, mut plain) = (false, false);
        let ask_mark = said.decimal.is_none() && numbers_may_have_commas;
        for row in rows.take(SAMPLE_ROWS).filter(|row| row.len() >= layout.width()) {
            let time = row[layout.time].trim_ascii();
            plain |= moment::parse(time).is_some();
            local |= local_time::is_date(time);
            dates.look(time);
            if ask_mark && !marks.is_settled() {
                for at in layout.prices.into_iter().chain(layout.volume) {
                    if let Ok(text) = spreadsheet::decode(row[at].trim_ascii()) {
                        marks.look(&text);
                    }
                }
            }
            let times_are_known = plain || said.dates.is_some() || dates.is_settled();
            if times_are_known && (!ask_mark || marks.is_settled()) {
                break;
            }
        }
        let mark = match said.decimal {
            Some(mark) => mark,
            None => marks.mark().map_err(|number| unclear_number(&number))?,
        };
        let order = match (said.dates, local && !plain) {
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
         shows which; say it with --dates dmy or --dates mdy"
    );
    Fault::invalid("unclear_dates", message).problem("dates", "dmy or mdy")
}

fn unclear_number(number: &str) -> Fault {
    let message = format!(
        "the comma of {number:?} can separate thousands or a fraction, and no number in the file \
         shows which; say it with --decimal point or --decimal comma"
    );
    Fault::invalid("unclear_numbers", message).problem("decimal", "point or comma")
}
