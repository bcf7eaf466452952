//! The corpus of generated documents with its figures, the laws that hold for any text, and rows.

use std::collections::BTreeMap;

use archive_text::PageText;
use proptest::prelude::*;

use crate::testing::{Score, corpus, found, stated};
use crate::{CaseFacts, Ground, Mention, read};

mod counsel_rows;
mod rows;

/// What precision and recall of each kind must reach.
const FLOORS: [(&str, f64, f64); 12] = [
    ("party", 0.97, 0.97),
    ("attorney", 0.97, 0.97),
    ("judge", 0.97, 0.97),
    ("court", 0.97, 0.97),
    ("case number", 0.98, 0.98),
    ("organisation", 0.97, 0.97),
    ("money", 0.98, 0.98),
    ("date", 0.98, 0.98),
    ("event", 0.95, 0.95),
    ("deadline", 0.95, 0.95),
    ("due day", 0.95, 0.95),
    ("conflict", 0.95, 0.95),
];

fn pages(texts: &[String]) -> Vec<PageText<'_>> {
    let numbered = texts.iter().zip(1..);
    numbered.map(|(text, number)| PageText { number, part: "", text }).collect()
}

#[test]
fn generated_documents_meet_the_confidence_of_each_ground() {
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    let mut grounds: BTreeMap<Ground, Score> = BTreeMap::new();
    let corpus = corpus(10);
    assert!(corpus.len() >= 60);
    for (name, texts, truth) in &corpus {
        let pages = pages(texts);
        let facts = read(&pages);
        verify(&pages, &facts);
        let mut missing = stated(truth);
        let known = missing.clone();
        for (kind, fact, ground) in found(&facts) {
            let right = known.get(kind).is_some_and(|it| it.contains(&fact));
            let again = right && !missing.entry(kind).or_default().remove(&fact);
            if again {
                continue;
            }
            let score = scores.entry(kind).or_default();
            let sure = grounds.entry(ground).or_default();
            if right {
                score.right += 1;
                sure.right += 1;
            } else {
                println!("{name}: {kind} wrong: {fact}");
                score.wrong += 1;
                sure.wrong += 1;
            }
        }
        for (kind, facts) in missing {
            for fact in facts {
                println!("{name}: {kind} missed: {fact}");
                scores.entry(kind).or_default().missed += 1;
            }
        }
    }
    for (kind, it) in &scores {
        println!("{kind:>12}: precision {:.3} recall {:.3} ({it:?})", it.precision(), it.recall());
    }
    for (ground, it) in &grounds {
        println!("{ground:?}: {:.3} of {}", it.precision(), it.right + it.wrong);
    }
    for (kind, precision, recall) in FLOORS {
        let it = scores.get(kind).copied().unwrap_or_default();
        assert!(it.right > 0, "{kind}: nothing was found");
        assert!(it.precision() >= precision, "{kind}: precision {:.3}", it.precision());
        assert!(it.recall() >= recall, "{kind}: recall {:.3}", it.recall());
    }
    for (ground, it) in grounds {
        assert!(it.precision() >= ground.confidence(), "{ground:?}: {:.3}", it.precision());
    }
}

/// Everything said can be looked up: the page's text at the span is the quote.
fn verify(pages: &[PageText<'_>], facts: &CaseFacts<'_>) {
    let check = |it: &Mention<'_>| {
        assert_eq!(it.span.text_in(pages), Some(it.quote));
        assert!(!it.quote.is_empty());
    };
    for it in &facts.entities {
        it.mentions.iter().for_each(check);
        assert!(!it.mentions.is_empty() && it.mentions.len() <= crate::MENTIONS_MAX);
    }
    for it in &facts.events {
        check(&it.date);
        check(&it.sentence);
        assert!(it.when.from <= it.when.to);
        assert!(it.sentence.quote.contains(it.date.quote));
    }
    for it in &facts.deadlines {
        check(&it.mention);
        check(&it.sentence);
        if let Ok(due) = it.due {
            assert!(due.from < facts.events.len());
        }
    }
    for it in &facts.conflicts {
        assert!(it.events.len() > 1 && it.events.iter().all(|at| *at < facts.events.len()));
    }
    assert!(facts.entities.len() <= crate::ENTITIES_MAX);
    assert!(facts.events.len() <= crate::EVENTS_MAX);
}

/// Pieces of legal writing, thrown together.
const SCRAPS: [&str; 34] = [
    "Plaintiff",
    ",",
    "\n",
    "\n\n",
    "v.",
    " Defendants.",
    " JANE ROE",
    " Acme, LLC",
    " (P12345)",
    " within 21 days of",
    " service",
    " March 3, 2024",
    " 2:24-cv-01234-ABC",
    "$1,250,000.50",
    " Hon. Mary Roe",
    "/s/ ",
    " United States District Judge",
    "Before: ROE, P.J., and DOE, JJ.",
    " Attorney for ",
    " ООО «Ромашка»",
    " судья Иванова А.А.",
    " А40-12345/2024",
    " 15 января 2024 г.",
    " в течение месяца",
    " по иску ",
    " к ",
    " from 1 May to 3 June 2020",
    "In re ",
    " Court of Appeals",
    " for the County of Wayne",
    "          ",
    " 99999999999999999999",
    " no later than ",
    " two hundred million dollars",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text_can_be_read(texts in prop::collection::vec(".{0,200}", 0..4)) {
        let pages = pages(&texts);
        verify(&pages, &read(&pages));
    }

    #[test]
    fn fragments_of_legal_text_can_be_read(
        scraps in prop::collection::vec(prop::sample::select(SCRAPS.to_vec()), 0..80),
    ) {
        let texts = vec![scraps.concat(), scraps.join(" ")];
        let pages = pages(&texts);
        verify(&pages, &read(&pages));
    }
}

/// The same words over and over are the worst case of rules that look around themselves.
#[test]
fn long_repetitions_stay_within_the_limits() {
    for scrap in SCRAPS {
        let texts = vec![scrap.repeat(2_000)];
        let pages = pages(&texts);
        let facts = read(&pages);
        assert!(facts.entities.len() <= crate::ENTITIES_MAX);
        assert!(facts.events.len() <= crate::EVENTS_MAX);
        assert!(facts.deadlines.len() <= crate::DEADLINES_MAX);
        assert!(facts.entities.iter().all(|it| it.mentions.len() <= crate::MENTIONS_MAX));
    }
}

/// Commas, capitals, figures, dates, section signs, quotation marks and what rules begin with.
const HOSTILE: [&str; 40] = [
    ",",
    "A",
    "A ",
    "a-",
    "a'",
    "1",
    "1 ",
    "1.1 ",
    "-",
    "(",
    ")",
    "[",
    "\"",
    "“",
    "«",
    "»",
    "§ ",
    "§1 ",
    "& ",
    "Roe, Doe & ",
    "Roe v. ",
    "No. ",
    "No. 1 ",
    "Case No. ",
    "Дело № ",
    "Bar No. ",
    "(SBN ",
    "between ",
    "This Agreement between ",
    "(1) ",
    "City of ",
    "ООО «",
    "именуемое ",
    "Judge ",
    "Before: ",
    "$1 ",
    "March 3, 2024 ",
    "filed on March 3, 2024 ",
    "within 21 days of ",
    "Judicial Circuit ",
];

fn steps(text: &str) -> u64 {
    crate::text::STEPS.with(|it| it.set(0));
    let pages = [PageText { number: 1, part: "", text }];
    let facts = read(&pages);
    assert!(facts.entities.len() <= crate::ENTITIES_MAX);
    crate::text::STEPS.with(std::cell::Cell::get)
}

/// Four times the text is four times the work, whatever the text is.
#[test]
fn work_is_linear_in_the_text() {
    let doubled: Vec<String> = HOSTILE.windows(2).step_by(3).map(|it| it.concat()).collect();
    let all = SCRAPS.iter().chain(&HOSTILE).copied().chain(doubled.iter().map(String::as_str));
    for scrap in all {
        let few = (2_000 / scrap.len()).max(1);
        let (one, four) = (steps(&scrap.repeat(few)), steps(&scrap.repeat(4 * few)));
        assert!(four <= 5 * one + 10_000, "{scrap:?}: {one} steps, then {four}");
        let bytes = (scrap.len() * few) as u64;
        assert!(one <= 400 * bytes, "{scrap:?}: {one} steps for {bytes} bytes");
    }
}

#[test]
fn truncation_is_reported() {
    let texts = vec!["Filed on March 3, 2024. ".repeat(crate::EVENTS_MAX + 1)];
    let pages = pages(&texts);
    let facts = read(&pages);
    assert_eq!(facts.events.len(), crate::EVENTS_MAX);
    assert!(facts.truncated);
}
