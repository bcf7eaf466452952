//! Bars in columns: a quarter of the memory of [`Bar`]s, and the form from which chunks are encoded.

use clock::Millis;
use market::{Bar, Decimal};

/// The scale of a row without a value.
pub(crate) const ABSENT: u8 = u8::MAX;

/// Decimals in order: mantissas, and the scale each was written with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DecimalColumn {
    pub(crate) mantissas: Mantissas,
    pub(crate) scales: Vec<u8>,
}

/// Nearly all numbers fit 64 bits; the first one that does not widens its whole column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mantissas {
    Narrow(Vec<i64>),
    Wide(Vec<i128>),
}

impl Default for Mantissas {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl DecimalColumn {
    fn with_capacity(rows: usize) -> Self {
        let mantissas = Mantissas::Narrow(Vec::with_capacity(rows));
        Self { mantissas, scales: Vec::with_capacity(rows) }
    }

    #[inline]
    fn push_small(&mut self, mantissa: i64, scale: u8) {
        match &mut self.mantissas {
            Mantissas::Narrow(values) => values.push(mantissa),
            Mantissas::Wide(values) => values.push(i128::from(mantissa)),
        }
        self.scales.push(scale);
    }

    fn push(&mut self, value: Option<Decimal>) {
        let Some(value) = value else {
            return self.push_small(0, ABSENT);
        };
        if let Ok(mantissa) = i64::try_from(value.mantissa()) {
            return self.push_small(mantissa, value.scale());
        }
        self.widen().push(value.mantissa());
        self.scales.push(value.scale());
    }

    fn widen(&mut self) -> &mut Vec<i128> {
        if let Mantissas::Narrow(values) = &self.mantissas {
            self.mantissas = Mantissas::Wide(values.iter().copied().map(i128::from).collect());
        }
        match &mut self.mantissas {
            Mantissas::Wide(values) => values,
            Mantissas::Narrow(_) => unreachable!("the column was widened above"),
        }
    }

    fn mantissa(&self, row: usize) -> i128 {
        match &self.mantissas {
            Mantissas::Narrow(values) => i128::from(values[row]),
            Mantissas::Wide(values) => values[row],
        }
    }

    /// `None` for an absent value; `Some(None)` for a value that is not a valid decimal.
    fn value(&self, row: usize) -> Option<Option<Decimal>> {
        let scale = self.scales[row];
        (scale != ABSENT).then(|| Decimal::from_parts(self.mantissa(row), scale))
    }

    fn extend(&mut self, other: &Self, rows: std::ops::Range<usize>) {
        self.scales.extend_from_slice(&other.scales[rows.clone()]);
        match (&mut self.mantissas, &other.mantissas) {
            (Mantissas::Narrow(into), Mantissas::Narrow(from)) => {
                into.extend_from_slice(&from[rows]);
            }
            (Mantissas::Wide(into), Mantissas::Wide(from)) => into.extend_from_slice(&from[rows]),
            (Mantissas::Wide(into), Mantissas::Narrow(from)) => {
                into.extend(from[rows].iter().copied().map(i128::from));
            }
            (Mantissas::Narrow(_), Mantissas::Wide(from)) => {
                self.widen().extend_from_slice(&from[rows]);
            }
        }
    }

    fn same_value(&self, row: usize, other: &Self, other_row: usize) -> bool {
        self.scales[row] == other.scales[other_row]
            && self.mantissa(row) == other.mantissa(other_row)
    }
}

/// A decimal with a mantissa of 64 bits, as the file readers parse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmallDecimal {
    pub mantissa: i64,
    pub scale: u8,
}

/// Bars in columns; in any order before [`BarColumns::sort_and_dedup`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BarColumns {
    pub(crate) times: Vec<i64>,
    /// Open, high, low, close.
    pub(crate) prices: [DecimalColumn; 4],
    pub(crate) volumes: DecimalColumn,
}

impl BarColumns {
    pub fn with_capacity(rows: usize) -> Self {
        Self {
            times: Vec::with_capacity(rows),
            prices: std::array::from_fn(|_| DecimalColumn::with_capacity(rows)),
            volumes: DecimalColumn::with_capacity(rows),
        }
    }

    pub fn from_bars(bars: &[Bar]) -> Self {
        let mut columns = Self::with_capacity(bars.len());
        bars.iter().for_each(|bar| columns.push(bar));
        columns
    }

    pub fn len(&self) -> usize {
        self.times.len()
    }

    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    pub fn push(&mut self, bar: &Bar) {
        self.times.push(bar.open_time.0);
        let [open, high, low, close] = &mut self.prices;
        open.push(Some(bar.open));
        high.push(Some(bar.high));
        low.push(Some(bar.low));
        close.push(Some(bar.close));
        self.volumes.push(bar.volume);
    }

    /// Adds a bar whose open, high, low, close and volume have at most 18 digits.
    #[inline]
    pub fn push_small(
        &mut self,
        time: Millis,
        prices: [SmallDecimal; 4],
        volume: Option<SmallDecimal>,
    ) {
        self.times.push(time.0);
        for (column, price) in self.prices.iter_mut().zip(prices) {
            column.push_small(price.mantissa, price.scale);
        }
        let volume = volume.unwrap_or(SmallDecimal { mantissa: 0, scale: ABSENT });
        self.volumes.push_small(volume.mantissa, volume.scale);
    }

    /// The bar of a row; `None` when its values are not a valid bar.
    pub(crate) fn bar(&self, row: usize) -> Option<Bar> {
        let price = |at: usize| self.prices[at].value(row).flatten();
        let volume = match self.volumes.value(row) {
            None => None,
            Some(value) => Some(value?),
        };
        Some(Bar {
            open_time: Millis(self.times[row]),
            open: price(0)?,
            high: price(1)?,
            low: price(2)?,
            close: price(3)?,
            volume,
        })
    }

    pub fn first(&self) -> Option<Millis> {
        self.times.first().copied().map(Millis)
    }

    pub fn last(&self) -> Option<Millis> {
        self.times.last().copied().map(Millis)
    }

    /// How many rows open before `time`; the rows must be sorted.
    pub(crate) fn rows_before(&self, time: i64) -> usize {
        self.times.partition_point(|&at| at < time)
    }

    pub(crate) fn extend(&mut self, other: &Self, rows: std::ops::Range<usize>) {
        self.times.extend_from_slice(&other.times[rows.clone()]);
        for (into, from) in self.prices.iter_mut().zip(&other.prices) {
            into.extend(from, rows.clone());
        }
        self.volumes.extend(&other.volumes, rows);
    }

    /// A copy of some rows.
    pub fn slice(&self, rows: std::ops::Range<usize>) -> Self {
        let mut part = Self::with_capacity(rows.len());
        part.extend(self, rows);
        part
    }

    /// Keeps the first `rows` rows.
    pub fn truncate(&mut self, rows: usize) {
        self.times.truncate(rows);
        for column in self.prices.iter_mut().chain([&mut self.volumes]) {
            column.scales.truncate(rows);
            match &mut column.mantissas {
                Mantissas::Narrow(values) => values.truncate(rows),
                Mantissas::Wide(values) => values.truncate(rows),
            }
        }
    }

    /// Sorts the rows by time; of rows with the same time the last one stays.
    #[must_use]
    pub fn sort_and_dedup(self) -> Self {
        if self.times.is_sorted_by(|left, right| left < right) {
            return self;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&row| self.times[row]);
        let mut sorted = Self::with_capacity(self.len());
        for (at, &row) in order.iter().enumerate() {
            let next = order.get(at + 1).map(|&next| self.times[next]);
            if next != Some(self.times[row]) {
                sorted.extend(&self, row..row + 1);
            }
        }
        sorted
    }

    /// The rows of both, which must be sorted, in order of time; where both have a time, `newer` wins.
    pub(crate) fn merge(older: &Self, newer: &Self) -> Self {
        let mut merged = Self::with_capacity(older.len() + newer.len());
        let mut done = 0;
        for (row, &time) in newer.times.iter().enumerate() {
            let end = done + older.times[done..].partition_point(|&at| at < time);
            merged.extend(older, done..end);
            merged.extend(newer, row..row + 1);
            done = end + usize::from(older.times.get(end) == Some(&time));
        }
        merged.extend(older, done..older.len());
        merged
    }

    /// Whether every row of `other` is here already, with the same values and scales.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        other.times.iter().enumerate().all(|(row, &time)| {
            let here = self.rows_before(time);
            self.times.get(here) == Some(&time)
                && self.volumes.same_value(here, &other.volumes, row)
                && self.prices.iter().zip(&other.prices).all(|(a, b)| a.same_value(here, b, row))
        })
    }

    /// How many bytes of memory the rows take, for the bound of a cache.
    pub(crate) fn memory_bytes(&self) -> usize {
        let column = |column: &DecimalColumn| match &column.mantissas {
            Mantissas::Narrow(_) => column.scales.len() * 9,
            Mantissas::Wide(_) => column.scales.len() * 17,
        };
        self.len() * 8 + self.prices.iter().map(column).sum::<usize>() + column(&self.volumes)
    }
}
