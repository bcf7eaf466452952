//! Runs a target over damaged seeds. A panic is caught, its input made smaller and written to a file;
//! a run that lasts too long ends the program with its input in a file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use testkit::TestRng;

use crate::mutation;
use crate::targets::Target;

/// A run of this length counts as a hang.
const RUN_MAX: Duration = Duration::from_secs(20);
/// How many times a failing input is tried with a part removed.
const SHRINK_TRIES_MAX: usize = 20_000;

/// Which runs of a target.
#[derive(Debug, Clone, Copy)]
pub struct Runs {
    pub seed: u64,
    pub first: u64,
    pub count: u64,
}

/// What the runs of a target showed.
#[derive(Debug)]
pub struct Summary {
    pub runs: u64,
    pub elapsed: Duration,
    /// The number, the time and the input of the slowest run.
    pub slowest: (u64, Duration, Vec<u8>),
    /// The number of the run that panicked, and its input, made smaller.
    pub failed: Option<(u64, Vec<u8>)>,
}

/// The input of one run of a target.
pub fn input(target: &Target, seeds: &[Vec<u8>], seed: u64, run: u64) -> Vec<u8> {
    let name = target.name.bytes().fold(0_u64, |sum, byte| sum * 31 % (1 << 32) + u64::from(byte));
    let mut rng = TestRng::new(seed ^ (name << 32) ^ run.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mutation::input(&mut rng, seeds, target.words)
}

/// Runs until the count is reached or a run panics.
pub fn run(target: &Target, runs: Runs, watch: &Watch) -> Summary {
    let seeds = (target.seeds)();
    let begin = Instant::now();
    let mut slowest = (0, Duration::ZERO, Vec::new());
    for (done, run) in (runs.first..).take(runs.count as usize).enumerate() {
        let bytes = input(target, &seeds, runs.seed, run);
        watch.begins(target.name, run, &bytes);
        let start = Instant::now();
        let panicked = panics(target, &bytes);
        let elapsed = start.elapsed();
        watch.ends();
        if panicked {
            let failed = Some((run, shrunk(target, bytes)));
            return Summary { runs: done as u64 + 1, elapsed: begin.elapsed(), slowest, failed };
        }
        if elapsed > slowest.1 {
            // Other programs share the processor, so the faster of two runs counts.
            let again = Instant::now();
            panics(target, &bytes);
            let elapsed = elapsed.min(again.elapsed());
            if elapsed > slowest.1 {
                slowest = (run, elapsed, bytes);
            }
        }
    }
    Summary { runs: runs.count, elapsed: begin.elapsed(), slowest, failed: None }
}

/// Whether the target panics for this input.
pub fn panics(target: &Target, bytes: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| (target.check)(bytes))).is_err()
}

/// Removes parts, large ones first, as long as the target still panics.
fn shrunk(target: &Target, mut bytes: Vec<u8>) -> Vec<u8> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut tries = 0;
    let mut part = bytes.len().div_ceil(2);
    while part > 0 && tries < SHRINK_TRIES_MAX {
        let mut at = 0;
        while at < bytes.len() && tries < SHRINK_TRIES_MAX {
            let mut without = bytes.clone();
            without.drain(at..bytes.len().min(at + part));
            tries += 1;
            if panics(target, &without) {
                bytes = without;
            } else {
                at += part;
            }
        }
        part /= 2;
    }
    std::panic::set_hook(hook);
    bytes
}

/// Writes an input as hexadecimal digits, 32 bytes a line; its path.
pub fn save(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<PathBuf> {
    let mut text = String::with_capacity(bytes.len() * 2 + bytes.len() / 32 + 1);
    for line in bytes.chunks(32) {
        for byte in line {
            text.push_str(&format!("{byte:02x}"));
        }
        text.push('\n');
    }
    std::fs::create_dir_all(folder)?;
    let path = folder.join(format!("{name}.hex"));
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Reads what `save` wrote.
pub fn load(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|it| !it.is_whitespace())
        .map(|it| it.to_digit(16))
        .collect::<Option<_>>()?;
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    Some(pairs.iter().map(|[high, low]| (high * 16 + low) as u8).collect())
}

/// The current run: its target, number, start and input.
type Current = Option<(&'static str, u64, Instant, Vec<u8>)>;

/// Knows the current run, so that a hang can be reported with its input.
#[derive(Clone, Default)]
pub struct Watch(Arc<Mutex<Current>>);

impl Watch {
    /// Ends the program with its input in a file when a run lasts longer than 20 s.
    pub fn end_at_hang(&self, folder: &Path) {
        let (current, folder) = (Arc::clone(&self.0), folder.to_owned());
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_secs(1));
                let current = current.lock();
                if let Some((name, run, start, bytes)) = current.as_ref()
                    && start.elapsed() > RUN_MAX
                {
                    let path = save(&folder, &format!("{name}-hang"), bytes);
                    eprintln!("{name}: run {run} lasts more than {RUN_MAX:?}; its input: {path:?}");
                    std::process::exit(1);
                }
            }
        });
    }

    fn begins(&self, name: &'static str, run: u64, bytes: &[u8]) {
        *self.0.lock() = Some((name, run, Instant::now(), bytes.to_vec()));
    }

    fn ends(&self) {
        *self.0.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILING: Target = Target {
        name: "failing",
        seeds: || vec![b"some long text with a needle in it".to_vec()],
        words: &[],
        test_runs: 0,
        check: |bytes| assert!(!bytes.windows(6).any(|it| it == b"needle")),
    };

    #[test]
    fn a_panic_is_caught_and_its_input_made_smaller() {
        let runs = Runs { seed: 1, first: 0, count: 1_000 };
        let summary = run(&FAILING, runs, &Watch::default());
        let (failed, bytes) = summary.failed.expect("the seed itself fails");
        assert_eq!(bytes, b"needle");
        assert!(panics(&FAILING, &input(&FAILING, &(FAILING.seeds)(), 1, failed)));
    }

    #[test]
    fn a_saved_input_is_read_back() {
        let folder = testkit::TempFolder::new();
        for bytes in [&b""[..], b"\0\xffa", &[7; 100]] {
            let path = save(folder.path(), "a", bytes).expect("written");
            assert_eq!(load(&std::fs::read_to_string(path).expect("read")).as_deref(), Some(bytes));
        }
        assert_eq!((load("0"), load("0g")), (None, None));
    }
}
