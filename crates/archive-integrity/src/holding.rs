//! Decisions and their polarity: pairs of opposite words («granted» and «denied») and the scope of
//! a negation. Irony and more than two negations are not resolved.

mod decided;

pub(crate) use decided::dispositions;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::Span;
use crate::text::{Word, is_same_stem, is_stop, stem};
use decided::is_actual;

/// Opposite words; the first list of each pair is one side, the second list the other.
const AXES: [(&str, &str, &str); 28] = [
    (
        "motion",
        "granted grants granting grant allowed allows accepted accepts accept approved approves \
         adopted adopts agreed permitted permits authorized authorizes endorsed \
         ratified awarded carried honored entitled enforced enforces enforce \
         credited believed backed certified recognized",
        "denied denies denying deny rejected rejects reject disapproved declined declines refused \
         refuses refuse disallowed disallows forbidden forbids forbid prohibited prohibits barred \
         dismissed dismisses blocked bar bars vetoed defeated rebuffed discredited disbelieved \
         suspended withheld excluded revoked",
    ),
    (
        "appeal",
        "affirmed affirms affirming affirm upheld upholds uphold reinstated reinstates",
        "reversed reverses reversing reverse vacated vacates vacate overturned overturns annulled \
         annuls quashed quashes rescinded lifted disturb disturbed disturbs",
    ),
    (
        "consent",
        "consented consents consent acquiesced acquiesces unopposed",
        "opposed opposes oppose objected objects resisted resists opposing",
    ),
    ("objection", "sustained sustains sustain", "overruled overrules overrule"),
    ("outcome", "prevailed prevails won wins", "lost loses"),
    ("guilt", "guilty convicted convicts", "acquitted acquits innocent"),
    ("validity", "enforceable valid", "unenforceable invalid void"),
    ("admission", "admissible", "inadmissible"),
    (
        "proof",
        "proven proved substantiated established доказан*",
        "unproven unsubstantiated disproved опроверг*",
    ),
    ("constitution", "constitutional", "unconstitutional"),
    ("time", "timely", "untimely late"),
    (
        "change",
        "increased increases increase rose raised",
        "decreased decreases decrease fell reduced reduces lowered",
    ),
    ("liability", "liable negligent", "blameless cleared exonerated absolved"),
    ("reason", "reasonable", "unreasonable"),
    ("cover", "covered covers cover", "excluded excludes exclude"),
    ("ambiguity", "unambiguous", "ambiguous"),
    ("sufficiency", "sufficient adequate", "insufficient inadequate"),
    ("lawful", "lawful legal", "unlawful illegal"),
    ("certainty", "definite", "indefinite"),
    ("side", "favor favour", "against"),
    (
        "word",
        "admits admit admitted concedes conceded concede acknowledged acknowledges acknowledge confessed confirmed \
         confirms признал признала признали признает",
        "disputes disputed dispute contests contested отрицал отрицала отрицает отрицали \
         оспаривает оспаривал оспорил",
    ),
    ("force", "continues", "terminated forgives forgive forgiven canceled cancelled expired"),
    ("vote", "unanimous unanimously", "divided"),
    // Beginnings of Russian words.
    (
        "совет",
        "удовлетвор* восстанов* поддерж* принят* принял* утвержд* утверди* разреш* одобр* вправе согласил* подтверд* допущ* допуст* продл*",
        "отказ* отклон* отверг* запре* запрещ* отозва* возраз*",
    ),
    ("обжалование", "изменения силе", "отмен*"),
    ("признание", "действительным действительной", "недействительным недействительной"),
    ("взыскание", "взыск*", "освобод*"),
    ("сила", "продолжа* сохран*", "прекращ* прекрат* расторг*"),
];

/// Decisions of several words; `*` stands for up to two other words.
const PHRASES: &str = "motion+signed off;motion+go ahead;\
motion+goes ahead;motion+went ahead;motion+handed over;motion+hand over;motion+turned over;\
motion+took up;motion+was given;motion+were given;motion+free to;motion-turned down;\
motion-turn down;motion-turns down;motion-threw out;motion-throws out;motion-thrown out;\
motion-struck out;motion-voted down;motion-brushed aside;motion-ruled out;motion-on hold;\
motion-put off;motion-failed for want;motion-motion failed;\
motion-was not persuaded;motion-were not persuaded;motion-shut out;appeal+left standing;\
appeal+leaves standing;appeal+left * standing;appeal+left * in place;appeal+left * undisturbed;\
appeal+left undisturbed;appeal+left * intact;appeal+left intact;appeal+let * stand;\
appeal+leave * standing;appeal+must stand;appeal+will stand;appeal-set aside;appeal-sets aside;\
appeal-set * aside;appeal+left in place;appeal+survived the appeal;\
appeal+survived on appeal;appeal+order stands;appeal+order * stands;appeal+decision stands;appeal+judgment stands;appeal+conviction stands;\
appeal+verdict stands;appeal+dismissal stands;appeal+ruling stands;appeal-thrown out on appeal;\
appeal-wiped away;appeal-struck down;appeal-wiped out;appeal-threw * out;appeal-undid;\
force+in force;force+in effect;force+leaves standing;force+stays in force;force+remains in force;\
force-came to an end;force-no longer in force;force-no longer applies;liability-cleared * of;\
liability+at fault;liability+to blame;liability+responsible for";

type Phrase = (usize, bool, Vec<&'static str>);

static TREE: LazyLock<HashMap<&'static str, Vec<Phrase>>> = LazyLock::new(|| {
    let mut map: HashMap<&str, Vec<Phrase>> = HashMap::new();
    for row in PHRASES.split(';') {
        let Some(at) = row.find(['+', '-']) else { continue };
        let axis = AXES.iter().position(|it| it.0 == row[..at].trim());
        let words: Vec<&str> = row[at + 1..].split(' ').collect();
        if let (Some(axis), Some(first)) = (axis, words.first()) {
            map.entry(first).or_default().push((axis, row.as_bytes()[at] == b'+', words));
        }
    }
    map
});

/// The decision of several words that begins with a word, and the position after it.
fn phrase(folded: &[String], at: usize) -> Option<(usize, bool, usize)> {
    let list = TREE.get(folded[at].as_str())?;
    let mut best: Option<(usize, bool, usize)> = None;
    for (axis, positive, words) in list {
        let end = ends(folded, at, words);
        if let Some(end) = end.filter(|end| best.is_none_or(|it| it.2 < *end)) {
            best = Some((*axis, *positive, end));
        }
    }
    best
}

/// «Asked the court to set it aside» is a request, not a decision.
fn is_request(folded: &[String], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |it| folded[it].as_str());
    before(1) == "to" && !is_in("refused declined agreed decided voted refuses declines", before(2))
}

fn ends(folded: &[String], at: usize, words: &[&str]) -> Option<usize> {
    let Some((first, rest)) = words.split_first() else { return Some(at) };
    if *first == "*" {
        return (1..=3).find_map(|skip| ends(folded, at + skip, rest));
    }
    let same = folded.get(at).is_some_and(|it| it == first);
    same.then(|| ends(folded, at + 1, rest)).flatten()
}

/// Axes that all say whether a thing was upheld.
pub(crate) fn is_related(one: usize, other: usize) -> bool {
    let upholds = |it: usize| {
        matches!(
            axis_name(it),
            "motion" | "appeal" | "objection" | "force" | "совет" | "обжалование" | "сила"
        )
    };
    upholds(one) && upholds(other)
}

/// All axes related to one, without that one.
pub(crate) fn related_axes(axis: usize) -> impl Iterator<Item = usize> {
    (0..AXES.len()).filter(move |it| *it != axis && is_related(axis, *it))
}

/// Whether one word is the other with a negating prefix: `reliable` and `unreliable`.
pub(crate) fn is_opposed(one: &str, other: &str) -> bool {
    let denies = |long: &str, short: &str| {
        let prefixes = ["un", "in", "im", "ir", "il", "dis", "non", "не"];
        let same = |it: &str| long.strip_prefix(it).is_some_and(|it| is_same_stem(it, short));
        short.len() >= 4 && prefixes.iter().any(|it| same(it))
    };
    denies(one, other) || denies(other, one)
}

/// A decision word: its pair, its side and its position.
#[derive(Debug, Clone)]
pub(crate) struct Mention {
    pub(crate) axis: usize,
    pub(crate) positive: bool,
    pub(crate) span: Span,
    /// Whether the decision was made, and not only asked for, possible or forbidden.
    pub(crate) is_actual: bool,
    /// Stems of its clause, which show whether two mentions are about the same thing.
    pub(crate) near: Vec<String>,
    /// Stems of the rest of the sentence, up to the next mention.
    pub(crate) far: Vec<String>,
}

impl Mention {
    fn new(axis: usize, positive: bool, span: Span) -> Self {
        Self { axis, positive, span, is_actual: true, near: Vec::new(), far: Vec::new() }
    }
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// The decisions of one sentence, and its negated words.
#[derive(Debug, Clone, Default)]
pub(crate) struct Polarity {
    pub(crate) mentions: Vec<Mention>,
    pub(crate) negated: Vec<(String, Span)>,
    /// The first word in the scope of each negation.
    pub(crate) heads: Vec<(String, Span)>,
}

impl Polarity {
    /// «Withholds nothing» negates the verb before it.
    fn negate_before(&mut self, words: &[Word<'_>], folded: &[String], at: usize) {
        let denies = folded[at] == "nothing";
        let verb = at.checked_sub(1).filter(|it| denies && !is_stop(&folded[*it]));
        let Some(verb) = verb else { return };
        let span = Span { start: words[verb].start, end: words[verb].end };
        self.heads.push((stem(&folded[verb]), span));
        self.negated.push((stem(&folded[verb]), span));
    }
}

/// Words that open another clause, at which a negation ends.
const CLAUSE_OPENERS: &str = "and but because although while whereas when after since that which who if unless \
и но а потому поскольку что если когда";
const BEFORE: usize = 8;
const AFTER: usize = 8;
/// The most content words kept for one mention.
const NEAR_MAX: usize = 60;
/// The most content words that a negation covers.
const REACH: usize = 3;

fn is_negation(folded: &str) -> bool {
    matches!(
        folded,
        "not"
            | "never"
            | "no"
            | "neither"
            | "nor"
            | "cannot"
            | "without"
            | "nothing"
            | "nobody"
            | "lacked"
            | "не"
            | "нет"
            | "без"
            | "никогда"
    ) || folded.ends_with("n't")
}

/// «Denies that» and «denies having» are statements of a party, not decisions of a court.
fn denial_statement(folded: &[String], at: usize) -> Option<(usize, bool)> {
    let next = folded.get(at + 1)?;
    let states_view =
        is_in("that having any knowing", next) || (next.len() > 4 && next.ends_with("ing"));
    let denies = is_in("denies denied deny denying", &folded[at]);
    let axis = AXES.iter().position(|it| it.0 == "word")?;
    (denies && states_view && next != "granting").then_some((axis, false))
}

fn side(folded: &str) -> Option<(usize, bool)> {
    static WHOLE: LazyLock<HashMap<&str, (usize, bool)>> = LazyLock::new(|| {
        let all = AXES.iter().enumerate().flat_map(|(at, (_, one, other))| {
            let one = one.split_ascii_whitespace().map(move |it| (it, (at, true)));
            one.chain(other.split_ascii_whitespace().map(move |it| (it, (at, false))))
        });
        all.collect()
    });
    static STARTS: LazyLock<Vec<(&str, (usize, bool))>> = LazyLock::new(|| {
        let starts = WHOLE.iter().filter_map(|it| Some((it.0.strip_suffix('*')?, *it.1)));
        starts.collect()
    });
    let whole = WHOLE.get(folded).copied();
    whole.or_else(|| STARTS.iter().find(|it| folded.starts_with(it.0)).map(|it| it.1))
}

pub(crate) fn axis_name(axis: usize) -> &'static str {
    AXES.get(axis).map_or("", |it| it.0)
}

/// Whether the word belongs to a pair of opposites.
pub(crate) fn is_holding(folded: &str) -> bool {
    side(folded).is_some()
}

/// Whether more than a blank stands before the word.
fn is_apart(words: &[Word<'_>], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|it| words[at].start - words[it].end > 1)
}

pub(crate) fn read(words: &[Word<'_>]) -> Polarity {
    let folded: Vec<String> = words.iter().map(Word::fold).collect();
    let mut found = Polarity::default();
    let mut reach = 0;
    let mut places = Vec::new();
    let mut phrase_end = 0;
    let mut first_in_scope = false;
    for (at, word) in folded.iter().enumerate() {
        // A comma or «and» opens another clause, at which the negation ends.
        if is_apart(words, at) || is_in(CLAUSE_OPENERS, word) {
            reach = 0;
        }
        let to = folded.get(at + 1).is_some_and(|it| it == "to");
        let failed = is_in("failed fails fail failure", word) && to;
        let span = Span { start: words[at].start, end: words[at].end };
        if let Some((axis, positive, end)) =
            phrase(&folded, at).filter(|_| at >= phrase_end && !is_request(&folded, at))
        {
            phrase_end = end;
            let span = Span { start: span.start, end: words[end - 1].end };
            let positive = positive != (reach > 0);
            found.mentions.push(Mention::new(axis, positive, span));
            places.push(at);
        }
        let agreed =
            word == "agreed" && to && folded.get(at + 2).is_some_and(|it| side(it).is_some());
        if agreed {
            continue;
        }
        // «declined the invitation to overrule» negates its verb too.
        let verb = (at + 1..at + 7).find(|it| folded.get(*it).is_some_and(|it| it == "to"));
        let refused = is_in("refused refuses refuse declined declines decline", word);
        if let Some(verb) = verb.filter(|_| refused && at >= phrase_end) {
            // «refused to grant» is one decision; «refused to enforce» negates the verb.
            let decides = folded.get(verb + 1).is_some_and(|it| side(it).is_some());
            if !decides {
                let (axis, positive) = side(word).unwrap_or((0, false));
                found.mentions.push(Mention::new(axis, positive != (reach > 0), span));
                places.push(at);
            }
            (reach, first_in_scope) = (REACH + verb - at - 1, true);
            continue;
        }
        if failed || is_negation(word) {
            found.negate_before(words, &folded, at);
            (reach, first_in_scope) = (denies(words, &folded, at), true);
            continue;
        }
        let plain = denial_statement(&folded, at)
            .or_else(|| side(word))
            .filter(|it| at >= phrase_end && !idle_side(it.0, &folded, at));
        if let Some((axis, positive)) = plain {
            let fixed = word == "изменения";
            // «Admitted no fault».
            let none = folded.get(at + 1).is_some_and(|it| matches!(it.as_str(), "no" | "nothing"));
            let positive = positive != ((reach > 0 && !fixed) || none);
            found.mentions.push(Mention::new(axis, positive, span));
            places.push(at);
        }
        if reach > 0 && !is_stop(word) {
            if first_in_scope {
                found.heads.push((stem(word), span));
            }
            first_in_scope = false;
            reach -= 1;
            found.negated.push((stem(word), span));
        }
    }
    for (mention, at) in found.mentions.iter_mut().zip(&places) {
        mention.is_actual = is_actual(&folded, *at);
    }
    for (mention, (near, far)) in found.mentions.iter_mut().zip(nearby(words, &folded, &places)) {
        (mention.near, mention.far) = (near, far);
    }
    found
}

/// How many content words a negation covers: «not only» and «no later than» negate nothing.
fn denies(words: &[Word<'_>], folded: &[String], at: usize) -> usize {
    let next = folded.get(at + 1).map_or("", String::as_str);
    // «not sent until after» says that it was sent.
    let until = folded.iter().skip(at + 1).take(6).any(|it| it == "until");
    let number = folded[at] == "no"
        && words[at].is_capital()
        && next.starts_with(|it: char| it.is_ascii_digit());
    // «including without limitation» and «without regard to» negate nothing.
    if folded[at] == "without" && is_in("limitation limiting regard prejudice", next) {
        return 0;
    }
    let measure =
        "only later less fewer more хватило хватало более менее позднее позже только ранее";
    if until || number || is_in(measure, next) {
        return 0;
    }
    if matches!(folded[at].as_str(), "without" | "без") { REACH - 1 } else { REACH }
}

/// The content words around each mention. Two mentions in a sentence split it at the first joint
/// between them, so that each keeps the subject of its decision.
fn nearby(
    words: &[Word<'_>],
    folded: &[String],
    places: &[usize],
) -> Vec<(Vec<String>, Vec<String>)> {
    let joint = |it: &usize| {
        let apart = words[*it].start - words[*it - 1].end > 1;
        apart || matches!(folded[*it].as_str(), "and" | "but" | "while" | "whereas" | "и" | "но")
    };
    let telling = |from: usize, to: usize, at: usize| -> Vec<String> {
        let own = (from..to).filter(|it| *it != at && !is_stop(&folded[*it]));
        own.take(NEAR_MAX).map(|it| stem(&folded[it])).collect()
    };
    let mut list = Vec::with_capacity(places.len());
    let mut from = 0;
    for (order, at) in places.iter().copied().enumerate() {
        let next = places.get(order + 1).copied();
        let to = next.map_or(folded.len(), |next| (at + 1..=next).find(joint).unwrap_or(next));
        let first = (from + 1..=at).rev().find(joint).unwrap_or(from);
        let last = (at + 1..to).find(joint).unwrap_or(to);
        let near = telling(first, last, at);
        let mut far = telling(from, first, at);
        far.extend(telling(last, to, at));
        if near.is_empty() && far.is_empty() {
            let (from, to) = (at.saturating_sub(BEFORE), (at + 1 + AFTER).min(folded.len()));
            far = telling(from, to, at);
        }
        list.push((near, far));
        from = to;
    }
    list
}

/// «filed against» takes no side, and a «late fee» is no lateness.
fn idle_side(axis: usize, folded: &[String], at: usize) -> bool {
    let word = folded[at].as_str();
    let before = |back: usize| at.checked_sub(back).map_or("", |it| folded[it].as_str());
    let next = folded.get(at + 1).map_or("", String::as_str);
    match AXES[axis].0 {
        "side" => {
            let judged = (1..=6).any(|back| {
                matches!(
                    before(back),
                    "judgment" | "verdict" | "ruled" | "found" | "ruling" | "decided" | "order"
                )
            });
            !judged
        }
        "time" => word == "late" && matches!(next, "fee" | "fees" | "charge" | "charges"),
        // «The above-entitled matter».
        "motion" if word == "entitled" => before(1) == "above" || next != "to",
        "motion" if matches!(word, "bar" | "bars") => !matches!(before(1), "to" | "not"),
        // «В удовлетворении отказать»: what was decided follows.
        "совет" => matches!(word, "удовлетворении" | "отказа" | "отказ"),
        "обжалование" => {
            (word == "изменения" && before(1) != "без") || (word == "силе" && before(1) != "в")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words;

    #[track_caller]
    fn check(text: &str, want: &[(&str, bool)]) {
        let read = read(&words(text));
        let got: Vec<_> =
            read.mentions.iter().map(|it| (axis_name(it.axis), it.positive)).collect();
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn opposite_words_and_negations_combine() {
        check("The court granted the motion.", &[("motion", true)]);
        check("The court did not grant the motion.", &[("motion", false)]);
        check("The panel reversed.", &[("appeal", false)]);
        check("The clause was not unenforceable.", &[("validity", true)]);
        check("Case No. 12 was granted.", &[("motion", true)]);
        check("He filed suit against her.", &[]);
        check("Judgment was entered against Vale.", &[("side", false)]);
        check("Суд отказал в иске.", &[("совет", false)]);
    }
}
