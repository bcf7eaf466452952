//! Many large uploads at once: the server's memory over idle, and the integrity of every file.

use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::options::Options;
use crate::papers::Papers;
use crate::process::{self, Peak};
use crate::server::Stoa;
use crate::table::{Target, percentile, seconds};
use crate::wire::{Caller, text};
use crate::{MB, Outcome};

/// The most memory that all uploads together may add.
const PROMISED_MB: f64 = 64.0;

pub(crate) fn measure(binary: &Path, options: &Options) -> Outcome<Vec<Target>> {
    let stoa = &Stoa::start(binary)?;
    let (count, size) = (options.crowd, options.crowd_mb);
    println!("\n{count} uploads of {size} MB at once");
    // All files share their beginning, so that the client needs little memory and time.
    let mut shared = String::new();
    Papers::new(4).pages(&mut shared, size * MB);
    let tails: Vec<String> = (0..count).map(|at| format!("\nThis is number {at:06}.\n")).collect();
    shared.truncate(size * MB - tails.first().map_or(0, String::len));
    let mut hasher = Sha256::new();
    hasher.update(&shared);
    let tokens = (0..count).map(|_| stoa.token()).collect::<Outcome<Vec<_>>>()?;
    let idle = stoa.idle()?;
    let before = stoa.cpu()?;
    let started = Instant::now();
    let ((answers, times), peak) = process::watched(stoa.id(), || {
        let barrier = Barrier::new(count);
        let all: Vec<Outcome<_>> = thread::scope(|scope| {
            let (barrier, shared) = (&barrier, &shared);
            let senders: Vec<_> = tails
                .iter()
                .zip(&tokens)
                .enumerate()
                .map(|(at, (tail, token))| {
                    scope.spawn(move || -> Outcome<_> {
                        let caller = Caller { address: stoa.address, token };
                        let pieces = [shared.as_bytes(), tail.as_bytes()];
                        barrier.wait();
                        let began = Instant::now();
                        let answer = caller.upload(&format!("large-{at}.txt"), &pieces)?;
                        Ok((answer, began.elapsed()))
                    })
                })
                .collect();
            let join = |it: thread::ScopedJoinHandle<'_, _>| {
                it.join().unwrap_or_else(|_| Err("a thread failed".into()))
            };
            senders.into_iter().map(join).collect()
        });
        Ok(all
            .into_iter()
            .collect::<Outcome<Vec<_>>>()?
            .into_iter()
            .unzip::<_, _, Vec<_>, Vec<_>>())
    })?;
    let whole = seconds(started.elapsed());
    let cpu = stoa.cpu()? - before;
    let wrong = wrong_hashes(stoa, &answers, &tokens, &tails, &hasher)?;
    let Peak { own, threads, .. } = peak;
    println!(
        "{:.1} s in all, {:.0} MB/s; p50 {:.1} s, slowest {:.1} s; server CPU {cpu:.1} s",
        whole,
        (count * size) as f64 / whole,
        percentile(&times, 50),
        percentile(&times, 100),
    );
    println!(
        "server: idle {idle:.1} MB, peak {own:.1} MB, {:.1} MB over idle; {threads} threads",
        own - idle
    );
    println!("hashes reported and content downloaded: {} right, {wrong} wrong", count - wrong);
    Ok(vec![
        Target::at_most(format!("{count} uploads at once, MB over idle"), own - idle, PROMISED_MB),
        Target::at_most("files that are not what was sent", wrong as f64, 0.0),
    ])
}

/// Both the reported and the returned content must equal the upload.
fn wrong_hashes(
    stoa: &Stoa,
    answers: &[Value],
    tokens: &[String],
    tails: &[String],
    begun: &Sha256,
) -> Outcome<usize> {
    let mut wrong = 0;
    for ((answer, token), tail) in answers.iter().zip(tokens).zip(tails) {
        let mut sent = begun.clone();
        sent.update(tail);
        let sent = HEXLOWER.encode(&sent.finalize());
        let mut read = Sha256::new();
        let caller = Caller { address: stoa.address, token };
        caller.content(text(answer, "fileId")?, &mut |piece| read.update(piece))?;
        let read = HEXLOWER.encode(&read.finalize());
        wrong += usize::from(text(answer, "sha256")? != sent || read != sent);
    }
    Ok(wrong)
}
