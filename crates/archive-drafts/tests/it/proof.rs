//! Checks every draft against the pages it was read from.

use archive_drafts::{DocumentDrafts, Draft};
use archive_integrity::{
    CitedSource, Insight, IntegrityTest, SourceText, Span, Support, TestOptions, Verdict,
};
use archive_text::{PageText, Passage};

fn slice(page: &PageText<'_>, start: u32, end: u32) -> String {
    page.text.chars().skip(start as usize).take((end - start) as usize).collect()
}

/// Checks the properties that every draft of any pages has.
pub(crate) fn verify(pages: &[PageText<'_>], document_drafts: &DocumentDrafts) {
    assert!(document_drafts.drafts.len() <= archive_drafts::DRAFTS_MAX);
    assert!(document_drafts.drafts.is_sorted_by_key(|it| it.category));
    for it in &document_drafts.drafts {
        assert!(!it.title.trim().is_empty() && it.title.chars().count() <= 170, "{it:?}");
        assert!(!it.content.trim().is_empty() && it.content.len() < 20_000, "{it:?}");
        assert!(it.confidence > 0.0 && it.confidence <= 1.0 && !it.meaning.is_empty());
        assert!(
            !it.passages.is_empty() && it.passages.len() <= archive_drafts::PASSAGES_MAX,
            "{it:?}"
        );
        assert!(it.passages_total as usize >= it.passages.len());
        assert_eq!(it.entities["kind"], it.category.word());
        for spot in &it.passages {
            let page = pages.iter().find(|page| page.number == spot.page).unwrap();
            assert!(spot.start < spot.end);
            assert_eq!(slice(page, spot.start, spot.end), spot.quote, "{}", it.title);
        }
    }
}

fn insight(place: usize, draft: &Draft) -> Insight {
    let source = |it: &Passage| CitedSource {
        file_hash: "f".to_owned(),
        page: Some(it.page),
        span: Some(Span { start: it.start as usize, end: it.end as usize }),
        quote: it.quote.clone(),
    };
    Insight {
        id: place.to_string(),
        title: draft.title.clone(),
        content: draft.content.clone(),
        category: draft.category.word().to_owned(),
        tags: draft.tags.clone(),
        created_ms: 0,
        sources: draft.passages.iter().map(source).collect(),
    }
}

/// The claims of the drafts that `fact_check` does not find supported by the document.
pub(crate) fn doubts(pages: &[PageText<'_>], document_drafts: &DocumentDrafts) -> Vec<String> {
    let texts = [SourceText {
        file_hash: "f".to_owned(),
        pages: pages.iter().map(|it| it.text.to_owned()).collect(),
    }];
    let insights: Vec<Insight> =
        document_drafts.drafts.iter().enumerate().map(|(place, it)| insight(place, it)).collect();
    let report = archive_integrity::run(
        IntegrityTest::FactCheck,
        &insights,
        &texts,
        &TestOptions::default(),
    );
    let mut list = Vec::new();
    for (detail, draft) in report.details.iter().zip(&document_drafts.drafts) {
        let refuted = detail.claims.iter().any(|it| it.support == Support::Contradicted);
        if refuted || detail.verdict != Verdict::Passed {
            list.push(format!("{}: {:?}\n    {}", draft.title, detail.issues(), draft.content));
        }
    }
    list
}

/// The status of every draft under `fact_check`: 0 passed, 1 warning, 2 failed.
pub(crate) fn statuses(
    pages: &[PageText<'_>],
    document_drafts: &DocumentDrafts,
) -> Vec<(usize, String)> {
    let texts = [SourceText {
        file_hash: "f".to_owned(),
        pages: pages.iter().map(|it| it.text.to_owned()).collect(),
    }];
    let insights: Vec<Insight> =
        document_drafts.drafts.iter().enumerate().map(|(place, it)| insight(place, it)).collect();
    let options = TestOptions::default();
    let report = archive_integrity::run(IntegrityTest::FactCheck, &insights, &texts, &options);
    let drafts = document_drafts.drafts.iter();
    let line = |it: &Draft, issues: Vec<String>| format!("{}: {issues:?}", it.content);
    report
        .details
        .iter()
        .zip(drafts)
        .map(|(detail, draft)| match detail.verdict {
            Verdict::Passed => (0, String::new()),
            Verdict::Warning => (1, line(draft, detail.issues())),
            Verdict::Failed => (2, line(draft, detail.issues())),
        })
        .collect()
}
