//! Runs one test over insights of any number of files on blocking threads, with one file's text in
//! memory at a time. Files the caller may not read are skipped.

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
use crate::clip::clip;
use crate::integrity::model_judgement::{JUDGED_MAX, JudgedInsight};
use crate::integrity::report::TestResults;

/// Text of one file that a test reads.
const TEXT_BYTES_MAX: usize = 64 << 20;
/// Text that one query reads.
const QUERY_BYTES: usize = 4 << 20;
/// Characters of one insight and of its source that a model sees.
const CONTENT_SHOWN: usize = 6_000;
const MATERIAL_CHARS_MAX: usize = 8_000;
const AROUND_CHARS: usize = 700;
const PASSAGES_SHOWN: usize = 6;

/// One test with the access it needs.
pub(crate) struct TestRun<'a> {
    pub(crate) documents: &'a Documents,
    pub(crate) visibility: &'a Visibility,
    pub(crate) test: IntegrityTest,
    /// Shared by calls and jobs, see `Archive::test_permits`.
    pub(crate) permits: &'a Arc<Semaphore>,
}

/// How much source text a test may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceLimit {
    /// All text, if it is at most this many bytes; otherwise the test does not run.
    WholeWithin(usize),
    /// The first 64 MB of each file.
    FirstBytes,
}

pub(crate) struct FinishedTest {
    pub(crate) results: TestResults,
    /// What a model sees of the first insights, in the order of the details.
    pub(crate) judged_insights: Vec<JudgedInsight>,
}

/// The text of one file, or its first 64 MB.
struct FileText {
    source: SourceText,
    whole: bool,
}

impl TestRun<'_> {
    /// `None` if there is more text than `limit` allows. The details keep the order of the insights.
    pub(crate) async fn run(
        &self,
        all: Vec<Insight>,
        options: &TestOptions,
        limit: SourceLimit,
        done: &(dyn Fn(usize, usize) + Send + Sync),
    ) -> Result<Option<FinishedTest>, Fault> {
        let count = all.len();
        let mut groups: BTreeMap<String, Vec<(usize, Insight)>> = BTreeMap::new();
        for (at, insight) in all.into_iter().enumerate() {
            // Opinion drift compares insights across files and reads no text.
            let file = if self.test == IntegrityTest::OpinionDrift { "" } else { &insight.file_id };
            groups.entry(file.to_owned()).or_default().push((at, insight));
        }
        let mut results = TestResults::new(self.test);
        let mut sorted: Vec<(usize, InsightReport, JudgedInsight)> = Vec::with_capacity(count);
        let mut bytes = 0;
        for (file_id, members) in groups {
            let (places, insights): (Vec<usize>, Vec<Insight>) = members.into_iter().unzip();
            let text = self.text(&file_id).await?;
            bytes += text.as_ref().map_or(0, |it| it.source.pages.iter().map(String::len).sum());
            if matches!(limit, SourceLimit::WholeWithin(most) if bytes > most) {
                return Ok(None);
            }
            if text.as_ref().is_some_and(|it| !it.whole) {
                let shown = TEXT_BYTES_MAX >> 20;
                results
                    .notes
                    .push(format!("only the first {shown} MB of file {file_id} were read"));
            }
            let (test, options) = (self.test, options.clone());
            let permit = Arc::clone(self.permits).acquire_owned().await.map_err(Fault::internal)?;
            let work = move || {
                // Held by the thread: it runs to its end even when the call was dropped.
                let _permit = permit;
                one_file(test, &insights, text.map(|it| it.source), &options)
            };
            let (report, judged_insights) = spawn_blocking(work).await.map_err(Fault::internal)?;
            let found = report.details.into_iter().zip(judged_insights);
            sorted.extend(places.into_iter().zip(found).map(|(at, (one, two))| (at, one, two)));
            done(sorted.len(), count);
        }
        sorted.sort_by_key(|it| it.0);
        let (mut details, mut judged_insights) = (Vec::with_capacity(count), Vec::new());
        for (_, detail, judged_insight) in sorted {
            details.push(detail);
            if judged_insights.len() < JUDGED_MAX {
                judged_insights.push(judged_insight);
            }
        }
        results.details = details;
        Ok(Some(FinishedTest { results, judged_insights }))
    }

    /// The text of a file; `None` if the caller may not read it.
    async fn text(&self, file_id: &str) -> Result<Option<FileText>, Fault> {
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
            let run = self.documents.pages(&file.id, from..=u32::MAX, QUERY_BYTES).await?;
            next = run.next;
            for page in run.pages {
                bytes += page.page.text.len();
                pages.push(page.page.text);
            }
        }
        let source = SourceText { file_hash: file.hash, pages };
        Ok(Some(FileText { source, whole: next.is_none() }))
    }
}

/// The test over the insights of one file. CPU-bound.
fn one_file(
    test: IntegrityTest,
    insights: &[Insight],
    text: Option<SourceText>,
    options: &TestOptions,
) -> (TestReport, Vec<JudgedInsight>) {
    let hash = text.as_ref().map(|it| it.file_hash.as_str());
    let inputs: Vec<archive_integrity::Insight> =
        insights.iter().map(|it| rule_input(it, hash)).collect();
    let report = archive_integrity::run(test, &inputs, text.as_slice(), options);
    let judged_insights = insights
        .iter()
        .zip(&report.details)
        .map(|(it, detail)| {
            let excerpts = match test {
                IntegrityTest::OpinionDrift => Vec::new(),
                _ => excerpts(it, detail, text.as_ref()),
            };
            let material = match test {
                IntegrityTest::OpinionDrift => others(insights, &it.id),
                _ => material(&excerpts),
            };
            let (title, content) = (clip(&it.title, 300), clip(&it.content, CONTENT_SHOWN));
            JudgedInsight { title, content, material, excerpts }
        })
        .collect();
    (report, judged_insights)
}

/// Converts an insight to the input type of the rules.
fn rule_input(it: &Insight, hash: Option<&str>) -> archive_integrity::Insight {
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

/// The source text a model sees, by page: around the insight's passages, else around the evidence of
/// the rules, else the beginning of the file.
fn excerpts(it: &Insight, detail: &InsightReport, text: Option<&SourceText>) -> Vec<(u32, String)> {
    let Some(text) = text else { return Vec::new() };
    let mut parts: Vec<(u32, String)> = Vec::new();
    for InsightSource { passage, .. } in it.sources.iter().take(PASSAGES_SHOWN) {
        let page =
            usize::try_from(passage.page).ok().and_then(|at| text.pages.get(at.wrapping_sub(1)));
        let from = (passage.start as usize).saturating_sub(AROUND_CHARS);
        let length = passage.end.saturating_sub(passage.start) as usize + 2 * AROUND_CHARS;
        let around: Option<String> =
            page.map(|page| page.chars().skip(from).take(length).collect());
        parts.extend(around.map(|around| (passage.page, around)));
    }
    if parts.is_empty() {
        let evidence = detail.claims.iter().filter(|it| it.support != Support::NotFound);
        let evidence = evidence.filter_map(|it| it.evidence.as_ref());
        parts.extend(evidence.map(|it| (it.page, it.sentence.clone())));
        parts.dedup();
    }
    if parts.is_empty() {
        parts.extend(text.pages.first().map(|page| (1, clip(page, MATERIAL_CHARS_MAX / 2))));
    }
    parts
}

fn material(excerpts: &[(u32, String)]) -> String {
    if excerpts.is_empty() {
        return "(no source text)".to_owned();
    }
    let parts: Vec<String> =
        excerpts.iter().map(|(page, text)| format!("[page {page}] {text}")).collect();
    clip(&parts.join("\n…\n"), MATERIAL_CHARS_MAX)
}

/// The other insights, oldest first.
fn others(insights: &[Insight], id: &str) -> String {
    let mut rest: Vec<&Insight> = insights.iter().filter(|it| it.id != id).collect();
    rest.sort_by_key(|it| it.created_at);
    let lines: Vec<String> = rest
        .iter()
        .take(20)
        .map(|it| format!("[{}] {}: {}", it.created_at, it.title, clip(&it.content, 300)))
        .collect();
    clip(&lines.join("\n"), MATERIAL_CHARS_MAX)
}
