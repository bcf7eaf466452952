//! One large upload by `curl`, in turns to the archive and to a plain file server.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::options::Options;
use crate::papers::Papers;
use crate::server::Stoa;
use crate::table::{Target, best, percentile};
use crate::{MB, Outcome, plain, process};

/// The archive also parses the parts, hashes, detects the type and records the file.
const PROMISED_RATIO: f64 = 2.0;

pub(crate) fn measure(binary: &Path, options: &Options) -> Outcome<Vec<Target>> {
    let stoa = &Stoa::start(binary)?;
    println!("\nOne upload of {} MB by curl, {} rounds in turns", options.text_mb, options.rounds);
    let (address, server) = plain::start(stoa.folder())?;
    let path = stoa.folder().join("large.txt");
    let mut text = String::new();
    Papers::new(5).pages(&mut text, options.text_mb * MB);
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    let (mut our_cpu, mut plain_cpu) = (f64::INFINITY, f64::INFINITY);
    for round in 0..options.rounds {
        // The content differs each time, because equal content is stored once.
        let tail = format!("\nThis is round {round:06}.\n");
        text.truncate(options.text_mb * MB - tail.len());
        text.push_str(&tail);
        write(&path, &text)?;
        let at = path.to_str().ok_or("a folder without a name")?;
        let token = format!("authorization: Bearer {}", stoa.token()?);
        let form = format!("file=@{at};type=text/plain");
        let url = format!("http://{}/api/arkiver/upload", stoa.address);
        let before = stoa.cpu()?;
        ours.push(curl(&["--header", &token, "--form", &form, &url])?);
        our_cpu = our_cpu.min(stoa.cpu()? - before);
        let id = server.0.id().to_string();
        let before = process::cpu(&id)?;
        plain.push(curl(&["--upload-file", at, &format!("http://{address}/large.txt")])?);
        plain_cpu = plain_cpu.min(process::cpu(&id)? - before);
        remove_copies(stoa.folder())?;
    }
    let size = options.text_mb as f64;
    println!("{:<24} {:>9} {:>9} {:>9} {:>7}", "", "best s", "median s", "MB/s", "CPU s");
    for (name, times, cpu) in [("stoa", &ours, our_cpu), ("plain file server", &plain, plain_cpu)] {
        let (least, median) = (best(times), percentile(times, 50));
        println!("{name:<24} {least:>9.3} {median:>9.3} {:>9.0} {cpu:>7.2}", size / least);
    }
    let ratio = percentile(&ours, 50) / percentile(&plain, 50);
    let name = "an upload's median, times that of the plain server";
    Ok(vec![Target::at_most(name, ratio, PROMISED_RATIO)])
}

/// Writes and syncs the file before the measurement, so that the disk does not delay it.
fn write(path: &Path, text: &str) -> Outcome<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file.sync_all()?)
}

fn curl(arguments: &[&str]) -> Outcome<Duration> {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--fail-with-body"]).args(arguments);
    let started = Instant::now();
    let done = command.stdin(Stdio::null()).output().map_err(|error| format!("curl: {error}"))?;
    let time = started.elapsed();
    if done.status.success() {
        return Ok(time);
    }
    let output = String::from_utf8_lossy(&done.stdout).into_owned();
    Err(format!("curl: {output}{}", String::from_utf8_lossy(&done.stderr)).into())
}

/// Deletes the files of the plain server.
fn remove_copies(folder: &Path) -> Outcome<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("plain-") {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
