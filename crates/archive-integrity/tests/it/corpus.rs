//! Generates labelled insights: a document from a template, faithful insights from the same values,
//! and corrupted ones in which exactly one value differs from the document.

use archive_integrity::{CitedSource, Insight, SourceText};

pub(crate) struct Family {
    pub(crate) plaintiffs: &'static [&'static str],
    pub(crate) defendants: &'static [&'static str],
    pub(crate) judges: &'static [&'static str],
    pub(crate) courts: &'static [&'static str],
    pub(crate) matters: &'static [Matter],
}

pub(crate) struct Matter {
    pub(crate) pages: &'static [&'static str],
    pub(crate) insights: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    Faithful,
    ChangedNumber,
    BorrowedNumber,
    MovedDate,
    BorrowedDate,
    SwappedParty,
    InventedParty,
    InventedCite,
    ChangedCite,
    ReversedHolding,
    AlteredQuote,
    ChangedCaseNumber,
}

pub(crate) const RULES: [Rule; 11] = [
    Rule::ChangedNumber,
    Rule::BorrowedNumber,
    Rule::MovedDate,
    Rule::BorrowedDate,
    Rule::SwappedParty,
    Rule::InventedParty,
    Rule::InventedCite,
    Rule::ChangedCite,
    Rule::ReversedHolding,
    Rule::AlteredQuote,
    Rule::ChangedCaseNumber,
];

pub(crate) struct Case {
    pub(crate) rule: Rule,
    pub(crate) insight: Insight,
    pub(crate) source: SourceText,
}

/// A small seeded generator, so that every run has the same set.
struct SetRng(u64);

impl SetRng {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        let at = usize::try_from(self.roll(list.len() as u64)).unwrap_or(0);
        list[at]
    }
}

#[derive(Clone)]
struct Values {
    plaintiff: String,
    defendant: String,
    judge: String,
    court: String,
    amount: u64,
    amount2: u64,
    number: u64,
    first: (u64, u64, u64),
    second: (u64, u64, u64),
    cite: String,
    case: String,
    held: &'static str,
    appeal: &'static str,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn money(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn day((year, month, day): (u64, u64, u64), style: &str) -> String {
    let name = MONTHS[usize::try_from(month - 1).unwrap_or(0) % 12];
    match style {
        "iso" => format!("{year}-{month:02}-{day:02}"),
        "us" => format!("{month:02}/{day:02}/{year}"),
        "dmy" => format!("{day} {name} {year}"),
        _ => format!("{name} {day}, {year}"),
    }
}

impl Values {
    fn new(family: &Family, rng: &mut SetRng) -> Self {
        Self {
            plaintiff: rng.pick(family.plaintiffs).to_owned(),
            defendant: rng.pick(family.defendants).to_owned(),
            judge: rng.pick(family.judges).to_owned(),
            court: rng.pick(family.courts).to_owned(),
            amount: 1_000 * (12 + rng.roll(400)) + 50 * rng.roll(20),
            amount2: 100 * (21 + rng.roll(90)) + 5 * rng.roll(20),
            number: 10 + rng.roll(50),
            first: (2015 + rng.roll(4), 1 + rng.roll(12), 13 + rng.roll(15)),
            second: (2019 + rng.roll(4), 1 + rng.roll(12), 1 + rng.roll(12)),
            cite: cite(rng),
            case: format!("{}-{:06}-CB", 2016 + rng.roll(8), 100_000 + rng.roll(800_000)),
            held: rng.pick(&["granted", "denied"]),
            appeal: rng.pick(&["affirmed", "reversed"]),
        }
    }

    fn fill(&self, template: &str) -> String {
        let mut text = template.to_owned();
        for (date, name) in [(self.first, "d1"), (self.second, "d2")] {
            for style in ["iso", "us", "dmy", "long"] {
                text = text.replace(&format!("{{{name}.{style}}}"), &day(date, style));
            }
        }
        for (slot, value) in [
            ("{P}", self.plaintiff.as_str()),
            ("{D}", &self.defendant),
            ("{J}", &self.judge),
            ("{ct}", &self.court),
            ("{amt}", &money(self.amount)),
            ("{amt2}", &money(self.amount2)),
            ("{n}", &self.number.to_string()),
            ("{cite}", &self.cite),
            ("{case}", &self.case),
            ("{h}", self.held),
            ("{a}", self.appeal),
        ] {
            text = text.replace(slot, value);
        }
        // A form of incorporation that ends a sentence has one full stop.
        text.replace("..", ".")
    }
}

fn cite(rng: &mut SetRng) -> String {
    let one = rng.pick(&["Garrow", "Ellison", "Tremaine", "Bascom", "Lindqvist", "Ortega"]);
    let two = rng.pick(&["Pruitt", "Dunmore", "Calloway", "Whitfield", "Yates", "Zeller"]);
    let reporter = rng.pick(&["Mich App", "F.3d", "N.W.2d", "U.S."]);
    let (volume, page) = (101 + rng.roll(390), 11 + rng.roll(880));
    format!("{one} v. {two}, {volume} {reporter} {page} ({})", 1981 + rng.roll(35))
}

/// The insight with one value changed; `None` where the rule does not apply.
fn corrupt(rule: Rule, template: &str, truth: &Values, rng: &mut SetRng) -> Option<String> {
    let mut lie = truth.clone();
    let has = |slot: &str| template.contains(slot);
    match rule {
        Rule::Faithful => {}
        Rule::ChangedNumber if has("{amt}") => lie.amount += 1_000 * (1 + rng.roll(9)),
        Rule::ChangedNumber if has("{amt2}") => lie.amount2 = truth.amount2 * 10,
        Rule::ChangedNumber if has("{n}") => lie.number += 1 + rng.roll(9),
        Rule::BorrowedNumber if has("{amt}") && !has("{amt2}") => lie.amount = truth.amount2,
        Rule::BorrowedNumber if has("{amt2}") && !has("{amt}") => lie.amount2 = truth.amount,
        Rule::MovedDate if has("{d1.") => lie.first = moved(truth.first, rng),
        Rule::MovedDate if has("{d2.") => lie.second = moved(truth.second, rng),
        Rule::BorrowedDate if has("{d1.") && !has("{d2.") => lie.first = truth.second,
        Rule::BorrowedDate if has("{d2.") && !has("{d1.") => lie.second = truth.first,
        Rule::SwappedParty if has("{P}") || has("{D}") => {
            lie.plaintiff.clone_from(&truth.defendant);
            lie.defendant.clone_from(&truth.plaintiff);
        }
        Rule::InventedParty if has("{P}") => {
            lie.plaintiff = rng
                .pick(&["Rupert Galloway", "Mirabel Stone", "Vantage Rail Corporation"])
                .to_owned();
        }
        Rule::InventedParty if has("{J}") => {
            lie.judge = rng.pick(&["Cyril Hadley", "Beatrix Noonan"]).to_owned();
        }
        Rule::InventedCite if has("{cite}") => {
            lie.cite = cite(rng);
        }
        Rule::ChangedCite if has("{cite}") => {
            lie.cite = truth.cite.replacen(", ", ", 1", 1);
        }
        Rule::ReversedHolding if has("{h}") => {
            lie.held = if truth.held == "granted" { "denied" } else { "granted" };
        }
        Rule::ReversedHolding if has("{a}") => {
            lie.appeal = if truth.appeal == "affirmed" { "reversed" } else { "affirmed" };
        }
        Rule::AlteredQuote if has("\"") => return altered(&truth.fill(template), rng),
        Rule::ChangedCaseNumber if has("{case}") => {
            let swap = |it: char| if it == '7' { '4' } else { '7' };
            let at = 6 + usize::try_from(rng.roll(4)).unwrap_or(0);
            lie.case = truth
                .case
                .char_indices()
                .map(|(i, it)| if i == at { swap(it) } else { it })
                .collect();
        }
        _ => return None,
    }
    let text = lie.fill(template);
    (rule == Rule::Faithful || text != truth.fill(template)).then_some(text)
}

fn moved((year, month, day): (u64, u64, u64), rng: &mut SetRng) -> (u64, u64, u64) {
    match rng.roll(3) {
        0 => (year + 1, month, day),
        1 => (year, month % 12 + 1, day),
        _ => (year, month, if day > 20 { day - 6 } else { day + 6 }),
    }
}

/// Replaces one word inside the quotation marks.
fn altered(text: &str, rng: &mut SetRng) -> Option<String> {
    let from = text.find('"')? + 1;
    let to = text.rfind('"')?;
    let mut words: Vec<&str> = text[from..to].split(' ').collect();
    let long: Vec<usize> =
        (1..words.len().saturating_sub(1)).filter(|it| words[*it].len() > 3).collect();
    let at = rng.pick(&long);
    words[at] = rng.pick(&["seldom", "promptly", "partial", "double", "optional"]);
    Some(format!("{}{}{}", &text[..from], words.join(" "), &text[to..]))
}

/// The whole set: every insight faithful, and corrupted by every rule that applies.
pub(crate) fn cases(family: &Family, rounds: u64, seed: u64) -> Vec<Case> {
    let mut rng = SetRng(seed);
    let mut list = Vec::new();
    for round in 0..rounds {
        for (at, matter) in family.matters.iter().enumerate() {
            let truth = Values::new(family, &mut rng);
            let hash = format!("file-{round}-{at}");
            let pages = matter.pages.iter().map(|it| truth.fill(it)).collect();
            let source = SourceText { file_hash: hash.clone(), pages };
            for template in matter.insights {
                for rule in std::iter::once(Rule::Faithful).chain(RULES) {
                    let Some(content) = corrupt(rule, template, &truth, &mut rng) else {
                        continue;
                    };
                    let insight = Insight {
                        id: format!("insight-{}", list.len()),
                        content,
                        sources: vec![CitedSource {
                            file_hash: hash.clone(),
                            ..CitedSource::default()
                        }],
                        ..Insight::default()
                    };
                    list.push(Case { rule, insight, source: source.clone() });
                }
            }
        }
    }
    list
}
