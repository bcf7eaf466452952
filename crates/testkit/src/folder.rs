//! A temporary folder that is removed when it is dropped.

use std::path::Path;

pub struct TempFolder(tempfile::TempDir);

impl TempFolder {
    #[expect(clippy::new_without_default, reason = "making a folder is not a default")]
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("stoa-test-").tempdir();
        Self(folder.expect("a temporary folder"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
