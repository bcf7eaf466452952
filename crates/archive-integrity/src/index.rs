//! An index of the source texts of an insight. Every list has a limit, so that the cost of one
//! look-up does not depend on the length of the source.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::actors::{self, Actor, ActorIndex, ReadingContext, Relation, Segment};
use crate::court_facts::company::{self, Company};
use crate::court_facts::{self, CourtFacts};
use crate::date::Date;
use crate::fact::dated::{self, DatedAct};
use crate::holding;
use crate::quote::{self, Folded};
use crate::reading::{CiteKey, Reading, Sentence, Value, ValueMark};
use crate::text::{clip, fold, stem};
use crate::triples::{self, Participants, Triple};
use crate::{SourceEvidence, SourceText, Span};

/// A position: page among all pages, sentence among all sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SourcePosition {
    pub(crate) page: usize,
    pub(crate) sentence: usize,
    pub(crate) span: Span,
}

/// A source sentence that resembles a sentence of the insight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AlignedSentence {
    pub(crate) sentence: usize,
    /// The share of the insight's content words that it contains, weighted by rarity.
    pub(crate) score: f64,
}

/// The most bytes of source read for one insight; the index takes about thirty times that in
/// memory.
const SOURCE_MAX: usize = 16 << 20;
const LIST_MAX: usize = 400;
const ALIGNED_MAX: usize = 4;

#[derive(Debug)]
pub(crate) struct Index<'s> {
    pub(crate) pages: Vec<Reading<'s>>,
    /// File and page number of each page, counted from 1.
    origins: Vec<(&'s str, u32)>,
    folded: Vec<Folded>,
    sentences: Vec<(usize, usize)>,
    stems: HashMap<String, Vec<u32>>,
    words: HashMap<String, SourcePosition>,
    /// Two neighbouring words, hashed; a hit is compared word by word.
    pairs: HashMap<u64, Vec<(u32, u32)>>,
    amounts: Vec<(u128, SourcePosition)>,
    dates: HashMap<Date, Vec<SourcePosition>>,
    citations: HashMap<String, Vec<(CiteKey, SourcePosition)>>,
    numbers: HashMap<String, SourcePosition>,
    names: HashMap<String, Vec<SourcePosition>>,
    initials: HashMap<String, SourcePosition>,
    pub(crate) holdings: HashMap<usize, Vec<usize>>,
    /// Companies with their form and place, and days by act.
    pub(crate) companies: Vec<(Company, SourcePosition)>,
    pub(crate) dated: HashMap<usize, Vec<(DatedAct, usize)>>,
    pub(crate) relations: HashMap<String, Vec<(Relation, usize)>>,
    pub(crate) actors: ActorIndex,
    pub(crate) participants: Participants,
    /// What the sentences state, by act.
    pub(crate) triples: HashMap<&'static str, Vec<(Triple, usize)>>,
    /// The speaker of each sentence, where lines begin with a speaker.
    lines: Vec<Option<Actor>>,
    pub(crate) court_facts: CourtFacts,
    /// Whether the court that speaks affirms, and where it says so.
    pub(crate) dispositions: Vec<(bool, SourcePosition)>,
    /// The segments of each sentence.
    segments: Vec<Vec<Segment>>,
    /// Part of the source was not read.
    pub(crate) is_cut: bool,
}

fn pair_key(one: &str, two: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (one, two).hash(&mut hasher);
    hasher.finish()
}

/// Russian names are declined, so the index looks up their beginnings and compares the rest.
fn name_key(token: &str) -> String {
    if token.chars().all(|it| ('а'..='я').contains(&it)) {
        return token.chars().take(3).collect();
    }
    token.to_owned()
}

fn put<K: Hash + Eq, V>(map: &mut HashMap<K, Vec<V>>, key: K, value: V) {
    let list = map.entry(key).or_default();
    if list.len() < LIST_MAX {
        list.push(value);
    }
}

impl<'s> Index<'s> {
    pub(crate) fn new(texts: &[&'s SourceText]) -> Self {
        let mut pages = Vec::new();
        let mut origins = Vec::new();
        let (mut room, mut is_cut) = (SOURCE_MAX, false);
        for text in texts {
            for (at, page) in text.pages.iter().enumerate() {
                if page.len() > room {
                    is_cut = true;
                    break;
                }
                room -= page.len();
                pages.push(Reading::new(page));
                origins.push((text.file_hash.as_str(), u32::try_from(at + 1).unwrap_or(u32::MAX)));
            }
        }
        let head: Vec<(u32, &str)> =
            (1..).zip(&pages).map(|(number, page)| (number, page.text)).collect();
        let facts = Participants::facts(&head);
        let actors = ActorIndex::new(&pages);
        let participants = Participants::new(&facts, &actors, &pages);
        let folded = pages.iter().map(|it| Folded::new(it.text)).collect();
        let mut index = Self {
            pages: Vec::new(),
            origins,
            folded,
            sentences: Vec::new(),
            stems: HashMap::new(),
            words: HashMap::new(),
            pairs: HashMap::new(),
            amounts: Vec::new(),
            dates: HashMap::new(),
            citations: HashMap::new(),
            numbers: HashMap::new(),
            names: HashMap::new(),
            initials: HashMap::new(),
            holdings: HashMap::new(),
            relations: HashMap::new(),
            actors,
            participants,
            triples: HashMap::new(),
            companies: Vec::new(),
            dated: HashMap::new(),
            lines: Vec::new(),
            court_facts: CourtFacts::default(),
            dispositions: Vec::new(),
            segments: Vec::new(),
            is_cut,
        };
        for (page, reading) in pages.iter().enumerate() {
            index.lines.extend(index.actors.lines(reading));
            let author = index.actors.author(reading);
            let mut context = ReadingContext { author, last: None };
            for (at, sentence) in reading.sentences.iter().enumerate() {
                context.author = index.speaker(index.sentences.len()).or(author);
                let segments = index.actors.segments(reading, sentence, &mut context);
                index.segments.push(segments);
                index.add_sentence(page, at, reading, sentence);
            }
        }
        index.add_pairs();
        index.amounts.sort_by_key(|it| it.0);
        index.pages = pages;
        index
    }

    fn add_sentence(&mut self, page: usize, at: usize, reading: &Reading<'_>, sentence: &Sentence) {
        let id = self.sentences.len();
        self.sentences.push((page, at));
        for stem in &sentence.stems {
            put(&mut self.stems, stem.clone(), u32::try_from(id).unwrap_or(u32::MAX));
        }
        for word in reading.words_of(sentence) {
            let span = Span { start: word.start, end: word.end };
            self.words.entry(word.fold()).or_insert(SourcePosition { page, sentence: id, span });
        }
        for it in reading.marks_of(sentence) {
            self.add_mark(it, SourcePosition { page, sentence: id, span: it.span });
        }
        self.court_facts.add(court_facts::read(reading, sentence), page, id);
        if self.dispositions.len() < LIST_MAX {
            let made = holding::dispositions(reading.words_of(sentence), &sentence.polarity);
            let place = |span: Span| SourcePosition { page, sentence: id, span };
            self.dispositions.extend(made.into_iter().map(|it| (it.0, place(it.1))));
        }
        for it in &sentence.polarity.mentions {
            put(&mut self.holdings, it.axis, id);
        }
        for it in dated::read(reading, sentence) {
            put(&mut self.dated, it.act, (it, id));
        }
        if self.companies.len() < LIST_MAX {
            let place = |span: Span| SourcePosition { page, sentence: id, span };
            let found =
                company::read(reading, sentence, &self.actors, &self.participants).into_iter();
            self.companies.extend(found.map(|it| (it.clone(), place(it.span))));
        }
        for it in triples::of(reading, sentence, &self.actors, &self.participants) {
            put(&mut self.triples, it.act, (it, id));
        }
        for it in self.actors.relations(reading, sentence) {
            put(&mut self.relations, it.class.clone(), (it, id));
        }
    }

    fn add_mark(&mut self, mark: &ValueMark, place: SourcePosition) {
        match &mark.value {
            Value::Citation(key) => {
                put(&mut self.citations, key.source.clone(), (key.clone(), place));
            }
            Value::Date { date, other } => {
                for view in std::iter::once(date).chain(other).flat_map(|it| it.views()) {
                    put(&mut self.dates, view, place);
                }
            }
            Value::Number(number) => {
                self.numbers.entry(number.clone()).or_insert(place);
            }
            Value::Amount(it) => self.amounts.push((it.value, place)),
            Value::Name { tokens, .. } => {
                let letters: String = tokens.iter().filter_map(|it| it.chars().next()).collect();
                self.initials.entry(letters).or_insert(place);
                for token in tokens {
                    put(&mut self.names, name_key(token), place);
                }
            }
        }
    }

    fn add_pairs(&mut self) {
        for (page, text) in self.folded.iter().enumerate() {
            for (at, pair) in text.words.windows(2).enumerate() {
                let [one, two] = pair else { continue };
                let key = pair_key(&one.0, &two.0);
                let place = (
                    u32::try_from(page).unwrap_or(u32::MAX),
                    u32::try_from(at).unwrap_or(u32::MAX),
                );
                put(&mut self.pairs, key, place);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    pub(crate) fn sentence_count(&self) -> usize {
        self.sentences.len()
    }

    pub(crate) fn sentence(&self, id: usize) -> (&Reading<'s>, &Sentence) {
        let (page, at) = self.sentences[id];
        (&self.pages[page], &self.pages[page].sentences[at])
    }

    /// The sentences before and after one, on its page.
    pub(crate) fn neighbours(&self, id: usize) -> Vec<&Sentence> {
        let page = self.sentences[id].0;
        let ids = [id.checked_sub(1), Some(id + 1)].into_iter().flatten();
        let on_page = |it: &usize| self.sentences.get(*it).is_some_and(|at| at.0 == page);
        ids.filter(on_page).map(|it| self.sentence(it).1).collect()
    }

    pub(crate) fn segments(&self, id: usize) -> &[Segment] {
        self.segments.get(id).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn place_in(&self, id: usize, span: Span) -> SourcePosition {
        SourcePosition { page: self.sentences[id].0, sentence: id, span }
    }

    pub(crate) fn evidence(&self, place: SourcePosition) -> SourceEvidence {
        let reading = &self.pages[place.page];
        let (file_hash, page) = self.origins[place.page];
        let (_, sentence) = self.sentence(place.sentence);
        SourceEvidence {
            file_hash: file_hash.to_owned(),
            page,
            span: reading.chars(place.span),
            text: clip(reading.slice(place.span), 200),
            sentence: clip(reading.slice(sentence.span), 300),
        }
    }

    pub(crate) fn text_at(&self, place: SourcePosition) -> &'s str {
        self.pages[place.page].slice(place.span)
    }

    /// The source sentences nearest to these content words. Digits do not count, because they are
    /// being checked.
    pub(crate) fn align(&self, stems: &[String]) -> Vec<AlignedSentence> {
        let mut total = 0.0;
        let mut scores: HashMap<u32, f64> = HashMap::new();
        for stem in stems.iter().filter(|it| !it.starts_with(|it: char| it.is_ascii_digit())) {
            let list = self.stems.get(stem).map_or(&[][..], Vec::as_slice);
            let weight = self.weight(stem);
            total += weight;
            for id in list {
                *scores.entry(*id).or_default() += weight;
            }
        }
        let mut list: Vec<AlignedSentence> = scores
            .into_iter()
            .filter_map(|(id, sum)| {
                let sentence = usize::try_from(id).ok()?;
                Some(AlignedSentence { sentence, score: sum / total })
            })
            .collect();
        // Among equals the shorter sentence wins, then the earlier one.
        let length = |it: &AlignedSentence| self.sentence(it.sentence).1.stems.len();
        list.sort_by(|one, other| {
            other
                .score
                .total_cmp(&one.score)
                .then_with(|| length(one).cmp(&length(other)))
                .then_with(|| one.sentence.cmp(&other.sentence))
        });
        list.truncate(ALIGNED_MAX);
        list
    }

    /// Amounts within the given tolerance.
    pub(crate) fn amounts(&self, value: u128, slack: u128) -> &[(u128, SourcePosition)] {
        let from = self.amounts.partition_point(|it| it.0 < value.saturating_sub(slack));
        let to = self.amounts.partition_point(|it| it.0 <= value.saturating_add(slack));
        &self.amounts[from..to.min(from + LIST_MAX)]
    }

    pub(crate) fn dates(&self, date: Date) -> &[SourcePosition] {
        self.dates.get(&date).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn citations(&self, source: &str) -> &[(CiteKey, SourcePosition)] {
        self.citations.get(source).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn number(&self, number: &str) -> Option<SourcePosition> {
        self.numbers.get(number).copied()
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&String, &SourcePosition)> {
        self.numbers.iter().take(LIST_MAX)
    }

    pub(crate) fn word(&self, folded: &str) -> Option<SourcePosition> {
        self.words.get(folded).copied()
    }

    pub(crate) fn has_stem(&self, stem: &str) -> bool {
        self.stems.contains_key(stem)
    }

    /// Names in the source that contain this word.
    pub(crate) fn names(&self, token: &str) -> impl Iterator<Item = (SourcePosition, Vec<String>)> {
        let list = self.names.get(&name_key(token)).map_or(&[][..], Vec::as_slice);
        list.iter().take(64).map(|place| {
            let words = self.text_at(*place);
            let tokens = crate::text::words(words).iter().map(|it| fold(it.text)).collect();
            (*place, tokens)
        })
    }

    /// The parties whose arguments the source gives.
    pub(crate) fn speakers(&self) -> BTreeSet<Actor> {
        let list = self.relations.get("argue").map_or(&[][..], Vec::as_slice);
        let agents = list.iter().flat_map(|it| it.0.agents.iter().copied());
        agents.filter(|it| !actors::is_court(*it)).collect()
    }

    /// A name with these initials.
    pub(crate) fn initials(&self, letters: &str) -> Option<SourcePosition> {
        self.initials.get(letters).copied()
    }

    /// Whether the words occur on the page of a file, counted from 1.
    pub(crate) fn has_words_on_page(&self, words: &[String], file_hash: &str, page: u32) -> bool {
        let Some(at) = self.origins.iter().position(|it| *it == (file_hash, page)) else {
            return false;
        };
        let there = &self.folded[at].words;
        let Some(first) = words.first() else { return false };
        let mut tries = 0;
        there.windows(words.len().max(1)).any(|it| {
            let starts = tries < LIST_MAX && it[0].0 == *first;
            tries += usize::from(starts);
            starts && it.iter().zip(words).all(|(one, other)| one.0 == *other)
        })
    }

    /// The position of these words in this order, or of the most similar words.
    pub(crate) fn phrase(&self, words: &[String]) -> Phrase {
        if let [one] = words {
            return self
                .word(one)
                .or_else(|| self.word(&fold(one)))
                .or_else(|| self.declined(one))
                .map_or(Phrase::Absent, Phrase::Exact);
        }
        let mut votes: HashMap<(u32, u32), u32> = HashMap::new();
        for (offset, pair) in words.windows(2).enumerate().take(LIST_MAX) {
            let [one, two] = pair else { continue };
            let offset = u32::try_from(offset).unwrap_or(u32::MAX);
            for (page, at) in self.pairs.get(&pair_key(one, two)).into_iter().flatten() {
                *votes.entry((*page, at.saturating_sub(offset))).or_default() += 1;
            }
        }
        let mut best: Vec<((u32, u32), u32)> = votes.into_iter().collect();
        best.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
        let mut near: Option<(f64, SourcePosition)> = None;
        for ((page, at), _) in best.into_iter().take(8) {
            let (Ok(page), Ok(at)) = (usize::try_from(page), usize::try_from(at)) else { continue };
            let text = &self.folded[page].words;
            let window = &text[at..(at + words.len()).min(text.len())];
            let Some(place) = self.window(page, window) else { continue };
            let same = window.len() == words.len()
                && window.iter().zip(words).all(|(one, other)| one.0 == *other);
            if same {
                return Phrase::Exact(place);
            }
            let there: Vec<String> = window.iter().map(|it| it.0.clone()).collect();
            let alike = quote::likeness(words, &there);
            if near.is_none_or(|it| it.0 < alike) {
                near = Some((alike, place));
            }
        }
        match near {
            Some((alike, place)) if alike >= 0.55 => Phrase::Near(place),
            _ => Phrase::Absent,
        }
    }

    /// A Russian word in another case.
    fn declined(&self, word: &str) -> Option<SourcePosition> {
        if !word.chars().all(|it| ('а'..='я').contains(&it)) || word.chars().count() < 5 {
            return None;
        }
        let id = usize::try_from(*self.stems.get(&stem(&fold(word)))?.first()?).ok()?;
        Some(self.place_in(id, self.sentence(id).1.span))
    }

    /// The weight of a content word: rare words weigh more.
    pub(crate) fn weight(&self, stem: &str) -> f64 {
        let all = f64::from(u32::try_from(self.sentences.len()).unwrap_or(u32::MAX));
        let sentence_count = self.stems.get(stem).map_or(0, Vec::len);
        (1.0 + (all + 1.0) / (f64::from(u32::try_from(sentence_count).unwrap_or(u32::MAX)) + 1.0))
            .ln()
    }

    /// The speaker of a sentence in a transcript or a letter.
    pub(crate) fn speaker(&self, sentence: usize) -> Option<Actor> {
        self.lines.get(sentence).copied().flatten()
    }

    /// The first sentences that contain this word.
    pub(crate) fn sentences_with(&self, stem: &str) -> impl Iterator<Item = usize> {
        let list = self.stems.get(stem).map_or(&[][..], Vec::as_slice);
        list.iter().take(64).filter_map(|it| usize::try_from(*it).ok())
    }

    fn window(&self, page: usize, words: &[(String, Span)]) -> Option<SourcePosition> {
        let span = Span { start: words.first()?.1.start, end: words.last()?.1.end };
        let reading = &self.pages[page];
        let local = reading.sentences.partition_point(|it| it.span.start <= span.start);
        let first = self.sentences.partition_point(|it| it.0 < page);
        Some(SourcePosition { page, sentence: first + local.checked_sub(1)?, span })
    }

    /// Whether a place lies on the page of a file, counted from one.
    pub(crate) fn is_on(&self, place: SourcePosition, file_hash: &str, page: u32) -> bool {
        self.origins[place.page] == (file_hash, page)
    }
}

/// The result of a search for words in order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Phrase {
    Exact(SourcePosition),
    Near(SourcePosition),
    Absent,
}
