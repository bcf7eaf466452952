//! The laws that hold for any pages, and the bounds.

use archive_drafts::{Category, DraftMode, DraftOptions};
use archive_text::PageText;
use proptest::prelude::*;

use crate::proof;

/// Pieces of legal writing, thrown together.
const SCRAPS: [&str; 24] = [
    "Plaintiff",
    ",\n",
    "\n\n",
    " v. ",
    " JANE ROE",
    " Acme, LLC",
    " (P12345)",
    " within 21 days of service",
    " March 3, 2024",
    " 2:24-cv-01234-ABC",
    "$1,250,000.50",
    " Hon. Mary Roe",
    " Roe v. Wade, 410 U.S. 113, 120 (1973) (holding so)",
    " Id. at 121.",
    " Roe, supra, at 122",
    "COMPLAINT\n",
    "From: Jane Roe\nTo: John Doe\nSubject: x\n",
    " ООО «Ромашка»",
    " дело № А40-12345/2024",
    " 15 января 2024 г.",
    " \"he said «no»",
    " agree-\nment",
    " Court of Appeals",
    " The complaint was filed on ",
];

fn modes() -> [DraftOptions; 3] {
    [DraftMode::Fast, DraftMode::Standard, DraftMode::Deep].map(DraftOptions::all)
}

fn check(texts: &[String]) {
    let parts = ["", "", "a.pdf", "a.pdf/b.txt"];
    let pages: Vec<PageText<'_>> = texts
        .iter()
        .zip(3..)
        .enumerate()
        .map(|(at, (text, number))| PageText { number, part: parts[at.min(3)], text })
        .collect();
    for choice in modes() {
        let document_drafts = archive_drafts::read(&pages, &choice);
        proof::verify(&pages, &document_drafts);
        let mut shares = vec![0.0];
        assert_eq!(
            document_drafts,
            archive_drafts::read_with_progress(&pages, &choice, &mut |it| shares.push(it))
        );
        assert!(shares.is_sorted_by(|before, after| before < after), "{shares:?}");
        let whole = if document_drafts.words == 0 { 0.0 } else { 1.0 };
        assert_eq!(shares.last(), Some(&whole));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_valid_drafts(texts in prop::collection::vec(".{0,200}", 0..4)) {
        check(&texts);
    }

    #[test]
    fn scraps_of_law_give_valid_drafts(
        scraps in prop::collection::vec(prop::sample::select(SCRAPS.to_vec()), 0..60),
        cut in 0..60_usize,
    ) {
        let cut = cut.min(scraps.len());
        check(&[scraps[..cut].concat(), scraps[cut..].concat(), scraps.join(" ")]);
    }
}

fn one(text: &str, choice: DraftOptions) -> archive_drafts::DocumentDrafts {
    archive_drafts::read(&[PageText { number: 1, part: "", text }], &choice)
}

#[test]
fn no_words_give_no_drafts() {
    assert!(one(" \n\t\u{c}", DraftOptions::all(DraftMode::Deep)).drafts.is_empty());
}

#[test]
fn modes_and_options_select_their_categories() {
    let text = "COMPLAINT\n\nPlaintiff Jane Roe sued Defendant Acme, LLC for $5,000. The complaint was filed on March 3, 2024. See Roe v. Wade, 410 U.S. 113 (1973). Id. at 120.";
    let has = |choice, category| one(text, choice).drafts.iter().any(|it| it.category == category);
    let places = |mode| {
        let document_drafts = one(text, DraftOptions::all(mode));
        let it =
            document_drafts.drafts.iter().find(|it| it.category == Category::Citation).unwrap();
        it.passages.len()
    };
    assert_eq!(places(DraftMode::Fast), 1);
    assert_eq!(places(DraftMode::Standard), 1);
    assert_eq!(places(DraftMode::Deep), 2);
    for category in [Category::Money, Category::Organisation, Category::Event] {
        assert!(!has(DraftOptions::all(DraftMode::Fast), category), "{category:?}");
        assert!(has(DraftOptions::all(DraftMode::Standard), category), "{category:?}");
    }
    let nothing =
        DraftOptions { mode: DraftMode::Deep, citations: false, entities: false, timeline: false };
    let document_drafts = one(text, nothing);
    assert_eq!(document_drafts.processors, ["summary"]);
    assert_eq!(document_drafts.drafts.len(), 1);
    assert_eq!(document_drafts.drafts[0].title, "Complaint: Jane Roe v. Acme, LLC");
}

#[test]
fn short_forms_reach_over_pages_and_not_over_parts() {
    let page = |number, part, text| PageText { number, part, text };
    let pages = [
        page(1, "", "Roe v. Wade, 410 U.S.\n"),
        page(2, "", "113 (1973)."),
        page(3, "", "Id. at 120."),
        page(4, "b.txt", "Id. at 121."),
    ];
    let document_drafts = archive_drafts::read(&pages, &DraftOptions::all(DraftMode::Deep));
    proof::verify(&pages, &document_drafts);
    let it = document_drafts.drafts.iter().find(|it| it.category == Category::Citation).unwrap();
    assert_eq!(it.title, "Cites Roe v. Wade, 410 U.S. 113 (1973)");
    let shown: Vec<(u32, &str)> =
        it.passages.iter().map(|it| (it.page, it.quote.as_str())).collect();
    assert_eq!(shown, [(1, "Roe v. Wade, 410 U.S."), (2, "113 (1973)"), (3, "Id. at 120")]);
}

#[test]
fn many_events_leave_room_for_other_categories() {
    let mut text = String::from("Plaintiff Jane Roe and Defendant Acme, LLC.\n");
    for at in 0..3_000 {
        text.push_str(&format!(
            "Filed on March {}, {}. {} U.S. {at}.\n",
            at % 28 + 1,
            1950 + at / 28,
            at % 500 + 1
        ));
    }
    let document_drafts = one(&text, DraftOptions::all(DraftMode::Standard));
    assert_eq!(document_drafts.drafts.len(), archive_drafts::DRAFTS_MAX);
    assert!(document_drafts.truncated);
    let count =
        |category| document_drafts.drafts.iter().filter(|it| it.category == category).count();
    assert_eq!(count(Category::Party), 2);
    let (events, authorities) = (count(Category::Event), count(Category::Citation));
    assert!(events > 500 && authorities > 500, "{events} events, {authorities} authorities");
}
