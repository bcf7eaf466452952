//! Problems of pages as lines of text: one line for each problem, with all pages that have it. The
//! lines are stored with the file, and the problems of one page are found in them again.

use std::fmt::Write as _;

/// A line lists at most this many ranges of pages; the rest of the pages are counted.
const RANGES_MAX: usize = 40;

/// One problem, and the pages that have it; no pages if the whole file has it.
pub(crate) struct PageProblem {
    pub(crate) part: String,
    pub(crate) message: String,
    /// The first and the last page of each range, in order.
    ranges: Vec<(u32, u32)>,
}

impl PageProblem {
    pub(crate) fn new(part: &str, message: String, page: Option<u32>) -> Self {
        let ranges = page.map(|page| (page, page)).into_iter().collect();
        Self { part: part.to_owned(), message, ranges }
    }

    /// Adds a page that has the same problem; pages come in order.
    pub(crate) fn add_page(&mut self, page: u32) {
        match self.ranges.last_mut() {
            Some((_, to)) if *to + 1 == page => *to = page,
            Some((_, to)) if *to == page => {}
            _ => self.ranges.push((page, page)),
        }
    }

    pub(crate) fn has_pages(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// `attachment: pages 2, 4 to 6: what is wrong`.
    pub(crate) fn line(&self) -> String {
        let part = if self.part.is_empty() { String::new() } else { format!("{}: ", self.part) };
        let pages = match self.ranges[..] {
            [] => String::new(),
            [(from, to)] if from == to => format!("page {from}: "),
            _ => format!("pages {}: ", self.ranges()),
        };
        format!("{part}{pages}{}", self.message)
    }

    fn ranges(&self) -> String {
        let mut text = String::new();
        for (from, to) in self.ranges.iter().take(RANGES_MAX) {
            let comma = if text.is_empty() { "" } else { ", " };
            // Writing to a string does not fail.
            _ = match from == to {
                true => write!(text, "{comma}{from}"),
                false => write!(text, "{comma}{from} to {to}"),
            };
        }
        let pages = |(from, to): &(u32, u32)| u64::from(to - from) + 1;
        let more: u64 = self.ranges.iter().skip(RANGES_MAX).map(pages).sum();
        if more > 0 {
            _ = write!(text, " and {more} more");
        }
        text
    }
}

/// What the lines say about one page of a part of the file.
pub(crate) fn problems_of_page<'a>(lines: &'a [String], part: &str, page: u32) -> Vec<&'a str> {
    lines.iter().filter_map(|line| message_for(line, part, page)).collect()
}

fn message_for<'a>(line: &'a str, part: &str, page: u32) -> Option<&'a str> {
    let line = match part {
        "" => line,
        part => line.strip_prefix(part)?.strip_prefix(": ")?,
    };
    let rest = line.strip_prefix("pages ").or_else(|| line.strip_prefix("page "))?;
    let (pages, message) = rest.split_once(": ")?;
    let pages = pages.split(" and ").next().unwrap_or(pages);
    let has = |range: &str| {
        let (from, to) = range.split_once(" to ").unwrap_or((range, range));
        let (from, to): (u32, u32) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        Some((from..=to).contains(&page))
    };
    pages.split(',').any(|it| has(it).unwrap_or(false)).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(part: &str, pages: &[u32], line: &str) {
        let mut problem = PageProblem::new(part, "unsure: look".to_owned(), pages.first().copied());
        pages.iter().for_each(|page| problem.add_page(*page));
        assert_eq!(problem.line(), line);
        let lines = ["another: problem".to_owned(), problem.line()];
        for page in 1..200 {
            let expected: &[&str] = if pages.contains(&page) { &["unsure: look"] } else { &[] };
            assert_eq!(problems_of_page(&lines, part, page), expected, "{page}");
        }
    }

    #[test]
    fn a_line_names_its_pages_and_is_found_by_each() {
        check("", &[7], "page 7: unsure: look");
        check("", &[2, 3, 4], "pages 2 to 4: unsure: look");
        check("", &[2, 4, 5, 9], "pages 2, 4 to 5, 9: unsure: look");
        check("a: b.pdf", &[2, 3], "a: b.pdf: pages 2 to 3: unsure: look");
    }

    #[test]
    fn the_pages_of_a_line_are_bounded() {
        let mut problem = PageProblem::new("", "x".to_owned(), Some(1));
        (1..500).for_each(|it| problem.add_page(it * 2));
        assert!(problem.line().ends_with(" and 459 more: x"), "{}", problem.line());
        assert!(problem.line().len() < 400);
    }

    #[test]
    fn problems_of_the_file_belong_to_no_page() {
        let lines = [PageProblem::new("", "the page is odd".to_owned(), None).line()];
        assert_eq!(lines, ["the page is odd"]);
        assert!(problems_of_page(&lines, "", 1).is_empty());
        assert!(
            problems_of_page(&["page x: y".to_owned(), "pages : z".to_owned()], "", 1).is_empty()
        );
    }
}
