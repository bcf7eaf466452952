//! `cite`: spans lie in the text on borders of characters, and every part is a slice of the text.

use cite::{find, resolve};

pub(super) const WORDS: &[&str] = &[
    "Able v. Baker, ",
    "5 F.3d 10",
    "410 U.S. 113",
    ", 12-13",
    " (6th Cir. 1990)",
    " (quoting ",
    "Id. at 5. ",
    "id.",
    "supra, ",
    "42 U.S.C. § 1983",
    "§",
    "§§ 1-2 ",
    "; ",
    ". ",
    " v. ",
    "In re ",
    "“",
    "”",
    "999999",
    "U.S. ",
    "at ",
    "¶ 3",
    "—",
    "___",
    "ст. 15 ГК РФ",
    "п. 2 ",
    "№ ",
    "Закон «",
    "»",
    "ё",
    "\u{a0}",
    "дело № А40-12345/2020",
    "Постановление Правительства РФ от ",
    "2020 UT 5",
    "45 C.F.R. § 164.512",
    "31 Minn. L. Rev. 88",
    "\u{301}",
    "\u{200b}",
    "İ",
];

pub(super) fn texts() -> Vec<Vec<u8>> {
    [
        "In Roe v. Wade, 410 U.S. 113, 120 (1973) (quoting Able v. Baker, 5 F.3d 10 (6th Cir. 1990)), the court held. Id. at 5. See Roe, supra, at 120; 42 U.S.C. § 1983.",
        "Roe, 410 U.S. at 120; 2012-Ohio-418, ¶ 3; 45 C.F.R. §§ 164.512-164.514; 31 Minn. L. Rev. 88, 90 (1947); In re Able, 12 Cal. 4th ___ (1999).",
        "Согласно п. 2 ст. 15 ГК РФ, ч. 1 и 3 ст. 333.19 НК РФ и Постановлению Пленума ВС РФ от 23.06.2015 № 25, дело № А40-12345/2020; там же.",
        "Федеральный закон от 26.12.1995 № 208-ФЗ «Об акционерных обществах», ст. 71; Определение ВС РФ от 1 марта 2019 г. № 305-ЭС18-1.",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Whether a part is a slice of the text itself, not an equal text elsewhere.
fn is_slice(text: &str, part: &str) -> bool {
    let (outer, inner) = (text.as_bytes().as_ptr_range(), part.as_bytes().as_ptr_range());
    outer.start <= inner.start && inner.end <= outer.end
}

pub(super) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let found = find(&text);
    let mut last = 0;
    for (place, it) in found.iter().enumerate() {
        assert_eq!(text.get(it.span.start..it.span.end), Some(it.text));
        assert!(!it.text.is_empty());
        assert!(text.get(it.full_span.start..it.full_span.end).is_some(), "{it:?}");
        assert!(it.full_span.holds(it.span), "{it:?}");
        assert!(it.span.start >= last, "{it:?} is before {last}");
        assert!(it.parallel_to.is_none_or(|head| head < place), "{it:?}");
        for part in it.text_parts() {
            assert!(!part.is_empty() && is_slice(&text, part), "{part:?} of {it:?}");
        }
        last = it.span.start;
    }
    let resolved = resolve(&found);
    assert_eq!(resolved.source_of.len(), found.len());
    for (place, source) in resolved.source_of.iter().enumerate() {
        if let Some(source) = source {
            assert!(resolved.sources[*source].citations.contains(&place));
            assert!(resolved.antecedent(place).is_some_and(|first| first <= place));
        }
    }
}
