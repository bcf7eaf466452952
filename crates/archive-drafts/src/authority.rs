//! Authorities: every decision, law and article that a document cites, with the passages where it
//! does. Only the deep mode counts short forms as passages of their authority.

mod list;

use std::collections::HashMap;

use archive_entities::Ground;
use archive_text::{JoinedPages, PageText, TextSpan};
use cite::{Citation, CitationKind, Span};

use crate::builder::DraftBuilder;
use crate::draft::{Category, DraftMode};
use crate::wording::{clipped, evened, quoted, sentence, title};

/// Authorities of one document.
const AUTHORITIES_MAX: usize = 2_000;
/// Pin cites, parallel citations and explanations that are listed of one authority.
const DETAILS_MAX: usize = 20;
/// A citation with all that belongs to it is quoted up to this many bytes.
const WHOLE_BYTES: usize = 600;

/// One authority while its citations are gathered.
struct CitedAuthority {
    sketch: DraftBuilder,
    name: Option<String>,
    core: String,
    year: Option<u16>,
    court: Option<&'static str>,
    pins: Vec<String>,
    parallel: Vec<String>,
    explained: Vec<String>,
    short_forms: usize,
    cited: usize,
}

/// The authorities of a document, gathered part by part.
#[derive(Default)]
pub(crate) struct CitedAuthorities {
    list: Vec<CitedAuthority>,
    by_core: HashMap<String, usize>,
    pub(crate) truncated: bool,
}

impl CitedAuthorities {
    /// Takes the citations of one part, which were found in its joined text.
    pub(crate) fn read(&mut self, joined: &JoinedPages, found: &[Citation<'_>], mode: DraftMode) {
        let resolved = cite::resolve(found);
        for source in &resolved.sources {
            let Some(head) = source.citations.first().and_then(|it| found.get(*it)) else {
                continue;
            };
            // The number of a case is said elsewhere, a bare section names no law, and a decision
            // without a number is one of this case; `CorpusCase No. 2022 LA 000317` is no decision.
            let before = joined.text().get(..head.span.start).unwrap_or_default().trim_end();
            let docket = ["No.", "NO.", "No:", "NO:"].iter().any(|it| before.ends_with(it));
            let unnamed = docket || head.kind == CitationKind::Decision && head.number.is_none();
            if !head.is_full()
                || unnamed
                || matches!(head.kind, CitationKind::Docket | CitationKind::Section)
            {
                continue;
            }
            let Some(place) = self.place_of(head) else { continue };
            let Some(authority) = self.list.get_mut(place) else { continue };
            for it in source.citations.iter().filter_map(|it| found.get(*it)) {
                authority.cite(joined, it, mode);
            }
            for it in source.citations.iter().filter_map(|it| found.get(*it)) {
                self.further(joined, it);
            }
        }
    }

    /// The other sections that are cited with one.
    fn further(&mut self, joined: &JoinedPages, cite: &Citation<'_>) {
        let Some(first) = cite.section else { return };
        for span in list::further(joined.text(), cite) {
            let section = joined.text().get(span.start..span.end).unwrap_or_default();
            let mut other = cite.clone();
            (other.section, other.pin_cite, other.parenthetical) = (Some(section), None, None);
            let core = core(&other).replacen(first, section, 1).replacen("§§", "§", 1);
            let Some(place) = self.named(&other, core) else { return };
            if let Some(authority) = self.list.get_mut(place) {
                authority.cited += 1;
                for span in spans_of(joined, span) {
                    authority.sketch.add(span);
                }
            }
        }
    }

    fn place_of(&mut self, head: &Citation<'_>) -> Option<usize> {
        self.named(head, core(head))
    }

    fn named(&mut self, head: &Citation<'_>, core: String) -> Option<usize> {
        if let Some(place) = self.by_core.get(&core) {
            return Some(*place);
        }
        if self.list.len() >= AUTHORITIES_MAX {
            self.truncated = true;
            return None;
        }
        let place = self.list.len();
        self.by_core.insert(core.clone(), place);
        self.list.push(CitedAuthority::new(head, core));
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
    fn new(head: &Citation<'_>, core: String) -> Self {
        let mut sketch = DraftBuilder::new(Category::Citation, Ground::Form);
        let class = class(head.kind);
        sketch.tag("citation");
        sketch.tag(class);
        sketch.set("citationKind", class);
        sketch.set_some("volume", head.volume.filter(|_| head.title.is_none()).map(evened));
        sketch.set_some("reporter", head.source().map(evened));
        sketch.set_some("page", head.page.map(evened));
        sketch.set_some("title", head.title.map(evened));
        sketch.set_some("section", head.section.map(evened));
        sketch.set_some("number", head.number.map(evened));
        Self {
            sketch,
            name: None,
            core,
            year: None,
            court: None,
            pins: Vec::new(),
            parallel: Vec::new(),
            explained: Vec::new(),
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
            // The first of the parallel citations already has this passage.
            return;
        }
        self.cited += 1;
        self.short_forms += usize::from(!full);
        let whole = it.full_span.end - it.full_span.start <= WHOLE_BYTES;
        for span in spans_of(joined, if whole { it.full_span } else { it.span }) {
            self.sketch.add(span);
        }
    }

    fn pins_and_names(&mut self, joined: &JoinedPages, it: &Citation<'_>, full: bool) {
        note(&mut self.pins, it.pin_cite.map(|it| it.strip_prefix("at ").unwrap_or(it)));
        note(&mut self.explained, it.parenthetical.map(|it| clipped(it, 300)));
        if !full {
            return;
        }
        self.year = self.year.or(it.year);
        self.court = self.court.or(it.court);
        self.sketch.set_some("date", it.date.map(evened));
        if self.name.is_none()
            && let Some(name) = name(joined, it)
        {
            self.sketch.set_some("plaintiff", it.plaintiff.map(evened));
            self.sketch.set_some("defendant", it.defendant.map(evened));
            self.name = Some(name);
        }
        let core = core(it);
        if core != self.core {
            note(&mut self.parallel, Some(&core));
        }
    }

    fn finish(self, pages: &[PageText<'_>]) -> DraftBuilder {
        let content = self.content(pages);
        let mut sketch = self.sketch;
        let dated = match (self.court.and_then(circuit), self.year) {
            (Some(court), Some(year)) => format!(" ({court} {year})"),
            (None, Some(year)) => format!(" ({year})"),
            _ => String::new(),
        };
        let whole = match &self.name {
            Some(name) => format!("{name}, {}{dated}", self.core),
            None => format!("{}{dated}", self.core),
        };
        sketch.title = title(&format!("Cites {whole}"));
        sketch.content = content;
        sketch.set("citation", whole.clone());
        sketch.set_some("name", self.name);
        sketch.set_some("year", self.year);
        sketch.set_some("court", self.court);
        // `28 U.S.C. § 1404(a)` is looked for as it is written.
        let below = self.pins.iter().filter(|it| it.starts_with('('));
        let below: Vec<String> = below.map(|it| format!("{}{it}", self.core)).collect();
        sketch.set("pinCites", self.pins);
        sketch.set("parallel", self.parallel.clone());
        sketch.set("explanations", self.explained);
        sketch.set("cited", self.cited);
        sketch.set("shortForms", self.short_forms);
        sketch.citations.push(whole);
        sketch.citations.extend(self.parallel);
        sketch.citations.extend(below);
        sketch
    }
}

impl CitedAuthority {
    fn content(&self, pages: &[PageText<'_>]) -> String {
        let mut text = match &self.name {
            Some(name) => format!("The document cites {name} as {}.", self.core),
            None => format!("The document cites {}.", self.core),
        };
        if let Some(words) = self.sketch.spans.first().and_then(|it| sentence(pages, *it)) {
            text.push_str(&format!(" The text says {}.", quoted(words)));
        }
        if let Some(first) = self.explained.first() {
            text.push_str(&format!(" The citation is explained as {}.", quoted(first)));
        }
        text
    }
}

/// The pages' own spans of a span of the joined text.
fn spans_of(joined: &JoinedPages, span: Span) -> impl Iterator<Item = TextSpan> {
    joined.spans(span.start..span.end)
}

fn note(list: &mut Vec<String>, text: Option<&str>) {
    let Some(text) = text.map(evened).filter(|it| !it.is_empty()) else { return };
    if list.len() < DETAILS_MAX && !list.contains(&text) {
        list.push(text);
    }
}

/// Volume, reporter and page, or what a law has instead, with the standard abbreviation of the reporter.
fn core(it: &Citation<'_>) -> String {
    let text = match (it.edition, it.reporter) {
        (Some(edition), Some(reporter)) if edition != reporter => {
            it.text.replacen(reporter, edition, 1)
        }
        _ => it.text.to_owned(),
    };
    evened(&text)
}

/// `Roe v. Wade`, `In re Roe`
fn name(joined: &JoinedPages, it: &Citation<'_>) -> Option<String> {
    if !it.is_full_case() {
        return None;
    }
    match (it.plaintiff, it.defendant) {
        (Some(left), Some(right)) => Some(format!("{} v. {}", evened(left), evened(right))),
        (None, Some(only)) => {
            // `In re`, `Matter of`, `Ex parte`: whatever stands before it is part of the name.
            let before = joined.text().get(it.full_span.start..it.span.start).unwrap_or_default();
            let end = before.find(only).map(|at| at + only.len());
            end.and_then(|end| before.get(..end)).map(evened)
        }
        _ => it.antecedent.map(evened),
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
