//! What a source says about its own case: the judges and what each of them did, the governing law,
//! the places of incorporation, the courts, and the parties of a Russian claim. Each fact is read
//! from a fixed phrase, `ALARID, Judge`, `the laws of the State of Iowa`, `судьи Орловой`.

pub(crate) mod company;

use crate::Span;
use crate::index::SourcePosition;
use crate::reading::{Reading, Sentence};
use crate::text::Word;

/// What one fact is about. Facts of one kind exclude each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum CourtFact {
    /// Wrote or delivered the opinion.
    Author,
    /// Concurred in the result or wrote separately.
    SeparateOpinion,
    Dissent,
    /// Presided or sat alone, in a Russian case.
    Presiding,
    /// Any other judge.
    Judge,
    GoverningLaw,
    Incorporation,
    /// The word of the unit: `circuit`, `county`, «районный».
    Court(String),
    Claimant,
    Respondent,
}

/// One value of a fact: a surname, a place, an ordinal, in lower case.
#[derive(Debug, Clone)]
pub(crate) struct CourtValue {
    pub(crate) fact: CourtFact,
    pub(crate) value: String,
    pub(crate) span: Span,
}

/// The facts of all sentences of a source.
#[derive(Debug, Default)]
pub(crate) struct CourtFacts {
    list: Vec<(CourtValue, SourcePosition)>,
}

/// The most facts kept of one source.
const FACTS_MAX: usize = 2_000;

impl CourtFacts {
    pub(crate) fn add(&mut self, found: Vec<CourtValue>, page: usize, sentence: usize) {
        for it in found {
            if self.list.len() >= FACTS_MAX {
                return;
            }
            let span = it.span;
            self.list.push((it, SourcePosition { page, sentence, span }));
        }
    }

    /// The values of a fact with their places.
    pub(crate) fn of<'a>(
        &'a self,
        fact: &'a CourtFact,
    ) -> impl Iterator<Item = (&'a str, SourcePosition)> {
        let own = self.list.iter().filter(move |it| it.0.fact == *fact);
        own.map(|it| (it.0.value.as_str(), it.1))
    }
}

fn is_russian(word: &str) -> bool {
    word.chars().next().is_some_and(|it| ('а'..='я').contains(&it) || it == 'ё')
}

/// Whether two words are one name, in any Russian case.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    if !is_russian(one) || !is_russian(other) {
        return false;
    }
    let shared = one.chars().zip(other.chars()).take_while(|(one, two)| one == two).count();
    let longest = one.chars().count().max(other.chars().count());
    shared >= 3 && longest - shared <= 3 && shared * 2 > longest
}

/// The states of the United States and some other places whose law contracts name, by first word.
const PLACES: &str = "alabama alaska arizona arkansas california colorado connecticut delaware \
florida georgia hawaii idaho illinois indiana iowa kansas kentucky louisiana maine maryland \
massachusetts michigan minnesota mississippi missouri montana nebraska nevada new north ohio \
oklahoma oregon pennsylvania rhode south tennessee texas utah vermont virginia washington west \
wisconsin wyoming england wales scotland ireland ontario quebec alberta canada singapore hong \
bermuda cayman france germany switzerland china japan india israel brazil mexico netherlands \
luxembourg cyprus australia sweden norway denmark spain italy puerto district";
const DOUBLE: &str = "new north south west rhode hong british cayman puerto district";

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

struct Words<'a, 't> {
    page: &'a Reading<'t>,
    first: usize,
    folded: Vec<String>,
}

impl Words<'_, '_> {
    fn word(&self, at: usize) -> &str {
        self.folded.get(at).map_or("", String::as_str)
    }

    fn raw(&self, at: usize) -> Option<&Word<'_>> {
        self.page.words.get(self.first + at).filter(|_| at < self.folded.len())
    }

    fn is_capital(&self, at: usize) -> bool {
        self.raw(at).is_some_and(Word::is_capital)
    }

    fn gap(&self, at: usize) -> &str {
        match (self.raw(at), self.raw(at + 1)) {
            (Some(one), Some(two)) => self.page.text.get(one.end..two.start).unwrap_or("?"),
            _ => "?",
        }
    }

    fn value(&self, fact: CourtFact, value: String, at: usize) -> Option<CourtValue> {
        let word = self.raw(at)?;
        Some(CourtValue { fact, value, span: Span { start: word.start, end: word.end } })
    }

    /// The place that begins at a word: `iowa`, `new york`.
    fn place(&self, at: usize) -> Option<String> {
        if !self.is_capital(at) || !is_in(PLACES, self.word(at)) {
            return None;
        }
        if is_in(DOUBLE, self.word(at)) {
            let second = (at + 1..at + 3).find(|it| self.is_capital(*it))?;
            return Some(format!("{} {}", self.word(at), self.word(second)));
        }
        Some(self.word(at).to_owned())
    }

    /// The surname among the words from here, behind initials: «А. С. Глушков».
    fn surname(&self, from: usize, reach: usize) -> Option<usize> {
        (from..from + reach).find(|at| {
            self.is_capital(*at)
                && self.word(*at).chars().count() > 2
                && !is_title(self.word(*at))
                && !is_court_word(self.word(*at))
        })
    }
}

fn is_title(folded: &str) -> bool {
    crate::name::is_title(folded)
        || is_in("judge justice chief presiding circuit district senior magistrate hon jj", folded)
}

fn is_court_word(folded: &str) -> bool {
    is_in("суда суд судом области края республики города российской федерации the of", folded)
}

/// The court facts that one sentence states.
pub(crate) fn read(page: &Reading<'_>, sentence: &Sentence) -> Vec<CourtValue> {
    let own = page.words_of(sentence);
    let words =
        Words { page, first: sentence.words.0, folded: own.iter().map(Word::fold).collect() };
    let mut list = Vec::new();
    for at in 0..words.folded.len() {
        list.extend(english_judge(&words, at));
        list.extend(panel(&words, at));
        list.extend(federal_district(&words, at));
        list.extend(russian_judge(&words, at));
        list.extend(law(&words, at));
        list.extend(incorporation(&words, at));
        list.extend(court(&words, at));
    }
    list.extend(russian_parties(&words));
    list
}

/// `ALARID, Judge.`, `FLORES, J., concurs`, `Mr. Justice BREWER … delivered the opinion`.
fn english_judge(words: &Words<'_, '_>, at: usize) -> Option<CourtValue> {
    let word = words.word(at);
    let titled = matches!(word, "judge" | "justice") && words.is_capital(at);
    let short = matches!(word, "j" | "jj") && words.is_capital(at);
    if !titled && !short {
        return None;
    }
    // The name before the title: `HARTZ, Chief Judge`, `BANDSTRA, P.J.`
    let mut back = at;
    while back > 0 {
        let part = short && words.gap(back - 1) == "." && matches!(words.word(back - 1), "p" | "c");
        if !part
            && !is_in("chief presiding circuit district senior magistrate", words.word(back - 1))
        {
            break;
        }
        back -= 1;
    }
    let before = back.checked_sub(1).filter(|it| {
        words.gap(*it).trim_end() == "," && words.is_capital(*it) && !is_title(words.word(*it))
    });
    let tail: Vec<&str> = (at + 1..at + 14).map(|it| words.word(it)).collect();
    let says = |list: &str| tail.iter().any(|it| is_in(list, it));
    if let Some(name) = before {
        let next: Vec<&str> = tail.iter().take(3).copied().collect();
        let beside = |list: &str| next.iter().any(|it| is_in(list, it));
        // A line of its own is the head of the opinion that follows.
        let alone = name < 3 && words.folded.len() == at + 1;
        let fact = if beside("dissents dissenting dissent") {
            CourtFact::Dissent
        } else if beside("specially concurring") && next.iter().any(|it| *it != "concurs") {
            CourtFact::SeparateOpinion
        } else if alone {
            CourtFact::Author
        } else if short || beside("concurs concur concurring joined joins") {
            CourtFact::Judge
        } else if name < 3 {
            CourtFact::Author
        } else {
            CourtFact::Judge
        };
        return words.value(fact, words.word(name).to_owned(), name);
    }
    // `Justice BEATTY.` alone.
    if titled && at == 0 && words.folded.len() == 2 && words.is_capital(1) {
        return words.value(CourtFact::Author, words.word(1).to_owned(), 1);
    }
    let name = words.surname(at + 1, 3)?;
    // `Judge David F. Hensley` has its surname last.
    let name = (name..name + 4).take_while(|it| words.is_capital(*it)).last().unwrap_or(name);
    let wrote = says("delivered wrote writing authored announced") && says("opinion court");
    let fact = match (wrote, says("dissented dissenting dissents dissent")) {
        (_, true) => CourtFact::Dissent,
        (true, _) => CourtFact::Author,
        _ => CourtFact::Judge,
    };
    words.value(fact, words.word(name).to_owned(), name)
}

/// The judges before the last one of `HUMPHREYS, McCLANAHAN and BEALES, JJ.`
fn panel(words: &Words<'_, '_>, at: usize) -> Vec<CourtValue> {
    let mut list = Vec::new();
    if words.word(at) != "jj" || !words.is_capital(at) {
        return list;
    }
    let mut back = at;
    while let Some(before) = back.checked_sub(1).filter(|it| at - it <= 16) {
        let word = words.word(before);
        let joint = word == "and" || matches!(word, "p" | "j" | "c" | "present" | "concur");
        if !joint && !words.is_capital(before)
            || !words.gap(before).trim_end().ends_with([',', '.', ' '])
                && !words.gap(before).trim().is_empty()
        {
            break;
        }
        if !joint && word.chars().count() > 2 {
            list.extend(words.value(CourtFact::Judge, word.to_owned(), before));
        }
        back = before;
    }
    list
}

/// `Northern District of Texas`.
fn federal_district(words: &Words<'_, '_>, at: usize) -> Option<CourtValue> {
    if words.word(at) != "district" || words.word(at + 1) != "of" || !words.is_capital(at) {
        return None;
    }
    let before = at.checked_sub(1)?;
    let direction = words.word(before);
    let place = words.place(at + 2)?;
    let value = format!("{direction} {place}");
    let fact = CourtFact::Court("federal district".to_owned());
    words
        .value(fact, value, before)
        .filter(|_| is_in("northern southern eastern western middle central", direction))
}

/// «в составе председательствующего судьи Баженовой Т.С.», «Судья А.С. Глушков».
fn russian_judge(words: &Words<'_, '_>, at: usize) -> Option<CourtValue> {
    let word = words.word(at);
    let presides = word.starts_with("председательств");
    if !presides && !is_in("судья судьи судьей судьёй судье судью", word)
    {
        return None;
    }
    let name = words.surname(at + 1, 6)?;
    let plain = (at + 1..name).all(|it| {
        let word = words.word(it);
        word.chars().count() <= 2 || word.starts_with("судь") || word.starts_with("федеральн")
    });
    let led = at.checked_sub(1).map_or("", |it| words.word(it));
    let alone = led == "составе" || led.starts_with("председательств");
    let fact = if presides || alone { CourtFact::Presiding } else { CourtFact::Judge };
    words.value(fact, words.word(name).to_owned(), name).filter(|_| plain)
}

/// `governed by the laws of the State of Iowa`, `Florida law applies`.
fn law(words: &Words<'_, '_>, at: usize) -> Option<CourtValue> {
    if !matches!(words.word(at), "law" | "laws") {
        return None;
    }
    if words.word(at.wrapping_sub(1)) == "of" && words.word(at.wrapping_sub(2)) == "choice" {
        let back = |count: usize| at.checked_sub(count).and_then(|it| words.place(it));
        return words.value(CourtFact::GoverningLaw, back(4).or_else(|| back(3))?, at);
    }
    let before = at
        .checked_sub(1)
        .and_then(|it| words.place(it).or_else(|| words.place(it.checked_sub(1)?)));
    let after = || {
        let first = (at + 1..at + 8).find(|it| words.place(*it).is_some())?;
        let led = (at + 1..first).all(|it| {
            is_in(
                "of the state commonwealth province republic substantive internal",
                words.word(it),
            )
        });
        words.place(first).filter(|_| led)
    };
    let place = before.or_else(after)?;
    let from = at.saturating_sub(14);
    let around = (from..at + 10).map(|it| words.word(it));
    let mut fact = None;
    for word in around {
        if word.starts_with("govern") || is_in("construed interpreted applies applied apply", word)
        {
            fact = Some(CourtFact::GoverningLaw);
        } else if is_in("organized incorporated existing organised formed", word) {
            fact = fact.or(Some(CourtFact::Incorporation));
        }
    }
    words.value(fact?, place, at)
}

/// `a Delaware corporation`, `incorporated in Florida`.
fn incorporation(words: &Words<'_, '_>, at: usize) -> Option<CourtValue> {
    let word = words.word(at);
    if is_in("a an", word) {
        let place = words.place(at + 1)?;
        let end = at + 1 + place.split(' ').count();
        let form = "corporation company limited llc nonprofit statutory partnership";
        return words
            .value(CourtFact::Incorporation, place, at + 1)
            .filter(|_| is_in(form, words.word(end)));
    }
    if is_in("incorporated organized formed", word) && is_in("in under", words.word(at + 1)) {
        let first = (at + 2..at + 5).find(|it| words.place(*it).is_some())?;
        return words.value(CourtFact::Incorporation, words.place(first)?, first);
    }
    // The cover of a filing: `Iowa … (State or other jurisdiction of incorporation)`.
    if word == "jurisdiction" && words.word(at + 1) == "of" && words.word(at + 2) == "incorporation"
    {
        let first = (at.saturating_sub(30)..at).rev().find(|it| words.place(*it).is_some())?;
        return words.value(CourtFact::Incorporation, words.place(first)?, first);
    }
    None
}

/// `Ninth Circuit`, `Bernalillo County`, «Ленинский районный суд», «арбитражный суд Татарстана».
fn court(words: &Words<'_, '_>, at: usize) -> Option<CourtValue> {
    let word = words.word(at);
    let before = at.checked_sub(1)?;
    let numbered = is_in(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
        words.word(before),
    );
    let unit = matches!(word, "circuit" | "county") || (word == "district" && numbered);
    if unit && words.is_capital(at) && words.gap(before) == " " {
        let ordinal = words.is_capital(before) && !is_in("the this our", words.word(before));
        let value = words.word(before).to_owned();
        return words.value(CourtFact::Court(word.to_owned()), value, before).filter(|_| ordinal);
    }
    let kinds = ["районн", "городск", "областн", "краев"];
    let kind = kinds.iter().find(|it| word.starts_with(**it))?;
    let is_court = words.word(at + 1).starts_with("суд") && words.word(at + 1).chars().count() <= 5;
    let value = words.word(before).to_owned();
    let named = words.is_capital(before) && value.chars().count() > 4;
    words.value(CourtFact::Court((*kind).to_owned()), value, before).filter(|_| is_court && named)
}

/// «по иску ООО «Прометей» к ООО «Космофарм»».
fn russian_parties(words: &Words<'_, '_>) -> Vec<CourtValue> {
    let mut list = Vec::new();
    let opens =
        |it: &str| it.starts_with("иск") && it.chars().count() <= 7 || it.starts_with("заявлени");
    let Some(at) = words.folded.iter().position(|it| opens(it)) else { return list };
    let led = at.checked_sub(1).map_or("", |it| words.word(it));
    let Some(against) =
        (at + 1..words.folded.len().min(at + 60)).find(|it| matches!(words.word(*it), "к" | "ко"))
    else {
        return list;
    };
    if !matches!(led, "по" | "иску" | "исковому") {
        return list;
    }
    for (fact, from, to) in
        [(CourtFact::Claimant, at + 1, against), (CourtFact::Respondent, against + 1, against + 30)]
    {
        if let Some(name) = party_name(words, from, to) {
            list.extend(words.value(fact, words.word(name).to_owned(), name));
        }
    }
    list
}

/// The first name of a party: a word in quotation marks, else a capital word that is no form.
fn party_name(words: &Words<'_, '_>, from: usize, to: usize) -> Option<usize> {
    let to = to.min(words.folded.len());
    let quoted = (from..to).find(|at| {
        at.checked_sub(1).is_some_and(|it| words.gap(it).contains(['«', '"', '“', '„']))
    });
    let first = quoted.or_else(|| {
        (from..to.min(from + 8)).find(|at| {
            let long = words.word(*at).chars().count() > 3;
            words.is_capital(*at) && long && !is_court_word(words.word(*at))
        })
    })?;
    words.is_capital(first).then_some(first)
}
