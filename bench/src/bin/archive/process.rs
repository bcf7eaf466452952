//! Reads the system's figures of a process and its descendants.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::Outcome;

/// Linux counts processor time for user space in hundredths of a second on every architecture.
const TICKS_PER_SECOND: f64 = 100.0;
/// How often memory is sampled: short enough to see a child that lives briefly, and cheap.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(10);

/// Processor time of a process and of the children it has waited for, in seconds.
pub(crate) fn cpu(of: &str) -> Outcome<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{of}/stat"))?;
    let ticks = fields(&stat).skip(11).take(4).map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? / TICKS_PER_SECOND)
}

/// The fields after the name, which is in brackets because it may hold anything.
fn fields(stat: &str) -> impl Iterator<Item = &str> {
    stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace()
}

/// `VmRSS` is the current memory of a process, `VmHWM` its peak; in megabytes.
pub(crate) fn memory(id: u32, line: &str) -> Outcome<f64> {
    Ok(status(id, line)? / 1024.0)
}

fn status(id: u32, line: &str) -> Outcome<f64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|it| it.strip_prefix(line)?.strip_prefix(':'));
    let number = line.and_then(|it| it.split_whitespace().next());
    Ok(number.ok_or("no such line in status")?.parse()?)
}

/// Resets `VmHWM` to the current memory of the process.
pub(crate) fn forget_peak(id: u32) -> Outcome<()> {
    Ok(std::fs::write(format!("/proc/{id}/clear_refs"), "5")?)
}

pub(crate) fn load_average() -> Outcome<String> {
    let all = std::fs::read_to_string("/proc/loadavg")?;
    Ok(all.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
}

/// The peak memory, in megabytes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Peak {
    /// Of the process itself, exact.
    pub(crate) own: f64,
    /// Of its largest descendant, and of all descendants together, by sampling.
    pub(crate) child: f64,
    pub(crate) together: f64,
    /// Threads of the process itself.
    pub(crate) threads: f64,
}

/// Samples a process while `work` runs.
pub(crate) fn watched<T>(id: u32, work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, Peak)> {
    forget_peak(id)?;
    let over = AtomicBool::new(false);
    let (done, mut peak) = thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut peak = Peak::default();
            while !over.load(Ordering::Relaxed) {
                sample(id, &mut peak);
                thread::sleep(SAMPLE_INTERVAL);
            }
            peak
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        (done, watching.join().unwrap_or_default())
    });
    peak.own = memory(id, "VmHWM")?;
    Ok((done?, peak))
}

/// Takes one sample. A process may end while it is read, so a failed read is not an error.
fn sample(id: u32, peak: &mut Peak) {
    let mut together = memory(id, "VmRSS").unwrap_or_default();
    peak.threads = peak.threads.max(status(id, "Threads").unwrap_or_default());
    for child in descendants(id) {
        peak.child = peak.child.max(memory(child, "VmHWM").unwrap_or_default());
        together += memory(child, "VmRSS").unwrap_or_default();
    }
    peak.together = peak.together.max(together);
}

/// Every process that descends from this one.
fn descendants(id: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> = numbers
        .filter_map(|it| {
            let stat = std::fs::read_to_string(format!("/proc/{it}/stat")).ok()?;
            Some((it, fields(&stat).nth(1)?.parse().ok()?))
        })
        .collect();
    let mut found = vec![id];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(parents.iter().filter(|(_, it)| *it == parent).map(|(it, _)| *it));
        at += 1;
    }
    found.split_off(1)
}
