//! Damaged PDF files, those of the fuzz target `pdf`: how each reader ends on them.

use std::panic::catch_unwind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fuzz::mutation;
use fuzz::targets::TARGETS;
use testkit::TestRng;

use crate::peer::Peer;
use crate::{Outcome, read_damaged};

/// A reader that takes longer is stopped.
const SECONDS_MAX: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Endings {
    text: usize,
    no_text: usize,
    panic: usize,
    /// Killed by a signal, a stack overflow or an allocation that failed among them.
    crash: usize,
    too_long: usize,
}

impl Endings {
    fn print(&self, name: &str) {
        println!(
            "| {name} | {} | {} | {} | {} | {} |",
            self.text, self.no_text, self.panic, self.crash, self.too_long
        );
    }
}

pub(crate) fn compare(peer: &Peer, folder: &Path, count: u64) -> Outcome<()> {
    let target = TARGETS.iter().find(|it| it.name == "pdf").ok_or("no fuzz target pdf")?;
    let seeds = (target.seeds)();
    let mut ours = Endings::default();
    let mut theirs = [("pdf-extract", Endings::default()), ("lopdf", Endings::default())];
    let file = folder.join("damaged.pdf");
    for number in 0..count {
        let bytes = mutation::input(&mut TestRng::new(number), &seeds, target.words);
        match catch_unwind(|| read_damaged(&bytes)) {
            Ok(true) => ours.text += 1,
            Ok(false) => ours.no_text += 1,
            Err(_) => ours.panic += 1,
        }
        std::fs::write(&file, &bytes)?;
        for (name, endings) in &mut theirs {
            read_in_process(peer, name, &file, endings)?;
        }
    }
    println!(
        "| {count} damaged PDF files | text | no text or an error | panic | crash | over 5 s |"
    );
    println!("|---|---|---|---|---|---|");
    ours.print("ours");
    for (name, endings) in &theirs {
        endings.print(name);
    }
    Ok(())
}

fn read_in_process(peer: &Peer, name: &str, file: &Path, endings: &mut Endings) -> Outcome<()> {
    let mut command = Command::new(&peer.program);
    command.arg(name).arg(file).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > SECONDS_MAX {
            child.kill()?;
            child.wait()?;
            endings.too_long += 1;
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    match status.code() {
        Some(0) => endings.text += 1,
        Some(101) => endings.panic += 1,
        Some(_) => endings.no_text += 1,
        None => endings.crash += 1,
    }
    Ok(())
}
