//! Kills a process while it stores and deletes files. Every acknowledged file is complete, and after
//! a sweep nothing else is on the disk. The killed process is this program with the argument `child`.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test fails by panicking, and its child reports on stdout"
)]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;

use archive_accounts::Visibility;
use archive_documents::{
    Documents, FileFilter, FileRecord, MIGRATIONS, UploadLimits, UploadMetadata,
};
use clock::SystemClock;
use libtest_mimic::{Arguments, Trial};
use store::{Db, StoreConfig};
use testkit::{TempFolder, postgres};
use tokio::task::JoinSet;

const CHILD: &str = "child";
const DATA: &str = "STOA_TEST_DOCUMENTS_DATA";
const URL: &str = "STOA_TEST_DOCUMENTS_URL";
const ROUND: &str = "STOA_TEST_DOCUMENTS_ROUND";
const KEPT: &str = "kept ";
const DELETING: &str = "deleting ";
const OWNER: &str = "user:1";

async fn open(config: &StoreConfig) -> (Db, Documents) {
    let db = Db::open(config).await.unwrap();
    db.migrate(&[MIGRATIONS]).await.unwrap();
    let many = 1_000_000;
    let rules = UploadLimits {
        uploads_per_minute: many,
        uploads_per_hour: many,
        ..UploadLimits::default()
    };
    (db.clone(), Documents::new(db, &config.data_dir, Arc::new(SystemClock), rules))
}

/// The content that belongs to a file name; the same number gives the same content.
fn content(name: &str) -> String {
    let number = name.strip_suffix(".txt").unwrap().rsplit_once('-').unwrap().1;
    let number: usize = number.parse().unwrap();
    format!("line {number}\n").repeat(1 + number % 7 * 20_000)
}

/// Stores two files in one transaction, one of them with content that other tasks share, and
/// deletes one of the two.
async fn send(db: &Db, documents: &Documents, task: &str, number: usize) {
    let names = [format!("{task}-{number}.txt"), format!("{task} shared-{}.txt", number % 3)];
    let mut receipts = Vec::new();
    for name in &names {
        let mut receiver = documents.begin(OWNER, name).await.unwrap();
        for chunk in content(name).as_bytes().chunks(50_000) {
            receiver.write(chunk).await.unwrap();
        }
        receipts.push(receiver.finish().await.unwrap());
    }
    let mut tx = db.begin().await.unwrap();
    let kept = documents.store(&mut tx, OWNER, &UploadMetadata::default(), receipts).await.unwrap();
    tx.commit().await.unwrap();
    for it in &kept {
        println!("\n{KEPT}{}", it.file.id);
    }
    let FileRecord { id, hash, .. } = &kept[number % 2].file;
    println!("\n{DELETING}{id}");
    let mut tx = db.begin().await.unwrap();
    documents.delete(&mut tx, id).await.unwrap();
    tx.commit().await.unwrap();
    documents.release(hash).await.unwrap();
}

/// The process that is killed. The parent passes the data folder and the database.
async fn child() {
    let data = std::env::var(DATA).unwrap();
    let round = std::env::var(ROUND).unwrap();
    let config = StoreConfig { data_dir: data.into(), url: std::env::var(URL).ok() };
    let (db, documents) = open(&config).await;
    let mut tasks = JoinSet::new();
    for task in 0..3 {
        let (db, documents, round) = (db.clone(), documents.clone(), round.clone());
        tasks.spawn(async move {
            for number in task * 1_000.. {
                send(&db, &documents, &format!("{round}.{task}"), number).await;
            }
        });
    }
    tasks.join_all().await;
}

/// Kills the child on drop, also when the test fails.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn start_child(config: &StoreConfig, round: usize) -> KillOnDrop {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(CHILD).env(DATA, &config.data_dir);
    command.env(ROUND, round.to_string());
    if let Some(url) = &config.url {
        command.env(URL, url);
    }
    KillOnDrop(command.stdout(Stdio::piped()).spawn().unwrap())
}

fn names_below(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(names_below(&path));
        } else {
            names.insert(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    names
}

async fn kill_repeatedly(config: StoreConfig) {
    let (_, documents) = open(&config).await;
    let (mut kept, mut deleting) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..5 {
        let mut child = start_child(&config, round);
        let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
        let enough = kept.len() + 3 + round * 5;
        while kept.len() < enough {
            let line = lines.next().unwrap().unwrap();
            kept.extend(line.strip_prefix(KEPT).map(str::to_owned));
            deleting.extend(line.strip_prefix(DELETING).map(str::to_owned));
        }
        drop(child);
        // Lines the child wrote after the last one that was read count too.
        for line in lines.map_while(Result::ok) {
            kept.extend(line.strip_prefix(KEPT).map(str::to_owned));
            deleting.extend(line.strip_prefix(DELETING).map(str::to_owned));
        }
        documents.sweep().await.unwrap();
        check(&documents, &config, &kept, &deleting).await;
    }
}

async fn check(
    documents: &Documents,
    config: &StoreConfig,
    kept: &BTreeSet<String>,
    deleting: &BTreeSet<String>,
) {
    let visibility = Visibility { owner: OWNER.to_owned(), cases: Vec::new() };
    let (files, _) = documents.list(&visibility, &FileFilter::default(), 100_000, 0).await.unwrap();
    for file in &files {
        let bytes = std::fs::read(documents.path(file).unwrap()).unwrap();
        assert!(bytes == content(&file.name).as_bytes(), "{} is not what was sent", file.name);
    }
    let there: BTreeSet<String> = files.iter().map(|it| it.id.clone()).collect();
    let lost: Vec<_> = kept.iter().filter(|id| !there.contains(*id)).collect();
    assert!(lost.iter().all(|id| deleting.contains(*id)), "{lost:?} were acknowledged");
    let hashes: BTreeSet<String> = files.into_iter().map(|it| it.hash).collect();
    assert_eq!(names_below(&config.data_dir.join("files")), hashes);
}

async fn acknowledged_files_survive_a_kill_and_nothing_else_does() {
    let folder = TempFolder::new();
    kill_repeatedly(StoreConfig::sqlite(folder.path())).await;
    if let Some(url) = postgres::database() {
        let folder = TempFolder::new();
        let data_dir = folder.path().to_owned();
        kill_repeatedly(StoreConfig { data_dir, url: Some(url) }).await;
    }
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if std::env::args().nth(1).as_deref() == Some(CHILD) {
        runtime.block_on(child());
        return ExitCode::SUCCESS;
    }
    let trial = Trial::test("acknowledged_files_survive_a_kill_and_nothing_else_does", move || {
        runtime.block_on(acknowledged_files_survive_a_kill_and_nothing_else_does());
        Ok(())
    });
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}
