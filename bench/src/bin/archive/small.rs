//! Small files of four types: from the first byte of the upload until the job is completed.

use parking_lot::Mutex;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::options::Options;
use crate::papers::Papers;
use crate::server::Stoa;
use crate::table::{Target, percentile, seconds};
use crate::wire::{Caller, text};
use crate::{Outcome, writers};

const AT_ONCE: usize = 4;
/// The contract asks for less than 5 s; half of it is "well under".
const PROMISED_S: f64 = 2.5;
const KINDS: [&str; 4] = ["txt", "docx", "pdf", "eml"];
/// Texts double in length from one size to the next, up to what stays below 1 MB as any type.
const SMALLEST: usize = 4_000;
const SIZES: usize = 8;

struct Paper {
    kind: &'static str,
    name: String,
    content: Vec<u8>,
}

struct Done {
    kind: &'static str,
    bytes: usize,
    time: Duration,
    insights: u64,
}

pub(crate) fn measure(binary: &Path, options: &Options) -> Outcome<Vec<Target>> {
    let stoa = &Stoa::start(binary)?;
    println!("\nSmall files, from upload to completed, standard mode");
    println!(
        "{:<22} {:>6} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "files", "MB", "p50 s", "p99 s", "max s", "files/s", "insights"
    );
    let mut targets = Vec::new();
    let mut papers = Papers::new(1);
    // The first file makes the server build state that all later files share.
    through(stoa, &[paper(&mut papers, 0)?], 1)?;
    for at_once in [1, AT_ONCE] {
        let files: Vec<Paper> =
            (0..options.files).map(|at| paper(&mut papers, at)).collect::<Outcome<_>>()?;
        let started = Instant::now();
        let done = through(stoa, &files, at_once)?;
        let whole = started.elapsed();
        print(&format!("all, {at_once} at once"), &done, Some(whole));
        for kind in KINDS {
            print(&format!("  {kind}"), done.iter().filter(|it| it.kind == kind), None);
        }
        let p99 = percentile(&times(&done), 99);
        let name = format!("p99 of a small file, {at_once} at once, seconds");
        targets.push(Target::at_most(name, p99, PROMISED_S));
    }
    Ok(targets)
}

fn paper(papers: &mut Papers, at: usize) -> Outcome<Paper> {
    let kind = KINDS.get(at % KINDS.len()).copied().unwrap_or_default();
    let length = (SMALLEST << (at / KINDS.len() % SIZES)) + papers.below(SMALLEST);
    let written = papers.paper(length);
    let content = match kind {
        "docx" => writers::docx(&written)?,
        "pdf" => writers::pdf(&writers::lines(&written))?,
        "eml" => {
            let attached = writers::pdf(&writers::lines(&papers.paper(length / 2)))?;
            writers::eml(&papers.paper(length / 2), "brief.pdf", &attached)
        }
        _ => written.into_bytes(),
    };
    Ok(Paper { kind, name: format!("paper-{at}.{kind}"), content })
}

/// Passes the files through the archive, `at_once` at a time.
fn through(stoa: &Stoa, files: &[Paper], at_once: usize) -> Outcome<Vec<Done>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once)
            .map(|_| {
                scope.spawn(|| -> Outcome<()> {
                    while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let one = one(stoa, file)?;
                        done.lock().push(one);
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|it| it.join().map_err(|_| "a thread failed")?)
    })?;
    Ok(done.into_inner())
}

fn one(stoa: &Stoa, file: &Paper) -> Outcome<Done> {
    let token = stoa.token()?;
    let caller = Caller { address: stoa.address, token: &token };
    let started = Instant::now();
    let stored = caller.upload(&file.name, &[&file.content])?;
    let job = caller.process(text(&stored, "fileId")?, &json!({ "extractionMode": "standard" }))?;
    let time = started.elapsed();
    let insights = job["result"]["insightsTotal"].as_u64().unwrap_or_default();
    if insights == 0 {
        return Err(format!("nothing was found in {}: {job}", file.name).into());
    }
    Ok(Done { kind: file.kind, bytes: file.content.len(), time, insights })
}

fn times<'d>(done: impl IntoIterator<Item = &'d Done>) -> Vec<Duration> {
    done.into_iter().map(|it| it.time).collect()
}

fn print<'d>(name: &str, done: impl IntoIterator<Item = &'d Done>, whole: Option<Duration>) {
    let done: Vec<&Done> = done.into_iter().collect();
    let times = times(done.iter().copied());
    let megabytes = done.iter().map(|it| it.bytes).sum::<usize>() as f64 / crate::MB as f64;
    let insights: u64 = done.iter().map(|it| it.insights).sum();
    let [p50, p99, most] = [50, 99, 100].map(|it| percentile(&times, it));
    let rate =
        whole.map_or_else(String::new, |it| format!("{:.1}", done.len() as f64 / seconds(it)));
    println!(
        "{name:<22} {:>6} {megabytes:>8.1} {p50:>9.3} {p99:>9.3} {most:>9.3} {rate:>9} {insights:>9}",
        done.len()
    );
}
