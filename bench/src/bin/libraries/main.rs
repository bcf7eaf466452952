//! Our own code against the libraries that could replace it: the rate limiter against `governor`,
//! capability tokens against `biscuit-auth`, the form parser against `multer`, the text of PDF
//! files against `pdf-extract` and `lopdf`.
//!
//! `cargo xtask bench libraries [ROUNDS]`

#![expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]

mod damaged;
mod peer;
mod tokens;

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::ExitCode;

use archive_extract::{Format, NoOcr, ReadLimits, fuzzing, testing};
pub(crate) use bench::outcome::Outcome;
use bench::outcome::exit_code;
use cpu_time::ThreadTime;
use limits::{ClientAddress, RateLimit, RateLimiter};
use testkit::TempFolder;

use peer::{Peer, figure_of};

const CHECKS: u32 = 4_000_000;
const CLIENTS: u32 = 4_096;
/// Clients that each send one request, as an attacker with many addresses does.
const ONE_REQUEST_CLIENTS: u32 = 1_000_000;
/// The argument with which this program measures the memory of our limiter and nothing else.
const LIMITER_MEMORY: &str = "limiter-memory";
/// What the server gives its limiter.
const LIMITER_CAPACITY: usize = 16_384;
const FORM_BYTES: usize = 64 << 20;
const BOUNDARY: &str = "stoa-boundary-7MA4YWxkTrZu0gW";
const PDF_PAGES: usize = 300;
const LINES_ON_PAGE: usize = 46;
const DAMAGED_FILES: u64 = 1_000;

fn main() -> ExitCode {
    exit_code(measure().map(|()| true))
}

fn measure() -> Outcome<()> {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some(LIMITER_MEMORY) {
        println!("{}", limiter_memory()?);
        return Ok(());
    }
    let rounds: usize = argument.map_or(Ok(5), |it| it.parse())?;
    let folder = TempFolder::new();
    let peer = Peer::build()?;
    println!("least processor time of {rounds} rounds, one thread\n");
    println!("| what | ours | library | ours against it |");
    println!("|---|---|---|---|");
    rate_limiter(&peer, rounds)?;
    tokens::compare(&peer, rounds)?;
    form(&peer, folder.path(), rounds)?;
    pdf(&peer, folder.path(), rounds)?;
    println!();
    damaged::compare(&peer, folder.path(), DAMAGED_FILES)
}

/// The least of some rounds, ours and the library's in turns.
fn turns(
    rounds: usize,
    mut ours: impl FnMut() -> Outcome<f64>,
    mut theirs: impl FnMut() -> Outcome<f64>,
) -> Outcome<(f64, f64)> {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        best.0 = best.0.min(ours()?);
        best.1 = best.1.min(theirs()?);
    }
    Ok(best)
}

fn client(number: u32) -> ClientAddress {
    ClientAddress::from(IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + number)))
}

fn limiter() -> RateLimiter {
    RateLimiter::new(RateLimit { burst: 400, per_second: 100.0 }, LIMITER_CAPACITY)
}

fn rate_limiter(peer: &Peer, rounds: usize) -> Outcome<()> {
    let ours = || {
        let limiter = limiter();
        let epoch = std::time::Instant::now();
        let start = ThreadTime::now();
        for number in 0..CHECKS {
            let now_ns = u64::try_from(epoch.elapsed().as_nanos())?;
            std::hint::black_box(limiter.check(&client(number % CLIENTS), now_ns));
        }
        Ok(start.elapsed().as_secs_f64() * 1e9 / f64::from(CHECKS))
    };
    let theirs = || peer.figure(&["rate", &CHECKS.to_string(), &CLIENTS.to_string()]);
    let (ours, theirs) = turns(rounds, ours, theirs)?;
    println!(
        "| a check of the rate limiter, {CLIENTS} clients (`governor`) | {ours:.0} ns | {theirs:.0} ns | {:.2} |",
        ours / theirs
    );
    // A process of its own, because memory that earlier rounds freed would be used again.
    let held = figure_of(&std::env::current_exe()?, &[LIMITER_MEMORY])?;
    let theirs = peer.figure(&["rate-memory", &ONE_REQUEST_CLIENTS.to_string()])?;
    println!(
        "| memory after {ONE_REQUEST_CLIENTS} clients of one request each | {:.1} MB | {:.1} MB | {:.2} |",
        held * f64::from(ONE_REQUEST_CLIENTS) / 1e6,
        theirs * f64::from(ONE_REQUEST_CLIENTS) / 1e6,
        held / theirs
    );
    Ok(())
}

/// The bytes that our limiter holds for each client.
fn limiter_memory() -> Outcome<f64> {
    let limiter = limiter();
    limiter.check(&client(0), 1);
    let before = resident()?;
    for number in 0..ONE_REQUEST_CLIENTS {
        limiter.check(&client(number), 1);
    }
    let after = resident()?;
    std::hint::black_box(&limiter);
    Ok((after - before) / f64::from(ONE_REQUEST_CLIENTS))
}

/// Resident bytes of this process.
fn resident() -> Outcome<f64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages: f64 = statm.split(' ').nth(1).ok_or("no resident pages")?.parse()?;
    Ok(pages * 4096.0)
}

fn form(peer: &Peer, folder: &Path, rounds: usize) -> Outcome<()> {
    let mut bytes = format!(
        "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n"
    )
    .into_bytes();
    let mut rng = testkit::TestRng::new(7);
    bytes.extend((0..FORM_BYTES).map(|_| rng.next_u64() as u8));
    bytes.extend(format!("\r\n--{BOUNDARY}--\r\n").into_bytes());
    let file = folder.join("form");
    std::fs::write(&file, &bytes)?;
    let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
    let pieces: Vec<&[u8]> = bytes.chunks(16 * 1024).collect();
    let ours = || {
        let start = ThreadTime::now();
        let parts = transport_http::fuzzing::read_form(&content_type, &pieces)?;
        let seconds = start.elapsed().as_secs_f64();
        let whole = parts.first().is_some_and(|(_, part)| part.len() == FORM_BYTES);
        if whole { Ok(seconds) } else { Err("the form was not read".into()) }
    };
    let theirs = || peer.figure(&["form", &file.to_string_lossy(), BOUNDARY]);
    let (ours, theirs) = turns(rounds, ours, theirs)?;
    println!(
        "| a form with a file of 64 MB (`multer`) | {:.0} ms | {:.0} ms | {:.2} |",
        ours * 1e3,
        theirs * 1e3,
        ours / theirs
    );
    Ok(())
}

fn pdf(peer: &Peer, folder: &Path, rounds: usize) -> Outcome<()> {
    let pages: Vec<String> = (0..PDF_PAGES).map(page).collect();
    let texts: Vec<&str> = pages.iter().map(String::as_str).collect();
    let bytes = testing::pdf::text(&texts);
    let file = folder.join("pages.pdf");
    std::fs::write(&file, &bytes)?;
    let limits = ReadLimits::default();
    let ours = || {
        let start = ThreadTime::now();
        let document = fuzzing::read_bytes(Format::Pdf, &bytes, &limits);
        let seconds = start.elapsed().as_secs_f64();
        if document.pages.len() == PDF_PAGES {
            Ok(seconds)
        } else {
            Err("pages are missing".into())
        }
    };
    for name in ["pdf-extract", "lopdf"] {
        let theirs = || peer.figure(&[name, &file.to_string_lossy()]);
        let (ours, theirs) = turns(rounds, ours, theirs)?;
        println!(
            "| the text of a PDF of {PDF_PAGES} pages (`{name}`) | {:.0} ms | {:.0} ms | {:.2} |",
            ours * 1e3,
            theirs * 1e3,
            ours / theirs
        );
    }
    Ok(())
}

fn page(number: usize) -> String {
    let line = |line| {
        format!(
            "On page {number} line {line} the parties agree that the price is {number}.{line:02} dollars."
        )
    };
    (0..LINES_ON_PAGE).map(line).collect::<Vec<_>>().join("\n")
}

/// Reads a damaged file as the server does, without OCR; whether any text was found.
pub(crate) fn read_damaged(bytes: &[u8]) -> bool {
    let document = archive_extract::read_all("damaged.pdf", bytes, &ReadLimits::default(), &NoOcr);
    document.pages.iter().any(|it| !it.page.text.trim().is_empty())
}
