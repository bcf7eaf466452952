//! `fact_check`: compares the claims of an insight with its source.
//!
//! The content is split into sentences, and for each the four nearest sentences of the source are
//! found by shared words, rare ones counting more. A claim is supported where its value stands in
//! the source, contradicted where the nearest sentence has another value of the same kind in its
//! place (a changed number, a moved date, a swapped party, a reversed holding, an altered quote,
//! another page in the same volume), and not found otherwise. Weights: contradicted 0.55; not
//! found 0.4 for a quote, citation, number or date, 0.35 for a name, 0.3 for a sentence that no passage
//! confirms as a whole, and 0.2 for a decision word.

mod companies;
mod court;
pub(crate) mod dated;
mod holdings;
mod modality;
mod parties;
mod places;
mod quotes;
mod slots;
mod speech;
mod statement;
mod triples;
mod values;

use std::collections::HashSet;

use crate::actors::Segment;
use crate::index::{AlignedSentence, Index};
use crate::reading::{Reading, Sentence, Value};
use crate::report::{Answer, InsightReport, Issue, insufficient_evidence, nothing_to_check};
use crate::text::{Word, clip, stem, words};
use crate::{Insight, SourceEvidence, Span, date, quote};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClaimKind {
    Quote,
    Amount,
    Date,
    Name,
    Citation,
    /// The number of a case, a docket, an invoice.
    Number,
    /// A decision, or a statement that was negated.
    Holding,
    /// The agent, the patient and their roles.
    Party,
    /// The place in a file that the insight gives as its source.
    Source,
    /// A plain sentence without a value that could be looked up.
    Statement,
}

impl ClaimKind {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Quote => "quote",
            Self::Amount => "amount",
            Self::Date => "date",
            Self::Name => "name",
            Self::Citation => "citation",
            Self::Number => "number",
            Self::Holding => "holding",
            Self::Party => "party",
            Self::Source => "source",
            Self::Statement => "statement",
        }
    }

    /// Whether the claim is a value that the source either has or lacks.
    pub(crate) fn is_value(self) -> bool {
        !matches!(self, Self::Holding | Self::Party | Self::Statement)
    }

    fn missing(self) -> f64 {
        match self {
            Self::Quote
            | Self::Citation
            | Self::Amount
            | Self::Date
            | Self::Number
            | Self::Source => 0.4,
            Self::Name | Self::Party => 0.35,
            Self::Holding => 0.2,
            Self::Statement => 0.3,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Support {
    Supported,
    Contradicted,
    NotFound,
}

impl Support {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Contradicted => "contradicted",
            Self::NotFound => "not_found",
        }
    }
}

/// One claim of an insight that can be compared with its source.
#[derive(Debug, Clone)]
pub struct Claim {
    pub kind: ClaimKind,
    /// The text in the insight.
    pub text: String,
    /// In characters of the content.
    pub span: Span,
    pub support: Support,
    /// The place in the source that supports or contradicts the claim.
    pub evidence: Option<SourceEvidence>,
    /// Bytes of the content, for looking up the sentence.
    pub(crate) bytes: Span,
    /// The source sentence of the evidence.
    pub(crate) sentence: Option<usize>,
}

impl Claim {
    pub(crate) fn is_contradicted(&self) -> bool {
        self.support == Support::Contradicted
    }
}

const CONTRADICTED: f64 = 0.55;
/// The most claims that are checked in one insight; further ones are ignored.
const CLAIMS_MAX: usize = 2_000;

pub(crate) fn detail(insight: &Insight, reading: &Reading<'_>, index: &Index<'_>) -> InsightReport {
    let claims = claims(insight, reading, index);
    let mut findings = findings(reading, &claims);
    let answer = Answer::of(&claims);
    if index.is_empty() {
        findings = vec![nothing_to_check("there is no source text to hold the insight against")];
    } else if answer == Answer::NothingToCheck {
        findings = vec![nothing_to_check("the insight claims nothing that can be looked up")];
    } else if index.is_cut && answer == Answer::NotFound {
        findings.push(insufficient_evidence("only the first part of the source was read"));
    }
    let mut detail = InsightReport::new(&insight.id, findings);
    detail.claims = claims;
    detail.answer = Some(answer);
    detail
}

pub(crate) fn findings(reading: &Reading<'_>, claims: &[Claim]) -> Vec<Issue> {
    let mut list = Vec::new();
    let mut unconfirmed = 0;
    for claim in claims {
        let (kind, text) = (claim.kind.word(), &claim.text);
        let evidence_text = claim.evidence.as_ref().map_or("", |it| it.text.as_str());
        let (code, weight, message, advice) = match claim.support {
            Support::Supported => continue,
            Support::Contradicted => (
                "contradicted",
                CONTRADICTED,
                format!("{kind} \"{text}\" is contradicted: the source has \"{evidence_text}\""),
                format!("replace \"{text}\" by what the source says, \"{evidence_text}\""),
            ),
            Support::NotFound => (
                "not_found",
                claim.kind.missing(),
                match claim.kind {
                    ClaimKind::Statement => format!("no passage of the source confirms \"{text}\""),
                    _ => format!("{kind} \"{text}\" is not in the source"),
                },
                format!("remove \"{text}\" or name the source it comes from"),
            ),
        };
        // Sentences that no passage confirms count once, however long the insight is.
        let is_statement = code == "not_found" && claim.kind == ClaimKind::Statement;
        let weight = if is_statement && unconfirmed > 0 { 0.0 } else { weight };
        unconfirmed += usize::from(is_statement);
        let found = Issue::at(reading, claim.bytes, code, weight, message, advice);
        list.push(found.with(claim.evidence.clone()));
    }
    list
}

/// Every claim of the insight in the order of its text; the sources that it names come last.
pub(crate) fn claims(insight: &Insight, reading: &Reading<'_>, index: &Index<'_>) -> Vec<Claim> {
    let mut check = FactCheck {
        reading,
        index,
        claims: Vec::new(),
        settled: Vec::new(),
        segments: Vec::new(),
        quoted_sentences: Vec::new(),
        quoted_words: HashSet::new(),
    };
    if index.is_empty() {
        return Vec::new();
    }
    check.find_quoted_sentences(insight);
    check.quotes();
    check.people();
    for sentence in &reading.sentences {
        if check.claims.len() >= CLAIMS_MAX {
            break;
        }
        check.sentence(sentence);
    }
    check.prefer_quoted_sentences();
    check.claims.sort_by_key(|it| it.bytes.start);
    check.sources(insight);
    check.claims
}

/// The check of one insight against one index.
struct FactCheck<'a, 't, 's> {
    reading: &'a Reading<'t>,
    index: &'a Index<'s>,
    claims: Vec<Claim>,
    /// Long quotes that the source contains word for word, in order; every claim inside them is
    /// supported.
    settled: Vec<Span>,
    /// The segments of each sentence of the insight, in order.
    segments: Vec<Vec<Segment>>,
    /// The sentences that the sources of the insight quote verbatim, and all words there.
    quoted_sentences: Vec<usize>,
    quoted_words: HashSet<String>,
}

/// A sentence of the insight and the source sentences that resemble it.
struct SentencePair<'a> {
    sentence: &'a Sentence,
    aligned: Vec<AlignedSentence>,
    /// The same without names and months, because those are being checked.
    plain: Vec<AlignedSentence>,
}

impl SentencePair<'_> {
    fn best(&self) -> Option<AlignedSentence> {
        self.aligned.first().copied()
    }

    fn score_of(&self, sentence: usize) -> f64 {
        self.plain.iter().find(|it| it.sentence == sentence).map_or(0.0, |it| it.score)
    }
}

impl FactCheck<'_, '_, '_> {
    fn push(
        &mut self,
        kind: ClaimKind,
        bytes: Span,
        (support, place): (Support, Option<crate::index::SourcePosition>),
    ) {
        self.claims.push(Claim {
            kind,
            text: clip(self.reading.slice(bytes), 200),
            span: self.reading.chars(bytes),
            support,
            evidence: place.map(|it| self.index.evidence(it)),
            bytes,
            sentence: place.map(|it| it.sentence),
        });
    }

    /// The stems of the names in a sentence.
    fn name_stems(&self, sentence: &Sentence) -> HashSet<String> {
        let mut names: HashSet<String> = HashSet::new();
        for mark in self.reading.marks_of(sentence) {
            if let Value::Name { tokens, doubtful, .. } = &mark.value {
                let known = tokens.iter().any(|it| self.index.names(it).next().is_some());
                if *doubtful && !known {
                    continue;
                }
                names.extend(tokens.iter().map(|it| stem(it)));
            }
        }
        names
    }

    fn pair<'a>(&self, sentence: &'a Sentence) -> SentencePair<'a> {
        let aligned = self.index.align(&sentence.stems);
        let names = self.name_stems(sentence);
        let own = sentence.stems.iter().filter(|it| !names.contains(*it) && !date::is_month(it));
        let plain = self.index.align(&own.cloned().collect::<Vec<_>>());
        let useful = plain.first().is_some_and(|it| it.score >= 0.2);
        let plain = if useful { plain } else { aligned.clone() };
        SentencePair { sentence, aligned, plain }
    }

    fn sentence(&mut self, sentence: &Sentence) {
        let pair = self.pair(sentence);
        let before = self.claims.len();
        for mark in self.reading.marks_of(sentence) {
            if self.is_settled(mark.span) {
                continue;
            }
            let (kind, answer) = match &mark.value {
                Value::Amount(it) => (ClaimKind::Amount, self.amount(&pair, it, mark.span)),
                Value::Date { date, other } => {
                    (ClaimKind::Date, Some(self.date(&pair, *date, *other)))
                }
                Value::Citation(key) => (ClaimKind::Citation, Some(self.citation(key))),
                Value::Number(number) => (ClaimKind::Number, Some(self.number(number))),
                Value::Name { tokens, doubtful, words } => {
                    (ClaimKind::Name, self.name(tokens, *doubtful, *words))
                }
            };
            if let Some(answer) = answer {
                self.push(kind, mark.span, answer);
            }
        }
        self.speech(&pair);
        if self.only_quotes(sentence) {
            return;
        }
        self.holdings(&pair);
        self.negation(&pair);
        self.closed(&pair);
        self.modality(&pair);
        self.court_facts(&pair);
        self.companies(&pair);
        self.dated_acts(&pair);
        self.roles(&pair);
        let acts = self.triples(&pair);
        let slot_verdict = if acts.is_some() { acts } else { self.slots(&pair) };
        let settled = acts.is_some() || self.relations(&pair, slot_verdict);
        if !settled && slot_verdict != Some(Support::Supported) {
            self.lone_party(&pair);
            self.swapped_clauses(&pair);
        }
        let placed = self.claims[before..]
            .iter()
            .any(|it| it.kind == ClaimKind::Party && it.support == Support::Supported);
        self.statement(&pair, before, placed.then_some(Support::Supported));
    }

    /// Finds the sentences that the sources of the insight quote, and the words of the quotes.
    fn find_quoted_sentences(&mut self, insight: &Insight) {
        for source in insight.sources.iter().filter(|it| !it.quote.trim().is_empty()).take(64) {
            let (Support::Supported, Some(place)) = self.quoted(&source.quote) else { continue };
            let quoted = words(&source.quote);
            let mut left = quoted.len();
            self.quoted_words.extend(quoted.iter().map(Word::fold));
            let mut id = place.sentence;
            while left > 0 && id < self.index.sentence_count() {
                let (page, sentence) = self.index.sentence(id);
                let own = page.words_of(sentence);
                self.quoted_sentences.push(id);
                self.quoted_words.extend(own.iter().map(Word::fold));
                left = left.saturating_sub(own.len());
                id += 1;
            }
        }
    }

    /// An insight that quotes its source verbatim is about the quoted sentences: values that stand
    /// there are supported, and neither its own words nor another sentence contradict it.
    fn prefer_quoted_sentences(&mut self) {
        for claim in self.claims.iter_mut().filter(|it| it.is_contradicted()) {
            if self.quoted_sentences.is_empty() {
                return;
            }
            let all = words(&claim.text);
            let is_quoted = all.iter().all(|it| self.quoted_words.contains(&it.fold()));
            let outside = claim.sentence.is_none_or(|it| !self.quoted_sentences.contains(&it));
            if is_quoted && claim.kind.is_value() {
                claim.support = Support::Supported;
            } else if is_quoted || (outside && claim.kind != ClaimKind::Quote) {
                claim.support = Support::NotFound;
            }
        }
    }

    /// The source locations that the insight itself gives.
    fn sources(&mut self, insight: &Insight) {
        for source in insight.sources.iter().filter(|it| !it.quote.trim().is_empty()).take(64) {
            let (mut support, place) = self.quoted(&source.quote);
            let moved = place.zip(source.page).is_some_and(|(place, page)| {
                let words = quote::folded(&source.quote);
                !self.index.is_on(place, &source.file_hash, page)
                    && !self.index.has_words_on_page(&words, &source.file_hash, page)
            });
            if support == Support::Supported && moved {
                support = Support::Contradicted;
            }
            let end = self.reading.text.len();
            self.push(ClaimKind::Source, Span { start: end, end }, (support, place));
            if let Some(claim) = self.claims.last_mut() {
                claim.text = clip(&source.quote, 200);
            }
        }
    }
}
