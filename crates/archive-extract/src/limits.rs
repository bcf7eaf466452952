//! The limits of reading one file. Every loop over its data checks one of them.

use serde::{Deserialize, Serialize};

/// Limits for one file, its attachments included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadLimits {
    /// The file itself.
    pub bytes: u64,
    /// Everything decompressed or decoded on the way, together.
    pub unpacked_bytes: u64,
    /// One stream or archive entry after decompression.
    pub stream_bytes: u64,
    /// How many times larger than its packed form an archive entry may be.
    pub ratio: u64,
    /// All text together.
    pub text_bytes: u64,
    /// Pages, attachments' pages included.
    pub pages: u32,
    /// Pages given to OCR, which costs seconds each.
    pub ocr_pages: u32,
    /// Attachments at all levels together, and entries of one archive.
    pub entries: u32,
    /// Messages within messages.
    pub depth: u32,
    /// Wall-clock seconds for the whole file.
    pub seconds: u32,
    /// Processor seconds of the child process for the largest file and, separately, of each tool
    /// it starts. Smaller files have less: [`ReadLimits::cpu_seconds_for`].
    pub cpu_seconds: u32,
    /// Address space of the child process and, separately, of each tool it starts. What is used is
    /// far less: allocators reserve a gigabyte at a time.
    pub memory_bytes: u64,
}

/// Processor seconds for a file of any size, and for each of its megabytes.
const CPU_SECONDS_BASE: u64 = 60;
const CPU_SECONDS_PER_MB: u64 = 6;

impl ReadLimits {
    /// Processor seconds for a file of this size.
    #[must_use]
    pub fn cpu_seconds_for(&self, bytes: u64) -> u32 {
        let seconds = CPU_SECONDS_BASE + CPU_SECONDS_PER_MB * (bytes >> 20);
        self.cpu_seconds.min(u32::try_from(seconds).unwrap_or(u32::MAX))
    }
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            bytes: 100 << 20,
            unpacked_bytes: 1 << 30,
            stream_bytes: 256 << 20,
            ratio: 500,
            text_bytes: 256 << 20,
            pages: 10_000,
            ocr_pages: 500,
            entries: 2_000,
            depth: 5,
            seconds: 1_800,
            cpu_seconds: 600,
            memory_bytes: 2 << 30,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_grows_with_the_file_up_to_the_limit() {
        let limits = ReadLimits::default();
        let seconds = [0, 1 << 20, 50 << 20, 100 << 20].map(|it| limits.cpu_seconds_for(it));
        assert_eq!(seconds, [60, 66, 360, 600]);
    }
}
