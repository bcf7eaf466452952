//! Finds the words that belong to citations of other cases, because their parties, courts and years
//! are not those of this case.

use archive_text::{JoinedPages, TextSpan};
use cite::{Citation, CitationKind};

use crate::text::TokenText;

/// Labels before the number of the case at hand. `Case No. 2022 LA 000317` has the shape of a
/// decision's number.
const NUMBER_LABELS: [&str; 5] = ["No.", "NO.", "№", "No:", "NO:"];

/// The spans of citations of other cases, sorted; `citations` were found in the joined text.
#[must_use]
pub fn cited_spans(joined: &JoinedPages, citations: &[Citation<'_>]) -> Vec<TextSpan> {
    let others = citations.iter().filter(|it| is_other_case(joined.text(), it));
    let mut spans: Vec<TextSpan> =
        others.flat_map(|it| joined.spans(it.full_span.start..it.full_span.end)).collect();
    spans.sort_unstable();
    spans
}

fn is_other_case(text: &str, citation: &Citation<'_>) -> bool {
    // A decision may belong to this case, but a resolution of a plenum never does.
    let plenary = citation.kind == CitationKind::Decision && citation.text.contains("Пленум");
    if matches!(
        citation.kind,
        CitationKind::Docket | CitationKind::Decision | CitationKind::Section
    ) && !plenary
    {
        return false;
    }
    let before = text.get(..citation.span.start).unwrap_or_default().trim_end();
    !NUMBER_LABELS.iter().any(|label| before.ends_with(label))
}

/// For each token of a piece, whether it is within one of the sorted spans. Spans may nest, so the
/// open ones are counted; a span ends at the latest with the piece in which it begins.
pub(crate) fn token_flags(text: &TokenText<'_>, cited: &[TextSpan]) -> Vec<bool> {
    let piece_end = text.offset + text.raw.len();
    let first = cited.partition_point(|it| (it.page, it.start) < (text.page, text.offset));
    let within = |it: &&TextSpan| it.page == text.page && it.start < piece_end;
    let mut edges = vec![0_i32; text.len() + 1];
    for it in cited.iter().skip(first).take_while(within) {
        let (start, end) = (it.start - text.offset, it.end - text.offset);
        let from = text.tokens.partition_point(|token| token.end <= start);
        let to = text.tokens.partition_point(|token| token.start < end);
        if let Some(edge) = edges.get_mut(from) {
            *edge += 1;
        }
        if let Some(edge) = edges.get_mut(to.max(from)) {
            *edge -= 1;
        }
    }
    let mut depth = 0;
    let opened = edges.iter().take(text.len()).map(|edge| {
        depth += edge;
        depth > 0
    });
    opened.collect()
}
