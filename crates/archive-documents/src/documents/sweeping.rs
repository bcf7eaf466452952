//! What is left over when a process dies: parts of files, contents without a record, and the times
//! of uploads that no longer count.

use clock::Millis;
use fault::Fault;

use super::Documents;
use crate::quota::HOUR_MS;
use crate::sql;

/// Contents that are looked up at once.
const LOOK: usize = 500;

/// How many files were removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepReport {
    pub temporary: u64,
    pub blobs: u64,
}

impl Documents {
    /// Removes what nobody has a record of. It may run at any time and in several processes: files
    /// that are being written are locked by their writers, and a content is removed as
    /// [`Self::release`] does it, which an upload under way is safe from however old it is.
    pub async fn sweep(&self) -> Result<SweepReport, Fault> {
        let temporary = self.blobs.delete_abandoned_uploads().await?;
        let mut swept = SweepReport { temporary, blobs: 0 };
        let past = Millis(self.clock.now().0.saturating_sub(HOUR_MS));
        self.db.execute(sql::forget_sent(past)).await?;
        for first in 0..=u8::MAX {
            let found = self.blobs.hashes_with_first_byte(first).await?;
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            for some in found.chunks(LOOK) {
                let wanted = sql::wanted(&self.db, some).await?;
                for hash in some.iter().filter(|hash| !wanted.contains(*hash)) {
                    swept.blobs += u64::from(self.release(hash).await?);
                }
            }
        }
        if swept != SweepReport::default() {
            let SweepReport { temporary, blobs } = swept;
            tracing::info!(temporary, blobs, "removed files that nobody has a record of");
        }
        Ok(swept)
    }
}
