//! Removes what a killed process left: partial files, contents without a record, and old upload
//! times.

use clock::Millis;
use fault::Fault;

use super::Documents;
use crate::quota::HOUR_MS;
use crate::sql;

/// Contents in one query.
const HASHES_PER_QUERY: usize = 500;

/// How many files were removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepReport {
    pub temporary: u64,
    pub blobs: u64,
}

impl Documents {
    /// Removes blobs without a record. Safe at any time and in several processes: writers lock their
    /// partial files, and a blob is removed as by [`Self::release`], which never races an upload.
    pub async fn sweep(&self) -> Result<SweepReport, Fault> {
        let temporary = self.blobs.delete_abandoned_uploads().await?;
        let mut swept = SweepReport { temporary, blobs: 0 };
        let past = Millis(self.clock.now().0.saturating_sub(HOUR_MS));
        self.db.execute(sql::delete_uploads_before(past)).await?;
        self.sweep_pending().await?;
        for first in 0..=u8::MAX {
            let found = self.blobs.hashes_with_first_byte(first).await?;
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            for some in found.chunks(HASHES_PER_QUERY) {
                let wanted = sql::with_record(&self.db, some).await?;
                for hash in some.iter().filter(|hash| !wanted.contains(*hash)) {
                    swept.blobs += u64::from(self.release(hash).await?);
                }
            }
        }
        if swept != SweepReport::default() {
            let SweepReport { temporary, blobs } = swept;
            tracing::info!(temporary, blobs, "removed files without a record");
        }
        Ok(swept)
    }
}
