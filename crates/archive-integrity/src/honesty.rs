//! `honesty`: whether an insight is as certain as its evidence allows.
//!
//! Weights: memory or capability that a text cannot have 0.45; stated flatly what the source only
//! alleges or supposes 0.4; certain words without support 0.35, with support 0.1; a superlative, a
//! nameless authority or an accusation that the source does not have 0.35; three hedges in one
//! sentence 0.15.

use crate::fact::{self, Claim, Support};
use crate::index::{AlignedSentence, Index};
use crate::lexicon::{self, Tone, ToneHit};
use crate::reading::{Reading, Sentence, Value};
use crate::report::{InsightReport, Issue, insufficient_evidence};
use crate::text::stem;
use crate::{Insight, Span};

pub(crate) fn detail(insight: &Insight, reading: &Reading<'_>, index: &Index<'_>) -> InsightReport {
    let claims = fact::claims(insight, reading, index);
    let mut list = Vec::new();
    for sentence in &reading.sentences {
        let context = SentenceContext::new(reading, index, sentence, &claims);
        list.extend(context.memory());
        list.extend(context.certainty());
        list.extend(context.dropped_doubt());
        list.extend(context.superlatives());
        list.extend(context.accusation());
        list.extend(context.hedges());
    }
    if index.is_empty() {
        list.push(insufficient_evidence("there is no source text to weigh certainty against"));
    } else if reading.sentences.is_empty() {
        list.push(insufficient_evidence("the insight says nothing"));
    }
    InsightReport::new(&insight.id, list)
}

pub(crate) struct SentenceContext<'a, 't, 's> {
    reading: &'a Reading<'t>,
    index: &'a Index<'s>,
    sentence: &'a Sentence,
    pub(crate) hits: Vec<ToneHit>,
    aligned: Vec<AlignedSentence>,
    /// A claim of this sentence has no support.
    pub(crate) is_unsupported: bool,
}

/// Hits outside quotation marks: a quoted word belongs to another speaker.
pub(crate) fn own_hits(reading: &Reading<'_>, sentence: &Sentence) -> Vec<ToneHit> {
    let mut hits = lexicon::find(reading.words_of(sentence));
    hits.retain(|it| !reading.in_quote(it.span.start));
    hits
}

fn is_personal(tone: Tone) -> bool {
    matches!(tone, Tone::Memory | Tone::Human | Tone::Interest | Tone::Offer)
}

/// Stems of wrongdoing that a text must attribute to a source.
const WRONGS: &str = "steal stol stole theft loot brib lie lying li liar cheat defraud manipulat \
conspir fak forg falsif fabricat embezzl launder negligent guilt guilty blackmail extort sabotag \
delet destroy conceal purpos deliberat intentional knowing malic plot cop plagiariz perjur \
mislead misled deceiv decei trick betray abus harass retaliat revenge мстил врал обманул украл \
подделал скрыл";

/// Verbs that only report a statement; with «that» they leave it open.
const NEUTRAL: &str = "stated states says said say tell tells told wrote writes written reported \
reports report explains explained noted notes asked asks seeks sought demands demanded replied \
answered observed";

const SETTLED: &str = "conceded concedes admits finds determined указал отметил attributes opposes \
opposed seeks sought demands asks asked установил";

impl<'a, 't, 's> SentenceContext<'a, 't, 's> {
    pub(crate) fn new(
        reading: &'a Reading<'t>,
        index: &'a Index<'s>,
        sentence: &'a Sentence,
        claims: &[Claim],
    ) -> Self {
        let from = claims.partition_point(|it| it.bytes.start < sentence.span.start);
        let own = claims[from..].iter().take_while(|it| it.bytes.start < sentence.span.end);
        let is_unsupported = own.into_iter().any(|it| it.support != Support::Supported);
        let aligned = index.align(&sentence.stems);
        let mut hits = own_hits(reading, sentence);
        // An insight that repeats the source's «we» does not refer to its own writer.
        if let Some(best) = aligned.first().filter(|it| it.score >= 0.6) {
            let (page, there) = index.sentence(best.sentence);
            let theirs = lexicon::find(page.words_of(there));
            hits.retain(|it| !is_personal(it.tone) || !lexicon::has(&theirs, it.tone));
        }
        Self { reading, index, sentence, hits, aligned, is_unsupported }
    }

    fn of(&self, tone: Tone) -> impl Iterator<Item = &ToneHit> {
        self.hits.iter().filter(move |it| it.tone == tone)
    }

    fn word(&self, span: Span) -> &str {
        self.reading.slice(span)
    }

    pub(crate) fn memory(&self) -> Vec<Issue> {
        let hits = self.of(Tone::Memory);
        hits.map(|it| {
            let word = self.word(it.span);
            let message =
                format!("\"{word}\" claims a memory or an ability that a text cannot have");
            Issue::at(
                self.reading,
                it.span,
                "memory_or_capability",
                0.45,
                message,
                "say where it is written instead of who remembers or checked it",
            )
        })
        .collect()
    }

    /// Whether the nearest source sentence has the same tone.
    pub(crate) fn source_is(&self, tone: Tone) -> bool {
        let alike = self.aligned.first().filter(|it| it.score >= 0.35);
        alike.is_some_and(|it| {
            let (page, there) = self.index.sentence(it.sentence);
            lexicon::has(&lexicon::find(page.words_of(there)), tone)
        })
    }

    fn certainty(&self) -> Option<Issue> {
        let hit = self.of(Tone::Certain).next()?;
        let word = self.word(hit.span);
        let alike = self.aligned.first().filter(|it| it.score >= 0.35);
        let doubted = alike.is_some_and(|it| self.doubt_in(it.sentence).is_some());
        if self.source_is(Tone::Certain) {
            return None;
        }
        // A statement about the future cannot be certain.
        let words = self.reading.words_of(self.sentence);
        let future = words.iter().any(|it| matches!(it.text, "will" | "bound" | "sure" | "взыщет"));
        let bare = self.is_unsupported || alike.is_none() || doubted || future;
        let (code, weight, why) = if bare {
            ("overstated", 0.35, "the source does not bear that out")
        } else {
            ("emphatic", 0.1, "the source says it without emphasis")
        };
        let message = format!("\"{word}\" is surer than the evidence: {why}");
        Some(Issue::at(
            self.reading,
            hit.span,
            code,
            weight,
            message,
            "drop the emphasis or show the evidence",
        ))
    }

    /// The word by which a source sentence leaves a statement open.
    fn doubt_in(&self, sentence: usize) -> Option<Span> {
        let (page, there) = self.index.sentence(sentence);
        let hits = lexicon::find(page.words_of(there));
        let words = page.words_of(there);
        let open = |it: &&ToneHit| {
            let word = words.get(it.at).map(|it| it.text.to_lowercase()).unwrap_or_default();
            let neutral = NEUTRAL.split(' ').any(|it| it == word);
            let that = words.iter().skip(it.at + 1).take(4).any(|it| it.text == "that");
            // A person who concedes or finds a thing does not leave it open.
            let settled = SETTLED.split(' ').any(|it| it == word);
            let attributed = it.tone == Tone::Attribution && (!neutral || that) && !settled;
            it.tone == Tone::Hedge || attributed
        };
        hits.iter().find(open).map(|it| it.span)
    }

    fn dropped_doubt(&self) -> Option<Issue> {
        let best = self.aligned.first().filter(|it| it.score >= 0.5)?;
        let open = [Tone::Hedge, Tone::Attribution, Tone::Doubting, Tone::Fiction];
        if open.iter().any(|it| lexicon::has(&self.hits, *it)) {
            return None;
        }
        let span = self.doubt_in(best.sentence)?;
        if !self.is_within(best.sentence, span) {
            return None;
        }
        let flat = |it: &&AlignedSentence| {
            it.score >= 0.85 * best.score && self.doubt_in(it.sentence).is_none()
        };
        if self.aligned.iter().any(|it| flat(&it)) {
            return None;
        }
        let place = self.index.place_in(best.sentence, span);
        let word = self.index.text_at(place);
        let message = format!("stated as a fact, where the source says \"{word}\"");
        let found = Issue::at(
            self.reading,
            self.sentence.span,
            "dropped_doubt",
            0.4,
            message,
            format!("keep the source's \"{word}\""),
        );
        Some(found.with(Some(self.index.evidence(place))))
    }

    /// Whether our statement stands behind the word of doubt, and not before it.
    fn is_within(&self, sentence: usize, doubt: Span) -> bool {
        let (page, there) = self.index.sentence(sentence);
        let (mut before, mut behind) = (0, 0);
        for word in page.words_of(there) {
            if self.sentence.stems.contains(&stem(&word.fold())) {
                *(if word.start < doubt.start { &mut before } else { &mut behind }) += 1;
            }
        }
        behind >= before
    }

    fn superlatives(&self) -> Vec<Issue> {
        let mut list = Vec::new();
        let cited = self.reading.marks_of(self.sentence).iter();
        let cited = cited.into_iter().any(|it| matches!(it.value, Value::Citation(_)));
        for hit in &self.hits {
            let word = self.word(hit.span);
            let (code, message, advice) = match hit.tone {
                Tone::Superlative => (
                    "superlative",
                    format!("\"{word}\" is a superlative the source does not have"),
                    "say it without the superlative, or cite who measured it",
                ),
                Tone::Weasel if !cited => (
                    "nameless_authority",
                    format!("\"{word}\" leans on an authority without a name"),
                    "name and cite the authority, or drop it",
                ),
                _ => continue,
            };
            if !self.source_has(word) {
                list.push(Issue::at(self.reading, hit.span, code, 0.35, message, advice));
            }
        }
        list
    }

    /// Wrongdoing or its intent, stated as fact where the source has no such word.
    fn accusation(&self) -> Option<Issue> {
        let open = [Tone::Hedge, Tone::Attribution, Tone::Doubting, Tone::Fiction];
        if open.iter().any(|it| lexicon::has(&self.hits, *it)) {
            return None;
        }
        let words = self.reading.words_of(self.sentence);
        let guilty = words.iter().find(|it| {
            let base = stem(&it.fold());
            WRONGS.split(' ').any(|it| it == base) && !self.index.has_stem(&base)
        })?;
        let span = Span { start: guilty.start, end: guilty.end };
        let message = format!("\"{}\" accuses, and the source does not", guilty.text);
        let advice = "say who accuses whom, or leave it out";
        Some(Issue::at(self.reading, span, "bare_accusation", 0.35, message, advice))
    }

    /// Whether one of the nearest source sentences contains the phrase.
    pub(crate) fn source_has(&self, phrase: &str) -> bool {
        let phrase = phrase.to_lowercase();
        self.aligned.iter().any(|it| {
            let (page, there) = self.index.sentence(it.sentence);
            page.slice(there.span).to_lowercase().contains(&phrase)
        })
    }

    fn hedges(&self) -> Option<Issue> {
        let hedges: Vec<&ToneHit> = self.of(Tone::Hedge).collect();
        let third = hedges.get(2)?;
        let message = format!("{} hedges in one sentence leave nothing said", hedges.len());
        Some(Issue::at(
            self.reading,
            third.span,
            "hedge_pile",
            0.15,
            message,
            "keep one hedge and say what is unsure",
        ))
    }
}
