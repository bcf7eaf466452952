//! Drafts of authorities: every decision, law and article that a document cites, with the passages
//! that cite it. Only the deep mode counts short forms as passages of their authority.

mod list;

use std::collections::HashMap;

use archive_entities::Ground;
use archive_text::{JoinedPages, PageText, TextSpan};
use cite::{Citation, CitationKind, Span};

use crate::builder::DraftBuilder;
use crate::draft::{Category, DraftMode};
use crate::wording::{clipped, in_one_line, quoted, sentence, title};

/// The most authorities of one document.
const AUTHORITIES_MAX: usize = 2_000;
/// The most pin cites, parallel citations and explanations that are listed for one authority.
const DETAILS_MAX: usize = 20;
/// A citation with its name, date and parentheticals is one passage if it has at most this many
/// bytes; of a longer one only volume, reporter and page are.
const WHOLE_BYTES: usize = 600;

/// One authority under construction.
struct CitedAuthority {
    draft: DraftBuilder,
    name: Option<String>,
    citation_text: String,
    year: Option<u16>,
    court: Option<&'static str>,
    pins: Vec<String>,
    parallel: Vec<String>,
    explanations: Vec<String>,
    short_forms: usize,
    cited: usize,
}

/// The authorities of a document, collected part by part.
#[derive(Default)]
pub(crate) struct CitedAuthorities {
    list: Vec<CitedAuthority>,
    by_citation_text: HashMap<String, usize>,
    pub(crate) truncated: bool,
}

impl CitedAuthorities {
    /// Adds the citations of one part, which were found in its joined text.
    pub(crate) fn read(&mut self, joined: &JoinedPages, found: &[Citation<'_>], mode: DraftMode) {
        let resolved = cite::resolve(found);
        for source in &resolved.sources {
            let Some(head) = source.citations.first().and_then(|it| found.get(*it)) else {
                continue;
            };
            // Not authorities: the numbers of this case, which `entity` reports; a section without
            // a law; and a decision without a number, which is one of this case. A number after
            // `No.`, as in `Case No. 2022 LA 000317`, is the number of this case too.
            let before = joined.text().get(..head.span.start).unwrap_or_default().trim_end();
            let docket = ["No.", "NO.", "No:", "NO:"].iter().any(|it| before.ends_with(it));
            let unnamed = docket || head.kind == CitationKind::Decision && head.number.is_none();
            if !head.is_full()
                || unnamed
                || matches!(head.kind, CitationKind::Docket | CitationKind::Section)
            {
                continue;
            }
            let Some(place) = self.find_or_add(head) else { continue };
            let Some(authority) = self.list.get_mut(place) else { continue };
            for it in source.citations.iter().filter_map(|it| found.get(*it)) {
                authority.cite(joined, it, mode);
            }
            for it in source.citations.iter().filter_map(|it| found.get(*it)) {
                self.add_further_sections(joined, it);
            }
        }
    }

    /// Adds the further sections of a citation such as `28 U.S.C. §§ 1331 and 1343`, each as an
    /// authority.
    fn add_further_sections(&mut self, joined: &JoinedPages, cite: &Citation<'_>) {
        let Some(first) = cite.section else { return };
        for span in list::further_sections(joined.text(), cite) {
            let section = joined.text().get(span.start..span.end).unwrap_or_default();
            let mut other = cite.clone();
            (other.section, other.pin_cite, other.parenthetical) = (Some(section), None, None);
            let citation_text =
                citation_text(&other).replacen(first, section, 1).replacen("§§", "§", 1);
            let Some(place) = self.find_or_add_as(&other, citation_text) else { return };
            if let Some(authority) = self.list.get_mut(place) {
                authority.cited += 1;
                for span in spans_of(joined, span) {
                    authority.draft.add(span);
                }
            }
        }
    }

    fn find_or_add(&mut self, head: &Citation<'_>) -> Option<usize> {
        self.find_or_add_as(head, citation_text(head))
    }

    fn find_or_add_as(&mut self, head: &Citation<'_>, citation_text: String) -> Option<usize> {
        if let Some(place) = self.by_citation_text.get(&citation_text) {
            return Some(*place);
        }
        if self.list.len() >= AUTHORITIES_MAX {
            self.truncated = true;
            return None;
        }
        let place = self.list.len();
        self.by_citation_text.insert(citation_text.clone(), place);
        self.list.push(CitedAuthority::new(head, citation_text));
        Some(place)
    }

    pub(crate) fn finish(self, pages: &[PageText<'_>]) -> Vec<DraftBuilder> {
        let mut list: Vec<DraftBuilder> =
            self.list.into_iter().map(|it| it.finish(pages)).collect();
        list.sort_by_key(|it| it.spans.first().copied());
        list
    }
}

impl CitedAuthority {
    fn new(head: &Citation<'_>, citation_text: String) -> Self {
        let mut draft = DraftBuilder::new(Category::Citation, Ground::Form);
        let class = class(head.kind);
        draft.tag("citation");
        draft.tag(class);
        draft.set("citationKind", class);
        draft.set_some("volume", head.volume.filter(|_| head.title.is_none()).map(in_one_line));
        draft.set_some("reporter", head.source().map(in_one_line));
        draft.set_some("page", head.page.map(in_one_line));
        draft.set_some("title", head.title.map(in_one_line));
        draft.set_some("section", head.section.map(in_one_line));
        draft.set_some("number", head.number.map(in_one_line));
        Self {
            draft,
            name: None,
            citation_text,
            year: None,
            court: None,
            pins: Vec::new(),
            parallel: Vec::new(),
            explanations: Vec::new(),
            short_forms: 0,
            cited: 0,
        }
    }

    fn cite(&mut self, joined: &JoinedPages, it: &Citation<'_>, mode: DraftMode) {
        let full = it.is_full() && it.kind != CitationKind::Section;
        if !full && mode != DraftMode::Deep {
            return;
        }
        self.pins_and_names(joined, it, full);
        if full && it.parallel_to.is_some() {
            // The passage of the first parallel citation includes this one.
            return;
        }
        self.cited += 1;
        self.short_forms += usize::from(!full);
        let whole = it.full_span.end - it.full_span.start <= WHOLE_BYTES;
        for span in spans_of(joined, if whole { it.full_span } else { it.span }) {
            self.draft.add(span);
        }
    }

    fn pins_and_names(&mut self, joined: &JoinedPages, it: &Citation<'_>, full: bool) {
        note(&mut self.pins, it.pin_cite.map(|it| it.strip_prefix("at ").unwrap_or(it)));
        note(&mut self.explanations, it.parenthetical.map(|it| clipped(it, 300)));
        if !full {
            return;
        }
        self.year = self.year.or(it.year);
        self.court = self.court.or(it.court);
        self.draft.set_some("date", it.date.map(in_one_line));
        if self.name.is_none()
            && let Some(name) = name(joined, it)
        {
            self.draft.set_some("plaintiff", it.plaintiff.map(in_one_line));
            self.draft.set_some("defendant", it.defendant.map(in_one_line));
            self.name = Some(name);
        }
        let citation_text = citation_text(it);
        if citation_text != self.citation_text {
            note(&mut self.parallel, Some(&citation_text));
        }
    }

    fn finish(self, pages: &[PageText<'_>]) -> DraftBuilder {
        let content = self.content(pages);
        let mut draft = self.draft;
        let dated = match (self.court.and_then(circuit), self.year) {
            (Some(court), Some(year)) => format!(" ({court} {year})"),
            (None, Some(year)) => format!(" ({year})"),
            _ => String::new(),
        };
        let whole = match &self.name {
            Some(name) => format!("{name}, {}{dated}", self.citation_text),
            None => format!("{}{dated}", self.citation_text),
        };
        draft.title = title(&format!("Cites {whole}"));
        draft.content = content;
        draft.set("citation", whole.clone());
        draft.set_some("name", self.name);
        draft.set_some("year", self.year);
        draft.set_some("court", self.court);
        // A search for `28 U.S.C. § 1404(a)` must find it, so subsections are listed as citations.
        let below = self.pins.iter().filter(|it| it.starts_with('('));
        let below: Vec<String> = below.map(|it| format!("{}{it}", self.citation_text)).collect();
        draft.set("pinCites", self.pins);
        draft.set("parallel", self.parallel.clone());
        draft.set("explanations", self.explanations);
        draft.set("cited", self.cited);
        draft.set("shortForms", self.short_forms);
        draft.citations.push(whole);
        draft.citations.extend(self.parallel);
        draft.citations.extend(below);
        draft
    }
}

impl CitedAuthority {
    fn content(&self, pages: &[PageText<'_>]) -> String {
        let mut text = match &self.name {
            Some(name) => format!("The document cites {name} as {}.", self.citation_text),
            None => format!("The document cites {}.", self.citation_text),
        };
        if let Some(words) = self.draft.spans.first().and_then(|it| sentence(pages, *it)) {
            text.push_str(&format!(" The text says {}.", quoted(words)));
        }
        if let Some(first) = self.explanations.first() {
            text.push_str(&format!(" The citation is explanations as {}.", quoted(first)));
        }
        text
    }
}

/// Converts a span of the joined text into spans of the pages.
fn spans_of(joined: &JoinedPages, span: Span) -> impl Iterator<Item = TextSpan> {
    joined.spans(span.start..span.end)
}

fn note(list: &mut Vec<String>, text: Option<&str>) {
    let Some(text) = text.map(in_one_line).filter(|it| !it.is_empty()) else { return };
    if list.len() < DETAILS_MAX && !list.contains(&text) {
        list.push(text);
    }
}

/// Volume, reporter and page, or title, code and section, with the standard abbreviation of the
/// reporter.
fn citation_text(it: &Citation<'_>) -> String {
    let text = match (it.edition, it.reporter) {
        (Some(edition), Some(reporter)) if edition != reporter => {
            it.text.replacen(reporter, edition, 1)
        }
        _ => it.text.to_owned(),
    };
    in_one_line(&text)
}

/// `Roe v. Wade`, `In re Roe`
fn name(joined: &JoinedPages, it: &Citation<'_>) -> Option<String> {
    if !it.is_full_case() {
        return None;
    }
    match (it.plaintiff, it.defendant) {
        (Some(left), Some(right)) => {
            Some(format!("{} v. {}", in_one_line(left), in_one_line(right)))
        }
        (None, Some(only)) => {
            // The words before the only party, such as `In re`, are part of the name.
            let before = joined.text().get(it.full_span.start..it.span.start).unwrap_or_default();
            let end = before.find(only).map(|at| at + only.len());
            end.and_then(|end| before.get(..end)).map(in_one_line)
        }
        _ => it.antecedent.map(in_one_line),
    }
}

fn class(kind: CitationKind) -> &'static str {
    match kind {
        CitationKind::Statute => "statute",
        CitationKind::Regulation => "regulation",
        CitationKind::Journal => "journal",
        CitationKind::Decision => "decision",
        _ => "case",
    }
}

fn circuit(court: &'static str) -> Option<&'static str> {
    Some(match court {
        "ca1" => "1st Cir.",
        "ca2" => "2d Cir.",
        "ca3" => "3d Cir.",
        "ca4" => "4th Cir.",
        "ca5" => "5th Cir.",
        "ca6" => "6th Cir.",
        "ca7" => "7th Cir.",
        "ca8" => "8th Cir.",
        "ca9" => "9th Cir.",
        "ca10" => "10th Cir.",
        "ca11" => "11th Cir.",
        "cadc" => "D.C. Cir.",
        "cafc" => "Fed. Cir.",
        _ => return None,
    })
}
