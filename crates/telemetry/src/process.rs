//! Memory, threads, processor time and open files of this process, read from `/proc` at each scrape.
//! Reports nothing on systems other than Linux.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

/// Linux reports processor time in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

#[derive(Debug)]
pub(crate) struct ProcessCollector;

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        if let Some(kib) = status_number(&status, "VmRSS:") {
            let gauge = ConstGauge::new(kib.saturating_mul(1024));
            let about = "Memory held in RAM";
            let name = "process_resident_memory";
            let kind = gauge.metric_type();
            gauge.encode(encoder.encode_descriptor(name, about, Some(&Unit::Bytes), kind)?)?;
        }
        if let Some(threads) = status_number(&status, "Threads:") {
            let gauge = ConstGauge::new(threads);
            let kind = gauge.metric_type();
            gauge.encode(encoder.encode_descriptor("process_threads", "Threads", None, kind)?)?;
        }
        if let Some(seconds) =
            fs::read_to_string("/proc/self/stat").ok().and_then(|it| cpu_seconds(&it))
        {
            let counter = ConstCounter::new(seconds);
            let about = "Processor time spent, in user and kernel mode";
            let kind = counter.metric_type();
            let unit = Some(&Unit::Seconds);
            counter.encode(encoder.encode_descriptor("process_cpu", about, unit, kind)?)?;
        }
        if let Ok(entries) = fs::read_dir("/proc/self/fd") {
            // Without the descriptor that lists the folder.
            let open = i64::try_from(entries.count()).unwrap_or(i64::MAX).saturating_sub(1);
            let gauge = ConstGauge::new(open);
            let about = "Open file descriptors";
            let kind = gauge.metric_type();
            gauge.encode(encoder.encode_descriptor("process_open_fds", about, None, kind)?)?;
        }
        Ok(())
    }
}

/// The first number after a label of `/proc/self/status`, such as `VmRSS:    9216 kB`.
fn status_number(status: &str, label: &str) -> Option<i64> {
    let line = status.lines().find_map(|line| line.strip_prefix(label))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Fields 14 and 15 of `/proc/self/stat`. The second field is the program name in parentheses, which
/// may hold blanks and parentheses itself.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let kernel: u32 = fields.next()?.parse().ok()?;
    Some((f64::from(user) + f64::from(kernel)) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_parsed() {
        let status = "Name:\tstoa\nVmRSS:\t    9216 kB\nThreads:\t4\n";
        assert_eq!(status_number(status, "VmRSS:"), Some(9216));
        assert_eq!(status_number(status, "Threads:"), Some(4));
        assert_eq!(status_number(status, "VmSwap:"), None);
        let stat = "42 (a) b (c)) S 1 42 42 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1 0 5";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(cpu_seconds("42 (a) S 1"), None);
        assert_eq!(cpu_seconds(""), None);
    }
}
