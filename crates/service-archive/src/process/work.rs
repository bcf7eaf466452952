//! The processing of one file: read by a child process, understood by rules, and kept in the same
//! transaction that completes the job. A run that was cut short leaves nothing behind.

use std::sync::Arc;

use archive_accounts::Accounts;
use archive_documents::{Documents, ExtractionResult, FileFilter, FileRecord, PageRecord};
use archive_drafts::{Category, Digest, Draft};
use archive_extract::Child;
use archive_insights::{Insights, NewInsight};
use archive_text::PageText;
use async_trait::async_trait;
use clock::{Clock, Millis};
use fault::Fault;
use jobs::{JobContext, JobHandler, JobOutcome, StopReason};
use llm::Model;
use store::Db;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::ExtractorCommand;
use crate::process::across::{self, Other};
use crate::process::make::Maker;
use crate::process::pages::{Gather, Gathered};
use crate::process::scratch::{self, Scratch};
use crate::process::settings::{Depth, Settings};
use crate::process::{ProcessPayload, ProcessSummary, summary};

/// Files of the case that a deep processing compares with, the newest first.
const OTHERS_MAX: u32 = 50;
/// Insights of one category that are compared, of one file.
const COMPARED_MAX: u32 = 500;
/// Problems that a job's result repeats; the file's record has more.
const PROBLEMS_TOLD: usize = 20;
/// Where reading ends and understanding begins, in percent.
const READ: f64 = 60.0;
const UNDERSTOOD: f64 = 95.0;

pub(crate) struct Processing {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) accounts: Accounts,
    pub(crate) documents: Documents,
    pub(crate) insights: Insights,
    pub(crate) reader: ExtractorCommand,
    /// Summarises in deep processing.
    pub(crate) model: Option<Arc<dyn Model>>,
    /// As many turns as jobs. A thread that understands a file cannot be stopped, so it keeps the
    /// turn of a job that was cancelled until it is done.
    pub(crate) turns: Arc<Semaphore>,
}

#[async_trait]
impl JobHandler for Processing {
    async fn run(&self, context: JobContext) -> JobOutcome {
        let payload: ProcessPayload = match context.payload() {
            Ok(payload) => payload,
            Err(fault) => return JobOutcome::Fail(fault),
        };
        // Fires however this ends, so that the thread that reads ends the child.
        let halt = CancellationToken::new();
        let _ends = halt.clone().drop_guard();
        let stopping = context.stopping().clone();
        let ended = tokio::select! {
            biased;
            stop = context.cancelled() => {
                if stop == StopReason::Cancelled {
                    self.stopped(&context, &payload).await;
                }
                return JobOutcome::Cancelled;
            }
            () = stopping.cancelled() => return JobOutcome::Release,
            ended = self.process(&context, &payload, &halt) => ended,
        };
        match ended {
            Ok(()) => JobOutcome::Committed,
            // The file went away, or somebody else has it, or the job.
            Err(fault)
                if matches!(fault.code(), "file_not_found" | "superseded" | "lease_lost") =>
            {
                JobOutcome::Cancelled
            }
            Err(fault) => {
                let outcome = JobOutcome::from(fault);
                self.note_failure(&context, &payload, &outcome).await;
                outcome
            }
        }
    }
}

impl Processing {
    async fn process(
        &self,
        context: &JobContext,
        payload: &ProcessPayload,
        halt: &CancellationToken,
    ) -> Result<(), Fault> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(Fault::internal)?;
        let turn = Arc::new(turn);
        let began = self.clock.now();
        let file = self.documents.find(&payload.file_id).await?;
        let settings = &payload.settings;
        let read = self.read(context, &file, settings, halt).await?;
        if !read.has_text() {
            return Err(read.failure());
        }
        let Gathered { pages, problems, extractors, ocr_pages, .. } = read;
        let pages = Arc::new(pages);
        let mut work = Work { context, file: &file, settings, pages: &pages, problems, turn };
        context.progress(READ as u64, Some(100), Some("read; finding what it says"));
        let others = self.others(&work).await?;
        let (digest, pages_read, words) = work.understand(others).await?;
        context.progress(UNDERSTOOD as u64, Some(100), Some("understood"));
        let mut new = work.insights(digest.drafts);
        let mut processors: Vec<String> = strings(&digest.processors);
        if let Some(summed) = self.summary(&mut work).await? {
            new.push(summed);
            processors.push("model-summary".to_owned());
        }
        let told = ProcessSummary {
            page_count: pages.len() as u64,
            word_count: words,
            processing_time: seconds(began, self.clock.now()),
            extractors_used: strings(&extractors),
            processors_used: processors,
            extraction_mode: settings.extraction_mode.word().to_owned(),
            pages_read: pages_read as u64,
            ocr_pages: u64::from(ocr_pages),
            problems: work.problems.iter().take(PROBLEMS_TOLD).cloned().collect(),
            insights: new.len() as u64,
        };
        self.keep(&work, new, &told).await
    }

    /// Everything at once: the pages, the insights, the file's state and the job's end.
    async fn keep(
        &self,
        work: &Work<'_>,
        mut new: Vec<NewInsight>,
        told: &ProcessSummary,
    ) -> Result<(), Fault> {
        let (context, id) = (work.context, &work.file.id);
        let mut tx = self.db.begin().await?;
        context.fence().ensure_held(&mut tx).await?;
        // It may have been put into another case meanwhile.
        let file = self.documents.find_in(&mut tx, id).await?;
        for insight in &mut new {
            insight.case_id.clone_from(&file.case_id);
        }
        let reading = ExtractionResult {
            page_count: told.page_count,
            word_count: told.word_count,
            problems: work.problems.clone(),
        };
        self.documents.finish(&mut tx, id, context.id(), &reading).await?;
        self.documents.put_pages(&mut tx, id, work.pages.iter()).await?;
        self.insights.replace_extracted(&mut tx, id, new).await?;
        context.progress(100, Some(100), None);
        context.fence().complete_in(&mut tx, told).await?;
        tx.commit().await
    }

    /// Reads the file on a thread of its own, through a child process.
    async fn read(
        &self,
        context: &JobContext,
        file: &FileRecord,
        settings: &Settings,
        halt: &CancellationToken,
    ) -> Result<Gathered, Fault> {
        let path = self.documents.path(file)?;
        let (name, bytes, ocr) = (file.name.clone(), file.size, settings.ocr());
        let child = Child {
            program: self.reader.program.clone(),
            arguments: self.reader.arguments.clone(),
            scratch: scratch::of_job(&self.reader.scratch, context.id()),
            languages: ocr.then(|| self.reader.languages.clone()).filter(|it| !it.is_empty()),
        };
        let (limits, context, halt) = (settings.limits(), context.clone(), halt.clone());
        let work = move || {
            let _scratch = Scratch::make(&child.scratch)?;
            let mut gather = Gather::new(bytes, ocr);
            let wanted = || !halt.is_cancelled();
            archive_extract::isolated::read_while(
                &child,
                &path,
                &name,
                &limits,
                &wanted,
                &mut |event| {
                    gather.apply(event);
                    // A share of one is sixty, so the number is small and not negative.
                    let percent = (gather.share() * READ) as u64;
                    context.progress(percent, Some(100), Some(&gather.place()));
                    std::ops::ControlFlow::Continue(())
                },
            );
            Ok(gather.finish())
        };
        spawn_blocking(work).await.map_err(Fault::internal)?
    }

    /// What the other files of the case say, for a deep processing.
    async fn others(&self, work: &Work<'_>) -> Result<Vec<Other>, Fault> {
        let case = work.file.case_id.clone();
        if work.settings.extraction_mode != Depth::Deep || case.is_none() {
            return Ok(Vec::new());
        }
        let visibility = self.accounts.visibility(&work.file.owner).await?;
        let filter = FileFilter { case_id: case, ..FileFilter::default() };
        let (files, _) = self.documents.list(&visibility, &filter, OTHERS_MAX, 0).await?;
        let mut others = Vec::new();
        for file in files.into_iter().filter(|it| it.id != work.file.id) {
            let mut other = Other { file_id: file.id, file_name: file.name, said: Vec::new() };
            for category in across::COMPARED {
                let ask = archive_insights::InsightQuery {
                    file_id: Some(other.file_id.clone()),
                    category: Some(category.word().to_owned()),
                    limit: COMPARED_MAX,
                    ..archive_insights::InsightQuery::default()
                };
                let found = self.insights.query(&visibility, &ask).await?;
                let made = found.insights.into_iter().filter(|(it, _)| it.job_id.is_some());
                other.said.extend(made.map(|(it, _)| (category, it.fields.entities)));
            }
            others.push(other);
        }
        Ok(others)
    }

    /// A model's summary, for a deep processing where there is a model. That it could not be made
    /// is a problem of the file's and no failure.
    async fn summary(&self, work: &mut Work<'_>) -> Result<Option<NewInsight>, Fault> {
        let model = self.model.as_ref().filter(|_| work.settings.extraction_mode == Depth::Deep);
        let Some(model) = model else { return Ok(None) };
        work.context.progress(UNDERSTOOD as u64, Some(100), Some("summarising"));
        let content = match summary::ask(model.as_ref(), work.pages).await {
            Ok(content) => content,
            Err(fault) => {
                work.problems.push(format!("no summary by {}: {fault}", model.name()));
                return Ok(None);
            }
        };
        let (pages, hash) = (Arc::clone(work.pages), work.file.hash.clone());
        let check = move || summary::check(content, &pages, &hash);
        let summed = spawn_blocking(check).await.map_err(Fault::internal)?;
        Ok(Some(work.summed(model.name(), summed)))
    }

    /// Writes down that the file is at rest again; that this fails changes nothing.
    async fn stopped(&self, context: &JobContext, payload: &ProcessPayload) {
        let noted = async {
            let mut tx = self.db.begin().await?;
            self.documents.stop_processing(&mut tx, &payload.file_id, context.id()).await?;
            tx.commit().await
        };
        if let Err(fault) = noted.await {
            tracing::warn!(file = payload.file_id, "the end of a job was not noted: {fault}");
        }
    }

    /// A file whose last attempt failed has failed.
    async fn note_failure(
        &self,
        context: &JobContext,
        payload: &ProcessPayload,
        outcome: &JobOutcome,
    ) {
        let last = context.job().attempt >= context.job().max_attempts;
        let message = match outcome {
            JobOutcome::Fail(fault) => fault.message(),
            JobOutcome::Retry { fault, .. } if last => fault.message(),
            _ => return,
        };
        let noted = async {
            let mut tx = self.db.begin().await?;
            self.documents.fail(&mut tx, &payload.file_id, context.id(), message).await?;
            tx.commit().await
        };
        if let Err(fault) = noted.await {
            tracing::warn!(file = payload.file_id, "the failure of a file was not noted: {fault}");
        }
    }
}

/// One file under work.
struct Work<'a> {
    context: &'a JobContext,
    file: &'a FileRecord,
    settings: &'a Settings,
    pages: &'a Arc<Vec<PageRecord>>,
    problems: Vec<String>,
    turn: Arc<OwnedSemaphorePermit>,
}

impl Work<'_> {
    /// The drafts of the pages that are looked at, how many those are, and the words of all.
    async fn understand(&mut self, others: Vec<Other>) -> Result<(Digest, usize, u64), Fault> {
        let (pages, settings) = (Arc::clone(self.pages), self.settings.clone());
        let (turn, context) = (Arc::clone(&self.turn), self.context.clone());
        let work = move || {
            let _turn = turn;
            let looked: Vec<PageText<'_>> = pages
                .iter()
                .enumerate()
                .filter(|(at, _)| settings.looks_at(*at, pages.len()))
                .map(|(_, it)| it.text())
                .collect();
            let mut digest =
                archive_drafts::read_watched(&looked, &settings.choice(), &mut |share| {
                    let percent = (READ + share * (UNDERSTOOD - READ)) as u64;
                    context.progress(percent, Some(100), Some("finding what it says"));
                });
            let conflicts = across::conflicts(&digest.drafts, &others);
            digest.drafts.extend(conflicts);
            let words = pages.iter().map(|it| archive_documents::count_words(&it.page.text)).sum();
            (digest, looked.len(), words)
        };
        let done = spawn_blocking(work).await.map_err(Fault::internal)?;
        if done.0.truncated {
            self.problems.push("there is more in the file than is listed".to_owned());
        }
        Ok(done)
    }

    fn maker(&self) -> Maker<'_> {
        Maker {
            file: self.file,
            job_id: self.context.id(),
            categories: &self.settings.categories,
            pages: self.pages,
        }
    }

    fn insights(&self, drafts: Vec<Draft>) -> Vec<NewInsight> {
        let maker = self.maker();
        drafts.into_iter().map(|it| maker.insight(it)).collect()
    }

    fn summed(&self, model: &str, summed: summary::Summary) -> NewInsight {
        let maker = self.maker();
        let draft = Draft {
            category: Category::Summary,
            title: crate::said::clipped(&format!("Summary of {} by {model}", self.file.name), 400),
            content: summed.content,
            tags: vec![Category::Summary.word().to_owned(), "model".to_owned()],
            entities: serde_json::Map::new(),
            citations: Vec::new(),
            confidence: summed.score,
            meaning: "written by a model and held against the text by rules: their score",
            passages_total: u32::try_from(summed.passages.len()).unwrap_or(u32::MAX),
            passages: summed.passages,
        };
        NewInsight { source_llm: model.to_owned(), ..maker.insight(draft) }
    }
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

fn seconds(from: Millis, to: Millis) -> f64 {
    (to.0 - from.0).max(0) as f64 / 1000.0
}
