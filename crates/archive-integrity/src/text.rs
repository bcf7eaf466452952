//! Sentences, words, folded forms and crude stems, all by byte spans. The module has no grammar;
//! equal stems only mean that two words may be the same.

mod same;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::Span;

/// A run of letters and digits, with the apostrophes inside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'t> {
    pub(crate) text: &'t str,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Word<'_> {
    pub(crate) fn is_capital(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    pub(crate) fn fold(&self) -> String {
        fold(self.text)
    }
}

/// Lower case, straight apostrophes, without a possessive ending.
pub(crate) fn fold(word: &str) -> String {
    let mut folded: String = word
        .chars()
        .flat_map(char::to_lowercase)
        .map(|it| match it {
            '’' | 'ʼ' => '\'',
            'ё' => 'е',
            it => it,
        })
        .collect();
    if folded.ends_with("'s") {
        folded.truncate(folded.len() - 2);
    } else if folded.ends_with('\'') {
        folded.pop();
    }
    folded
}

pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    let mut list = Vec::new();
    let mut start = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, it)) = chars.next() {
        let inner = matches!(it, '\'' | '’')
            && start.is_some()
            && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if it.is_alphanumeric() || inner {
            start.get_or_insert(at);
        } else if let Some(from) = start.take() {
            list.push(Word { text: &text[from..at], start: from, end: at });
        }
    }
    if let Some(from) = start {
        list.push(Word { text: &text[from..], start: from, end: text.len() });
    }
    list
}

const ENDINGS: [&str; 12] =
    ["ations", "ation", "ments", "ment", "ings", "ing", "ers", "ies", "ed", "es", "er", "s"];
const ENDINGS_RU: [&str; 59] = [
    "ывается",
    "ивается",
    "ываются",
    "ывает",
    "ивает",
    "ывать",
    "ивать",
    "ается",
    "уется",
    "алась",
    "алось",
    "ались",
    "илась",
    "ились",
    "аться",
    "иться",
    "ался",
    "ился",
    "ится",
    "ует",
    "ать",
    "ить",
    "еть",
    "лена",
    "лено",
    "лен",
    "его",
    "ым",
    "им",
    "ями",
    "ами",
    "ого",
    "ему",
    "ому",
    "ыми",
    "ими",
    "ила",
    "ило",
    "или",
    "ала",
    "ало",
    "али",
    "ей",
    "ой",
    "ый",
    "ий",
    "ая",
    "ое",
    "ые",
    "ов",
    "ам",
    "ах",
    "ом",
    "ем",
    "ил",
    "ал",
    "ть",
    "ию",
    "ия",
];

/// Irregular forms.
const IRREGULAR: [(&str, &str); 67] = [
    ("known", "know"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("hid", "hid"),
    ("hidden", "hid"),
    ("stole", "steal"),
    ("stolen", "steal"),
    ("swore", "swear"),
    ("sworn", "swear"),
    ("drew", "draw"),
    ("drawn", "draw"),
    ("shot", "shoot"),
    ("fought", "fight"),
    ("caught", "catch"),
    ("taught", "teach"),
    ("thought", "think"),
    ("meant", "mean"),
    ("dealt", "deal"),
    ("felt", "feel"),
    ("led", "lead"),
    ("laid", "lay"),
    ("swung", "swing"),
    ("repaid", "pay"),
    ("paid", "pay"),
    ("sold", "sell"),
    ("bought", "buy"),
    ("sent", "send"),
    ("held", "hold"),
    ("told", "tell"),
    ("said", "say"),
    ("found", "find"),
    ("left", "leav"),
    ("lent", "lend"),
    ("gave", "giv"),
    ("given", "giv"),
    ("wrote", "writ"),
    ("written", "writ"),
    ("won", "win"),
    ("lost", "los"),
    ("drove", "driv"),
    ("driven", "driv"),
    ("struck", "strik"),
    ("sought", "seek"),
    ("brought", "bring"),
    ("made", "mak"),
    ("took", "tak"),
    ("taken", "tak"),
    ("began", "begin"),
    ("begun", "begin"),
    ("rode", "rid"),
    ("ridden", "rid"),
    ("knew", "know"),
    ("spent", "spend"),
    ("built", "build"),
    ("met", "meet"),
    ("kept", "keep"),
    ("broke", "break"),
    ("broken", "break"),
    ("got", "get"),
    ("came", "com"),
    ("went", "go"),
    ("saw", "see"),
    ("seen", "see"),
    ("fell", "fall"),
    ("grew", "grow"),
    ("chose", "choos"),
    ("withdrew", "withdraw"),
];

/// Whether the word is the past of an irregular verb.
pub(crate) fn is_irregular(folded: &str) -> bool {
    IRREGULAR.iter().any(|it| it.0 == folded)
}

/// Whether the word looks like the past of a verb.
pub(crate) fn is_past(folded: &str) -> bool {
    (folded.len() > 4 && folded.ends_with("ed")) || is_irregular(folded) || is_past_ru(folded)
}

fn is_past_ru(folded: &str) -> bool {
    let ends = ["ено", "ена", "ены", "ил", "ал", "или", "али", "ила", "ала"];
    folded.chars().count() > 5 && ends.iter().any(|it| folded.ends_with(it))
}

/// The words of a sentence, split at commas, semicolons and conjunctions.
pub(crate) fn clauses<'w, 't>(text: &str, words: &'w [Word<'t>]) -> Vec<&'w [Word<'t>]> {
    let mut list = Vec::new();
    let mut from = 0;
    for at in 1..words.len() {
        let gap = text.get(words[at - 1].end..words[at].start).unwrap_or_default();
        let joint = matches!(
            words[at].text,
            "and" | "but" | "while" | "whereas" | "although" | "because" | "so" | "и" | "но" | "а"
        );
        if joint || gap.contains([',', ';', ':', '(', ')', '—', '–']) {
            list.push(&words[from..at]);
            from = at;
        }
    }
    list.push(&words[from..]);
    list.retain(|it| !it.is_empty());
    list
}

/// The word without its commonest endings, replaced by the first word of its row of synonyms.
pub(crate) fn stem(folded: &str) -> String {
    static FIRST: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
        let mut map: HashMap<String, &str> = HashMap::new();
        for row in same::SAME.lines() {
            let first = row.split(' ').next().unwrap_or_default();
            for word in row.split(' ') {
                map.entry(strip_ending(word)).or_insert(first);
                map.entry(word.to_owned()).or_insert(first);
            }
        }
        map
    });
    let base = strip_ending(folded);
    match FIRST.get(base.as_str()) {
        Some(first) => (*first).to_owned(),
        None => base,
    }
}

fn strip_ending(folded: &str) -> String {
    static BASES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| IRREGULAR.into_iter().collect());
    if let Some(base) = BASES.get(folded) {
        return (*base).to_owned();
    }
    let cyrillic = folded.chars().any(|it| ('а'..='я').contains(&it));
    let (endings, keep): (&[&str], usize) = if cyrillic { (&ENDINGS_RU, 6) } else { (&ENDINGS, 3) };
    for ending in endings {
        let Some(base) = folded.strip_suffix(ending) else { continue };
        if base.len() < keep {
            continue;
        }
        let base = base.strip_suffix('e').filter(|it| it.len() >= keep).unwrap_or(base);
        return undouble(base).to_owned();
    }
    let rest = if cyrillic {
        folded.strip_suffix(['а', 'я', 'у', 'ю', 'е', 'и', 'ы', 'о', 'ь'])
    } else {
        folded.strip_suffix('e').or_else(|| folded.strip_suffix('y'))
    };
    rest.filter(|it| it.len() >= keep).unwrap_or(folded).to_owned()
}

fn undouble(base: &str) -> &str {
    let mut back = base.chars().rev();
    match (back.next(), back.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 's' | 'l') => {
            &base[..base.len() - last.len_utf8()]
        }
        _ => base,
    }
}

const SHORT: [&str; 94] = [
    "sgt", "lt", "col", "capt", "insp", "rep", "sen", "gov", "messrs", "bros", "ste", "apt", "fed",
    "civ", "crim", "ф", "кв", "стр", "обл", "v", "vs", "inc", "co", "corp", "ltd", "no", "nos",
    "mr", "mrs", "ms", "dr", "hon", "jr", "sr", "st", "mt", "ave", "blvd", "rd", "cir", "dist",
    "ct", "app", "supp", "rev", "stat", "art", "sec", "ch", "cl", "para", "p", "pp", "n", "id",
    "ex", "exh", "cf", "e.g", "i.e", "u.s", "u.s.c", "c.f.r", "f", "mich", "cal", "n.y", "tex",
    "ill", "fla", "mass", "pa", "minn", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sept",
    "sep", "oct", "nov", "dec", "prof", "gen", "т", "ст", "п", "г", "руб", "тыс", "млн",
];

fn is_short(before: &str) -> bool {
    let from = before
        .rfind(|it: char| it.is_whitespace() || matches!(it, '(' | '"' | '“' | '['))
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let last = &before[from..];
    let letters = last.chars().count();
    if letters > 8 {
        return false;
    }
    let folded = fold(last);
    SHORT.contains(&folded.as_str())
        || (letters == 1 && last.chars().all(char::is_uppercase))
        || (last.contains('.') && last.chars().any(char::is_alphabetic))
}

/// A sentence is cut at the first blank after this many bytes, so that the work on one sentence is
/// bounded.
const SENTENCE_MAX: usize = 3_000;

/// Sentences without the blanks around them. A blank line also ends a sentence.
pub(crate) fn sentences(text: &str) -> Vec<Span> {
    let mut list = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, it)) = chars.next() {
        let end = at + it.len_utf8();
        let ends = match it {
            '\n' => {
                let rest = text[end..].trim_start_matches([' ', '\t', '\r']);
                rest.starts_with('\n')
            }
            '.' | '!' | '?' | '…' => {
                let rest = text[end..].trim_start_matches(['"', '”', '’', '\'', ')', ']', '»']);
                let gap = rest.starts_with(char::is_whitespace) || rest.is_empty();
                let next = rest.trim_start().chars().next();
                let opens = next.is_none_or(|it| !it.is_lowercase());
                gap && opens && !(it == '.' && is_short(&text[start..at]) && next.is_some())
            }
            _ => it.is_whitespace() && at - start > SENTENCE_MAX,
        };
        let ends = ends || at - start > 2 * SENTENCE_MAX;
        if ends {
            let tail = text[end..].len()
                - text[end..].trim_start_matches(['"', '”', '’', '\'', ')', ']', '»']).len();
            let stop = if it.is_whitespace() { end } else { end + tail };
            push(&mut list, text, start, stop);
            start = stop;
            while chars.peek().is_some_and(|(next, _)| *next < stop) {
                chars.next();
            }
        }
    }
    push(&mut list, text, start, text.len());
    list
}

fn push(list: &mut Vec<Span>, text: &str, start: usize, end: usize) {
    let Some(part) = text.get(start..end) else { return };
    let lead = part.len() - part.trim_start().len();
    let body = part.trim();
    if body.chars().any(char::is_alphanumeric) {
        list.push(Span { start: start + lead, end: start + lead + body.len() });
    }
}

const STOP: &str = "mr mrs ms dr prof hon a an the of to in on at by for from with and or but as is are was were be been \
being has have had do does did it its this that these those he she they them his her their we our \
us you your i my me which who whom whose what when where while than then there here into upon under \
over after before between within during per such any all each both other also so if not no nor \
would could should may might must shall will can s t that's et al и в во на с со по к о об от из за \
для что как это его ее их был была было были не ни а но или при до у же бы";

/// Stop words.
pub(crate) fn is_stop(folded: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP.split(' ').collect());
    WORDS.contains(folded)
}

/// Character counts at regular byte offsets, so that any position is counted from a near one.
#[derive(Debug)]
pub(crate) struct Chars(Vec<usize>);

const STEP: usize = 1 << 12;

fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|it| (**it & 0xc0) != 0x80).count()
}

impl Chars {
    pub(crate) fn new(text: &str) -> Self {
        let mut sum = 0;
        let before = text.as_bytes().chunks(STEP).map(|chunk| {
            let before = sum;
            sum += count(chunk);
            before
        });
        Self(before.collect())
    }

    fn at(&self, text: &str, byte: usize) -> usize {
        let byte = byte.min(text.len());
        let chunk = byte / STEP;
        let (chunk, before) = match self.0.get(chunk) {
            Some(before) => (chunk, *before),
            None => (chunk.saturating_sub(1), self.0.last().copied().unwrap_or(0)),
        };
        before + count(&text.as_bytes()[chunk * STEP..byte])
    }

    pub(crate) fn span(&self, text: &str, span: Span) -> Span {
        Span { start: self.at(text, span.start), end: self.at(text, span.end) }
    }
}

/// At most `max` characters, with a mark at the cut; runs of blanks become one.
pub(crate) fn clip(text: &str, max: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", &flat[..at]),
        None => flat,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let got: Vec<&str> = sentences(text).iter().map(|it| &text[it.start..it.end]).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn sentence_ends_are_found() {
        check("One here. Two there.", &["One here.", "Two there."]);
        check(
            "Smith v. Jones Co. No. 4 is old. It ended.",
            &["Smith v. Jones Co. No. 4 is old.", "It ended."],
        );
        check("He said \"stop.\" She went.", &["He said \"stop.\"", "She went."]);
        check("HEADING\n\nA line\nthat goes on.", &["HEADING", "A line\nthat goes on."]);
        check(
            "Судья А. Б. Орлов отказал. Истец ушел.",
            &["Судья А. Б. Орлов отказал.", "Истец ушел."],
        );
        check(" \n ", &[]);
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (one, other) in [
            ("granted", "grants"),
            ("filed", "filing"),
            ("terminated", "terminate"),
            ("parties", "party"),
            ("договора", "договор"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
    }
}
