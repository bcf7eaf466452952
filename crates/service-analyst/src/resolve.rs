//! Resolves names to tickers through the exchange's list of securities.

use serde_json::{Value, json};

use crate::note::Note;
use crate::number::Language;
use crate::stem::{fit, near};
use crate::tool_session::{Finding, PlannedCall, ToolSession};
use crate::understand::{Amount, MENTIONS_MAX, Mention, board, popular_name};

/// Most securities with an equal name score that are compared by turnover.
const TIED_MAX: usize = 4;
/// Lowest score at which a word that does not look like a name counts as one.
const WEAK_FIT: u32 = 50;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Security {
    pub ticker: String,
    /// The source of its name: the call and the pointer into the call's evidence.
    pub name: Option<(usize, String)>,
    pub board: Option<String>,
    pub weight: Option<f64>,
    /// The amount that the question gives for it.
    pub amount: Option<Amount>,
    /// The name that the question used.
    pub mentioned_as: String,
    /// Other tickers that the name fits equally well.
    pub others: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resolved {
    pub securities: Vec<Security>,
    pub unknown: Vec<String>,
    /// Names that could not be looked up, because the tool gave no answer.
    pub unreached: Vec<String>,
    /// Words in a list of names that fit no security.
    pub unrecognised: Vec<String>,
    /// Whether a word that may be a name could not be looked up.
    pub is_unanswered: bool,
    pub notes: Vec<Note>,
}

impl Resolved {
    /// Reports whether a name of the question has no security: not found, or not looked up.
    pub(crate) fn lacks_names(&self) -> bool {
        !self.unknown.is_empty() || !self.unreached.is_empty()
    }
}

/// Reports whether a lookup got no answer from the exchange, so that nothing is known of the name.
fn is_unreached(finding: &Finding) -> bool {
    finding.outcome.as_ref().is_err_and(|failure| {
        let code = failure.code.as_str();
        let unanswered = ["deadline", "timeout", "rate_limited", "overloaded", "closing"];
        code.starts_with("upstream") || unanswered.contains(&code)
    })
}

struct Match {
    score: u32,
    row: usize,
}

pub(crate) async fn resolve(
    tool_session: &ToolSession<'_>,
    mentions: &[Mention],
    language: Language,
) -> Resolved {
    let search = |it: &Mention| PlannedCall {
        tool: "search_securities",
        args: json!({ "query": it.query, "limit": 20 }),
        why: format!(
            "{}: {}",
            language.pick("найти бумагу", "find the security"),
            crate::page::quoted(&it.text)
        ),
    };
    // An index mention already has its ticker, so it needs no search.
    let mut mentions: Vec<Mention> = mentions.to_vec();
    let named: Vec<Mention> = mentions.iter().filter(|it| it.index.is_none()).cloned().collect();
    let mut answers =
        tool_session.run(&named.iter().map(search).collect::<Vec<_>>()).await.into_iter();
    let mut findings: Vec<Option<Finding>> =
        mentions.iter().map(|it| if it.index.is_none() { answers.next() } else { None }).collect();
    let mut notes = Vec::new();
    let mut at = 0;
    while at < mentions.len() {
        // Splitting a mention into words can exceed `MENTIONS_MAX`.
        let over = mentions.len().saturating_sub(MENTIONS_MAX);
        for _ in 0..over {
            // The last mentions that do not look like names are dropped first.
            let weak = mentions.iter().rposition(|it| !it.strong && it.index.is_none());
            let last = weak.unwrap_or(mentions.len() - 1);
            let (mention, answer) = (mentions.remove(last), findings.remove(last));
            // A row of tickers that is not yet split also counts as names.
            let row = mention.text.is_ascii() && mention.text.contains(' ');
            if row || answer.is_some_and(|it| !best(&mention, &it).is_empty()) {
                notes.push(Note::TooMany(over));
            }
        }
        if at >= mentions.len() {
            break;
        }
        let not_found = findings[at]
            .as_ref()
            .is_some_and(|it| !is_unreached(it) && best(&mentions[at], it).is_empty());
        let others = if not_found { alternative_readings(&mentions[at]) } else { Vec::new() };
        let answers = tool_session.run(&others.iter().map(search).collect::<Vec<_>>()).await;
        let len = others.len();
        if len > 0 && answers.len() == len {
            mentions.splice(at..=at, others);
            findings.splice(at..=at, answers.into_iter().map(Some));
            // Each word of a split mention is itself checked for a near match.
            at += if len > 1 { 0 } else { 1 };
            continue;
        }
        at += 1;
    }
    choose_all(tool_session, &mentions, &findings, language, notes).await
}

/// Chooses the security of every mention and names those that have none.
async fn choose_all(
    tool_session: &ToolSession<'_>,
    mentions: &[Mention],
    findings: &[Option<Finding>],
    language: Language,
    notes: Vec<Note>,
) -> Resolved {
    let mut resolved = Resolved { notes, ..Resolved::default() };
    for (mention, finding) in mentions.iter().zip(findings) {
        let it = match (mention.index, finding) {
            (Some(index), _) => Some(index_security(mention, index)),
            (None, Some(finding)) => {
                choose_security(tool_session, mention, finding, language, &mut resolved).await
            }
            (None, None) => None,
        };
        match it {
            Some(it) => add(&mut resolved.securities, it),
            None if mention.strong => match finding.as_ref().is_some_and(is_unreached) {
                true => resolved.unreached.push(mention.text.clone()),
                false => resolved.unknown.push(mention.text.clone()),
            },
            None if finding.as_ref().is_some_and(is_unreached) => resolved.is_unanswered = true,
            None if mention.listed && !is_verb(&mention.text) => {
                resolved.unrecognised.push(mention.text.clone());
            }
            None => {}
        }
    }
    resolved
}

/// Reports whether a Russian word has the ending of a verb, so that it names nothing.
fn is_verb(text: &str) -> bool {
    let lower = crate::words::lower(text);
    let endings =
        ["ть", "ться", "тся", "ет", "ют", "ит", "ят", "ешь", "ишь", "ся", "сь", "ил", "ал", "ыл"];
    endings.iter().any(|it| lower.ends_with(it)) || lower.chars().count() < 3
}

/// Adds a security. If it is already in the list, the amounts are summed.
fn add(all: &mut Vec<Security>, it: Security) {
    let Some(has) = all.iter_mut().find(|has| has.ticker == it.ticker) else {
        all.push(it);
        return;
    };
    has.amount = match (has.amount, it.amount) {
        (Some(Amount::Percent(a)), Some(Amount::Percent(b))) => Some(Amount::Percent(a + b)),
        (Some(Amount::Pieces(a)), Some(Amount::Pieces(b))) => Some(Amount::Pieces(a + b)),
        (Some(Amount::Money(a)), Some(Amount::Money(b))) => Some(Amount::Money(a + b)),
        (had, other) => had.or(other),
    };
}

fn index_security(mention: &Mention, index: &'static str) -> Security {
    let ticker = index.to_owned();
    Security { board: Some(board(index).to_owned()), ..security(mention, ticker, None, None) }
}

/// Returns other readings of a mention that was not found: each of its words as a separate name, or
/// a popular name that differs by one letter.
fn alternative_readings(mention: &Mention) -> Vec<Mention> {
    if mention.text.contains(' ') {
        return mention.text.split(' ').map(|text| word_mention(mention, text)).collect();
    }
    let lower = crate::words::lower(&mention.text);
    let Some(name) = popular_name(|it| near(&lower, &crate::words::lower(it))) else {
        return Vec::new();
    };
    let words = crate::words::lower(name).split_whitespace().map(ToOwned::to_owned).collect();
    // A mention that already has this reading is not changed again.
    if words == mention.words {
        return Vec::new();
    }
    vec![Mention { words, query: name.to_owned(), ..mention.clone() }]
}

fn word_mention(whole: &Mention, text: &str) -> Mention {
    let lower = crate::words::lower(text);
    let capital = text.chars().next().is_some_and(char::is_uppercase);
    Mention {
        text: text.to_owned(),
        query: text::stem::without_case_ending(&lower).to_owned(),
        words: vec![lower],
        strong: whole.strong && capital,
        ..whole.clone()
    }
}

async fn choose_security(
    tool_session: &ToolSession<'_>,
    mention: &Mention,
    finding: &Finding,
    language: Language,
    resolved: &mut Resolved,
) -> Option<Security> {
    let ticker = mention.text.to_uppercase();
    let like_ticker = ticker.is_ascii() && mention.words.len() == 1 && mention.strong;
    if finding.outcome.is_err() && like_ticker {
        // The exchange's list is unavailable, so a word that looks like a ticker is taken as one.
        return Some(security(mention, ticker, None, None));
    }
    let matches = best(mention, finding);
    let row = |it: &Match| finding.at(&format!("/data/{}", it.row));
    let code = |it: &Match| row(it).and_then(|row| row["ticker"].as_str()).map(ToOwned::to_owned);
    let tied: Vec<String> = matches.iter().filter_map(code).take(TIED_MAX).collect();
    let at = if tied.len() > 1 { most_traded(tool_session, &tied, language).await } else { 0 };
    let chosen = matches.get(at)?;
    let board = row(chosen).and_then(|row| row["board"].as_str()).map(ToOwned::to_owned);
    let name = ["short_name", "name"]
        .iter()
        .find(|it| row(chosen).is_some_and(|row| row[**it].is_string()));
    let name = name.map(|it| (finding.id, format!("/result/data/{}/{it}", chosen.row)));
    let mut security = security(mention, code(chosen)?, name, board);
    security.others = tied.into_iter().filter(|it| *it != security.ticker).collect();
    let preferred = row(chosen).is_some_and(|row| is_preferred(row, &security.ticker));
    if mention.preferred && !preferred {
        resolved.notes.push(Note::NoPreferred(security.ticker.clone()));
    }
    let coded = mention.words.len() == 1 && mention.words[0].eq_ignore_ascii_case(&security.ticker);
    if !mention.exact && !coded && !preferred {
        let other = format!("{}P", security.ticker);
        let rows = finding.at("/data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if rows.iter().any(|row| row["ticker"] == other && row["is_traded"] != Value::Bool(false)) {
            resolved.notes.push(Note::Preferred(security.ticker.clone(), other));
        }
    }
    Some(security)
}

fn security(
    mention: &Mention,
    ticker: String,
    name: Option<(usize, String)>,
    board: Option<String>,
) -> Security {
    let (mentioned_as, amount) = (mention.text.clone(), mention.amount);
    Security { ticker, name, board, amount, mentioned_as, ..Security::default() }
}

/// Returns the position of the ticker with the greatest turnover today.
async fn most_traded(
    tool_session: &ToolSession<'_>,
    tickers: &[String],
    language: Language,
) -> usize {
    let step = |ticker: &String| PlannedCall {
        tool: "get_security_snapshot",
        args: json!({ "ticker": ticker }),
        why: format!("{}: {ticker}", language.pick("сравнить обороты", "compare turnover")),
    };
    let findings = tool_session.run(&tickers.iter().map(step).collect::<Vec<_>>()).await;
    let value = |it: &Finding| it.at("/data/value").and_then(Value::as_f64).unwrap_or(-1.0);
    let most = findings
        .iter()
        .enumerate()
        .max_by(|a, b| value(a.1).total_cmp(&value(b.1)).then(b.0.cmp(&a.0)));
    most.map_or(0, |(at, _)| at)
}

/// Returns the rows of a search that share the best score.
fn best(mention: &Mention, finding: &Finding) -> Vec<Match> {
    let rows = finding.at("/data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let scored = rows
        .iter()
        .enumerate()
        .filter_map(|(row, it)| Some(Match { score: score(mention, it)?, row }));
    let mut all: Vec<Match> = scored.collect();
    let top = all.iter().map(|it| it.score).max().unwrap_or(0);
    all.retain(|it| it.score == top);
    all
}

/// Words of a company's registered name that do not tell companies apart.
const LEGAL_FORMS: [&str; 14] = [
    "пао",
    "ао",
    "ап",
    "мкпао",
    "оао",
    "нк",
    "pjsc",
    "jsc",
    "п",
    "3",
    "группа",
    "групп",
    "group",
    "анк",
];

/// Scores how well a row of the exchange's list fits a mention; `None` means no fit.
fn score(mention: &Mention, row: &Value) -> Option<u32> {
    let ticker = row["ticker"].as_str()?;
    let kind = row["type"].as_str().unwrap_or_default();
    // Only shares, receipts and funds are accepted, because bonds and futures have the same names.
    let accepted = ["share", "receipt", "ppif"];
    if !kind.is_empty() && !accepted.iter().any(|it| kind.contains(it)) {
        return None;
    }
    let coded =
        |code: &str| mention.words.len() == 1 && mention.words[0].eq_ignore_ascii_case(code);
    let is_ticker = coded(ticker) || row["isin"].as_str().is_some_and(coded);
    let names = ["name", "short_name", "latin_name"].iter().filter_map(|it| row[*it].as_str());
    let named = names.filter_map(|name| name_score(&mention.words, name)).max();
    let fits = if is_ticker { 200 } else { named? };
    // A word that does not look like a name must be the first word of one: «нефть» is not a
    // company.
    let begins_name = |name: &str| {
        let lower = crate::words::lower(name);
        let mut words = lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
        let first = words.find(|it| !LEGAL_FORMS.contains(it)).unwrap_or_default().to_owned();
        let first_word = mention.words.first().and_then(|it| it.split(['-', '&', '.']).next());
        first_word.is_some_and(|it| fit(it, &first) > 0)
    };
    let mut names = ["name", "short_name", "latin_name"].iter().filter_map(|it| row[*it].as_str());
    let single = mention.words.len() == 1 && !is_ticker;
    if !mention.strong && (fits < WEAK_FIT || single && !names.any(begins_name)) {
        return None;
    }
    let preferred = is_preferred(row, ticker);
    let traded = row["is_traded"] != Value::Bool(false);
    let main = row["board"].as_str().is_none_or(|it| it == "TQBR");
    let class_matches = preferred == mention.preferred;
    Some(fits + 8 * u32::from(traded) + 4 * u32::from(main) + 40 * u32::from(class_matches))
}

fn is_preferred(row: &Value, ticker: &str) -> bool {
    let short = row["short_name"].as_str().unwrap_or_default().to_lowercase();
    row["type"].as_str().is_some_and(|it| it.contains("preferred"))
        || (ticker.len() == 5 && ticker.ends_with('P'))
        || short.ends_with("-п")
        || short.ends_with(" ап")
        || short.ends_with("-ап")
}

/// Scores a name. Every word of the question must be in the name; each extra word of the name
/// lowers the score.
fn name_score(words: &[String], name: &str) -> Option<u32> {
    let lower = crate::words::lower(name);
    let all: Vec<&str> =
        lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let name_words: Vec<&str> =
        all.iter().copied().filter(|it| !LEGAL_FORMS.contains(it)).collect();
    let parts = words
        .iter()
        .flat_map(|it| it.split(|it: char| !it.is_alphanumeric()))
        .filter(|it| !it.is_empty());
    let mut worst = u32::MAX;
    for part in parts {
        let fits = all.iter().map(|word| fit(part, word)).max().unwrap_or(0);
        if fits == 0 {
            return None;
        }
        worst = worst.min(fits);
    }
    let begins =
        name_words.first().zip(words.first()).is_some_and(|(name, word)| fit(word, name) > 0);
    let extra = u32::try_from(name_words.len().saturating_sub(words.len())).unwrap_or(9).min(4);
    Some((worst + 6 * u32::from(begins)).saturating_sub(2 * extra).max(1))
        .filter(|_| worst < u32::MAX)
}
