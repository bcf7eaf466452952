//! References to the streams, uploads and downloads of a catalog. A transport finds each once, when
//! it builds its routes, and hands the reference to the pipeline with every request.

use std::sync::Arc;

use crate::table::{DownloadRow, Service, StreamRow, UploadRow};

/// A stream that was looked up once.
pub type StreamRef = RowRef<StreamRow>;
/// An upload that was looked up once.
pub type UploadRef = RowRef<UploadRow>;
/// A download that was looked up once.
pub type DownloadRef = RowRef<DownloadRow>;

/// A row of a service, with the service.
pub struct RowRef<R> {
    service: Arc<Service>,
    rows: fn(&Service) -> &[R],
    /// In range: only the catalog creates references, and a shared service keeps its rows.
    row: usize,
}

impl<R> RowRef<R> {
    /// References to all rows that `rows` returns.
    pub(crate) fn all_of(
        service: &Arc<Service>,
        rows: fn(&Service) -> &[R],
    ) -> impl Iterator<Item = Self> {
        let of = move |row| Self { service: Arc::clone(service), rows, row };
        (0..rows(service).len()).map(of)
    }

    /// The service of the row.
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// The contract's part and the handler.
    pub fn row(&self) -> &R {
        &(self.rows)(&self.service)[self.row]
    }
}

impl<R> Clone for RowRef<R> {
    fn clone(&self) -> Self {
        Self { service: Arc::clone(&self.service), rows: self.rows, row: self.row }
    }
}
