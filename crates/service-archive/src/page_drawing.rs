//! Draws a page of a file with the words of an insight marked. A child process draws it; the
//! picture goes to the caller and is not kept.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use archive_accounts::Visibility;
use archive_documents::FileRecord;
use archive_extract::page_picture::{self, MarksFound, PagePicture, PageRequest};
use archive_extract::{Format, ProblemCode, ReadProblem, ReaderProcess};
use archive_insights::Insight;
use contract::Caller;
use fault::{Fault, Kind};
use limits::OwnerLimiter;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::processing::scratch::{self, ScratchFolder};
use crate::{Archive, ExtractorCommand};

/// At most this many pages are drawn at once; at most this many calls wait, of all owners and of
/// one.
const CONCURRENCY: usize = 2;
const WAITING_MAX: usize = 32;
const WAITING_PER_OWNER: usize = 8;
/// Wall-clock seconds for one page; OCR of a dense page takes up to 15 s.
const SECONDS_MAX: u64 = 40;
const MEMORY_BYTES_MAX: u64 = 2 << 30;
/// A page with more bytes of text is not drawn with marks.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// At most this many quotations of one insight are marked on a page.
const SPANS_MAX: usize = 100;
/// A message lists at most this many pages.
const PAGES_LISTED_MAX: usize = 10;

/// Draws pages in child processes, at most two at once.
pub(crate) struct PageDrawer {
    extractor: ExtractorCommand,
    permits: Arc<Semaphore>,
    slots: OwnerLimiter<String>,
    /// Numbers the scratch folders.
    next: AtomicU64,
}

impl PageDrawer {
    pub(crate) fn new(extractor: ExtractorCommand) -> Self {
        Self {
            extractor,
            permits: Arc::new(Semaphore::new(CONCURRENCY)),
            slots: OwnerLimiter::new(WAITING_MAX, WAITING_PER_OWNER),
            next: AtomicU64::new(0),
        }
    }

    fn child(&self) -> ReaderProcess {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let name = format!("picture-{}-{number}", std::process::id());
        ReaderProcess {
            password: None,
            program: self.extractor.program.clone(),
            arguments: self.extractor.arguments.clone(),
            scratch: scratch::job_folder(&self.extractor.scratch, &name),
            languages: Some(self.extractor.languages.clone()),
        }
    }
}

/// The page that a caller wants drawn.
pub(crate) struct WantedPage<'a> {
    pub(crate) file_id: &'a str,
    pub(crate) page: u32,
    pub(crate) insight_id: Option<&'a str>,
    /// In pixels; `None` for no picture.
    pub(crate) width: Option<u32>,
    pub(crate) with_words: bool,
    pub(crate) deadline: Instant,
}

impl Archive {
    /// Draws a page of a file that the caller may read. A file that is deleted meanwhile is not
    /// found.
    pub(crate) async fn draw_page(
        &self,
        caller: &Caller,
        wanted: &WantedPage<'_>,
    ) -> Result<(FileRecord, PagePicture), Fault> {
        let visibility = self.visibility(caller).await?;
        let file = self.file_to_read(&visibility, wanted.file_id).await?;
        let format = drawable(&file)?;
        Self::check_page(&file, wanted.page)?;
        let spans = match wanted.insight_id {
            Some(id) => self.spans_of(&visibility, id, &file, wanted.page).await?,
            None => Vec::new(),
        };
        let range = wanted.page..=wanted.page;
        let read = self.documents.pages(&file.id, range, TEXT_BYTES_MAX).await?.pages.pop();
        let (text, is_ocr) =
            read.map_or_else(Default::default, |it| (it.page.text, it.ocr_confidence.is_some()));
        let time = wanted.deadline.saturating_duration_since(Instant::now());
        let seconds = time.as_secs().saturating_sub(1).clamp(1, SECONDS_MAX);
        let request = PageRequest {
            format,
            page: wanted.page,
            width: wanted.width,
            with_words: wanted.with_words,
            text: if spans.is_empty() { String::new() } else { text },
            spans,
            is_ocr,
            seconds: u32::try_from(seconds).unwrap_or(u32::MAX),
            memory_bytes: MEMORY_BYTES_MAX,
        };
        let picture = self.draw(&visibility.owner, &file, request).await?;
        let file = self.file_to_read(&visibility, &file.id).await?;
        Ok((file, picture))
    }

    async fn draw(
        &self,
        owner: &str,
        file: &FileRecord,
        request: PageRequest,
    ) -> Result<PagePicture, Fault> {
        let drawing = &self.page_drawing;
        let _slot = drawing.slots.try_acquire(owner.to_owned()).map_err(|_| {
            let message = "too many pages are being drawn; ask again";
            Fault::new(Kind::RateLimited, "busy", message).retry_after(Duration::from_secs(2))
        })?;
        let permit = Arc::clone(&drawing.permits).acquire_owned().await.map_err(Fault::internal)?;
        let (path, child) = (self.documents.path(file)?, drawing.child());
        // Cancelled when the caller gives up, so that the thread kills its child process.
        let halt = CancellationToken::new();
        let _guard = halt.clone().drop_guard();
        let work = move || {
            let _permit = permit;
            let _scratch = ScratchFolder::make(&child.scratch)?;
            page_picture::draw(&child, &path, &request, &|| !halt.is_cancelled()).map_err(failed)
        };
        spawn_blocking(work).await.map_err(Fault::internal)?
    }

    /// The characters of the page that an insight of the file rests on.
    async fn spans_of(
        &self,
        visibility: &Visibility,
        id: &str,
        file: &FileRecord,
        page: u32,
    ) -> Result<Vec<Range<u32>>, Fault> {
        let found = self.insights.visible_of_ids(visibility, &[id.to_owned()]).await?.pop();
        let Some(insight) = found else {
            let shown: String = id.chars().take(64).collect();
            let message = format!("there is no insight {shown} that you may see");
            return Err(Fault::not_found("insight_not_found", message)
                .problem("insightId", "the id of an insight of this file"));
        };
        if insight.file_id != file.id {
            let message = format!("the insight {id} is about another file");
            return Err(Fault::invalid("insight_of_another_file", message)
                .problem("insightId", "an insight of this file"));
        }
        let spans: Vec<Range<u32>> = passages(&insight, file)
            .filter(|it| it.page == page)
            .map(|it| it.start..it.end)
            .take(SPANS_MAX)
            .collect();
        if spans.is_empty() {
            return Err(not_on_page(&insight, file, page));
        }
        Ok(spans)
    }
}

fn passages<'a>(
    insight: &'a Insight,
    file: &'a FileRecord,
) -> impl Iterator<Item = &'a archive_text::Passage> {
    let sources = insight.sources.iter().filter(|it| it.file_hash == file.hash);
    sources.map(|it| &it.passage)
}

fn not_on_page(insight: &Insight, file: &FileRecord, page: u32) -> Fault {
    let mut pages: Vec<u32> = passages(insight, file).map(|it| it.page).collect();
    pages.sort_unstable();
    pages.dedup();
    if pages.is_empty() {
        let message = format!("the insight {} names no words of the file", insight.id);
        return Fault::invalid("insight_has_no_words", message)
            .problem("insightId", "none, or an insight with sources");
    }
    let listed: Vec<String> = pages.iter().take(PAGES_LISTED_MAX).map(u32::to_string).collect();
    let message = format!("the insight {} has no words on page {page}", insight.id);
    let expected = format!("a page with its words: {}", listed.join(", "));
    Fault::invalid("insight_not_on_page", message).problem("page", expected)
}

/// The format of a file whose pages can be drawn.
fn drawable(file: &FileRecord) -> Result<Format, Fault> {
    let format = Format::of_name(&file.name).filter(|it| page_picture::has_pictures(*it));
    format.ok_or_else(|| {
        let message = format!(
            "{} has no pages to draw, because only PDF files and pictures have; read its text with \
             arkiver_read_page",
            file.name
        );
        Fault::invalid("page_has_no_picture", message)
            .problem("fileId", "a PDF, PNG, JPEG or TIFF file")
    })
}

fn failed(problem: ReadProblem) -> Fault {
    match problem.code {
        ProblemCode::TimedOut => Fault::new(Kind::Timeout, "page_not_drawn", problem.message),
        _ => Fault::new(Kind::Unavailable, "processing_failed", problem.message),
    }
}

/// How much of an insight's words was found, in the contract's words.
pub(crate) fn marks_word(marks: MarksFound) -> &'static str {
    match marks {
        MarksFound::All => "all",
        MarksFound::Part => "part",
        MarksFound::None => "none",
    }
}
