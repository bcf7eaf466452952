//! One measurement of one library, printed as one number or as the exit status.
//!
//! `library-peers rate CHECKS CLIENTS`: nanoseconds of one check by `governor`.
//! `library-peers rate-memory CLIENTS`: bytes that `governor` holds for each client.
//! `library-peers token-verify TOKENS` and `token-narrow TOKENS`: nanoseconds that `biscuit-auth`
//! takes to verify a token that was narrowed twice, and to narrow one.
//! `library-peers form FILE BOUNDARY`: seconds that `multer` takes for a form.
//! `library-peers pdf-extract FILE` and `lopdf FILE`: seconds for the text of a PDF; the exit status
//! is 0 with text, 1 with an error, 101 with a panic.

mod tokens;

use std::convert::Infallible;
use std::error::Error;
use std::net::Ipv4Addr;
use std::num::NonZeroU32;

use bytes::Bytes;
use cpu_time::ThreadTime;
use futures_util::stream;
use governor::{Quota, RateLimiter};

type Outcome<T> = Result<T, Box<dyn Error>>;

const PIECE: usize = 16 * 1024;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let figure = match args[..] {
        ["rate", checks, clients] => rate(checks.parse()?, clients.parse()?)?,
        ["rate-memory", clients] => rate_memory(clients.parse()?)?,
        ["token-verify", tokens] => tokens::verify(tokens.parse()?)?,
        ["token-narrow", tokens] => tokens::narrow(tokens.parse()?)?,
        ["form", file, boundary] => form(file, boundary)?,
        ["pdf-extract", file] => pdf_extract(file)?,
        ["lopdf", file] => lopdf(file)?,
        _ => return Err("no such measurement".into()),
    };
    println!("{figure}");
    Ok(())
}

fn quota() -> Outcome<Quota> {
    let number = |it| NonZeroU32::new(it).ok_or("zero");
    Ok(Quota::per_second(number(100)?).allow_burst(number(400)?))
}

fn client(number: u32) -> Ipv4Addr {
    Ipv4Addr::from(0x0a00_0000 + number)
}

fn rate(checks: u32, clients: u32) -> Outcome<f64> {
    let limiter = RateLimiter::keyed(quota()?);
    let start = ThreadTime::now();
    for number in 0..checks {
        _ = std::hint::black_box(limiter.check_key(&client(number % clients)));
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / f64::from(checks))
}

fn rate_memory(clients: u32) -> Outcome<f64> {
    let limiter = RateLimiter::keyed(quota()?);
    _ = limiter.check_key(&client(0));
    let before = resident()?;
    for number in 0..clients {
        _ = limiter.check_key(&client(number));
    }
    let after = resident()?;
    std::hint::black_box(&limiter);
    Ok((after - before) / f64::from(clients))
}

/// Resident bytes of this process.
fn resident() -> Outcome<f64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages: f64 = statm.split(' ').nth(1).ok_or("no resident pages")?.parse()?;
    Ok(pages * 4096.0)
}

fn form(file: &str, boundary: &str) -> Outcome<f64> {
    let bytes = std::fs::read(file)?;
    let start = ThreadTime::now();
    let pieces: Vec<_> =
        bytes.chunks(PIECE).map(|it| Ok::<_, Infallible>(Bytes::copy_from_slice(it))).collect();
    let mut form = multer::Multipart::new(stream::iter(pieces), boundary);
    let mut total = 0;
    futures_executor::block_on(async {
        while let Some(mut field) = form.next_field().await? {
            let mut part = Vec::new();
            while let Some(chunk) = field.chunk().await? {
                part.extend_from_slice(&chunk);
            }
            total += part.len();
        }
        Ok::<_, multer::Error>(())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    if total * 2 < bytes.len() { Err("the form was not read".into()) } else { Ok(seconds) }
}

fn pdf_extract(file: &str) -> Outcome<f64> {
    let bytes = std::fs::read(file)?;
    let start = ThreadTime::now();
    let pages = pdf_extract::extract_text_from_mem_by_pages(&bytes)?;
    std::hint::black_box(pages);
    Ok(start.elapsed().as_secs_f64())
}

fn lopdf(file: &str) -> Outcome<f64> {
    let bytes = std::fs::read(file)?;
    let start = ThreadTime::now();
    let document = lopdf::Document::load_mem(&bytes)?;
    let pages: Vec<u32> = document.get_pages().into_keys().collect();
    std::hint::black_box(document.extract_text(&pages)?);
    Ok(start.elapsed().as_secs_f64())
}
