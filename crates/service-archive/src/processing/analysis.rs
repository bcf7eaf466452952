//! Turns the pages of a file into drafts of insights, in a child process with limits of memory and
//! time and no access to files, because a hostile text can make the rules use a hundred times its
//! size in memory. The text
//! is stored even if the child fails; the file then has no drafts, and a problem with the reason.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;

use archive_documents::PageRecord;
use archive_drafts::{DocumentDrafts, Draft, DraftOptions};
use archive_text::PageText;
use fault::{Fault, Kind};
use sandbox::{ChildCommand, ChildEnd, ChildLimits, FileAccess};
use serde::{Deserialize, Serialize};

use crate::processing::settings::ProcessingSettings;

/// Address space of the child, which holds the text twice.
const MEMORY_BYTES: u64 = 2 << 30;
/// Processor seconds of the child: a base, more for each megabyte of text, and the upper bound.
const CPU_SECONDS_BASE: u64 = 60;
const CPU_SECONDS_PER_MB: u64 = 6;
const CPU_SECONDS_MAX: u64 = 600;
/// Wall-clock seconds of the child.
const WALL_SECONDS: u32 = 1_800;

/// The first message to the child; the pages follow, then `Input::End`.
#[derive(Debug, Serialize, Deserialize)]
struct AnalysisRequest {
    options: DraftOptions,
    limits: ChildLimits,
}

#[derive(Debug, Serialize, Deserialize)]
enum Input<'a> {
    /// The number, the part and the text of a page, which has at most 64 KiB.
    Page(u32, Cow<'a, str>, Cow<'a, str>),
    End,
}

#[derive(Debug, Serialize, Deserialize)]
enum Output {
    /// In percent.
    Progress(u8),
    Draft(Box<Draft>),
    /// The last message: everything but the drafts, which were sent before.
    Done(DocumentDrafts),
}

/// The drafts of the pages that the settings select, and the problem if the child failed. Blocks.
///
/// # Errors
/// If the child could not be started or was killed from outside; a retry may succeed.
pub(crate) fn analyse(
    child: &ChildCommand,
    pages: &Arc<Vec<PageRecord>>,
    settings: &ProcessingSettings,
    is_needed: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(f64),
) -> Result<(DocumentDrafts, Option<String>), Fault> {
    let selected: Vec<usize> =
        (0..pages.len()).filter(|at| settings.analyses_page(*at, pages.len())).collect();
    let bytes = selected.iter().filter_map(|at| pages.get(*at)).map(|it| it.page.text.len());
    let request = AnalysisRequest {
        options: settings.draft_options(),
        limits: limits(bytes.map(|it| it as u64).sum()),
    };
    let (cpu, memory) = (request.limits.cpu_seconds, request.limits.memory_bytes >> 20);
    let pages = Arc::clone(pages);
    let input = move |to: &mut dyn Write| {
        sandbox::send(to, &request)?;
        for page in selected.iter().filter_map(|at| pages.get(*at)) {
            let PageText { number, part, text } = page.text();
            sandbox::send(to, &Input::Page(number, part.into(), text.into()))?;
        }
        sandbox::send(to, &Input::End)
    };
    let (mut drafts, mut done) = (Vec::new(), None);
    let end = sandbox::run(child, WALL_SECONDS, input, is_needed, &mut |output| {
        match output {
            Output::Progress(percent) => progress(f64::from(percent) / 100.0),
            // The child keeps this limit; one that was taken over does not.
            Output::Draft(_) if drafts.len() >= archive_drafts::DRAFTS_MAX => {}
            Output::Draft(draft) => drafts.push(*draft),
            Output::Done(found) => {
                done = Some(found);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    let why = match end {
        ChildEnd::Done => {
            let done = done.unwrap_or_default();
            return Ok((DocumentDrafts { drafts, ..done }, None));
        }
        ChildEnd::TimedOut => format!("it takes more than {WALL_SECONDS} s"),
        ChildEnd::CpuExceeded => format!("it takes more than {cpu} s of work"),
        ChildEnd::OutOfMemory => format!("it needs more than {memory} MB of memory"),
        ChildEnd::Crashed(how) => {
            let message = format!("the text of the file could not be analysed ({how})");
            return Err(Fault::new(Kind::Unavailable, "processing_failed", message));
        }
    };
    let problem = format!("the text was stored and not analysed, because {why}; split the file");
    Ok((DocumentDrafts::default(), Some(problem)))
}

fn limits(bytes: u64) -> ChildLimits {
    let cpu = CPU_SECONDS_MAX.min(CPU_SECONDS_BASE + CPU_SECONDS_PER_MB * (bytes >> 20));
    let cpu_seconds = u32::try_from(cpu).unwrap_or(u32::MAX);
    ChildLimits {
        cpu_seconds,
        tool_cpu_seconds: cpu_seconds,
        memory_bytes: MEMORY_BYTES,
        file_bytes: 0,
    }
}

/// The `main` of the child: receives the pages, sends their drafts, and returns.
pub fn analysis_main(mut stdin: impl Read, stdout: impl Write) -> ExitCode {
    match serve_request(&mut stdin, stdout) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve_request(stdin: &mut impl Read, stdout: impl Write) -> io::Result<()> {
    let Some(request) = sandbox::receive::<AnalysisRequest>(stdin)? else { return Ok(()) };
    // Confined before a byte of the document is read, and while the process has one thread.
    sandbox::confine(&request.limits, &FileAccess::default())?;
    let mut stdin = io::BufReader::new(stdin);
    let mut pages = Vec::new();
    while let Some(Input::Page(number, part, text)) = sandbox::receive(&mut stdin)? {
        pages.push((number, part, text));
    }
    let texts: Vec<PageText<'_>> =
        pages.iter().map(|(number, part, text)| PageText { number: *number, part, text }).collect();
    let mut to = io::BufWriter::new(stdout);
    let (mut shown, mut lost) = (0, None);
    let mut found = archive_drafts::read_with_progress(&texts, &request.options, &mut |share| {
        // Between 0 and 100.
        let percent = (share.clamp(0.0, 1.0) * 100.0) as u8;
        if percent > shown {
            shown = percent;
            let sent = sandbox::send(&mut to, &Output::Progress(percent));
            lost = sent.and_then(|()| to.flush()).err().or(lost.take());
        }
    });
    if let Some(error) = lost {
        return Err(error);
    }
    for draft in std::mem::take(&mut found.drafts) {
        sandbox::send(&mut to, &Output::Draft(Box::new(draft)))?;
    }
    sandbox::send(&mut to, &Output::Done(found))?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use archive_drafts::DraftMode;

    use super::*;

    #[test]
    fn drafts_are_equal_after_the_pipe() {
        let text = "UNITED STATES DISTRICT COURT\n\nJane Roe, Plaintiff, v. Acme, LLC, Defendant.\n\n\
                    Case No. 2:24-cv-00317\n\nThe complaint was filed on March 3, 2024 for $5,000.50. \
                    Answer within 21 days after service. See Roe v. Wade, 410 U.S. 113 (1973). Id. at 120. \
                    согласно ст. 15 ГК РФ\u{1}\u{2028}";
        let pages = [PageText { number: 1, part: "", text }];
        let found = archive_drafts::read(&pages, &DraftOptions::all(DraftMode::Deep));
        assert!(found.drafts.len() > 5);
        for draft in &found.drafts {
            let sent = serde_json::to_vec(&Output::Draft(Box::new(draft.clone()))).unwrap();
            let Output::Draft(back) = serde_json::from_slice(&sent).unwrap() else { panic!() };
            assert_eq!(*back, *draft);
        }
        let sent = serde_json::to_vec(&found).unwrap();
        assert_eq!(serde_json::from_slice::<DocumentDrafts>(&sent).unwrap(), found);
    }

    #[test]
    fn processor_time_grows_with_the_text_up_to_the_limit() {
        let seconds = [0, 10 << 20, 100 << 20].map(|it| limits(it).cpu_seconds);
        assert_eq!(seconds, [60, 120, 600]);
    }
}
