//! Splits a sentence into segments and gives each person in a segment a slot: agent, patient or
//! owner. The slot comes from word order, prepositions, the passive and Russian cases alone.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::roles::{is_russian, role, role_word};
use super::speech::is_saying;
use super::{Actor, ActorIndex, is_court};
use crate::reading::{Reading, Sentence};
use crate::text::{Word, is_past, stem};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    Agent,
    Goal,
    Owner,
}

#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) actor: Actor,
    pub(crate) slot: Slot,
    pub(crate) words: (usize, usize),
    /// The thing that an owner owns.
    pub(crate) head: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub(crate) words: (usize, usize),
    pub(crate) people: Vec<Person>,
    pub(crate) denied: bool,
    /// The pair of converse verbs of the segment, and whether its verb is the receiving one.
    pub(crate) converse: Option<(usize, bool)>,
    /// The agent is only a pronoun such as «we» or «he».
    pub(crate) has_pronoun_agent: bool,
    /// The verb only states what a person is or has, not an act.
    pub(crate) is_stative: bool,
    /// The words behind a verb of saying, thinking or asking.
    pub(crate) topic: Option<(usize, usize)>,
}

/// Pairs of verbs that describe one transaction from both sides.
const CONVERSE: [(&str, &str); 5] = [
    (
        "sell deliver supply ship provide продал поставил передал",
        "buy purchase acquire order купил приобр",
    ),
    (
        "pay repay owe award give grant send reimburse refund remit credit compensate выплат плат уплат возмест взыск",
        "receive collect recover obtain earn получ",
    ),
    ("lend loan", "borrow"),
    ("win prevail выигр", "lose lost defeat проигр"),
    ("hire employ engage retain", "work"),
];

const CONJUNCTIONS: &str = "and but while whereas и а но что";
const PRONOUNS: &str = "he she it they him her them ему ей им он она они его ее их";
/// These words begin a new segment, unless it has no people of its own.
const CONDITIONS: &str = "although because after before when if unless since though until хотя если \
когда поскольку потому";
const GOALS: &str = "to for from against with on upon toward towards than about between at into к ко \
с со у от из для против по о об за при между через до на перед пользу";
const SMALL: &str =
    "the a an his her its their our my your this that said mr mrs ms dr judge former";

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// The persons that the pronouns of a sentence mean.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadingContext {
    /// The person that «I» means.
    pub(crate) author: Option<Actor>,
    /// The person that «he», «she» or «it» means.
    pub(crate) last: Option<Actor>,
}

impl ActorIndex {
    pub(crate) fn segments(
        &self,
        page: &Reading<'_>,
        sentence: &Sentence,
        context: &mut ReadingContext,
    ) -> Vec<Segment> {
        let mut people: Vec<(usize, usize, Actor)> = self.actors_in(page, sentence);
        people.retain(|it| self.is_party(it.2));
        // A judge counts as the court.
        for it in &mut people {
            let lead = it.0.checked_sub(1).map(|at| word(page, at)).unwrap_or_default();
            if is_in(
                "judge justice judges justices arbitrator magistrate mediator судья судьи судьей",
                &lead,
            ) {
                it.2 = super::COURT;
            }
        }
        self.pronouns(page, sentence, context, &mut people);
        people.sort_by_key(|it| it.0);
        // «The manager, Mr. Orr» is one person.
        people.dedup_by(|next, one| {
            let same = next.2 == one.2 && next.0 <= one.1 + 1;
            one.1 = if same { next.1 } else { one.1 };
            same
        });
        // «Orr, who signed»: the same person acts again.
        for at in sentence.words.0..sentence.words.1 {
            let before = people.iter().find(|it| it.1 == at).map(|it| it.2);
            people
                .extend(before.filter(|_| page.words[at].text == "who").map(|it| (at, at + 1, it)));
        }
        people.sort_by_key(|it| it.0);
        let text = page.slice(sentence.span);
        let loud = text.chars().filter(|it| it.is_uppercase()).count();
        let quiet = text.chars().filter(|it| it.is_lowercase()).count();
        // A heading states nothing.
        if people.is_empty() || loud > quiet {
            return Vec::new();
        }
        let mut list: Vec<Segment> = Vec::new();
        for (from, to, topic) in parts(page, sentence, &people) {
            let mut inside: Vec<(usize, usize, Actor)> =
                people.iter().filter(|it| it.0 >= from && it.0 < to).copied().collect();
            if let Some(agent) = list
                .iter()
                .rev()
                .find_map(Segment::agent)
                .filter(|_| continues_agent(page, from, &inside))
            {
                inside.insert(0, (from, from + 1, agent));
            }
            let mut it = segment(page, (from, to), inside.into_iter());
            let negated = &sentence.polarity.negated;
            let (start, end) = (page.words[from].start, page.words[to - 1].end);
            it.denied = negated.iter().any(|it| it.1.start >= start && it.1.end <= end);
            it.topic = topic;
            it.people.retain(|it| !is_court(it.actor));
            if !it.people.is_empty() {
                list.push(it);
            }
        }
        let all = list.iter().flat_map(|it| &it.people);
        let human = |it: &&Person| Some(it.actor) != context.author && self.is_human(it.actor);
        let agent = all.clone().find(|it| it.slot == Slot::Agent && human(it));
        let other = all.clone().rfind(human);
        context.last = agent.or(other).map(|it| it.actor).or(context.last);
        list
    }

    fn pronouns(
        &self,
        page: &Reading<'_>,
        sentence: &Sentence,
        context: &ReadingContext,
        people: &mut Vec<(usize, usize, Actor)>,
    ) {
        for at in sentence.words.0..sentence.words.1 {
            let word = &page.words[at];
            let quoted = page.in_quote(word.start);
            let actor = match word.text {
                "I" | "me" | "я" | "Я" | "мне" => context.author.filter(|_| !quoted),
                "He" | "She" | "Он" | "Она" => context.last,
                "he" | "she" | "она" | "он" => {
                    let first = people.iter().find(|it| it.0 < at);
                    context.last.filter(|_| first.is_none())
                }
                _ => None,
            };
            people.extend(actor.map(|it| (at, at + 1, it)));
        }
    }
}

impl Segment {
    fn agent(&self) -> Option<Actor> {
        self.people.iter().find(|it| it.slot == Slot::Agent).map(|it| it.actor)
    }
}

/// Whether the segment has the agent of the previous one: «… and named Orr».
fn continues_agent(page: &Reading<'_>, from: usize, people: &[(usize, usize, Actor)]) -> bool {
    let word = |at: usize| page.words.get(at).map(Word::fold).unwrap_or_default();
    let next = word(from + 1);
    let verb = is_past(&next) || next == "name" || next == "names" || next.ends_with("ies");
    let first = word(from);
    let joined = matches!(first.as_str(), "and" | "but" | "or") && verb;
    let bare = is_past(&first) || is_saying(&first) || super::is_will(&first);
    (joined && !people.iter().any(|it| it.0 <= from + 1))
        || (bare && !people.iter().any(|it| it.0 <= from))
}

/// The words of a segment, and the words that it reports as a statement.
type Part = (usize, usize, Option<(usize, usize)>);

/// The bounds of each segment: it ends at a conjunction with people on both sides.
fn parts(page: &Reading<'_>, sentence: &Sentence, people: &[(usize, usize, Actor)]) -> Vec<Part> {
    let (first, last) = sentence.words;
    let inside = |at: usize| people.iter().any(|it| it.0 < at && at < it.1);
    let opens_person = |at: usize| people.iter().any(|it| it.0 == at);
    let comma = |at: usize| {
        let last = &page.words[at - 1];
        let before = page.text.get(last.end..page.words[at].start).unwrap_or_default();
        // «The manager, Mr. Orr» and «the light — the tenant» are not two segments.
        let beside = !last.is_capital() && role(&last.fold()).is_some() && before.contains(',');
        let dash = before.contains(['—', '–']) && !before.contains(',');
        let joined = opens_person(at) && (beside || dash);
        before.len() > 1 && before.contains([',', ';', ':', '—', '–', '|']) && !joined
    };
    // A reported statement is not an act of the speaker.
    let reports_statement = |from: usize, at: usize| {
        let opens = matches!(page.words[at].text, "that" | "whether" | "of" | "что");
        let is_saying_before = || (from..at).any(|it| is_saying(&page.words[it].fold()));
        let accused = || (from..at).any(|it| page.words[it].text.starts_with("accus"));
        opens && (page.words[at].text != "of" || accused()) && is_saying_before()
    };
    let mut list: Vec<Part> = Vec::new();
    let mut from = first;
    let mut dropped = false;
    for at in first + 1..=last {
        let opens = at < last && !dropped && reports_statement(from, at);
        let folded = page.words.get(at).filter(|_| at < last).map(Word::fold).unwrap_or_default();
        let about = is_in("which whom where that who", &folded)
            && people.iter().any(|it| it.0 > at && it.0 <= at + 2);
        let about = about || (folded == "who" && opens_person(at));
        let condition = is_in(CONDITIONS, &folded);
        let joins = !opens && !inside(at) && (about || condition || is_in(CONJUNCTIONS, &folded));
        if at < last && (inside(at) || !(opens || joins || comma(at))) {
            continue;
        }
        let apart = at < last && {
            let gap = page.text.get(page.words[at - 1].end..page.words[at].start);
            gap.is_some_and(|it| it.contains([';', ':']))
        };
        let peopled = people.iter().any(|it| it.0 >= from && it.0 < at);
        match list.last_mut() {
            Some(_) if !peopled && dropped => {}
            // «… but the light — the tenant»: the contrasted thing comes first.
            Some(_)
                if !peopled && at < last && is_in("а но but while whereas", &word(page, from)) =>
            {
                continue;
            }
            // «… and he gets it back» is another segment.
            Some(_) if !peopled && is_in(PRONOUNS, &word(page, from + 1)) => {}
            Some(before) if !peopled => before.1 = at,
            _ if !peopled && at < last && !joins && !apart => continue,
            _ if !peopled => {}
            _ => list.push((from, at, None)),
        }
        if let Some(speaker_part) = list.last_mut().filter(|_| opens) {
            speaker_part.2 = Some((at, last));
        }
        (dropped, from) = (opens || condition, at);
    }
    list
}

fn segment(
    page: &Reading<'_>,
    words: (usize, usize),
    people: impl Iterator<Item = (usize, usize, Actor)>,
) -> Segment {
    let mut list: Vec<Person> = Vec::new();
    for (from, to, actor) in people {
        let slot = slot(page, words, (from, to), &list);
        let head = match slot {
            Slot::Owner if word(page, from.saturating_sub(1)) == "of" => from.checked_sub(2),
            Slot::Owner => Some(to),
            _ => None,
        };
        let head = head.map(|it| stem(&word(page, it)));
        list.push(Person { actor, slot, words: (from, to), head });
    }
    let own = &page.words[words.0..words.1];
    let verbs = own.iter().map(Word::fold).filter(|it| {
        let noun = it.trim_end_matches('s').ends_with("ment") || it.ends_with("ry");
        !noun && !is_in("credit deliveries loan loans", it)
    });
    let converse = verbs.into_iter().find_map(|it| converse(&it));
    let hidden = |at: usize| {
        let known = list.iter().any(|it| it.words.0 <= at && at < it.words.1);
        let word = page.words[at].fold();
        !known && is_in("i we he she they you", &word)
    };
    let has_pronoun_agent = (words.0..words.1).any(hidden);
    let is_stative = list.first().is_some_and(|it| {
        is_in("has have had is was are were gets got keeps holds", &word(page, it.words.1))
    });
    // `Vale (plaintiff) and Orr (defendant) are the parties`.
    let is = own.windows(2).any(|it| {
        is_in("is was are were", &it[0].fold()) && is_in("the a an named", &it[1].fold())
    });
    let is_stative = is_stative || is;
    Segment {
        words,
        people: list,
        denied: false,
        converse,
        has_pronoun_agent,
        is_stative,
        topic: None,
    }
}

/// The pair of converse verbs of a word, and whether the word is the receiving side.
fn converse(folded: &str) -> Option<(usize, bool)> {
    static FORMS: LazyLock<BTreeMap<String, (usize, bool)>> = LazyLock::new(|| {
        let rows = CONVERSE.iter().enumerate().flat_map(|(at, (one, two))| {
            let one = one.split(' ').map(move |it| (it, (at, false)));
            one.chain(two.split(' ').map(move |it| (it, (at, true))))
        });
        rows.map(|(it, side)| (if is_russian(it) { it.to_owned() } else { stem(it) }, side))
            .collect()
    });
    let base = stem(folded);
    if !is_russian(folded) {
        return FORMS.get(&base).copied();
    }
    // Russian verbs are listed by their beginnings.
    FORMS.iter().find(|it| base.starts_with(it.0.as_str())).map(|it| *it.1)
}

fn word(page: &Reading<'_>, at: usize) -> String {
    page.words.get(at).map(Word::fold).unwrap_or_default()
}

fn slot(
    page: &Reading<'_>,
    (start, end): (usize, usize),
    (from, to): (usize, usize),
    before: &[Person],
) -> Slot {
    let word = |at: usize| page.words.get(at).map(Word::fold).unwrap_or_default();
    let mut back = from;
    while back > start {
        let last = word(back - 1);
        if !(is_in(SMALL, &last) || crate::name::is_title(&last)) {
            break;
        }
        back -= 1;
    }
    let lead = if back > start { word(back - 1) } else { String::new() };
    let raw = page.words.get(to - 1).map_or("", |it| it.text);
    let tail = page.words.get(to - 1).and_then(|it| page.text.get(it.end..)).unwrap_or_default();
    let owns = raw.ends_with("'s")
        || raw.ends_with("’s")
        || (raw.ends_with('s') && tail.starts_with(['\'', '’']));
    if let Some(last) = before
        .last()
        .filter(|it| matches!(lead.as_str(), "and" | "or" | "и") && it.words.1 + 1 >= back)
    {
        return last.slot;
    }
    if is_russian(&word(to - 1)) {
        return russian(page, (start, end), (from, to), &lead);
    }
    if raw == "me" || is_in(GOALS, &lead) {
        return if owns { Slot::Owner } else { Slot::Goal };
    }
    match lead.as_str() {
        "by" => return Slot::Agent,
        "of" => return Slot::Owner,
        _ if owns => return Slot::Owner,
        _ => {}
    }
    // «The creditor is the bank»: both are the same actor.
    let is = matches!(word(back.saturating_sub(1)).as_str(), "is" | "was" | "are" | "were");
    if let Some(last) = before.last().filter(|it| is && it.words.1 + 1 >= back) {
        return last.slot;
    }
    let subject = before.iter().any(|it| it.slot != Slot::Owner);
    if subject || is_acted_on(page, to, end) { Slot::Goal } else { Slot::Agent }
}

/// A form of «be» and the past of a verb right behind the name.
fn is_acted_on(page: &Reading<'_>, to: usize, end: usize) -> bool {
    let word = |at: usize| page.words.get(at).filter(|_| at < end).map(Word::fold);
    let be = (to..to + 3)
        .find(|it| word(*it).is_some_and(|it| is_in("was were been be is are being", &it)));
    be.is_some_and(|at| {
        let past = |it: String| (is_past(&it) && it != "said") || is_in("owed sued used paid", &it);
        (at + 1..at + 4).any(|it| word(it).is_some_and(past))
    })
}

/// By the case of the word and by the word before it.
fn russian(
    page: &Reading<'_>,
    (start, end): (usize, usize),
    (from, to): (usize, usize),
    lead: &str,
) -> Slot {
    let folded = page.words[to - 1].fold();
    let exacted = page.words[start..end].iter().any(|it| it.fold().starts_with("взыск"));
    if exacted && matches!(lead, "с" | "со") {
        return Slot::Agent;
    }
    if is_in(GOALS, lead) {
        return Slot::Goal;
    }
    if let Some(role) = role(&folded) {
        return if folded == role_word(role) { Slot::Agent } else { case(&folded) };
    }
    // «обществу «Вал»»: the common noun is declined, the name is not.
    if lead.starts_with("обществ") || lead.starts_with("компани") || lead.starts_with("фирм")
    {
        return if matches!(lead, "общество" | "компания" | "фирма") {
            Slot::Agent
        } else {
            case(lead)
        };
    }
    let first = page.words.get(from).map(Word::fold).unwrap_or_default();
    let ends = |list: &[&str]| list.iter().any(|it| first.ends_with(it));
    if ends(&["ому", "ему", "ого", "его", "у", "ю", "ым", "им", "ой", "ом", "ем", "ы", "и"])
    {
        return case(&first);
    }
    Slot::Agent
}

fn case(word: &str) -> Slot {
    let ends = |list: &[&str]| list.iter().any(|it| word.ends_with(it));
    if ends(&["ому", "ему", "у", "ю", "е"]) {
        Slot::Goal
    } else if ends(&["ом", "ем", "ой", "ей", "ым", "им"]) {
        Slot::Agent
    } else {
        Slot::Owner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each segment as `slot name`, separated by bars.
    #[track_caller]
    fn check(text: &str, want: &str) {
        let pages = [Reading::new(text)];
        let actors = ActorIndex::new(&pages);
        let mut context = ReadingContext { author: actors.author(&pages[0]), last: None };
        let mut got: Vec<String> = Vec::new();
        for sentence in &pages[0].sentences {
            for it in actors.segments(&pages[0], sentence, &mut context) {
                let people = it.people.iter();
                let people =
                    people.map(|it| format!("{:?} {}", it.slot, actors.display_name(it.actor)));
                got.push(people.collect::<Vec<_>>().join(", "));
            }
        }
        assert_eq!(got.join(" | "), want, "{text}");
    }

    #[test]
    fn word_order_prepositions_and_the_passive_give_slots() {
        check("Mr. Nye paid Ms. Pell.", "Agent nye, Goal pell");
        check("Ms. Pell was paid by Mr. Nye.", "Goal pell, Agent nye");
        check("Mr. Nye left, but Ms. Pell stayed.", "Agent nye | Agent pell");
        check(
            "Mr. Nye hired Ms. Pell and fired Mr. Orr.",
            "Agent nye, Goal pell | Agent nye, Goal orr",
        );
    }

    #[test]
    fn pronouns_and_roles_refer_to_names() {
        check("Mr. Nye came. He sued Ms. Pell.", "Agent nye | Agent nye, Goal pell");
        check(
            "The manager, Mr. Nye, left. The manager sued Ms. Pell.",
            "Agent nye | Agent nye, Goal pell",
        );
        check(
            "I, Maud Pell, leave. I forgive Mr. Nye.",
            "Agent maud pell | Agent maud pell, Goal nye",
        );
    }

    #[test]
    fn russian_cases_give_slots() {
        check("Подрядчик платит заказчику.", "Agent the подрядчик, Goal the заказчик");
        check("Заказчику платит подрядчик.", "Goal the заказчик, Agent the подрядчик");
    }
}
