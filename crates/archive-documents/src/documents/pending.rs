//! Uploads that arrive in pieces or later: opened by one call, filled by others, and closed by the
//! transaction that stores their file. Pieces are rows, so they survive a crash.

use clock::Millis;
use fault::{Fault, Kind};
use store::{SqlRow, Tx, sql};

use super::Documents;
use crate::receive::megabytes;
use crate::sql as statements;
use crate::{kind, name};

/// Open uploads of one owner, and their bytes together.
const OPEN_MAX: u64 = 16;
const OPEN_BYTES_MAX: u64 = 128 << 20;
/// How long a closed upload says which file it became.
const CLOSED_LIFE_MS: i64 = 3_600_000;

/// An upload before it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPendingUpload<'a> {
    pub owner: &'a str,
    pub file_name: &'a str,
    /// What the service wants to know when the file is complete.
    pub about: &'a str,
    pub expires_at: Millis,
}

/// An upload whose file is not complete, or was completed lately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingUpload {
    pub id: String,
    pub owner: String,
    pub file_name: String,
    pub about: String,
    pub received: u64,
    /// The file it became.
    pub file_id: Option<String>,
    pub expires_at: Millis,
}

/// Some bytes of a file, from this position on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UploadPiece<'a> {
    pub at: u64,
    pub bytes: &'a [u8],
    /// When the upload expires unless another piece comes.
    pub expires_at: Millis,
}

const COLUMNS: &str = "id, owner, name, about, received, file_id, expires_at";

fn upload(row: &SqlRow) -> Result<PendingUpload, Fault> {
    Ok(PendingUpload {
        id: row.text(0)?,
        owner: row.text(1)?,
        file_name: row.text(2)?,
        about: row.text(3)?,
        received: row.count(4)?,
        file_id: row.text_or_null(5)?,
        expires_at: Millis(row.int(6)?),
    })
}

impl Documents {
    /// Opens an upload. It is not counted here; see [`Documents::count_upload`].
    pub async fn open_upload(&self, new: NewPendingUpload<'_>) -> Result<PendingUpload, Fault> {
        let now = self.clock.now();
        let file_name = name::clean_file_name(new.file_name)?;
        kind::check_name(&file_name)?;
        let mut tx = self.db.begin().await?;
        statements::lock(&self.db, &mut tx, "owner", new.owner).await?;
        delete_expired(&mut tx, now).await?;
        let count = "SELECT COUNT(*) FROM archive_pending_uploads \
                     WHERE owner = $1 AND file_id IS NULL";
        let open = tx.fetch_optional(sql(count).bind(new.owner)).await?;
        if open.map_or(Ok(0), |row| row.count(0))? >= OPEN_MAX {
            let message = format!("{OPEN_MAX} uploads of yours are open; finish one of them first");
            return Err(Fault::new(Kind::RateLimited, "too_many_uploads", message));
        }
        let upload = PendingUpload {
            id: self.ids.next(now),
            owner: new.owner.to_owned(),
            file_name,
            about: new.about.to_owned(),
            received: 0,
            file_id: None,
            expires_at: new.expires_at,
        };
        let insert = "INSERT INTO archive_pending_uploads \
                      (id, owner, name, about, received, expires_at) VALUES ($1, $2, $3, $4, 0, $5)";
        let insert = sql(insert).bind(&upload.id).bind(&upload.owner).bind(&upload.file_name);
        tx.execute(insert.bind(&upload.about).bind(upload.expires_at.0)).await?;
        tx.commit().await?;
        Ok(upload)
    }

    /// An upload of this owner that has not expired.
    pub async fn pending_upload(&self, owner: &str, id: &str) -> Result<PendingUpload, Fault> {
        let select = store::sql_built(format!(
            "SELECT {COLUMNS} FROM archive_pending_uploads \
             WHERE id = $1 AND owner = $2 AND expires_at > $3"
        ));
        let select = select.bind(id).bind(owner).bind(self.clock.now().0);
        let found = self.db.fetch_optional(select).await?;
        found.as_ref().map(upload).transpose()?.ok_or_else(|| unknown_upload(id))
    }

    /// Stores a piece and returns how many bytes there are now. A piece must begin where the last
    /// one ended; one that is there already is not stored again, so a call may be repeated.
    pub async fn add_piece(
        &self,
        open: &PendingUpload,
        piece: UploadPiece<'_>,
    ) -> Result<u64, Fault> {
        let mut tx = self.db.begin().await?;
        statements::lock(&self.db, &mut tx, "owner", &open.owner).await?;
        let received = "SELECT received FROM archive_pending_uploads \
                        WHERE id = $1 AND file_id IS NULL";
        let row = tx.fetch_optional(sql(received).bind(&open.id)).await?;
        let received = row.ok_or_else(|| unknown_upload(&open.id))?.count(0)?;
        let end = piece.at.saturating_add(piece.bytes.len() as u64);
        if piece.at < received && end <= received {
            return self.repeated(&mut tx, open, piece, received).await;
        }
        if piece.at != received {
            return Err(wrong_offset(received));
        }
        self.check_piece(&mut tx, open, (received, end)).await?;
        let insert = "INSERT INTO archive_upload_pieces (upload_id, position, bytes) \
                      VALUES ($1, $2, $3)";
        let insert = sql(insert).bind(&open.id).bind(whole(piece.at));
        tx.execute(insert.bind(piece.bytes.to_vec())).await?;
        let update = "UPDATE archive_pending_uploads SET received = $2, expires_at = $3 \
                      WHERE id = $1";
        let update = sql(update).bind(&open.id).bind(whole(end)).bind(piece.expires_at.0);
        tx.execute(update).await?;
        tx.commit().await?;
        Ok(end)
    }

    /// A piece that is there already: the same bytes are accepted, others are not.
    async fn repeated(
        &self,
        tx: &mut Tx,
        open: &PendingUpload,
        piece: UploadPiece<'_>,
        received: u64,
    ) -> Result<u64, Fault> {
        let select =
            "SELECT bytes FROM archive_upload_pieces WHERE upload_id = $1 AND position = $2";
        let row = tx.fetch_optional(sql(select).bind(&open.id).bind(whole(piece.at))).await?;
        match row.map(|row| row.bytes(0)).transpose()? {
            Some(stored) if stored == piece.bytes => Ok(received),
            _ => Err(wrong_offset(received)),
        }
    }

    async fn check_piece(
        &self,
        tx: &mut Tx,
        open: &PendingUpload,
        (received, end): (u64, u64),
    ) -> Result<(), Fault> {
        if end > self.rules.file_bytes {
            let (name, limit) = (&open.file_name, megabytes(self.rules.file_bytes));
            let message =
                format!("the file {name:?} is larger than {limit} (archive_file_bytes_max)");
            return Err(Fault::invalid("file_too_large", message));
        }
        let sum = "SELECT CAST(COALESCE(SUM(received), 0) AS BIGINT) \
                   FROM archive_pending_uploads WHERE owner = $1 AND file_id IS NULL";
        let all = tx.fetch_optional(sql(sum).bind(&open.owner)).await?;
        let all = all.map_or(Ok(0), |row| row.count(0))?;
        if all.saturating_add(end - received) > OPEN_BYTES_MAX {
            let limit = megabytes(OPEN_BYTES_MAX);
            let message = format!("your open uploads have {limit} together; finish one of them");
            return Err(Fault::new(Kind::RateLimited, "too_many_uploads", message));
        }
        Ok(())
    }

    /// The bytes of the piece that begins at this position; `None` at the end.
    pub async fn piece(&self, open: &PendingUpload, at: u64) -> Result<Option<Vec<u8>>, Fault> {
        let select =
            "SELECT bytes FROM archive_upload_pieces WHERE upload_id = $1 AND position = $2";
        let row = self.db.fetch_optional(sql(select).bind(&open.id).bind(whole(at))).await?;
        row.map(|row| row.bytes(0)).transpose()
    }

    /// Records which file an open upload became and removes its pieces. A fault if it was closed
    /// before, by another call.
    pub async fn close_upload(
        &self,
        tx: &mut Tx,
        open: &PendingUpload,
        file_id: &str,
    ) -> Result<(), Fault> {
        let until = self.clock.now().0.saturating_add(CLOSED_LIFE_MS);
        let update = "UPDATE archive_pending_uploads SET file_id = $2, expires_at = $3 \
                      WHERE id = $1 AND file_id IS NULL";
        if tx.execute(sql(update).bind(&open.id).bind(file_id).bind(until)).await? == 0 {
            return Err(unknown_upload(&open.id));
        }
        let delete = "DELETE FROM archive_upload_pieces WHERE upload_id = $1";
        tx.execute(sql(delete).bind(&open.id)).await.map(drop)
    }

    /// Deletes expired uploads of all owners.
    pub(super) async fn sweep_pending(&self) -> Result<(), Fault> {
        let mut tx = self.db.begin().await?;
        delete_expired(&mut tx, self.clock.now()).await?;
        tx.commit().await
    }
}

async fn delete_expired(tx: &mut Tx, now: Millis) -> Result<(), Fault> {
    let pieces = "DELETE FROM archive_upload_pieces WHERE upload_id IN \
                  (SELECT id FROM archive_pending_uploads WHERE expires_at <= $1)";
    tx.execute(sql(pieces).bind(now.0)).await?;
    let uploads = "DELETE FROM archive_pending_uploads WHERE expires_at <= $1";
    tx.execute(sql(uploads).bind(now.0)).await.map(drop)
}

/// Forgets which upload a deleted file came from, because the upload has its name.
pub(super) async fn forget_file(tx: &mut Tx, file_id: &str) -> Result<(), Fault> {
    let delete = "DELETE FROM archive_pending_uploads WHERE file_id = $1";
    tx.execute(sql(delete).bind(file_id)).await.map(drop)
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn unknown_upload(id: &str) -> Fault {
    let shown: String = id.chars().take(64).collect();
    let message = format!("there is no open upload {shown:?}; it was used, or has expired");
    Fault::not_found("upload_not_found", message).problem("uploadId", "that of an open upload")
}

fn wrong_offset(received: u64) -> Fault {
    let message = format!("the next piece begins at {received}, the number of bytes received");
    Fault::invalid("wrong_offset", message).problem("offset", received.to_string())
}
