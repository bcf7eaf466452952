//! Processes one file: a child process extracts the text, rules turn it into insights, and one
//! transaction stores both and completes the job. An interrupted run stores nothing.

use std::sync::Arc;

use archive_accounts::Accounts;
use archive_documents::{Documents, ExtractionResult, FileFilter, FileRecord, PageRecord};
use archive_drafts::{Category, DocumentDrafts, Draft};
use archive_extract::{Password, ReaderProcess};
use archive_insights::{Insights, NewInsight};
use archive_search::{FileFacts, FileIndex, Search};
use async_trait::async_trait;
use clock::{Clock, Millis};
use fault::Fault;
use jobs::{JobContext, JobHandler, JobOutcome, StopReason};
use llm::Model;
use sandbox::ChildCommand;
use store::Db;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::file_facts::facts_of;
use crate::processing::conflicts::{self, OtherFile};
use crate::processing::insight_builder::InsightBuilder;
use crate::processing::job_passwords::JobPasswords;
use crate::processing::page_collector::{CollectedPages, PageCollector};
use crate::processing::scratch::{self, ScratchFolder};
use crate::processing::settings::{ExtractionMode, ProcessingSettings};
use crate::processing::{ProcessPayload, ProcessSummary, analysis, summary};
use crate::{ExtractorCommand, page_index};

/// Deep processing compares a file with at most this many files of its case, newest first.
const OTHER_FILES_MAX: u32 = 50;
/// At most this many insights of one category and file are compared.
const COMPARED_MAX: u32 = 500;
/// The result of a job lists at most this many problems; the record of the file has up to 200.
const PROBLEMS_IN_RESULT_MAX: usize = 20;
/// Progress in percent when the extraction and the analysis are done.
const EXTRACTED_PERCENT: f64 = 60.0;
const ANALYSED_PERCENT: f64 = 95.0;

pub(crate) struct ProcessingJob {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) accounts: Accounts,
    pub(crate) documents: Documents,
    pub(crate) insights: Insights,
    pub(crate) search: Search,
    pub(crate) extractor: ExtractorCommand,
    /// Writes the summary in deep processing.
    pub(crate) model: Option<Arc<dyn Model>>,
    /// As many permits as concurrent jobs. The worker already bounds jobs; a blocking thread cannot
    /// be cancelled, so it holds its permit until it ends, also after its job was cancelled.
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) passwords: Arc<JobPasswords>,
}

#[async_trait]
impl JobHandler for ProcessingJob {
    async fn run(&self, context: JobContext) -> JobOutcome {
        let id = context.id().to_owned();
        let outcome = self.attempt(context).await;
        // The next attempt of a job needs its password again.
        if !matches!(outcome, JobOutcome::Retry { .. } | JobOutcome::Release) {
            self.passwords.forget(&id);
        }
        outcome
    }
}

impl ProcessingJob {
    async fn attempt(&self, context: JobContext) -> JobOutcome {
        let payload: ProcessPayload = match context.payload() {
            Ok(payload) => payload,
            Err(fault) => return JobOutcome::Fail(fault),
        };
        // Cancelled on every return, so that the extracting thread kills its child process.
        let halt = CancellationToken::new();
        let _guard = halt.clone().drop_guard();
        let stopping = context.stopping().clone();
        let ended = tokio::select! {
            biased;
            stop = context.cancelled() => {
                if stop == StopReason::Cancelled {
                    self.record_cancellation(&context, &payload).await;
                }
                return JobOutcome::Cancelled;
            }
            () = stopping.cancelled() => return JobOutcome::Release,
            ended = self.process(&context, &payload, &halt) => ended,
        };
        match ended {
            Ok(()) => JobOutcome::Committed,
            // The file was deleted, or another job or worker owns it.
            Err(fault)
                if matches!(fault.code(), "file_not_found" | "superseded" | "lease_lost") =>
            {
                JobOutcome::Cancelled
            }
            Err(fault) => {
                let outcome = JobOutcome::from(fault);
                self.record_failure(&context, &payload, &outcome).await;
                outcome
            }
        }
    }
}

impl ProcessingJob {
    async fn process(
        &self,
        context: &JobContext,
        payload: &ProcessPayload,
        halt: &CancellationToken,
    ) -> Result<(), Fault> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(Fault::internal)?;
        let permit = Arc::new(permit);
        let began = self.clock.now();
        let file = self.documents.find(&payload.file_id).await?;
        let settings = &payload.settings;
        let password = match payload.has_password {
            true => Some(self.passwords.get(context.id()).ok_or_else(password_lost)?),
            false => None,
        };
        let collected = self.extract(context, &file, settings, password, halt).await?;
        if !collected.has_text() {
            return Err(collected.failure());
        }
        let CollectedPages { pages, problems, extractors, ocr_pages, .. } = collected;
        let pages = Arc::new(pages);
        let mut work =
            FileInProgress { context, file: &file, settings, pages: &pages, problems, permit };
        context.progress(EXTRACTED_PERCENT as u64, Some(100), Some("text read; analysing it"));
        let others = self.other_files(&work).await?;
        let (document_drafts, words) = self.analyse(&mut work, others, halt).await?;
        let is_read = |at: &usize| settings.analyses_page(*at, pages.len());
        let pages_read = (0..pages.len()).filter(is_read).count();
        context.progress(ANALYSED_PERCENT as u64, Some(100), Some("understood"));
        let mut new = work.insights(document_drafts.drafts);
        let mut processors: Vec<String> =
            document_drafts.processors.iter().map(ToString::to_string).collect();
        if let Some(summed) = self.model_summary(&mut work).await? {
            new.push(summed);
            processors.push("model-summary".to_owned());
        }
        let summary = ProcessSummary {
            page_count: pages.len() as u64,
            word_count: words,
            processing_time: seconds(began, self.clock.now()),
            extractors_used: extractors.iter().map(ToString::to_string).collect(),
            processors_used: processors,
            extraction_mode: settings.extraction_mode.word().to_owned(),
            pages_read: pages_read as u64,
            ocr_pages: u64::from(ocr_pages),
            problems: work.problems.iter().take(PROBLEMS_IN_RESULT_MAX).cloned().collect(),
            insights: new.len() as u64,
        };
        let found = new.iter().map(|it| (it.category.as_deref().unwrap_or_default(), &it.entities));
        let index = self.build_index(&work, facts_of(found)).await?;
        self.store(&work, new, index, &summary).await
    }

    /// One transaction for the pages, their index, the insights, the status of the file and the end
    /// of the job.
    async fn store(
        &self,
        work: &FileInProgress<'_>,
        mut new: Vec<NewInsight>,
        index: FileIndex,
        summary: &ProcessSummary,
    ) -> Result<(), Fault> {
        let (context, id) = (work.context, &work.file.id);
        let mut tx = self.db.begin().await?;
        context.fence().ensure_held(&mut tx).await?;
        // The file may have moved to another case meanwhile.
        let file = self.documents.find_locked(&mut tx, id).await?;
        for insight in &mut new {
            insight.case_id.clone_from(&file.case_id);
        }
        let reading = ExtractionResult {
            page_count: summary.page_count,
            word_count: summary.word_count,
            problems: work.problems.clone(),
        };
        self.documents.finish(&mut tx, id, context.id(), &reading).await?;
        self.documents.replace_pages(&mut tx, id, work.pages.iter()).await?;
        let (owner, case) = (&file.owner, file.case_id.as_deref());
        self.search.replace(&mut tx, id, owner, case, index).await?;
        self.insights.replace_extracted(&mut tx, id, new).await?;
        context.progress(100, Some(100), None);
        context.fence().complete_in(&mut tx, summary).await?;
        tx.commit().await?;
        page_index::merge(&self.search, owner, case).await;
        Ok(())
    }

    /// Builds the page index of the file on a blocking thread, before the transaction begins.
    async fn build_index(
        &self,
        work: &FileInProgress<'_>,
        facts: FileFacts,
    ) -> Result<FileIndex, Fault> {
        let (file, pages) = (work.file.clone(), Arc::clone(work.pages));
        let permit = Arc::clone(&work.permit);
        let build = move || {
            let _permit = permit;
            page_index::build(&file, &facts, &pages)
        };
        spawn_blocking(build).await.map_err(Fault::internal)
    }

    /// Extracts the text in a child process, supervised by a blocking thread.
    async fn extract(
        &self,
        context: &JobContext,
        file: &FileRecord,
        settings: &ProcessingSettings,
        password: Option<Password>,
        halt: &CancellationToken,
    ) -> Result<CollectedPages, Fault> {
        let path = self.documents.path(file)?;
        let (name, bytes, ocr) = (file.name.clone(), file.size, settings.uses_ocr());
        let mut collector = PageCollector::new(bytes, settings);
        let child = ReaderProcess {
            program: self.extractor.program.clone(),
            arguments: self.extractor.arguments.clone(),
            scratch: scratch::job_folder(&self.extractor.scratch, context.id()),
            languages: ocr.then(|| self.extractor.languages.clone()).filter(|it| !it.is_empty()),
            password,
        };
        let (limits, context, halt) = (settings.limits(bytes), context.clone(), halt.clone());
        let work = move || {
            let _scratch = ScratchFolder::make(&child.scratch)?;
            let is_needed = || !halt.is_cancelled();
            archive_extract::isolated::read_while(
                &child,
                &path,
                &name,
                &limits,
                &is_needed,
                &mut |event| {
                    collector.apply(event);
                    // Between 0 and 60.
                    let percent = (collector.share() * EXTRACTED_PERCENT) as u64;
                    context.progress(percent, Some(100), Some(&collector.progress_note()));
                    std::ops::ControlFlow::Continue(())
                },
            );
            Ok(collector.finish())
        };
        spawn_blocking(work).await.map_err(Fault::internal)?
    }

    /// The drafts of the selected pages, found in a child process that a blocking thread
    /// supervises, and the words of all pages.
    async fn analyse(
        &self,
        work: &mut FileInProgress<'_>,
        others: Vec<OtherFile>,
        halt: &CancellationToken,
    ) -> Result<(DocumentDrafts, u64), Fault> {
        let (pages, settings) = (Arc::clone(work.pages), work.settings.clone());
        let (permit, context) = (Arc::clone(&work.permit), work.context.clone());
        let halt = halt.clone();
        let child = ChildCommand {
            program: self.extractor.program.clone(),
            arguments: self.extractor.analysis_arguments.clone(),
            folder: scratch::job_folder(&self.extractor.scratch, context.id()),
        };
        let run = move || {
            let _permit = permit;
            let _scratch = ScratchFolder::make(&child.folder)?;
            let is_needed = || !halt.is_cancelled();
            let (mut document_drafts, problem) =
                analysis::analyse(&child, &pages, &settings, &is_needed, &mut |share| {
                    let percent =
                        (EXTRACTED_PERCENT + share * (ANALYSED_PERCENT - EXTRACTED_PERCENT)) as u64;
                    context.progress(percent, Some(100), Some("analysing the text"));
                })?;
            let found = conflicts::conflicts(&document_drafts.drafts, &others);
            document_drafts.drafts.extend(found);
            let words = pages.iter().map(|it| archive_documents::count_words(&it.page.text)).sum();
            Ok::<_, Fault>((document_drafts, problem, words))
        };
        let (document_drafts, problem, words) =
            spawn_blocking(run).await.map_err(Fault::internal)??;
        work.problems.extend(problem);
        if document_drafts.truncated {
            work.problems.push("there is more in the file than is listed".to_owned());
        }
        if document_drafts.citations_cut {
            let most = archive_drafts::CITATIONS_MAX;
            work.problems.push(format!("only the first {most} citations of the file were read"));
        }
        Ok((document_drafts, words))
    }

    /// The compared facts of the other files of the case, for deep processing; else nothing.
    async fn other_files(&self, work: &FileInProgress<'_>) -> Result<Vec<OtherFile>, Fault> {
        let case = work.file.case_id.clone();
        if work.settings.extraction_mode != ExtractionMode::Deep || case.is_none() {
            return Ok(Vec::new());
        }
        let visibility = self.accounts.visibility(&work.file.owner).await?;
        let filter = FileFilter { case_id: case, ..FileFilter::default() };
        let (files, _) = self.documents.list(&visibility, &filter, OTHER_FILES_MAX, 0).await?;
        let mut others = Vec::new();
        for file in files.into_iter().filter(|it| it.id != work.file.id) {
            let mut other = OtherFile { file_id: file.id, file_name: file.name, facts: Vec::new() };
            for category in conflicts::COMPARED_CATEGORIES {
                let ask = archive_insights::InsightQuery {
                    file_id: Some(other.file_id.clone()),
                    category: Some(category.word().to_owned()),
                    limit: COMPARED_MAX,
                    ..archive_insights::InsightQuery::default()
                };
                let found = self.insights.query(&visibility, &ask).await?;
                let made = found.insights.into_iter().filter(|(it, _)| it.job_id.is_some());
                other.facts.extend(made.map(|(it, _)| (category, it.fields.entities)));
            }
            others.push(other);
        }
        Ok(others)
    }

    /// The summary of a model, for deep processing with a model. A failure becomes a problem of the
    /// file and does not fail the job.
    async fn model_summary(
        &self,
        work: &mut FileInProgress<'_>,
    ) -> Result<Option<NewInsight>, Fault> {
        let model =
            self.model.as_ref().filter(|_| work.settings.extraction_mode == ExtractionMode::Deep);
        let Some(model) = model else { return Ok(None) };
        work.context.progress(ANALYSED_PERCENT as u64, Some(100), Some("summarising"));
        let content = match summary::write(model.as_ref(), work.pages).await {
            Ok(content) => content,
            Err(fault) => {
                work.problems.push(format!("no summary by {}: {fault}", model.name()));
                return Ok(None);
            }
        };
        let (pages, hash) = (Arc::clone(work.pages), work.file.hash.clone());
        let check = move || summary::check(content, &pages, &hash);
        let summed = spawn_blocking(check).await.map_err(Fault::internal)?;
        Ok(Some(work.summary_insight(model.name(), summed)))
    }

    /// Restores the status of the file after a cancellation. A failure is only logged.
    async fn record_cancellation(&self, context: &JobContext, payload: &ProcessPayload) {
        let recorded = async {
            let mut tx = self.db.begin().await?;
            self.documents.stop_processing(&mut tx, &payload.file_id, context.id()).await?;
            tx.commit().await
        };
        if let Err(fault) = recorded.await {
            tracing::warn!(
                file = payload.file_id,
                "the cancellation of a job was not recorded: {fault}"
            );
        }
    }

    /// Marks the file as failed after its last attempt. A failure of this is only logged.
    async fn record_failure(
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
        let recorded = async {
            let mut tx = self.db.begin().await?;
            self.documents.fail(&mut tx, &payload.file_id, context.id(), message).await?;
            tx.commit().await
        };
        if let Err(fault) = recorded.await {
            tracing::warn!(
                file = payload.file_id,
                "the failure of a file was not recorded: {fault}"
            );
        }
    }
}

/// One file that is being processed.
struct FileInProgress<'a> {
    context: &'a JobContext,
    file: &'a FileRecord,
    settings: &'a ProcessingSettings,
    pages: &'a Arc<Vec<PageRecord>>,
    problems: Vec<String>,
    permit: Arc<OwnedSemaphorePermit>,
}

impl FileInProgress<'_> {
    fn builder(&self) -> InsightBuilder<'_> {
        InsightBuilder {
            file: self.file,
            job_id: self.context.id(),
            categories: &self.settings.categories,
            pages: self.pages,
        }
    }

    fn insights(&self, drafts: Vec<Draft>) -> Vec<NewInsight> {
        let builder = self.builder();
        drafts.into_iter().map(|it| builder.insight(it)).collect()
    }

    fn summary_insight(&self, model: &str, summed: summary::Summary) -> NewInsight {
        let builder = self.builder();
        let draft = Draft {
            category: Category::Summary,
            title: crate::clip::clip(&format!("Summary of {} by {model}", self.file.name), 400),
            content: summed.content,
            tags: vec![Category::Summary.word().to_owned(), "model".to_owned()],
            entities: serde_json::Map::new(),
            citations: Vec::new(),
            confidence: summed.score,
            meaning: "written by a model and held against the text by rules: their score".into(),
            passages_total: u32::try_from(summed.passages.len()).unwrap_or(u32::MAX),
            passages: summed.passages,
        };
        NewInsight { source_llm: model.to_owned(), ..builder.insight(draft) }
    }
}

fn password_lost() -> Fault {
    let message = "the password of the file is kept in memory only, and the server has restarted \
                   since it was given; process the file again with its password";
    Fault::invalid("password_lost", message)
}

fn seconds(from: Millis, to: Millis) -> f64 {
    (to.0 - from.0).max(0) as f64 / 1000.0
}
