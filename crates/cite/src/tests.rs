//! Laws that hold for any text: spans lie in it, joining texts changes nothing, and the work
//! grows with the length and no faster.

mod rows;

use proptest::prelude::*;

use crate::text::ScanText;
use crate::{CharPositions, CitationKind, Span, find, resolve};

const PIECES: [&str; 40] = [
    "Able v. Baker, ",
    "5 F.3d 10",
    "410 U.S. 113",
    ", 12-13",
    " (6th Cir. 1990)",
    " (1990)",
    " (quoting ",
    ")",
    "Id. at 5. ",
    "id.",
    "supra, ",
    "Able, supra, at 3",
    "42 U.S.C. § 1983",
    "§",
    "§§ 1-2 ",
    "; ",
    ", ",
    ". ",
    " ",
    "\n",
    "v. ",
    "In re ",
    "(",
    "[",
    "“",
    "”",
    "1",
    "999999",
    "U.S. ",
    "Mich. ",
    "at ",
    "¶ 3",
    "—",
    "___",
    "ст. 15 ГК РФ",
    "п. 2 ",
    "№ ",
    "Закон «",
    "ё",
    "\u{a0}",
];

fn pieces() -> impl Strategy<Value = String> {
    let known = (0..PIECES.len()).prop_map(|at| PIECES[at].to_owned());
    let piece = prop_oneof![8 => known, 1 => "\\PC{0,12}", 1 => "[0-9A-Z .,()§v]{0,20}"];
    prop::collection::vec(piece, 0..40).prop_map(|them| them.concat())
}

fn sound(text: &str) -> Result<(), TestCaseError> {
    let found = find(text);
    let mut last = 0;
    for (place, it) in found.iter().enumerate() {
        prop_assert_eq!(text.get(it.span.start..it.span.end), Some(it.text));
        prop_assert!(!it.text.is_empty());
        prop_assert!(text.get(it.full_span.start..it.full_span.end).is_some(), "{:?}", it);
        prop_assert!(it.full_span.holds(it.span));
        prop_assert!(it.span.start >= last, "{:?}", found);
        prop_assert!(it.parallel_to.is_none_or(|head| head < place));
        for slice in it.text_parts() {
            prop_assert!(!slice.is_empty(), "{:?}", it);
            prop_assert!(text.contains(slice));
        }
        last = it.span.start;
    }
    let resolved = resolve(&found);
    prop_assert_eq!(resolved.source_of.len(), found.len());
    for (place, source) in resolved.source_of.iter().enumerate() {
        if let Some(source) = source {
            prop_assert!(resolved.sources[*source].citations.contains(&place));
            prop_assert!(resolved.antecedent(place).is_some_and(|first| first <= place));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn spans_lie_in_the_text(text in pieces()) {
        sound(&text)?;
    }

    #[test]
    fn nothing_panics(text in "\\PC{0,200}") {
        sound(&text)?;
    }

    #[test]
    fn italics_may_be_anywhere(
        text in pieces(),
        spans in prop::collection::vec((0..300_usize, 0..400_usize), 0..8),
    ) {
        let spans: Vec<Span> = spans.into_iter().map(|it| Span::new(it.0, it.1)).collect();
        let found = crate::find_emphasised(&text, &spans);
        prop_assert!(found.len() >= find(&text).len());
        for it in &found {
            prop_assert_eq!(text.get(it.span.start..it.span.end), Some(it.text));
        }
    }

    #[test]
    fn characters_are_counted_like_the_text_does(text in pieces(), at in 0..400_usize) {
        let mut positions = CharPositions::new(&text);
        let at = (0..=at.min(text.len())).rev().find(|it| text.is_char_boundary(*it)).unwrap();
        prop_assert_eq!(positions.at(at), text[..at].chars().count());
        prop_assert_eq!(positions.span(Span::new(0, at)).end, text[..at].chars().count());
    }
}

#[test]
fn joining_texts_finds_the_same() {
    let rows: Vec<(String, serde_json::Value)> =
        serde_json::from_str(include_str!("../tests/citations.json")).unwrap();
    let seen = |text: &str, shift: usize| -> Vec<(CitationKind, usize, String)> {
        let list = find(text);
        list.iter().map(|it| (it.kind, it.span.start + shift, it.text.to_owned())).collect()
    };
    let step = 7;
    for (place, (left, _)) in rows.iter().enumerate() {
        for (right, _) in rows.iter().skip(place % step).step_by(step) {
            let joined = format!("{left};\n\n{right}");
            let mut expected = seen(left, 0);
            expected.extend(seen(right, left.len() + 3));
            assert_eq!(seen(&joined, 0), expected, "{joined}");
        }
    }
}

/// Steps for a number of repetitions of a piece after a beginning.
fn steps(beginning: &str, piece: &str, times: usize) -> (u64, usize) {
    let whole = beginning.to_owned() + &piece.repeat(times);
    let text = ScanText::new(&whole);
    let (found, _) = crate::search(&text, &[], usize::MAX);
    let resolved = resolve(&found);
    assert_eq!(resolved.source_of.len(), found.len());
    (text.steps(), whole.len())
}

const HOSTILE: [&str; 64] = [
    "Id. ",
    "Id. at 5, ",
    "id., ",
    "7",
    "7 ",
    "(",
    ")",
    "((",
    "[",
    "v. ",
    "Able v. ",
    "Able ",
    "supra ",
    "Able, supra, ",
    "1 U.S. 1, ",
    "1 U.S. 1 (",
    "1 U.S. 1; ",
    "1 U.S. at 5, ",
    "1 U.S. ",
    "1 Mich. 2; 3 N.W.2d 4, ",
    "Able v. Baker, 1 U.S. 1 (quoting ",
    "§ ",
    "§1 ",
    "N.Y. Able ",
    "Cal. Able ",
    "Mass. Gen. Laws ",
    "T.C. ",
    "A. ",
    "U.S. ",
    "at 5 ",
    "Able at 5 ",
    "Able at 5. ",
    "Baker p. 5 ",
    "_",
    "— ",
    "-",
    " ",
    "\n",
    "\u{a0}",
    ", ",
    "“",
    "42 U.S.C. § 1(",
    "1, 2, ",
    "2009-1 ",
    "1-1-1-1-",
    "ст. 1, ",
    "п. 1 ",
    "Закон «",
    "№ 1",
    "Постановление ",
    "постановление от ",
    "А40-",
    "дело № ",
    "там же ",
    "ё",
    "\u{1f600}",
    "x",
    "In re ",
    "1 F. ",
    "1 Able (",
    "0.",
    "1 U.S. (1 ",
    "1,000,",
    "Able, No. ",
];

#[test]
fn twice_the_text_is_twice_the_work() {
    let known = "Able v. Baker, 5 F.3d 10. ";
    for beginning in ["", known] {
        for piece in HOSTILE {
            let (once, _) = steps(beginning, piece, 2_000);
            let (twice, length) = steps(beginning, piece, 4_000);
            assert!(twice <= once * 21 / 10 + 10_000, "{piece:?}: {once} then {twice}");
            assert!(twice <= 600 * length as u64, "{piece:?}: {twice} steps for {length} bytes");
        }
    }
}

#[test]
fn the_sentence_before_a_citation_is_no_name() {
    let found = find("Filed on March 3, 1950. 2 U.S. 1.");
    assert_eq!((found[0].antecedent, found[0].full_span.start), (None, 24));
}

/// Every kind of citation, repeated, and how many are found of it.
#[test]
fn a_text_of_nothing_but_citations_is_read_up_to_the_limit() {
    for unit in [
        "Id. ",
        "supra, ",
        "§ 5 ",
        "1 U.S. 1 ",
        "ст. 15 ГК РФ; ",
        "Able v. Baker, 5 F.3d 10. Able at 12. ",
    ] {
        let text = unit.repeat(500);
        let all = find(&text);
        let (some, is_cut) = crate::find_at_most(&text, 100);
        assert!(is_cut && (100..=200).contains(&some.len()), "{unit:?}: {}", some.len());
        let (same, is_cut) = crate::find_at_most(&text, 10_000);
        assert!(!is_cut && same == all, "{unit:?}");
    }
    let bare_pages = "at 5 ".repeat(10_000);
    let (found, _) = crate::find_at_most(&bare_pages, 100);
    assert!(found.is_empty());
}
