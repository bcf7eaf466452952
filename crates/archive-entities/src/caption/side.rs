//! Reads the words of one side of a caption into names with roles. In a caption the place says that
//! words are a party, so a name need not have a known form.

use std::sync::LazyLock;

use text::{Pattern, TokenRow, WordList};

use super::named::NamedParty;
use crate::entity::Role;
use crate::entity_match::PieceContext;
use crate::name;
use crate::organisation::legal_form;
use crate::party;
use crate::text::TokenText;

/// Most names of one side.
const NAMES_MAX: usize = 40;
/// Most words and marks of one name.
const NAME_TOKENS: usize = 24;

/// Words that begin a description of a party: `individually`, `a Delaware corporation`.
static DESCRIPTIONS: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/descriptions.txt")));
/// Ranks and titles before the name of a person.
static RANKS: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/ranks.txt")));
/// Words of headings and stamps, which are in no name of a party.
static NOT_PARTIES: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/not_parties.txt")));
/// Words for bodies, whose names may contain `and`.
pub(super) static BODIES: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/bodies.txt")));

/// What a party is besides its role, and what joins two roles.
static ROLE_JOINT: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "('(' s ')' | '(' es ')' | - | – | — | / | and | & | third-party | third | cross | counter \
         | counterclaim | cross-claim | real part* in interest | in interest | below | lead | nominal \
         | consolidated | proposed | putative | fourth-party | , !@capital)+",
        &[],
    )
});

/// Words that make a role a second one: `Defendant and Third-Party Plaintiff`.
const FURTHER: [&str; 8] = [
    "third-party",
    "third",
    "cross",
    "counter",
    "fourth-party",
    "counterclaim",
    "cross-claim",
    "counter-claim",
];

fn is_role(row: &dyn TokenRow, at: usize) -> bool {
    party::roles(row.lower(at)).next().is_some()
}

/// The parties of one side, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Side {
    pub(super) parties: Vec<NamedParty>,
    /// Whether the side ends with a role.
    pub(super) has_role: bool,
}

struct SideReader<'a, 'b, 't> {
    reading: &'a PieceContext<'b, 't>,
    own: &'a [usize],
    side: Side,
    current: Vec<usize>,
    /// Within a description, up to the next comma.
    described: bool,
    /// The description says that the next name acts for the one before: `by her mother, Jane Roe`.
    acts: bool,
    /// The role before the names: `Plaintiff John Roe`.
    leading: Vec<Role>,
}

/// Reads the tokens of one side.
pub(super) fn read(reading: &PieceContext<'_, '_>, own: &[usize]) -> Side {
    let mut reader = SideReader {
        reading,
        own,
        side: Side::default(),
        current: Vec::new(),
        described: false,
        acts: false,
        leading: Vec::new(),
    };
    let mut place = 0;
    while place < own.len() && reader.side.parties.len() < NAMES_MAX {
        place = reader.step(place).max(place + 1);
    }
    reader.flush();
    let leading = std::mem::take(&mut reader.leading);
    for it in reader.side.parties.iter_mut().filter(|it| it.roles.is_empty()) {
        it.roles.clone_from(&leading);
    }
    reader.side
}

impl<'t> SideReader<'_, '_, 't> {
    fn text(&self) -> &TokenText<'t> {
        self.reading.text
    }

    fn token(&self, place: usize) -> usize {
        self.own.get(place).copied().unwrap_or(usize::MAX - 8)
    }

    /// Whether the tokens from `place` on follow one another without a cell between.
    fn place_of(&self, place: usize, end: usize) -> Option<usize> {
        let first = self.token(place);
        let last = place + end.checked_sub(first)?;
        (self.token(last - 1) == end - 1).then_some(last)
    }

    /// Reads from one token on; returns the place after what was read.
    fn step(&mut self, place: usize) -> usize {
        let at = self.token(place);
        let text = self.reading.text;
        if is_role(text, at) && (text.capital(at) || self.current.is_empty()) {
            return self.role(place);
        }
        // `Third-Party Plaintiff`, `Third Party Defendant`
        let further = FURTHER.contains(&text.low(at));
        let named_next = (place + 1..place + 3).any(|it| is_role(text, self.token(it)));
        if further && named_next {
            self.flush();
            return place + 1;
        }
        if text.is(at, "party") && place > 0 && text.is(self.token(place - 1), "third") {
            return place + 1;
        }
        // `Acme LLC d/b/a Blue Heron Pools`
        if text.run(at, &["d", "/", "b", "/", "a"]) && !self.current.is_empty() {
            self.current.extend(at..at + 5);
            return self.place_of(place, at + 5).unwrap_or(place + 5);
        }
        if !self.described
            && let Some(end) = self.reading.organisation_at(at)
            && let Some(last) = self.place_of(place, end)
            && !(at..end).any(|it| is_role(text, it))
        {
            if self.begins_anew(at) {
                self.flush();
            }
            self.current.extend(at..end);
            return last;
        }
        match text.low(at) {
            ";" => self.end_name(),
            "," if self.is_suffix(place + 1) => self.current.push(at),
            "," => self.end_name(),
            // `Fund (A), LLC`
            "(" if text.word(at + 1).len() == 1 && text.is(at + 2, ")") => {
                self.current.extend(at..at + 3);
                return self.place_of(place, at + 3).unwrap_or(place + 3);
            }
            "(" => return self.past_bracket(place),
            "and" | "&" => self.and(place),
            // A docket names the lawyer beside the party.
            "represented" if text.is(at + 1, "by") => {
                self.flush();
                self.described = true;
            }
            "et" if matches!(text.low(at + 1), "al" | "ux" | "vir" | "als") => {
                self.end_name();
                return place + 2 + usize::from(text.is(at + 2, "."));
            }
            word if self.described => {
                let acts = ["mother", "father", "parent", "guardian", "friend", "custodian"];
                self.acts |= acts.contains(&word);
            }
            _ if self.describes(place) => {
                self.flush();
                self.described = true;
            }
            _ => {
                if self.begins_anew(at) {
                    self.flush();
                }
                self.current.push(at);
            }
        }
        place + 1
    }

    /// `Plaintiffs-Appellants`, `Defendant and Third-Party Plaintiff`
    fn role(&mut self, place: usize) -> usize {
        let text = self.reading.text;
        self.flush();
        let mut roles: Vec<Role> = Vec::new();
        let mut next = place;
        let mut further = false;
        while next < place + 12 {
            let at = self.token(next);
            if is_role(text, at) {
                let other = ["cross-", "counter-", "third-"];
                further |= other.iter().any(|it| text.low(at).starts_with(it));
                if !further || roles.is_empty() {
                    roles.extend(party::roles(text.low(at)));
                }
                next += 1;
                further = false;
            } else if let Some(found) = ROLE_JOINT.at(text, at)
                && let Some(last) = self.place_of(next, found.end)
                && (is_role(text, found.end) || text.is(found.end - 1, ")"))
            {
                further = (at..found.end).any(|it| FURTHER.contains(&text.low(it)));
                next = last;
            } else {
                break;
            }
        }
        roles.sort_unstable();
        roles.dedup();
        // `Petitioners-Appellants` are the petitioners of the appeal.
        if roles.iter().any(|it| matches!(it, Role::Petitioner | Role::Respondent)) {
            roles.retain(|it| !matches!(it, Role::Appellant | Role::Appellee));
        }
        self.described = false;
        if self.side.parties.is_empty() {
            self.leading = roles;
            return next;
        }
        for it in self.side.parties.iter_mut().filter(|it| it.roles.is_empty()) {
            it.roles.clone_from(&roles);
        }
        self.side.has_role = true;
        next
    }

    fn end_name(&mut self) {
        self.flush();
        self.described = false;
    }

    fn past_bracket(&mut self, place: usize) -> usize {
        let close = (place + 1..(place + 24).min(self.own.len()))
            .find(|it| self.text().is(self.token(*it), ")"));
        close.map_or(place + 1, |it| it + 1)
    }

    /// `, Inc.` and `, Jr.` belong to the name before the comma.
    fn is_suffix(&self, next: usize) -> bool {
        let text = self.reading.text;
        let at = self.token(next);
        let degree = text.run(at, &["m", ".", "d"]) || text.run(at, &["ph", ".", "d"]);
        let generation = matches!(text.low(at), "jr" | "sr" | "ii" | "iii" | "iv") || degree;
        !self.described
            && !self.current.is_empty()
            && (generation || legal_form(text, at).is_some())
    }

    /// Splits two names, or goes on with one that has `and` in it.
    fn and(&mut self, place: usize) {
        let text = self.reading.text;
        let at = self.token(place);
        let next = self.token(place + 1);
        if self.described {
            let named = name::person(text, next, false).is_some()
                || self.reading.organisation_at(next).is_some();
            if text.capital(next) && named && !self.describes(place + 1) && !text.is(next, "all") {
                self.end_name();
            }
            return;
        }
        let Some(first) = self.current.first().copied() else { return };
        let words = |list: &[usize]| {
            list.iter().filter(|it| text.is_word(**it) && !text.is(**it, "the")).count()
        };
        let rest: Vec<usize> = (place + 1..self.own.len())
            .map(|it| self.token(it))
            .take_while(|it| {
                !matches!(text.low(*it), "," | ";" | "and" | "(") && !is_role(text, *it)
            })
            .collect();
        let person = |from: usize| name::person(text, from, false).is_some();
        let couple = words(&self.current) == 1 && person(next) && name::is_name_word(text, first);
        if couple {
            if let Some(mut it) = self.take() {
                it.spouse = true;
                self.side.parties.push(it);
            }
            return;
        }
        let is_body = |list: &[usize]| list.iter().any(|it| BODIES.contains(text.low(*it)));
        let of = self.current.iter().any(|it| matches!(text.low(*it), "of" | "for" | "on"));
        let given = |it: Option<&usize>| it.is_some_and(|it| name::is_given(text.low(*it)));
        let formed = rest.iter().any(|it| legal_form(text, *it).is_some());
        let initial = self.current.iter().any(|it| text.is(*it, "."));
        // `Department of Health and Human Services`, `Liquor and Cannabis Board`
        let body = is_body(&self.current) && of && !formed && !given(rest.first())
            || !is_body(&self.current)
                && is_body(&rest)
                && !formed
                && !initial
                && words(&self.current) <= 2
                && !given(self.current.first());
        let single = words(&rest) == 1 && !person(first);
        if text.is(at, "&") || text.capital(next) && (body || single) {
            self.current.push(at);
        } else {
            self.flush();
        }
    }

    /// Whether the token begins a description and no name.
    fn describes(&self, place: usize) -> bool {
        let text = self.reading.text;
        let at = self.token(place);
        let word = text.low(at);
        if !text.is_word(at) {
            return false;
        }
        if self.current.is_empty() {
            let small = !text.capital(at) && !matches!(word, "the" | "de" | "la" | "van" | "von");
            return small || DESCRIPTIONS.contains(word) || self.is_office(place);
        }
        match word {
            "individually" | "aka" | "fka" | "jointly" => true,
            "as" | "on" | "by" | "through" | "in" => {
                !text.capital(at) || matches!(text.low(at + 1), "behalf" | "and" | "his" | "her")
            }
            "a" | "an" => {
                !text.capital(at) && !text.glued(at + 1) || text.run(at, &["a", "/", "k"])
            }
            "f" => text.run(at, &["f", "/", "k"]),
            _ => false,
        }
    }

    /// Whether the words up to the next comma are an office of the party before: `Director of the
    /// Board`. A rank before a name is no office: `Officer Jane Roe`.
    fn is_office(&self, place: usize) -> bool {
        if self.side.parties.is_empty() {
            return false;
        }
        let text = self.reading.text;
        let item: Vec<usize> = (place..self.own.len().min(place + 24))
            .map(|it| self.token(it))
            .take_while(|it| !matches!(text.low(*it), "," | ";" | "("))
            .collect();
        let office =
            |it: &usize| name::is_office_word(text.low(*it)) || RANKS.contains(text.low(*it));
        let ranked = item.iter().position(|it| !office(it)).is_some_and(|first| {
            first > 0 && item.get(first).is_some_and(|it| name::person(text, *it, false).is_some())
        });
        // `Director of the Board`, `Washington Attorney General`; General Electric Company is a firm.
        let held = item.iter().enumerate().any(|(index, it)| {
            let next = item.get(index + 1).map(|it| text.low(*it));
            office(it) && next.is_none_or(|it| matches!(it, "of" | "for"))
        });
        held && !ranked && !item.iter().any(|it| legal_form(text, *it).is_some())
    }

    /// Whether a line that begins at this token begins a new name: the name before is whole.
    fn begins_anew(&self, at: usize) -> bool {
        let text = self.reading.text;
        let (Some(first), Some(last)) = (self.current.first(), self.current.last()) else {
            return false;
        };
        let joined = matches!(text.low(*last), "of" | "&" | "and" | "the" | "for" | "/" | ",");
        if text.breaks(at) == 0 && at == last + 1 || joined || legal_form(text, at).is_some() {
            return false;
        }
        // `NEW JERSEY` above `MOTOR VEHICLE COMMISSION` begins the name of the body.
        let whole = name::person(text, *first, false) == Some(last + 1)
            && !crate::court::is_state(text, *first);
        text.breaks(at) > 1 || whole && name::person(text, at, false).is_some()
    }

    fn flush(&mut self) {
        let Some(it) = self.take() else { return };
        if !std::mem::take(&mut self.acts) {
            self.side.parties.push(it);
        }
    }

    /// The name that was read, without a rank before it and marks around it.
    fn take(&mut self) -> Option<NamedParty> {
        let mut words = std::mem::take(&mut self.current);
        let text = self.reading.text;
        while words.len() > 2 {
            let Some(first) = words.first().copied() else { break };
            let next = words.get(1).copied().unwrap_or(first);
            let rank =
                RANKS.contains(text.low(first)) && !text.is(next, "of") || text.is(first, "the");
            if !(rank || text.is(first, ".")) {
                break;
            }
            words.remove(0);
        }
        let mark = |it: usize| !text.is_word(it) && !text.is_number(it);
        while words.first().is_some_and(|it| mark(*it) && !matches!(text.low(*it), "«" | "\"")) {
            words.remove(0);
        }
        // `CO.1` has the number of a note.
        while words.last().is_some_and(|it| {
            mark(*it) && !closes(text, *it) || text.is_number(*it) && text.glued(*it)
        }) {
            words.pop();
        }
        while words.last().is_some_and(|it| matches!(text.low(*it), "and" | "&" | "the" | "of")) {
            words.pop();
        }
        let named = words.iter().any(|it| {
            text.is_word(*it)
                && text.capital(*it)
                && text.word(*it).chars().count() > 1
                && !DESCRIPTIONS.contains(text.low(*it))
        });
        // `J.W.` stands for a name that is not given.
        let initials = !words.is_empty()
            && words.iter().all(|it| {
                text.is(*it, ".") || text.capital(*it) && text.word(*it).chars().count() == 1
            });
        let named = named || initials && words.len() > 1;
        let first = words.first().copied()?;
        // `DOES 1 THROUGH 10` are sued; a single `JOHN DOE 1` beside them is no further party.
        let several = text.is(first, "does")
            && words.len() == 4
            && matches!(text.low(first + 2), "through" | "to");
        let placeholder = party::is_placeholder(text, first) && !several;
        let other = words.iter().any(|it| NOT_PARTIES.contains(text.low(*it)) || text.is(*it, ":"));
        // A number with dashes is that of a case.
        let numbered = words.windows(2).any(|it| {
            text.is_number(it[0]) && text.is(it[1], "-")
                || text.is(it[0], "-") && text.is_number(it[1])
        });
        let fits = named && words.len() <= NAME_TOKENS && !placeholder && !other && !numbered;
        fits.then_some(NamedParty { words, roles: Vec::new(), spouse: false })
    }
}

/// Whether a mark at the end of a name belongs to it: the point of `Inc.`, a bracket, a quote.
fn closes(text: &TokenText<'_>, at: usize) -> bool {
    let short = at > 0 && text.glued(at) && text.word(at - 1).chars().count() <= 5;
    match text.low(at) {
        "." => short && (legal_form(text, at - 1).is_some() || is_short_form(text, at - 1)),
        "»" | "\"" | "”" => true,
        _ => false,
    }
}

fn is_short_form(text: &TokenText<'_>, at: usize) -> bool {
    text.is_word(at) && text.word(at).chars().count() == 1
        || matches!(text.low(at), "inc" | "co" | "corp" | "ltd" | "jr" | "sr" | "dist" | "assn")
}

#[cfg(test)]
mod tests {
    #[test]
    fn word_lists_are_sorted_and_patterns_are_right() {
        for file in [
            include_str!("../../data/descriptions.txt"),
            include_str!("../../data/ranks.txt"),
            include_str!("../../data/bodies.txt"),
            include_str!("../../data/not_parties.txt"),
        ] {
            assert_eq!(text::list_problem(file), None);
        }
        assert_eq!(super::ROLE_JOINT.problem(), None);
    }
}
