//! Finds the type of a document (complaint, order, letter, …) by its headings and its first lines,
//! with the line that shows it.

use crate::entity::Ground;
use archive_text::{PageText, TextSpan};

/// Only this many lines are searched for a heading.
const LINES_MAX: usize = 240;
/// A line of more bytes is not a heading.
const LINE_BYTES: usize = 240;
/// The header of a message is within this many lines.
const HEAD_LINES: usize = 14;

/// The type of a document, the evidence for it and the line that shows it.
pub struct DocumentType {
    pub word: &'static str,
    pub ground: Ground,
    pub span: TextSpan,
}

struct HeadingLine<'t> {
    text: &'t str,
    span: TextSpan,
}

/// The document type of the pages of one part.
pub fn of(pages: &[PageText<'_>]) -> Option<DocumentType> {
    let lines = lines(pages);
    let found = |it: Option<(&'static str, TextSpan)>, ground| {
        it.map(|(word, span)| DocumentType { word, ground, span })
    };
    found(message(&lines), Ground::Form)
        .or_else(|| found(heading(&lines, true), Ground::Layout))
        .or_else(|| found(announced(&lines), Ground::Label))
        .or_else(|| found(letter(&lines), Ground::Label))
        .or_else(|| found(first(heading(&lines, false), authored(&lines)), Ground::Layout))
        .or_else(|| found(phrase(&lines), Ground::Shape))
        .or_else(|| found(disposed(&lines), Ground::Shape))
}

/// The finding that stands first.
fn first(
    one: Option<(&'static str, TextSpan)>,
    other: Option<(&'static str, TextSpan)>,
) -> Option<(&'static str, TextSpan)> {
    [one, other].into_iter().flatten().min_by_key(|it| (it.1.page, it.1.start))
}

/// The act whose operative part a Russian court announces: «Резолютивная часть решения объявлена».
fn announced(lines: &[HeadingLine<'_>]) -> Option<(&'static str, TextSpan)> {
    const ACTS: [(&str, &str); 3] =
        [("решения", "judgment"), ("постановления", "ruling"), ("определения", "order")];
    lines.iter().take(HEAD_LINES * 2).find_map(|line| {
        let lower = line.text.to_lowercase();
        let part = lower.find("резолютивная часть")?;
        let rest = lower.get(part..)?;
        let act = |it: &&(&str, &str)| rest.split(' ').nth(2) == Some(it.0);
        let (_, word) = ACTS.iter().find(act)?;
        // The words alone, where the whole page is one line.
        let end = line.text.char_indices().nth(LINE_BYTES).map_or(line.text.len(), |it| it.0);
        let span = TextSpan { end: line.span.start + end, ..line.span };
        Some((*word, span))
    })
}

/// An opinion by the line that names its author or its panel: `BISHOP, J.`, `Before ROE, DOE and POE,
/// JJ.`, `Justice BEATTY.`
fn authored(lines: &[HeadingLine<'_>]) -> Option<(&'static str, TextSpan)> {
    let line = lines.iter().filter(|it| it.text.len() <= LINE_BYTES).find(|line| {
        let short = line.text.len() <= 60;
        let ends =
            [", J.", ", C.J.", ", P.J.", ", Judge.", ", Judge:", ", Justice.", ", JJ.", ", Js."];
        let lower = line.text.to_lowercase();
        let judge = lower.starts_with("justice ") || lower.starts_with("chief justice ");
        short && ends.iter().any(|it| line.text.ends_with(it))
            || short && judge && line.text.ends_with(['.', ':']) && words(&lower).count() < 5
            || lower.starts_with("before") && lower.contains("judges")
            || lower.starts_with("opinion of the court")
            || lower.starts_with("opinion for the court")
            || lower.contains("argued the cause")
    })?;
    Some(("opinion", line.span))
}

/// A short order by the sentence that disposes of something: `Motion … denied.`
fn disposed(lines: &[HeadingLine<'_>]) -> Option<(&'static str, TextSpan)> {
    let line = lines.iter().find(|line| {
        let lower = line.text.to_lowercase();
        [" denied.", " granted.", " dismissed.", " affirmed.", " reversed."]
            .iter()
            .any(|it| lower.contains(it))
    })?;
    let end = line.text.char_indices().nth(LINE_BYTES).map_or(line.text.len(), |it| it.0);
    Some(("order", TextSpan { end: line.span.start + end, ..line.span }))
}

fn lines<'t>(pages: &[PageText<'t>]) -> Vec<HeadingLine<'t>> {
    let mut list = Vec::new();
    for page in pages {
        let mut at = 0;
        for line in page.text.split('\n') {
            let mut cell_at = at;
            at += line.len() + 1;
            // Three blanks separate columns; each column counts as a line.
            for cell in line.split("   ") {
                let start = cell_at + (cell.len() - cell.trim_start().len());
                let text = cell.trim();
                cell_at += cell.len() + 3;
                if text.is_empty() {
                    continue;
                }
                if list.len() >= LINES_MAX {
                    return list;
                }
                let span = TextSpan { page: page.number, start, end: start + text.len() };
                list.push(HeadingLine { text, span });
            }
        }
    }
    list
}

fn message(lines: &[HeadingLine<'_>]) -> Option<(&'static str, TextSpan)> {
    let head = || lines.iter().take(HEAD_LINES);
    let has = |labels: &[&str]| head().find(|it| labels.iter().any(|label| opens(it.text, label)));
    let from = has(&["from:", "от:"])?;
    has(&["to:", "кому:"])?;
    has(&["subject:", "sent:", "date:", "тема:", "дата:"])?;
    // A memorandum has the same header lines as a message.
    let memo = head().find(|it| it.text.eq_ignore_ascii_case("memorandum"));
    Some(memo.map_or(("e-mail", from.span), |it| ("memorandum", it.span)))
}

fn opens(text: &str, label: &str) -> bool {
    let mut chars = text.chars().flat_map(char::to_lowercase);
    label.chars().all(|it| chars.next() == Some(it))
}

/// The first heading with a word for a document type: among the lines in capitals, or among the
/// others.
fn heading(lines: &[HeadingLine<'_>], all_capitals: bool) -> Option<(&'static str, TextSpan)> {
    lines.iter().filter(|it| it.text.len() <= LINE_BYTES).find_map(|line| {
        let bare = line.text.trim_matches(['#', '*', '_', ' ', ':']);
        let is_all_capitals = !bare.chars().any(char::is_lowercase);
        if is_all_capitals != all_capitals || (!all_capitals && !is_title_case(bare)) {
            return None;
        }
        let lower = without_letter_spacing(bare).to_lowercase();
        if is_label(&lower) {
            return None;
        }
        let spaced = lower.split(' ').count() == 1 && lower.chars().count() > 16;
        let last = spaced.then(|| joined_type(&lower)).flatten();
        if lower.starts_with("findings of fact and conclusions of law") {
            return Some(("findings", line.span));
        }
        let word = words(&lower).find_map(type_of_word).or(last)?;
        Some((refined_type(&lower, word), line.span))
    })
}

/// The type of a letter-spaced heading of two words, which have become one: `А П Е Л Л Я Ц И О Н Н О Е
/// О П Р Е Д Е Л Е Н И Е`.
fn joined_type(word: &str) -> Option<&'static str> {
    let acts = ["определение", "постановление", "решение"];
    acts.iter().find(|it| word.ends_with(**it)).and_then(|it| type_of_word(it))
}

/// Whether a line only mentions a paper: the cell of a form, a docket's stamp, a section within a
/// paper, an institution.
fn is_label(line: &str) -> bool {
    const LABELS: [&str; 21] = [
        "motion date",
        "motion seq",
        "motion cal",
        "opinion filed",
        "notice: this opinion",
        "notice of electronic filing",
        "jury demand",
        "demand for",
        "hearing date",
        "brief answer",
        "summary of argument",
        "statement of",
        "table of",
        "order of the court",
        "contract no",
        "purchase order",
        "court order no",
        "not for publication",
        "for publication",
        "response date",
        "response deadline",
    ];
    LABELS.iter().any(|it| line.starts_with(it)) || line.contains("-day response")
}

/// Whether a short line begins every word of more than three letters with a capital and does not
/// end like a sentence.
fn is_title_case(line: &str) -> bool {
    let mut count = 0;
    for word in line.split_whitespace() {
        count += 1;
        let small =
            word.chars().count() <= 3 || word.chars().next().is_some_and(char::is_uppercase);
        if !small {
            // A Russian heading has a capital only in its first word.
            return line.chars().any(|it| ('а'..='я').contains(&it))
                && count > 1
                && is_short_line(line);
        }
    }
    is_short_line(line)
}

fn is_short_line(line: &str) -> bool {
    line.split_whitespace().count() <= 10 && !line.ends_with(['.', ',', ';', '?', '!', ':'])
}

/// Joins the letters of a letter-spaced heading: `Р Е Ш Е Н И Е`. The name of a Russian act after
/// another word stays apart: `АПЕЛЛЯЦИОННОЕ ОПРЕДЕЛЕНИЕ`.
pub fn without_letter_spacing(line: &str) -> String {
    let letters = line.split(' ').filter(|it| !it.is_empty());
    if letters.clone().count() <= 3 || letters.clone().any(|it| it.chars().count() > 1) {
        return line.to_owned();
    }
    let joined: String = letters.collect();
    let lower = joined.to_lowercase();
    let act = ["определение", "постановление", "решение"].iter().find(|it| lower.ends_with(**it));
    let Some(count) = act.map(|it| it.chars().count()) else { return joined };
    let first = joined.chars().count().saturating_sub(count);
    if first < 3 {
        return joined;
    }
    let (one, other): (String, String) =
        (joined.chars().take(first).collect(), joined.chars().skip(first).collect());
    format!("{one} {other}")
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty())
}

fn type_of_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "complaint" => "complaint",
        "motion" => "motion",
        "order" => "order",
        "judgment" | "judgement" => "judgment",
        "opinion" | "syllabus" | "opinions" => "opinion",
        "decision" => "decision",
        "minutes" => "order",
        "indictment" => "indictment",
        "warrant" => "warrant",
        "verdict" => "verdict",
        "decree" => "judgment",
        "mandate" => "order",
        "award" => "award",
        "proposal" => "proposal",
        "claim" => "claim",
        "certificate" => "certificate",
        "counterclaim" => "answer",
        "brief" => "brief",
        "memorandum" => "memorandum",
        "answer" => "answer",
        "response" | "reply" | "opposition" => "response",
        "petition" => "petition",
        "summons" => "summons",
        "subpoena" => "subpoena",
        "notice" | "notification" => "notice",
        "objection" | "objections" => "brief",
        "affidavit" => "affidavit",
        "declaration" => "declaration",
        "stipulation" => "stipulation",
        "interrogatories" => "interrogatories",
        "deposition" | "transcript" => "transcript",
        "agreement" | "contract" | "lease" | "guaranty" | "guarantee" | "контракт" => {
            "contract"
        }
        "appearance" => "appearance",
        "invoice" => "invoice",
        "приговор" => "judgment",
        "приказ" => "order",
        "доверенность" => "power of attorney",
        "протокол" => "minutes",
        "иск" => "complaint",
        "заявление" => "petition",
        "возражения" | "возражение" => "response",
        "уведомление" => "notice",
        "решение" => "judgment",
        "определение" => "order",
        "постановление" => "ruling",
        "исковое" => "complaint",
        "претензия" => "letter",
        "договор" | "соглашение" => "contract",
        "жалоба" => "appeal",
        "ходатайство" => "motion",
        "отзыв" => "response",
        _ => return None,
    })
}

/// Whether the word names a type of document.
pub(crate) fn is_type_word(word: &str) -> bool {
    type_of_word(word).is_some()
}

/// The type of a heading whose word belongs to several types; the other words of the line decide.
fn refined_type(line: &str, word: &'static str) -> &'static str {
    let has = |it: &str| words(line).any(|word| word == it);
    match word {
        // `DECISION + ORDER ON MOTION`, `ORDER AND DECISION`
        "decision" if has("order") => "order",
        "decision" => "opinion",
        "claim" if !has("proof") => "complaint",
        "claim" => "proof of claim",
        "заявление" if has("исковое") => "complaint",
        "award" if !has("arbitration") && !has("final") && words(line).count() > 3 => "order",
        "petition" if has("writ") => "petition",
        "notice" if has("decision") => "notice",
        "memorandum" if has("order") && has("opinion") => "opinion",
        "memorandum" if has("order") => "order",
        "memorandum" if has("opinion") || has("decision") => "opinion",
        "order" if has("opinion") => "opinion",
        "memorandum" if has("law") || has("support") || has("opposition") => "brief",
        "motion" if has("brief") && line.starts_with("brief") => "brief",
        it => it,
    }
}

fn letter(lines: &[HeadingLine<'_>]) -> Option<(&'static str, TextSpan)> {
    let opening = lines.iter().take(60).find(|it| {
        opens(it.text, "dear ") || opens(it.text, "уважаем") || opens(it.text, "to whom it may")
    })?;
    Some(("letter", opening.span))
}

/// The type by a phrase that only one type of document has, for a document without a heading.
fn phrase(lines: &[HeadingLine<'_>]) -> Option<(&'static str, TextSpan)> {
    const PHRASES: [(&str, &str); 18] = [
        ("направляется уведомление", "notice"),
        ("on order of the court", "order"),
        ("appeals from the", "opinion"),
        ("on appeal from", "opinion"),
        ("delivered the opinion of the court", "opinion"),
        ("circuit judge:", "opinion"),
        ("circuit judge.", "opinion"),
        ("appeal from the", "opinion"),
        ("it is ordered", "order"),
        ("ordered that", "order"),
        ("it is hereby ordered", "order"),
        ("so ordered", "order"),
        ("per curiam", "opinion"),
        ("wherefore", "complaint"),
        ("this agreement is made", "contract"),
        ("now, therefore", "contract"),
        ("именем российской федерации", "judgment"),
        ("с уважением", "letter"),
    ];
    lines.iter().find_map(|line| {
        let lower = line.text.to_lowercase();
        let (_, word) = PHRASES.iter().find(|(phrase, _)| lower.contains(phrase))?;
        let end = line.text.char_indices().nth(LINE_BYTES).map_or(line.text.len(), |it| it.0);
        let span = TextSpan { end: line.span.start + end, ..line.span };
        let short = line.text.len() <= LINE_BYTES;
        (short || lower.find("направляется") == Some(0) || lower.starts_with("on order of"))
            .then_some((*word, span))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        let pages = [PageText { number: 1, part: "", text }];
        let found = of(&pages);
        assert_eq!(found.as_ref().map(|it| it.word), want, "{text}");
        if let Some(it) = found {
            assert!(!text[it.span.start..it.span.end].is_empty());
        }
    }

    #[test]
    fn the_heading_gives_the_kind_of_document() {
        check("STATE OF OHIO\n\nCOMPLAINT AND JURY DEMAND\n\n1. Plaintiff", Some("complaint"));
        check("ORDER GRANTING MOTION TO COMPEL", Some("order"));
        check("PLAINTIFF'S MOTION TO DISMISS\n", Some("motion"));
        check("MEMORANDUM OPINION AND ORDER", Some("opinion"));
        check("BRIEF IN SUPPORT OF MOTION", Some("brief"));
        check("# Residential Lease Agreement\n\nThis lease is made", Some("contract"));
        check("From: A <a@b.c>\nTo: B\nSubject: order\n\nThe ORDER", Some("e-mail"));
        check("May 3, 2024\n\nDear Ms. Roe:\n\nThe order is final.", Some("letter"));
        check("Р Е Ш Е Н И Е\nИменем Российской Федерации", Some("judgment"));
        check("Договор поставки № 5\n\nг. Москва", Some("contract"));
        check("IT IS HEREBY ORDERED that he pay.", Some("order"));
        check("Nothing to be told from this text at all.", None);
        check("", None);
    }
}
