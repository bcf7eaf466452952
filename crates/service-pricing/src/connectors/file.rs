//! Reads ticks from files in the drop folder: CSV with a header line, JSON lines, or a JSON array.
//! Each file content is imported once, whatever the file's name, and the file is then moved aside.
//! A bad line is reported as a problem and the other lines are imported.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use data_encoding::HEXLOWER;
use fault::Fault;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use store::Db;

use crate::collector::tick::{self, TickDefaults};
use crate::connectors::{CollectedBatch, CollectionRequest, Connector, Problems, SourceStatus};
use crate::csv::Table;
use crate::storage::sources;

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 32 << 20;
const TICKS_MAX: usize = 100_000;
/// The most files that one collection lists.
const FILES_MAX: usize = 1_000;
/// The subfolder that imported files are moved to.
const IMPORTED_FOLDER: &str = "taken";
const KINDS: [&str; 4] = ["csv", "json", "jsonl", "ndjson"];

pub(crate) struct DropFolder {
    pub(crate) folder: PathBuf,
    pub(crate) db: Db,
}

#[async_trait]
impl Connector for DropFolder {
    fn name(&self) -> &'static str {
        "file"
    }

    fn kind(&self) -> &'static str {
        "file"
    }

    fn description(&self) -> &'static str {
        "Files of ticks dropped into pricing/drop in the data folder: CSV, JSON lines or JSON"
    }

    async fn status(&self) -> SourceStatus {
        let folder = self.folder.clone();
        match blocking(move || std::fs::read_dir(folder)).await {
            Ok(Ok(_)) => SourceStatus::Ready,
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
                SourceStatus::Idle("there is no folder pricing/drop in the data folder".to_owned())
            }
            Ok(Err(error)) => SourceStatus::Broken(format!("pricing/drop: {}", error.kind())),
            Err(fault) => SourceStatus::Broken(fault.message().to_owned()),
        }
    }

    /// The first `depth` files by name whose content was not imported before.
    async fn batch_keys(&self, request: &CollectionRequest) -> Result<Vec<String>, Fault> {
        let folder = self.folder.clone();
        let names = blocking(move || names(&folder)).await?.map_err(unreadable)?;
        let mut fresh = Vec::new();
        for name in names {
            if fresh.len() >= request.depth as usize {
                break;
            }
            let path = self.folder.join(&name);
            let is_new = match blocking(move || read(&path)).await? {
                Ok((hash, _)) => !sources::is_imported(&self.db, &hash).await?,
                // A file that cannot be read is reported when the collection reaches it.
                Err(_) => true,
            };
            if !is_new {
                self.mark_stored(&name).await;
            }
            if is_new {
                fresh.push(name);
            }
        }
        Ok(fresh)
    }

    async fn fetch_batch(
        &self,
        request: &CollectionRequest,
        batch_key: &str,
    ) -> Result<CollectedBatch, Fault> {
        let (path, name, market) =
            (self.folder.join(batch_key), batch_key.to_owned(), request.market.clone());
        let now = request.asked_at;
        blocking(move || {
            let mut batch = CollectedBatch::default();
            match read(&path) {
                Ok((hash, text)) => {
                    let defaults = TickDefaults { market: &market, source: "file", now };
                    take(&name, &text, defaults, &mut batch);
                    batch.file = Some((hash, name));
                }
                Err(why) => batch.problems.add(format!("{name}: {why}")),
            }
            batch
        })
        .await
    }

    /// Moves an imported file to the subfolder. A file that cannot be moved is still not imported
    /// again, because its content is recorded.
    async fn mark_stored(&self, batch_key: &str) {
        let (folder, name) = (self.folder.clone(), batch_key.to_owned());
        let moved = blocking(move || {
            let aside = folder.join(IMPORTED_FOLDER);
            std::fs::create_dir_all(&aside)?;
            std::fs::rename(folder.join(&name), aside.join(&name))
        });
        if !matches!(moved.await, Ok(Ok(()))) {
            tracing::warn!(
                file = batch_key,
                "a dropped file was imported and could not be moved to the subfolder"
            );
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work).await.map_err(Fault::internal)
}

fn unreadable(error: std::io::Error) -> Fault {
    let message = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no folder pricing/drop in the data folder",
        _ => "the folder pricing/drop cannot be read",
    };
    Fault::invalid("drop_folder", message).caused_by(error)
}

/// The names of the files with a known extension, sorted. Links are left out, because they may lead
/// out of the folder, and so are hidden files, which may still be written.
fn names(folder: &Path) -> Result<Vec<String>, std::io::Error> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = Path::new(&name).extension().and_then(|it| it.to_str()).unwrap_or_default();
        let known = KINDS.contains(&kind.to_ascii_lowercase().as_str());
        if known && !name.starts_with('.') && entry.file_type()?.is_file() {
            names.push(name);
        }
    }
    names.sort_unstable();
    names.truncate(FILES_MAX);
    Ok(names)
}

/// The hash of a file's content, and its text.
fn read(path: &Path) -> Result<(String, String), String> {
    use std::io::Read as _;
    let file = std::fs::File::open(path).map_err(|error| error.kind().to_string())?;
    let mut bytes = Vec::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.kind().to_string())?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("more than {} MiB", FILE_BYTES_MAX >> 20));
    }
    let hash = HEXLOWER.encode(&Sha256::digest(&bytes));
    let text = String::from_utf8(bytes).map_err(|_| "not text in UTF-8".to_owned())?;
    Ok((hash, text))
}

fn take(name: &str, text: &str, defaults: TickDefaults<'_>, batch: &mut CollectedBatch) {
    let keep = |line: usize,
                fields: Result<Map<String, Value>, String>,
                batch: &mut CollectedBatch| {
        let read = fields.and_then(|it| {
            let listed = |wrong: Vec<tick::FieldProblem>| {
                let each =
                    wrong.iter().map(|(field, expected)| format!("{field}: expected {expected}"));
                each.collect::<Vec<_>>().join("; ")
            };
            tick::parse(&it, defaults).map_err(listed)
        });
        match read {
            Ok(_) if batch.ticks.len() >= TICKS_MAX => {
                batch.problems.add(format!("{name} line {line}: more than {TICKS_MAX} ticks"));
            }
            Ok(tick) => batch.ticks.push(tick),
            Err(why) => batch.problems.add(format!("{name} line {line}: {why}")),
        }
    };
    if name.to_ascii_lowercase().ends_with(".csv") {
        let table = match Table::new(text) {
            Ok(table) => table,
            Err(bad) => {
                return batch.problems.add(format!("{name} line {}: {}", bad.line, bad.why));
            }
        };
        for row in table {
            match row {
                Ok(row) => {
                    let fields = row.fields.into_iter().map(|(name, text)| {
                        let value = typed(&name, text);
                        (name, value)
                    });
                    keep(row.line, Ok(fields.collect()), batch);
                }
                Err(bad) => keep(bad.line, Err(bad.why), batch),
            }
        }
        return;
    }
    if text.trim_start().starts_with('[') {
        match serde_json::from_str::<Vec<Value>>(text) {
            Ok(rows) => rows.into_iter().enumerate().for_each(|(at, row)| {
                keep(at + 1, object(row), batch);
            }),
            Err(error) => add_json(&mut batch.problems, name, &error),
        }
        return;
    }
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let row = serde_json::from_str::<Value>(line).map_err(|_| "not JSON".to_owned());
        keep(at + 1, row.and_then(object), batch);
    }
}

fn add_json(problems: &mut Problems, name: &str, error: &serde_json::Error) {
    problems.add(format!("{name} line {}: not JSON", error.line()));
}

fn object(row: Value) -> Result<Map<String, Value>, String> {
    match row {
        Value::Object(fields) => Ok(fields),
        _ => Err("not an object".to_owned()),
    }
}

/// The JSON value of a table's field by its name; a text that does not parse stays a string, which
/// the tick's own check refuses.
fn typed(name: &str, text: String) -> Value {
    let number = |text: &str| text.parse::<f64>().ok().map(Value::from);
    let typed = match name {
        "demand_index" | "units" => number(&text),
        "ts" => text.parse::<i64>().ok().map(Value::from),
        "in_stock" => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(Value::Bool(true)),
            "false" | "no" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        _ => None,
    };
    typed.unwrap_or(Value::String(text))
}

#[cfg(test)]
mod tests {
    use clock::Millis;

    use super::*;

    const NOW: Millis = Millis(1_800_000_000_000);

    #[track_caller]
    fn check(name: &str, text: &str, skus: &[&str], problems: &[&str]) {
        let mut batch = CollectedBatch::default();
        take(name, text, TickDefaults { market: "EU", source: "file", now: NOW }, &mut batch);
        let found: Vec<&str> = batch.ticks.iter().map(|tick| &*tick.sku).collect();
        assert_eq!(found, skus, "{text}: {:?}", batch.problems);
        assert_eq!(batch.problems.count, problems.len(), "{:?}", batch.problems);
        for (listed, part) in batch.problems.listed.iter().zip(problems) {
            assert!(listed.contains(part), "{listed}");
        }
    }

    #[test]
    fn files_of_each_format_are_read_and_bad_lines_reported() {
        let csv = "sku,our_price,competitor_price,in_stock,units,ts\nA,10.50,9.99,yes,3,1790000000000\n\
                   B,,1,,,\nC,5,4,maybe,,\nD,7,,,,2026-01-01T00:00:00Z\n";
        check("t.csv", csv, &["A", "D"], &["line 3: our_price", "line 4: in_stock"]);
        let lines =
            "{\"sku\":\"A\",\"our_price\":1}\n\n{\"sku\"\n[]\n{\"sku\":\"B\",\"our_price\":2}";
        check("t.jsonl", lines, &["A", "B"], &["line 3: not JSON", "line 4: not an object"]);
        check("t.json", "[{\"sku\":\"A\",\"our_price\":1},5]", &["A"], &["line 2"]);
        check("t.json", "[{\"sku\"", &[], &["not JSON"]);
        check("t.csv", "", &[], &["empty"]);
        check("t.csv", "sku,our_price\n", &[], &[]);
    }

    #[test]
    fn ticks_without_a_market_are_of_the_one_that_was_asked() {
        let mut batch = CollectedBatch::default();
        let defaults = TickDefaults { market: "EU", source: "file", now: NOW };
        take("t.csv", "sku,our_price,market\nA,1,\nB,1,US\n", defaults, &mut batch);
        let seen: Vec<(&str, &str)> =
            batch.ticks.iter().map(|it| (&*it.market, &*it.source)).collect();
        assert_eq!(seen, [("EU", "file"), ("US", "file")]);
    }
}
