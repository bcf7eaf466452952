//! The index on both engines.

use archive_accounts::CaseAccess;
use clock::Millis;
use store::Db;
use testkit::on_every_engine;

use crate::{
    DayRange, FileFacts, FileIndex, FileToIndex, MIGRATIONS, PageHits, PageQuery, PageToIndex,
    Search, Snippet, Visibility, record_text,
};

mod changes;
mod model;
mod queries;

/// A file with its pages.
#[derive(Debug, Clone)]
struct TestFile {
    id: String,
    owner: String,
    case_id: Option<String>,
    uploaded_at: i64,
    media_type: String,
    tags: Vec<String>,
    name: String,
    facts: FileFacts,
    pages: Vec<String>,
}

fn file(id: &str, owner: &str, case_id: Option<&str>, pages: &[&str]) -> TestFile {
    TestFile {
        id: id.to_owned(),
        owner: owner.to_owned(),
        case_id: case_id.map(str::to_owned),
        uploaded_at: 0,
        media_type: "text/plain".to_owned(),
        tags: Vec::new(),
        name: String::new(),
        facts: FileFacts::default(),
        pages: pages.iter().map(|it| (*it).to_owned()).collect(),
    }
}

/// Chunks of 16 characters, so that ordinary tests have pages of several.
fn chunk_starts(text: &str) -> Vec<usize> {
    text.char_indices().map(|it| it.0).step_by(16).skip(1).collect()
}

struct Fixture {
    db: Db,
    search: Search,
    files: Vec<TestFile>,
}

impl Fixture {
    async fn new(db: &Db) -> Self {
        db.migrate(&[MIGRATIONS]).await.unwrap();
        Self { db: db.clone(), search: Search::new(db.clone()), files: Vec::new() }
    }

    async fn put(&mut self, file: TestFile) {
        let record = record_text(&file.name, &file.tags, None);
        let entry = FileToIndex {
            id: &file.id,
            owner: &file.owner,
            uploaded_at: Millis(file.uploaded_at),
            media_type: &file.media_type,
            tags: &file.tags,
            record: &record,
        };
        let pages = (1..).zip(&file.pages).map(|(page, text)| PageToIndex {
            page,
            text: text.into(),
            chunk_starts: chunk_starts(text),
        });
        let index = FileIndex::build(&entry, &file.facts, pages);
        let mut tx = self.db.begin().await.unwrap();
        let case = file.case_id.as_deref();
        self.search.replace(&mut tx, &file.id, &file.owner, case, index).await.unwrap();
        tx.commit().await.unwrap();
        self.files.retain(|it| it.id != file.id);
        self.files.push(file);
    }

    async fn remove(&mut self, id: &str) {
        let mut tx = self.db.begin().await.unwrap();
        self.search.remove(&mut tx, id).await.unwrap();
        tx.commit().await.unwrap();
        self.files.retain(|it| it.id != id);
    }

    async fn query(&self, visibility: &Visibility, query: &PageQuery) -> PageHits {
        let mut tx = self.db.snapshot().await.unwrap();
        let found = self.search.query(&mut tx, visibility, query).await;
        let found = found.unwrap_or_else(|fault| panic!("{query:?}: {fault}"));
        tx.commit().await.unwrap();
        found
    }

    /// The stored text that a snippet is cut from.
    fn stored(&self, id: &str, page: u32, first_chunk: u32) -> String {
        let file = self.files.iter().find(|it| it.id == id).unwrap();
        if page == 0 {
            return record_text(&file.name, &file.tags, None);
        }
        let text = &file.pages[page as usize - 1];
        let starts = chunk_starts(text);
        let start = first_chunk.checked_sub(1).map_or(0, |at| starts[at as usize]);
        text[start..].to_owned()
    }

    fn snippets(&self, found: &PageHits) -> Vec<Snippet> {
        let cut = |hit: &crate::PageHit| {
            hit.snippet(&self.stored(&hit.file_id, hit.page, hit.first_chunk()))
        };
        found.hits.iter().map(cut).collect()
    }

    /// `file:page` of what a query finds, sorted.
    async fn found(&self, visibility: &Visibility, query: &str) -> Vec<String> {
        let found = self.query(visibility, &all(query)).await;
        assert_eq!(found.total, found.hits.len() as u64);
        let mut found: Vec<String> =
            found.hits.iter().map(|it| format!("{}:{}", it.file_id, it.page)).collect();
        found.sort();
        found
    }
}

fn all(query: &str) -> PageQuery {
    PageQuery { query: query.to_owned(), limit: 10_000, ..PageQuery::default() }
}

/// The visibility of an owner who sees their own files and these cases.
fn visibility(owner: &str, cases: &[&str]) -> Visibility {
    let case = |id: &&str| CaseAccess {
        id: (*id).to_owned(),
        name: format!("the case {id}"),
        own: true,
        may_write: true,
    };
    Visibility { owner: owner.to_owned(), cases: cases.iter().map(case).collect() }
}
