//! A folder of a test's own, removed with it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub struct TempFolder(PathBuf);

impl TempFolder {
    #[expect(clippy::new_without_default, reason = "making a folder is not a default")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("stoa-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // Left behind by a process that had the same number and was killed.
        std::fs::remove_dir_all(&path).ok();
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}
