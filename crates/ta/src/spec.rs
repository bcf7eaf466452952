//! Indicators by name: the table, the parameters of each, and how a request becomes a calculator.

use std::fmt;

use crate::{Candles, Error, Stream};

mod table;

/// The longest period accepted; it bounds the memory of one indicator.
pub const PERIOD_MAX: usize = 10_000;

/// Which library defines the first value of an exponential average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parity {
    /// Python `ta`: the first observation.
    #[default]
    Ta,
    /// TA-Lib: the mean of the first window.
    TaLib,
}

impl Parity {
    pub(crate) const CHOICES: &'static [&'static str] = &["ta", "talib"];
}

/// How far back an indicator's value depends on candles: its memory class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Only the last `warmup + 1` candles count.
    Windowed,
    /// Every earlier candle counts, with a weight that shrinks towards zero, as in an exponential
    /// average.
    Decaying,
    /// Every candle since the first counts in full, so the level depends on where the history
    /// starts.
    Cumulative,
    /// Only the candles of the current session count; a session starts at 00:00 UTC.
    Session,
}

/// A parameter's value in a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg<'a> {
    /// A number.
    Number(f64),
    /// One of the words of a [`ParamKind::Choice`].
    Text(&'a str),
}

/// A parameter that an indicator takes.
#[derive(Debug)]
pub struct Param {
    /// The name, as in a request.
    pub name: &'static str,
    /// The type of the value, with its default.
    pub kind: ParamKind,
}

/// The type of a parameter, with its default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// A number of candles, from 1 to `PERIOD_MAX`.
    Period(usize),
    /// A number of candles, absent by default.
    Optional,
    /// A number of candles by which the outputs are delayed, 0 by default.
    Offset,
    /// A finite number.
    Real(f64),
    /// One of these words, by default the first.
    Choice(&'static [&'static str]),
}

impl Param {
    pub(crate) const fn period(name: &'static str, default: usize) -> Param {
        Param { name, kind: ParamKind::Period(default) }
    }

    pub(crate) const fn optional(name: &'static str) -> Param {
        Param { name, kind: ParamKind::Optional }
    }

    pub(crate) const fn offset(name: &'static str) -> Param {
        Param { name, kind: ParamKind::Offset }
    }

    pub(crate) const fn real(name: &'static str, default: f64) -> Param {
        Param { name, kind: ParamKind::Real(default) }
    }

    pub(crate) const fn choice(name: &'static str, words: &'static [&'static str]) -> Param {
        Param { name, kind: ParamKind::Choice(words) }
    }

    pub(crate) const fn parity() -> Param {
        Param::choice("parity", Parity::CHOICES)
    }

    fn default(&self) -> f64 {
        match self.kind {
            ParamKind::Period(default) => default as f64,
            ParamKind::Real(default) => default,
            ParamKind::Optional | ParamKind::Offset | ParamKind::Choice(_) => 0.0,
        }
    }

    fn read(&self, arg: Arg<'_>) -> Result<f64, Error> {
        match (self.kind, arg) {
            (ParamKind::Period(_) | ParamKind::Optional | ParamKind::Offset, Arg::Number(n)) => {
                let least = if self.kind == ParamKind::Offset { 0.0 } else { 1.0 };
                if n.fract() == 0.0 && n >= least && n <= PERIOD_MAX as f64 {
                    return Ok(n);
                }
                let problem =
                    format!("must be a whole number from {least} to {PERIOD_MAX}, not {n}");
                Err(Error::parameter(self.name, problem))
            }
            (ParamKind::Real(_), Arg::Number(n)) => Ok(n),
            (ParamKind::Choice(words), Arg::Text(text)) => {
                let found = words.iter().position(|word| word.eq_ignore_ascii_case(text));
                found.map(|index| index as f64).ok_or_else(|| {
                    let problem = format!("must be one of {}, not {text:?}", words.join(", "));
                    Error::parameter(self.name, problem)
                })
            }
            (ParamKind::Choice(words), Arg::Number(n)) => {
                let problem = format!("must be one of {}, not {n}", words.join(", "));
                Err(Error::parameter(self.name, problem))
            }
            (_, Arg::Text(text)) => {
                Err(Error::parameter(self.name, format!("must be a number, not {text:?}")))
            }
        }
    }
}

/// The values of the parameters of an entry, in its order.
pub(crate) struct Values<'a>(&'a [f64]);

impl Values<'_> {
    pub(crate) fn real(&self, index: usize) -> f64 {
        self.0.get(index).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn period(&self, index: usize) -> usize {
        self.real(index) as usize
    }

    pub(crate) fn optional(&self, index: usize) -> Option<usize> {
        Some(self.period(index)).filter(|&period| period > 0)
    }

    /// Whether a choice differs from its default, the first word.
    pub(crate) fn chosen(&self, index: usize) -> bool {
        self.real(index) > 0.0
    }

    pub(crate) fn parity(&self, index: usize) -> Parity {
        if self.chosen(index) { Parity::TaLib } else { Parity::Ta }
    }
}

/// One row of the table: an indicator as callers see it.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) params: &'static [Param],
    pub(crate) outputs: &'static [&'static str],
    pub(crate) memory: fn(&Values<'_>) -> Memory,
    pub(crate) build: fn(&Values<'_>) -> Result<Box<dyn Stream>, Error>,
}

/// The names of all indicators.
pub fn known() -> impl Iterator<Item = &'static str> {
    table::ENTRIES.iter().map(|entry| entry.name)
}

/// An indicator with checked parameters: building it succeeds.
#[derive(Clone)]
pub struct Spec {
    entry: &'static Entry,
    values: Vec<f64>,
}

impl Spec {
    /// Finds an indicator by name (`stochRsi`, `stochrsi` and `stoch_rsi` are the same) and sets
    /// its parameters. A parameter that is absent has its default; of one given twice the last
    /// counts.
    pub fn parse(name: &str, args: &[(&str, Arg<'_>)]) -> Result<Spec, Error> {
        let entry = table::ENTRIES.iter().find(|entry| same(entry.name, name));
        let Some(entry) = entry else {
            // The error message repeats the name, so it is cut to 64 characters.
            return Err(Error::UnknownIndicator { name: name.chars().take(64).collect() });
        };
        let mut values: Vec<f64> = entry.params.iter().map(Param::default).collect();
        for &(name, arg) in args {
            let found = entry.params.iter().zip(&mut values).find(|(p, _)| same(p.name, name));
            let Some((param, value)) = found else {
                return Err(Error::UnknownParameter {
                    indicator: entry.name,
                    name: name.chars().take(64).collect(),
                    known: entry.params.iter().map(|param| param.name).collect(),
                });
            };
            *value = param.read(arg)?;
        }
        let spec = Spec { entry, values };
        spec.build()?;
        Ok(spec)
    }

    /// The canonical spelling, usable as a key: equal indicators have equal spellings.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The keys of the outputs.
    pub fn outputs(&self) -> &'static [&'static str] {
        self.entry.outputs
    }

    /// The parameters of the indicator.
    pub fn params(&self) -> &'static [Param] {
        self.entry.params
    }

    /// How many candles pass before the slowest output has a value.
    pub fn warmup(&self) -> usize {
        self.stream().warmup()
    }

    /// How far back the values depend on candles, with these parameters.
    pub fn memory(&self) -> Memory {
        (self.entry.memory)(&Values(&self.values))
    }

    /// A new incremental calculator.
    pub fn stream(&self) -> Box<dyn Stream> {
        self.build().unwrap_or_else(|_| Box::new(Unavailable))
    }

    /// One series per output, each as long as the candles.
    pub fn batch(&self, candles: &Candles<'_>) -> Vec<Vec<f64>> {
        let mut out = vec![Vec::new(); self.outputs().len()];
        self.batch_into(candles, &mut out);
        out
    }

    /// Like [`batch`](Spec::batch), into buffers that the caller reuses.
    pub fn batch_into(&self, candles: &Candles<'_>, out: &mut [Vec<f64>]) {
        self.stream().extend(candles, out);
    }

    /// Like [`batch`](Spec::batch), for the outputs with these keys; the other series are empty.
    /// Writing to memory takes most of the time of an indicator with many outputs.
    pub fn batch_only(&self, candles: &Candles<'_>, keys: &[&str]) -> Vec<Vec<f64>> {
        let mut out = vec![Vec::new(); self.outputs().len()];
        let wanted = |index| self.outputs().get(index).is_some_and(|key| keys.contains(key));
        self.stream().extend_only(candles, &wanted, &mut out);
        out
    }

    fn build(&self) -> Result<Box<dyn Stream>, Error> {
        (self.entry.build)(&Values(&self.values))
    }
}

/// Compares names without case, underscores and hyphens.
fn same(ours: &str, theirs: &str) -> bool {
    let letters =
        |text: &str| text.bytes().filter(|byte| *byte != b'_' && *byte != b'-').collect::<Vec<_>>();
    theirs.len() <= 64 && letters(ours).eq_ignore_ascii_case(&letters(theirs))
}

impl PartialEq for Spec {
    fn eq(&self, other: &Spec) -> bool {
        self.entry.name == other.entry.name && self.values == other.values
    }
}

/// The canonical spelling, usable as a key: equal indicators have equal spellings.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.entry.name)?;
        let given = self.entry.params.iter().zip(&self.values);
        let given = given.filter(|(p, value)| {
            !matches!(p.kind, ParamKind::Optional | ParamKind::Offset) || **value > 0.0
        });
        for (index, (param, value)) in given.enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match param.kind {
                ParamKind::Choice(words) => {
                    let word = words.get(*value as usize).copied().unwrap_or_default();
                    write!(f, "{comma}{}={word}", param.name)?;
                }
                _ => write!(f, "{comma}{}={value}", param.name)?,
            }
        }
        f.write_str(")")
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Replaces a calculator that could not be built. `Spec::parse` has built one with the same
/// parameters, so this is never reached; it gives NaN instead of a panic.
struct Unavailable;

impl Stream for Unavailable {
    fn update(&mut self, _: &crate::Candle, out: &mut [f64]) {
        out.fill(f64::NAN);
    }

    fn preview(&self, _: &crate::Candle, out: &mut [f64]) {
        out.fill(f64::NAN);
    }

    fn extend_only(
        &mut self,
        candles: &Candles<'_>,
        wanted: &dyn Fn(usize) -> bool,
        out: &mut [Vec<f64>],
    ) {
        for (index, column) in out.iter_mut().enumerate() {
            column.clear();
            column.resize(if wanted(index) { candles.len() } else { 0 }, f64::NAN);
        }
    }

    fn warmup(&self) -> usize {
        0
    }

    fn fork(&self) -> Box<dyn Stream> {
        Box::new(Unavailable)
    }
}
