//! Runs one test over insights of any number of files, one file's text at a time, off the threads
//! that serve. What the caller may not read is not read for them either.

use std::collections::BTreeMap;
use std::sync::Arc;

use archive_accounts::Visibility;
use archive_documents::Documents;
use archive_insights::{Insight, InsightSource};
use archive_integrity::{
    CitedSource, InsightReport, IntegrityTest, SourceText, Span, Support, TestOptions, TestReport,
};
use fault::Fault;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::access::sees;
use crate::check::judge::{Exhibit, JUDGED_MAX};
use crate::check::report::Results;
use crate::said::clipped;

/// Text of one file that a job holds against its insights.
const TEXT_BYTES_MAX: usize = 64 << 20;
/// Text that is read at a time.
const RUN_BYTES: usize = 4 << 20;
/// What a model is shown of one insight and its source.
const CONTENT_SHOWN: usize = 6_000;
const MATERIAL_CHARS_MAX: usize = 8_000;
const AROUND_CHARS: usize = 700;
const PLACES_SHOWN: usize = 6;

/// What a test needs to find its sources.
pub(crate) struct TestRun<'a> {
    pub(crate) documents: &'a Documents,
    pub(crate) visibility: &'a Visibility,
    pub(crate) test: IntegrityTest,
    /// How many may test at once, in this process.
    pub(crate) turns: &'a Arc<Semaphore>,
}

/// How much of the sources is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sources {
    /// All of them, if they are no more than this together; otherwise nothing is done.
    Within(usize),
    /// As much of each as a job may hold.
    Bounded,
}

/// A test that was run.
pub(crate) struct Done {
    pub(crate) results: Results,
    /// What a model may be shown of the first insights, in the order of the details.
    pub(crate) exhibits: Vec<Exhibit>,
}

/// The text of one file, as far as it was read.
struct Text {
    source: SourceText,
    whole: bool,
}

impl TestRun<'_> {
    /// Nothing where there is more to read than was allowed. The details come in the order of the
    /// insights.
    pub(crate) async fn run(
        &self,
        all: Vec<Insight>,
        options: &TestOptions,
        sources: Sources,
        done: &(dyn Fn(usize, usize) + Send + Sync),
    ) -> Result<Option<Done>, Fault> {
        let count = all.len();
        let mut groups: BTreeMap<String, Vec<(usize, Insight)>> = BTreeMap::new();
        for (at, insight) in all.into_iter().enumerate() {
            // What changed over time is seen across files, and needs none of them.
            let file = if self.test == IntegrityTest::OpinionDrift { "" } else { &insight.file_id };
            groups.entry(file.to_owned()).or_default().push((at, insight));
        }
        let mut results = Results::new(self.test);
        let mut sorted: Vec<(usize, InsightReport, Exhibit)> = Vec::with_capacity(count);
        let mut bytes = 0;
        for (file_id, members) in groups {
            let (places, insights): (Vec<usize>, Vec<Insight>) = members.into_iter().unzip();
            let text = self.text(&file_id).await?;
            bytes += text.as_ref().map_or(0, |it| it.source.pages.iter().map(String::len).sum());
            if matches!(sources, Sources::Within(most) if bytes > most) {
                return Ok(None);
            }
            if text.as_ref().is_some_and(|it| !it.whole) {
                let shown = TEXT_BYTES_MAX >> 20;
                results
                    .notes
                    .push(format!("only the first {shown} MB of file {file_id} were read"));
            }
            let (test, options) = (self.test, options.clone());
            let turn = Arc::clone(self.turns).acquire_owned().await.map_err(Fault::internal)?;
            let work = move || {
                // Kept by the thread, which goes on where nobody waits any more.
                let _turn = turn;
                one_file(test, &insights, text.map(|it| it.source), &options)
            };
            let (report, exhibits) = spawn_blocking(work).await.map_err(Fault::internal)?;
            let found = report.details.into_iter().zip(exhibits);
            sorted.extend(places.into_iter().zip(found).map(|(at, (one, two))| (at, one, two)));
            done(sorted.len(), count);
        }
        sorted.sort_by_key(|it| it.0);
        let (mut details, mut exhibits) = (Vec::with_capacity(count), Vec::new());
        for (_, detail, exhibit) in sorted {
            details.push(detail);
            if exhibits.len() < JUDGED_MAX {
                exhibits.push(exhibit);
            }
        }
        results.details = details;
        Ok(Some(Done { results, exhibits }))
    }

    /// The text of a file, unless it is not the caller's to read.
    async fn text(&self, file_id: &str) -> Result<Option<Text>, Fault> {
        if file_id.is_empty() {
            return Ok(None);
        }
        let file = match self.documents.find(file_id).await {
            Ok(file) if sees(self.visibility, &file) => file,
            Ok(_) => return Ok(None),
            Err(fault) if fault.code() == "file_not_found" => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let (mut pages, mut bytes) = (Vec::new(), 0);
        let mut next = Some(1);
        while let Some(from) = next.filter(|_| bytes < TEXT_BYTES_MAX) {
            let run = self.documents.pages(&file.id, from..=u32::MAX, RUN_BYTES).await?;
            next = run.next;
            for page in run.pages {
                bytes += page.page.text.len();
                pages.push(page.page.text);
            }
        }
        let source = SourceText { file_hash: file.hash, pages };
        Ok(Some(Text { source, whole: next.is_none() }))
    }
}

/// The test over the insights of one file. CPU-bound.
fn one_file(
    test: IntegrityTest,
    insights: &[Insight],
    text: Option<SourceText>,
    options: &TestOptions,
) -> (TestReport, Vec<Exhibit>) {
    let hash = text.as_ref().map(|it| it.file_hash.as_str());
    let held: Vec<archive_integrity::Insight> = insights.iter().map(|it| held(it, hash)).collect();
    let report = archive_integrity::run(test, &held, text.as_slice(), options);
    let exhibits = insights
        .iter()
        .zip(&report.details)
        .map(|(it, detail)| Exhibit {
            title: clipped(&it.title, 300),
            content: clipped(&it.content, CONTENT_SHOWN),
            material: match test {
                IntegrityTest::OpinionDrift => others(insights, &it.id),
                _ => material(it, detail, text.as_ref()),
            },
        })
        .collect();
    (report, exhibits)
}

/// An insight as the rules see it.
fn held(it: &Insight, hash: Option<&str>) -> archive_integrity::Insight {
    let mut sources: Vec<CitedSource> = it
        .sources
        .iter()
        .map(|InsightSource { file_hash, passage, .. }| CitedSource {
            file_hash: file_hash.clone(),
            page: Some(passage.page),
            span: Some(Span { start: passage.start as usize, end: passage.end as usize }),
            quote: passage.quote.clone(),
        })
        .collect();
    if let Some(hash) = hash.filter(|_| sources.is_empty()) {
        sources.push(CitedSource {
            file_hash: hash.to_owned(),
            page: it.page,
            ..CitedSource::default()
        });
    }
    archive_integrity::Insight {
        id: it.id.clone(),
        title: it.title.clone(),
        content: it.content.clone(),
        category: it.category.clone().unwrap_or_default(),
        tags: it.tags.clone(),
        created_ms: it.created_at.0,
        sources,
    }
}

/// The parts of the source that bear on an insight: around its places, else what the rules found,
/// else the beginning.
fn material(it: &Insight, detail: &InsightReport, text: Option<&SourceText>) -> String {
    let Some(text) = text else { return "(no source text)".to_owned() };
    let mut parts: Vec<String> = Vec::new();
    for InsightSource { passage, .. } in it.sources.iter().take(PLACES_SHOWN) {
        let page =
            usize::try_from(passage.page).ok().and_then(|at| text.pages.get(at.wrapping_sub(1)));
        let from = (passage.start as usize).saturating_sub(AROUND_CHARS);
        let length = passage.end.saturating_sub(passage.start) as usize + 2 * AROUND_CHARS;
        let around: Option<String> =
            page.map(|page| page.chars().skip(from).take(length).collect());
        parts.extend(around.map(|around| format!("[page {}] {around}", passage.page)));
    }
    if parts.is_empty() {
        let evidence = detail.claims.iter().filter(|it| it.support != Support::NotFound);
        let evidence = evidence.filter_map(|it| it.evidence.as_ref());
        parts.extend(evidence.map(|it| format!("[page {}] {}", it.page, it.sentence)));
        parts.dedup();
    }
    if parts.is_empty() {
        parts.extend(text.pages.first().map(|page| clipped(page, MATERIAL_CHARS_MAX / 2)));
    }
    clipped(&parts.join("\n…\n"), MATERIAL_CHARS_MAX)
}

/// What the other insights say, in the order of time.
fn others(insights: &[Insight], id: &str) -> String {
    let mut rest: Vec<&Insight> = insights.iter().filter(|it| it.id != id).collect();
    rest.sort_by_key(|it| it.created_at);
    let lines: Vec<String> = rest
        .iter()
        .take(20)
        .map(|it| format!("[{}] {}: {}", it.created_at, it.title, clipped(&it.content, 300)))
        .collect();
    clipped(&lines.join("\n"), MATERIAL_CHARS_MAX)
}
