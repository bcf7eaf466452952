//! One text, parsed once: its sentences with stems and polarity, and its marks (citations, dates,
//! case numbers, amounts, names, quotes). Insights and sources are parsed alike.

use std::collections::HashSet;

use crate::Span;
use crate::amount::{self, Amount};
use crate::date::{self, Date};
use crate::holding::{self, Polarity};
use crate::text::{self, Chars, Word, is_stop, stem};
use crate::{name, quote};

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Citation(CiteKey),
    Date { date: Date, other: Option<Date> },
    Number(String),
    Amount(Amount),
    Name { tokens: Vec<String>, doubtful: bool, words: (usize, usize) },
}

/// The parts by which two citations are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CiteKey {
    /// Reporter or code, only its letters and digits.
    pub(crate) source: String,
    pub(crate) volume: String,
    /// Page, section or number. A short form has only the volume.
    pub(crate) page: String,
    pub(crate) year: Option<u16>,
    pub(crate) parties: Option<(String, String)>,
    /// First and last page that the citation points to.
    pub(crate) pin: Option<(u32, u32)>,
}

fn pin(text: &str) -> Option<(u32, u32)> {
    let mut pages = text
        .split(|it: char| !it.is_ascii_digit())
        .filter(|it| !it.is_empty() && it.len() <= 6)
        .filter_map(|it| it.parse().ok());
    let first: u32 = pages.next()?;
    let last = pages.next_back().unwrap_or(first);
    // `709-11` ends on page 711.
    let mut power = 10;
    while power <= last {
        power *= 10;
    }
    let last = if last < first { first / power * power + last } else { last };
    Some((first, last.max(first)))
}

impl CiteKey {
    fn new(it: &cite::Citation<'_>) -> Option<Self> {
        use cite::CitationKind;
        let bare = |text: Option<&str>| -> String {
            let text = text.unwrap_or_default();
            text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        if matches!(
            it.kind,
            CitationKind::Id
                | CitationKind::Supra
                | CitationKind::Reference
                | CitationKind::Section
        ) {
            return None;
        }
        let short = it.kind == CitationKind::ShortCase;
        let volume = bare(it.volume.or(it.title));
        let page = if short { String::new() } else { bare(it.section.or(it.page).or(it.number)) };
        let parties = match (it.plaintiff, it.defendant) {
            (Some(one), Some(other)) => Some((bare(Some(one)), bare(Some(other)))),
            _ => None,
        };
        let source = bare(it.source());
        let source =
            if source.is_empty() && page.is_empty() { bare(Some(it.text)) } else { source };
        Some(Self { source, volume, page, year: it.year, parties, pin: it.pin_cite.and_then(pin) })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ValueMark {
    pub(crate) value: Value,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct Sentence {
    pub(crate) span: Span,
    /// First word, and the word after the last.
    pub(crate) words: (usize, usize),
    pub(crate) marks: (usize, usize),
    /// Content words, each once.
    pub(crate) stems: Vec<String>,
    pub(crate) polarity: Polarity,
}

#[derive(Debug)]
pub(crate) struct Reading<'t> {
    pub(crate) text: &'t str,
    pub(crate) words: Vec<Word<'t>>,
    pub(crate) sentences: Vec<Sentence>,
    /// In the order of the text.
    pub(crate) marks: Vec<ValueMark>,
    pub(crate) quotes: Vec<Span>,
    chars: Chars,
}

impl<'t> Reading<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let words = text::words(text);
        let spans = text::sentences(text);
        let marks = marks(text, &words, &spans);
        let (mut word, mut mark) = (0, 0);
        let mut sentences = Vec::with_capacity(spans.len());
        for span in spans {
            let from = (word, mark);
            while words.get(word).is_some_and(|it| it.start < span.end) {
                word += 1;
            }
            while marks.get(mark).is_some_and(|it| it.span.start < span.end) {
                mark += 1;
            }
            let own = &words[from.0..word];
            let mut seen = HashSet::new();
            let stems = own
                .iter()
                .map(Word::fold)
                .filter(|it| !is_stop(it))
                .map(|it| stem(&it))
                .filter(|it| seen.insert(it.clone()))
                .collect();
            sentences.push(Sentence {
                span,
                words: (from.0, word),
                marks: (from.1, mark),
                stems,
                polarity: holding::read(own),
            });
        }
        inherit_subject(&words, &mut sentences);
        Self { text, words, sentences, marks, quotes: quote::find(text), chars: Chars::new(text) }
    }

    pub(crate) fn words_of(&self, sentence: &Sentence) -> &[Word<'t>] {
        &self.words[sentence.words.0..sentence.words.1]
    }

    pub(crate) fn marks_of(&self, sentence: &Sentence) -> &[ValueMark] {
        &self.marks[sentence.marks.0..sentence.marks.1]
    }

    pub(crate) fn slice(&self, span: Span) -> &'t str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// Converts a span of bytes to characters.
    pub(crate) fn chars(&self, span: Span) -> Span {
        self.chars.span(self.text, span)
    }

    /// The sentence that contains the byte, or the last one before it.
    pub(crate) fn sentence_at(&self, byte: usize) -> Option<&Sentence> {
        let after = self.sentences.partition_point(|it| it.span.start <= byte);
        self.sentences.get(after.saturating_sub(1))
    }

    pub(crate) fn in_quote(&self, byte: usize) -> bool {
        let after = self.quotes.partition_point(|it| it.start <= byte);
        after.checked_sub(1).is_some_and(|at| byte < self.quotes[at].end)
    }
}

/// Adds the words of the previous sentence to a decision whose subject is there: «That request is
/// denied».
fn inherit_subject(words: &[Word<'_>], sentences: &mut [Sentence]) {
    for at in 1..sentences.len() {
        let (before, rest) = sentences.split_at_mut(at);
        let (Some(before), Some(it)) = (before.last(), rest.first_mut()) else { continue };
        let opens = words.get(it.words.0).map(Word::fold).unwrap_or_default();
        let points = ["that", "this", "it", "the", "both", "such", "those", "these", "answer", "a"];
        let first = words.get(it.words.0..it.words.1).unwrap_or_default();
        let shown = first.iter().take(4).any(|it| {
            matches!(
                it.fold().as_str(),
                "this" | "that" | "such" | "этот" | "эту" | "эти" | "данный"
            )
        });
        let short = it.stems.len() <= 6 && before.polarity.mentions.is_empty();
        if shown || short || (it.stems.len() <= 4 && points.contains(&opens.as_str())) {
            for mention in &mut it.polarity.mentions {
                mention.far.extend(before.stems.iter().take(40).cloned());
            }
        }
    }
}

/// Marks the words that a span covers.
fn mark_taken(words: &[Word<'_>], taken: &mut [bool], span: Span) {
    let from = words.partition_point(|it| it.end <= span.start);
    for (at, word) in words.iter().enumerate().skip(from) {
        if word.start >= span.end {
            break;
        }
        taken[at] = true;
    }
}

fn marks(text: &str, words: &[Word<'_>], sentences: &[Span]) -> Vec<ValueMark> {
    let mut taken = vec![false; words.len()];
    let mut list = Vec::new();
    for it in cite::find(text) {
        let tail = it.full_span.end.max(it.span.end);
        mark_taken(words, &mut taken, Span { start: it.span.start, end: tail });
        if let Some(key) = CiteKey::new(&it) {
            let span = Span { start: it.span.start, end: it.span.end };
            list.push(ValueMark { value: Value::Citation(key), span });
        }
    }
    for it in date::find(text, words, sentences) {
        // The date of a Russian ruling is part of its citation; a year alone belongs to the
        // citation.
        if taken[it.words.0] && it.date.day.is_none() {
            continue;
        }
        if let Some((date, span, at)) = first_day(words, &it).filter(|it| !taken[it.2]) {
            taken[at] = true;
            list.push(ValueMark { value: Value::Date { date, other: None }, span });
        }
        mark_taken(words, &mut taken, it.span);
        let other = it.date.day_month_swapped().filter(|_| it.ambiguous);
        list.push(ValueMark { value: Value::Date { date: it.date, other }, span: it.span });
    }
    for (number, span) in numbers(text, words, &taken) {
        mark_taken(words, &mut taken, span);
        list.push(ValueMark { value: Value::Number(number), span });
    }
    for it in amount::find(text, words, &taken) {
        list.push(ValueMark { value: Value::Amount(it.amount), span: it.span });
    }
    let starts = sentences.iter().map(|it| it.start).collect();
    for it in name::find(text, words, &taken, &starts) {
        let value = Value::Name { tokens: it.tokens, doubtful: it.doubtful, words: it.words };
        list.push(ValueMark { value, span: it.span });
    }
    list.sort_by_key(|it| it.span.start);
    list
}

/// `30-37`, `2011–2018`: ascending numbers with the same count of digits.
fn is_range(text: &str, words: &[Word<'_>]) -> bool {
    let [one, two] = words else { return false };
    let stroke = matches!(text.get(one.end..two.start), Some("-" | "–"));
    let figures =
        |it: &Word<'_>| it.text.len() <= 4 && it.text.bytes().all(|it| it.is_ascii_digit());
    let even = one.text.len() == two.text.len() && one.text < two.text;
    stroke && figures(one) && figures(two) && even
}

/// The day before «to» in `2 to 20 March 2020`.
fn first_day(words: &[Word<'_>], it: &date::DateMention) -> Option<(Date, Span, usize)> {
    let joint = it.words.0.checked_sub(1)?;
    let at = joint.checked_sub(1)?;
    let joins = matches!(words[joint].text, "to" | "and" | "through" | "по");
    let figures = words[at].text.len() <= 2 && words[at].text.bytes().all(|it| it.is_ascii_digit());
    let day: u8 = words[at].text.parse().ok().filter(|it| (1..=31).contains(it))?;
    let leads = it.date.day.is_some_and(|it| day < it) && it.date.month.is_some();
    // A date that begins with its month does not apply the month to the left.
    let first = words.get(it.words.0)?.text.starts_with(|it: char| it.is_ascii_digit());
    let span = Span { start: words[at].start, end: words[at].end };
    (joins && figures && leads && first).then_some((Date { day: Some(day), ..it.date }, span, at))
}

/// A time of day, the same for `11:15 p.m.` and `23:15`.
fn clock(text: &str, words: &[Word<'_>], span: Span) -> Option<String> {
    let tail = text.get(span.end..).unwrap_or_default().trim_start();
    if let [whole] = words {
        // `2245 hours`.
        let four = whole.text.len() == 4 && whole.text.bytes().all(|it| it.is_ascii_digit());
        let (hours, minutes) = whole.text.split_at_checked(2).filter(|_| four)?;
        let real = hours < "24" && minutes < "60" && tail.starts_with("hours");
        return real.then(|| format!("{hours}H{minutes}"));
    }
    let [hour, minute] = words else { return None };
    let half_day = is_half_day(text, span.end);
    let between = text.get(hour.end..minute.start);
    let colon = between == Some(":") || (between == Some(".") && half_day);
    let figures = hour.text.len() <= 2 && minute.text.len() == 2;
    let (mut hours, minutes): (u32, u32) = (hour.text.parse().ok()?, minute.text.parse().ok()?);
    if !colon || !figures || hours > 24 || minutes > 59 {
        return None;
    }
    let half = |mark: &str| tail.get(..mark.len()).is_some_and(|it| it.eq_ignore_ascii_case(mark));
    if (half("p.m") || half("pm")) && hours < 12 {
        hours += 12;
    } else if (half("a.m") || half("am")) && hours == 12 {
        hours = 0;
    }
    Some(format!("{hours:02}H{minutes:02}"))
}

fn is_half_day(text: &str, from: usize) -> bool {
    let tail = text.get(from..).unwrap_or_default().trim_start();
    ["a.m", "p.m", "am", "pm"].iter().any(|it| tail.starts_with(it))
}

/// Numbers of cases, dockets, invoices and the like: digits joined by strokes.
fn numbers(text: &str, words: &[Word<'_>], taken: &[bool]) -> Vec<(String, Span)> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let lead = text[..words[at].start].trim_end();
        let display_name = ["No.", "Nos.", "no.", "№", "Number", "number", "#", "numbered"];
        let display_name = display_name.iter().any(|it| lead.ends_with(it));
        let mut end = at + 1;
        while end < words.len() && end - at < 8 {
            let gap = &text[words[end - 1].end..words[end].start];
            let three =
                words[end].text.len() == 3 && words[end].text.bytes().all(|it| it.is_ascii_digit());
            let clock = gap == "." && end == at + 1 && is_half_day(text, words[end].end);
            if !(matches!(gap, "-" | ":" | "/" | "–")
                || (display_name && gap == "," && three)
                || clock)
            {
                break;
            }
            end += 1;
        }
        let span = Span { start: words[at].start, end: words[end - 1].end };
        let body = &text[span.start..span.end];
        let digits = body.bytes().filter(u8::is_ascii_digit).count();
        let named = display_name && digits >= 2;
        let free = !taken[at..end].iter().any(|it| *it);
        if let Some(time) = clock(text, &words[at..end], span).filter(|_| free) {
            list.push((time, span));
        } else if is_range(text, &words[at..end]) && !named {
            // Two amounts or years, each read by itself.
        } else if free && (named || (end - at > 1 && digits >= 4)) {
            let number = body.chars().filter(|it| it.is_alphanumeric());
            list.push((number.flat_map(char::to_uppercase).collect(), span));
        }
        at = end;
    }
    list
}
