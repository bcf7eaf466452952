//! The name of a court whose parts stand below each other in the right column of a caption, with
//! the parties beside them. It only joins lines; `court` decides which words belong to the name.

use super::place::{bench, place, region, state};
use crate::text::TokenText;

/// Lines below the court that are read.
const LINES: usize = 12;

/// `IN THE DISTRICT COURT OF`, `HARRIS COUNTY, TEXAS`, `165TH JUDICIAL DISTRICT` as one name.
pub(super) fn name(text: &TokenText<'_>, from: usize, at: usize, to: usize) -> Option<String> {
    let after_gap = |it: usize| text.at(it).is_some_and(|token| token.after_gap);
    let all_caps = |it: usize| text.at(it).is_some_and(|token| token.all_caps);
    let first = text.line_start(at);
    if text.is(at, "judicial") {
        let below = text.line_end(to - 1);
        let county = region(text, below).filter(|_| text.breaks(below) == 1 && all_caps(below))?;
        return Some(format!("{} {}", text.slice(from, to), text.slice(below, county)));
    }
    if !(after_gap(at) && !after_gap(first) && all_caps(at) && text.is(at, "court")) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    let mut line = text.line_end(to.max(at + 1) - 1);
    for _ in 0..LINES {
        let end = text.line_end(line);
        // The words right of the box's rule.
        let own = (line..end)
            .find(|it| after_gap(*it) && !matches!(text.low(*it), "§" | ")" | "|" | ":" | "*"));
        // The county may stand on the left, where the state does.
        let county = matches!(text.low(line), "county") && text.is(line + 1, "of");
        let left = county.then(|| region(text, line)).flatten();
        if let Some(stop) = left.filter(|_| all_caps(line)) {
            parts.push(text.slice(line, stop));
        }
        if let Some(start) = own {
            match part(text, start).filter(|it| *it == end) {
                Some(_) => parts.push(text.slice(start, end)),
                None => break,
            }
        }
        line = end;
    }
    if parts.is_empty() {
        return None;
    }
    // The link may end the line, and the box's rule is no part of it.
    let head_end = (at + 1..to.max(at + 2)).find(|it| text.breaks(*it) > 0).unwrap_or(to);
    let of = if text.is(head_end, "of") && text.breaks(head_end) == 0 { " of" } else { "" };
    Some(format!("{}{of} {}", text.slice(from, head_end), parts.join(", ")))
}

/// The end of a place or a bench that fills its column: `HARRIS COUNTY, TEXAS`.
fn part(text: &TokenText<'_>, at: usize) -> Option<usize> {
    let end = region(text, at).or_else(|| bench(text, at)).or_else(|| ordinal(text, at))?;
    let comma = text.is(end, ",").then(|| place(text, end + 1).or_else(|| state(text, end + 1)));
    Some(comma.flatten().unwrap_or(end))
}

/// `165TH JUDICIAL DISTRICT`
fn ordinal(text: &TokenText<'_>, at: usize) -> Option<usize> {
    let word = at + 1 + usize::from(text.is_number(at));
    let bench = text.is(word, "judicial") && matches!(text.low(word + 1), "district" | "circuit");
    bench.then_some(word + 2)
}
