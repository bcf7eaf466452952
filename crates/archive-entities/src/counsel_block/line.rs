//! The lines of a page as cells of its columns, and what each is in a block of lawyers.

use std::sync::LazyLock;

use text::{Pattern, WordList};

use crate::appearance;
use crate::entity::Role;
use crate::entity_match::PieceContext;
use crate::name;
use crate::organisation::legal_form;
use crate::party;
use crate::text::TokenText;

/// Fewest blanks between two cells of a line.
const GAP: usize = 3;
/// Most words and marks of a line that may belong to a block.
const CELL_TOKENS: usize = 30;
/// Fewest words without a capital in a line of running text.
const PROSE_WORDS: usize = 4;

/// Words of the names of law firms.
static FIRMS: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/law_firms.txt")));

/// Whom the lawyers speak for: `Attorneys for Plaintiff`, `For the Appellant:`, `COUNSEL:`
static SIDE: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "[of | by | the] [(lead | local | co | trial | defense | class | interim | liaison | appointed \
         | pro bono | -)+] (attorney | attorneys | counsel | counsels | solicitor | solicitors \
         | lawyer | lawyers | attys) ['(' s ')'] [at law | of record | -in-charge | and counsel] \
         (for | on behalf of | representing | appearing for | :) \
         | for [the] {role} | appearances | counsel of record [:] $ | counsel present | of counsel : \
         | {role} [' s | 's] (attorney | attorneys | counsel) [:] $ \
         | {role} represented by | attorney* to be noticed",
        &[("role", role_word)],
    )
});

/// The office or the profession of the person in the line above.
static OFFICE: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "(attorney | attorneys | counsel | prosecutor | defender | solicitor | ausa | lawyer | barrister \
         | esq | esquire | (assistant | deputy) [branch | section] (director | chief))",
        &[],
    )
});

/// A number at the bar: `State Bar No. 24012345`, `SBN 123456`, `WSBA #38817`, `Atty. I.D. 12345`
static BAR: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "(bar | sbn | wsba | osb | bbo | fbn | ardc | isb | msb | aba | arbn | njid | abn | tbn | bpr \
         | attorney | atty | registration | juris | license | federal id | fed . id | bar code \
         | supreme court id | i . d | id) \
         (card | identification | registration | i . d . | id | code | reg | number | numbers | nos | no | juris | num \
         | . | : | '#' | №)+ @number",
        &[],
    )
});

/// What is not of a lawyer: a judge, an officer of a company, a party without a lawyer.
static OTHER: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "judge | judges | justice | magistrate | chancellor | commissioner | clerk | pro se | in pro per \
         | propria persona | pro per | self represented | self-represented | (ceo | cfo | president | chairman | chairwoman \
         | chairperson | treasurer | director | manager | owner | member | paralegal | witness | reporter | notary | mediator \
         | arbitrator | declarant | affiant | trustee | officer | secretary | investigator | analyst \
         | interpreter | legal assistant | agent | superintendent | warden | sheriff)",
        &[],
    )
});

/// A line that ends a block: a court, a caption, the title of a paper.
static STOP: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "(v | vs) . | v $ | case no | court of | (district | superior | circuit | supreme | bankruptcy | probate) court \
         | certificate of service | certification | in re | in the matter | table of contents | page @number",
        &[],
    )
});

static CONTACT: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "@ | (telephone | phone | tel | fax | facsimile | ph | cell | mobile | direct | e-mail | email | t | f | p | o) [no] [.] (: | '(' | @number) \
         | telephone | facsimile | www . | '(' @number ')' @number - @number | @number - @number - @number \
         | @number . @number . @number",
        &[],
    )
});

static ADDRESS: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "@number [(@capital | . | @number)+] (street | st | avenue | ave | road | rd | boulevard | blvd | drive | dr | lane | ln \
         | way | plaza | place | square | court | parkway | pkwy | highway | hwy | circle | center | n | nw | ne | sw | se | broadway | floor) \
         | (suite | ste | floor | room | rm | apt | unit) [.] ['#'] (@number | @capital) | p . o . (box | drawer) | po box | post office box \
         | , @capital [.] @number | , d . c . | @capital @number - @number $ | one @capital (plaza | center | place | square)",
        &[],
    )
});

static CLOSING: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "^ (respectfully | dated | date | sincerely | submitted | executed | very truly | by : | signature | this the | attest | on the brief \
         | admitted | admission | pro hac | application | of counsel | motion | appearing | and | lead | local)",
        &[],
    )
});

fn role_word(row: &dyn text::TokenRow, at: usize) -> Option<usize> {
    let word = row.lower(at);
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix('\'')).unwrap_or(word);
    let public = matches!(
        word,
        "government" | "state" | "commonwealth" | "people" | "united" | "movant" | "claimants"
    );
    (public || party::roles(word).next().is_some()).then_some(at + 1)
}

/// A person that a line names, and what the rest of the line says about the person.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct NamedPerson {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) bar: Option<String>,
    /// `/s/`, `By:`
    pub(super) signed: bool,
    /// `Esq.`, `pro hac vice`, `Attorney for`
    pub(super) lawyer: bool,
    /// `Judge`, `pro se`, `President`
    pub(super) other: bool,
    pub(super) side: Option<Role>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineKind {
    Names(Vec<NamedPerson>),
    /// The side, whether a colon ends the line, and whether the client's name follows.
    Side {
        role: Option<Role>,
        colon: bool,
        client: bool,
    },
    Office,
    Bar(String),
    Firm,
    Contact,
    Address,
    Closing,
    /// A short line that nothing is known about.
    Other,
    /// Running text, a caption, a heading: the block ends.
    Stop,
}

#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Counts line ends from the start of the piece.
    pub(super) row: usize,
    pub(super) second_column: bool,
    pub(super) kind: LineKind,
    /// Whether the line says that the person above it is no lawyer.
    pub(super) tells_other: bool,
    /// Whether the line above is a role alone, so that a name here is that of a party.
    pub(super) below_role: bool,
}

impl Line {
    pub(super) fn people(&self) -> &[NamedPerson] {
        match &self.kind {
            LineKind::Names(list) => list,
            _ => &[],
        }
    }

    /// A name of which the line says nothing.
    pub(super) fn is_bare_name(&self) -> bool {
        let bare = |it: &NamedPerson| it.bar.is_none() && !it.signed && !it.lawyer;
        !self.people().is_empty() && self.people().iter().all(bare)
    }
}

/// The cells of a piece in the order of the text.
pub(super) fn of(reading: &PieceContext<'_, '_>) -> Vec<Line> {
    let text = reading.text;
    let mut list = Vec::new();
    let (mut from, mut row) = (0, 0);
    let mut role_row = None;
    while from < text.len() {
        if from > 0 {
            row += usize::from(text.breaks(from));
        }
        let mut to = from + 1;
        while to < text.len() && text.breaks(to) == 0 && !is_gap(text, to) {
            to += 1;
        }
        // A line number of pleading paper in a line of its own is no line of the block.
        if to == from + 1 && text.is_number(from) && text.word(from).len() < 3 {
            row -= usize::from(from > 0) * usize::from(text.breaks(from));
            from = to;
            continue;
        }
        let second_column = text.at(from).is_some_and(|it| it.after_gap);
        let cell = trimmed(text, from, to);
        if cell.0 < cell.1 {
            let kind = kind(reading, cell.0, cell.1);
            let tells_other = text.run(cell.0, &["represented", "by"])
                || cell.1 - cell.0 <= 12
                    && has(&OTHER, text, cell.0, cell.1)
                    && !has(&OFFICE, text, cell.0, cell.1);
            let below_role = role_row.is_some_and(|it| row == it + 1);
            if cell.1 - cell.0 <= 4 && party::roles(text.low(cell.0)).next().is_some() {
                role_row = Some(row);
            }
            list.push(Line { row, second_column, kind, tells_other, below_role });
        }
        from = to;
    }
    list
}

fn is_gap(text: &TokenText<'_>, at: usize) -> bool {
    let end = at.checked_sub(1).and_then(|it| text.at(it)).map_or(0, |it| it.end);
    text.at(at).is_some_and(|it| it.start >= end + GAP)
}

/// Without the rule of a caption's box, underscores and bullets at both ends.
fn trimmed(text: &TokenText<'_>, from: usize, to: usize) -> (usize, usize) {
    let mark =
        |it: usize| matches!(text.low(it), "_" | "|" | "§" | "*" | "•" | "·" | "–" | "—" | "-");
    let (mut from, mut to) = (from, to);
    while from < to && (mark(from) || text.is(from, ")")) {
        from += 1;
    }
    while to > from && mark(to - 1) {
        to -= 1;
    }
    (from, to)
}

fn has(pattern: &Pattern, text: &TokenText<'_>, from: usize, to: usize) -> bool {
    (from..to).any(|it| pattern.at(text, it).is_some_and(|found| found.end <= to))
}

fn kind(reading: &PieceContext<'_, '_>, from: usize, to: usize) -> LineKind {
    let text = reading.text;
    if to - from > CELL_TOKENS || reading.is_cited(from) {
        return LineKind::Stop;
    }
    let admitted = ["admitted", "pro", "hac", "vice", "pending", "forthcoming", "application"];
    let small = (from..to)
        .filter(|it| text.is_word(*it) && !text.capital(*it) && text.word(*it).len() > 2)
        .filter(|it| !admitted.contains(&text.low(*it)))
        .count();
    let mail = (from..to).any(|it| text.is(it, "@"));
    if small >= PROSE_WORDS && !mail {
        return LineKind::Stop;
    }
    let contact = mail || has(&CONTACT, text, from, to);
    let people = people(reading, from, to);
    if !people.is_empty() {
        return LineKind::Names(people);
    }
    if let Some(found) = SIDE.at(text, from).filter(|it| it.end <= to) {
        let role = (from..to).find_map(|it| party::roles(role_of(text.low(it))).next());
        let bare_role = text.is(from, "for") && found.end < to && !text.is(to - 1, ":");
        if !bare_role {
            let client = (from..to).any(|it| text.is(it, "for"));
            return LineKind::Side { role, colon: text.is(to - 1, ":"), client };
        }
    }
    if let Some(number) = bar_number(text, from, to) {
        return LineKind::Bar(number);
    }
    if contact {
        return LineKind::Contact;
    }
    if has(&ADDRESS, text, from, to) {
        return LineKind::Address;
    }
    let firm = (from..to).any(|it| FIRMS.contains(text.low(it)) && text.capital(it))
        || text.run(to.saturating_sub(4), &["p", ".", "c", "."])
        || text.run(to.saturating_sub(4), &["p", ".", "a", "."]);
    if has(&OFFICE, text, from, to) && !firm && small == 0 && text.capital(from) {
        return LineKind::Office;
    }
    let role = (from..to).any(|it| party::roles(text.low(it)).next().is_some());
    if has(&STOP, text, from, to) || role && !firm {
        return LineKind::Stop;
    }
    if firm {
        return LineKind::Firm;
    }
    if has(&CLOSING, text, from, to) {
        return LineKind::Closing;
    }
    LineKind::Other
}

fn role_of(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix('\'')).unwrap_or(word)
}

/// The number at the bar that the tokens name.
fn bar_number(text: &TokenText<'_>, from: usize, to: usize) -> Option<String> {
    let found = (from..to).find_map(|it| BAR.at(text, it).filter(|found| found.end <= to))?;
    let digits = text.word(found.end - 1);
    (3..=12).contains(&digits.len()).then(|| digits.to_owned())
}

/// The people that fill a line, with what stands beside each; empty if the line is something else.
fn people(reading: &PieceContext<'_, '_>, from: usize, to: usize) -> Vec<NamedPerson> {
    let text = reading.text;
    let mut list: Vec<NamedPerson> = Vec::new();
    let mut at = from;
    while at < to && list.len() < 4 {
        let (first, signed) = past_signs(text, at, to);
        let Some(end) = name::person(text, first, false).filter(|it| *it <= to) else { break };
        let own_firm = text.is(end, ",") && legal_form(text, end + 1).is_some_and(|it| it < to);
        let firm = reading.organisation_at(first).is_some() && !own_firm
            || text.is(end, "&")
            || (first..end).any(|it| FIRMS.contains(text.low(it)))
            || appearance::is_place(text, first, end, false);
        if firm {
            break;
        }
        let rest = tail_end(text, end, to);
        let Some(person) = with_tail(text, (first, end), rest, signed) else { break };
        list.push(person);
        at = rest;
    }
    if at < to { Vec::new() } else { list }
}

/// Past `By:`, `/s/`, `Mr.`, and whether the name is signed.
fn past_signs(text: &TokenText<'_>, from: usize, to: usize) -> (usize, bool) {
    let mut at = from;
    let mut signed = false;
    while at < to {
        match text.low(at) {
            "/" | "_" | "-" | "[" => {}
            "by" | "/s/" => signed = true,
            "s" | "es" if text.is(at + 1, "/") || at > from && text.is(at - 1, "/") => {
                signed = true
            }
            ":" | "." | "mr" | "ms" | "mrs" | "dr" | "attn" | "attention" | "signed"
            | "electronically" => {}
            _ => break,
        }
        at += 1;
    }
    (at, signed)
}

/// Where what follows a name ends: at the next name of the line, else at the line's end.
fn tail_end(text: &TokenText<'_>, from: usize, to: usize) -> usize {
    let mut depth = 0_usize;
    for at in from..to {
        match text.low(at) {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let begins = at > from
            && depth == 0
            && (text.is(at - 1, ")") || text.is(at, "/") && text.is(at + 1, "s"))
            && name::person(text, past_signs(text, at, to).0, false).is_some();
        if begins {
            return at;
        }
    }
    to
}

/// The person with what the rest of the line says; `None` if the rest says that it is no name.
fn with_tail(
    text: &TokenText<'_>,
    (from, end): (usize, usize),
    rest: usize,
    signed: bool,
) -> Option<NamedPerson> {
    let mut it = NamedPerson { from, to: end, signed, ..NamedPerson::default() };
    if end == rest {
        return Some(it);
    }
    let lawyer = has(&OFFICE, text, end, rest) || has_hac(text, end, rest);
    it.bar = bar_number(text, end, rest).or_else(|| plain_number(text, end, rest));
    it.other = has(&OTHER, text, end, rest) && it.bar.is_none();
    it.lawyer = lawyer && !it.other;
    it.side = (end..rest).find_map(|at| party::roles(role_of(text.low(at))).next());
    if it.side.is_some() && !it.lawyer {
        it.other = true;
    }
    let mark = matches!(
        text.low(end),
        "," | "(" | "*" | "#" | "-" | "–" | "—" | "/" | "[" | "|" | "." | ";"
    );
    let mail = (end..rest).any(|at| text.is(at, "@"));
    let small = (end..rest).filter(|it| text.is_word(*it) && !text.capital(*it)).count();
    let fits = it.bar.is_some() || it.lawyer || mail || mark && small < PROSE_WORDS;
    fits.then_some(it)
}

fn has_hac(text: &TokenText<'_>, from: usize, to: usize) -> bool {
    (from..to).any(|it| text.run(it, &["pro", "hac"]) || text.is(it, "phv"))
}

/// `(123456)`, `#38817`, `(P12345)`
fn plain_number(text: &TokenText<'_>, from: usize, to: usize) -> Option<String> {
    (from..to).find_map(|at| {
        let before = at.checked_sub(1).map(|it| text.low(it)).unwrap_or_default();
        let digits = text.word(at);
        let boxed = before == "(" && text.is(at + 1, ")") && digits.len() > 4;
        let lettered = before == "p" && text.glued(at) && digits.len() == 5;
        let opened = boxed || lettered || before == "#" && text.glued(at);
        let number = text.is_number(at) && (4..=9).contains(&digits.len()) && opened;
        number.then(|| digits.to_owned())
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_word_list_is_sorted_and_patterns_are_right() {
        assert_eq!(text::list_problem(include_str!("../../data/law_firms.txt")), None);
        let all = [
            &super::SIDE,
            &super::OFFICE,
            &super::BAR,
            &super::OTHER,
            &super::STOP,
            &super::CONTACT,
            &super::ADDRESS,
            &super::CLOSING,
        ];
        for it in all {
            assert_eq!(it.problem(), None);
        }
    }
}
