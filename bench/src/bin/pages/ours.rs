//! Our store with the pages in it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use archive_accounts::Visibility;
use archive_documents::{ChunkAddress, Documents, PageRecord, UploadLimits, chunk_starts};
use archive_search::{FileFacts, FileIndex, FileToIndex, PageQuery, PageToIndex, Search};
use archive_text::Page;
use bench::outcome::Outcome;
use bench::search_cases::{OWNER, case_id, visibility};
use bench::search_corpus::Question;
use bench::search_peers::Times;
use clock::{Millis, SystemClock};
use store::{Db, StoreConfig, sql};

use crate::{MadeFile, files};

/// Files of one transaction while loading.
const BATCH: usize = 50;

pub(crate) struct Ours {
    db: Db,
    documents: Documents,
    search: Search,
    pub seconds: f64,
    pub bytes: u64,
}

impl Ours {
    pub(crate) async fn load(folder: &Path, count: usize) -> Outcome<Self> {
        let data = folder.join("data");
        let db = Db::open(&StoreConfig::sqlite(&data)).await?;
        db.migrate(&[archive_documents::MIGRATIONS, archive_search::MIGRATIONS]).await?;
        let clock = Arc::new(SystemClock);
        let documents = Documents::new(db.clone(), &data, clock, UploadLimits::default());
        let search = Search::new(db.clone());
        let mut ours = Self { db, documents, search, seconds: 0.0, bytes: 0 };
        let start = Instant::now();
        ours.fill(count).await?;
        ours.seconds = start.elapsed().as_secs_f64();
        for entry in std::fs::read_dir(&data)? {
            ours.bytes += entry?.metadata()?.len();
        }
        Ok(ours)
    }

    async fn fill(&self, count: usize) -> Outcome<()> {
        let mut files = files(count).enumerate().peekable();
        while files.peek().is_some() {
            let mut tx = self.db.begin().await?;
            let mut cases = BTreeSet::new();
            for (at, file) in files.by_ref().take(BATCH) {
                cases.insert(file.case);
                self.add(&mut tx, at, file).await?;
            }
            tx.commit().await?;
            for case in cases {
                self.search.merge(OWNER, Some(&case_id(case))).await?;
            }
        }
        self.db.truncate_wal().await?;
        Ok(())
    }

    /// The record is written directly, because an upload would also write a file to the disk.
    async fn add(&self, tx: &mut store::Tx, at: usize, file: MadeFile) -> Outcome<()> {
        let (id, case) = (format!("019300aa-0000-7000-8001-{at:012}"), case_id(file.case));
        let row = "INSERT INTO archive_files (id, owner, case_id, name, size, mime, hash, tags, \
                   uploaded_at, status, problems) VALUES ($1, $2, $3, 'brief.pdf', 1, \
                   'application/pdf', '', '[]', $4, 'processed', '[]')";
        let uploaded_at = i64::try_from(at)?;
        let row = sql(row).bind(&id).bind(OWNER).bind(&case).bind(uploaded_at);
        tx.execute(row).await?;
        let pages: Vec<PageRecord> = (1..)
            .zip(file.pages)
            .map(|(number, text)| PageRecord {
                page: Page { number, text },
                part: String::new(),
                part_page: number,
                ocr_confidence: None,
            })
            .collect();
        self.documents.replace_pages(tx, &id, &pages).await?;
        let entry = FileToIndex {
            id: &id,
            owner: OWNER,
            uploaded_at: Millis(uploaded_at),
            media_type: "application/pdf",
            tags: &[],
            record: "brief.pdf",
        };
        let index = FileIndex::build(
            &entry,
            &FileFacts::default(),
            pages.iter().map(|it| PageToIndex {
                page: it.page.number,
                chunk_starts: chunk_starts(&it.page.text),
                text: it.page.text.as_str().into(),
            }),
        );
        self.search.replace(tx, &id, OWNER, Some(&case), index).await?;
        Ok(())
    }

    /// The queries of the target: by relevance, within one case.
    pub(crate) async fn round(&self, questions: &[Question]) -> Outcome<Times> {
        let ask = |it: &Question| PageQuery {
            query: it.words.join(" "),
            case_id: Some(case_id(it.case)),
            limit: 20,
            ..PageQuery::default()
        };
        self.timed(questions.iter().map(ask)).await
    }

    async fn timed(&self, asks: impl Iterator<Item = PageQuery>) -> Outcome<Times> {
        let (visibility, mut hits, mut times) = (visibility(), 0, Vec::new());
        for ask in asks {
            let start = Instant::now();
            let (total, shown) = self.ask(&visibility, &ask).await?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
            if (shown == 0) != (total == 0) {
                return Err("the page and the total disagree".into());
            }
            hits += total;
        }
        Ok(Times::new(hits, times))
    }

    /// What the service does: hits, records, texts and snippets, from one snapshot.
    async fn ask(&self, visibility: &Visibility, ask: &PageQuery) -> Outcome<(u64, usize)> {
        let mut tx = self.db.snapshot().await?;
        let found = self.search.query(&mut tx, visibility, ask).await?;
        let ids: BTreeSet<String> = found.hits.iter().map(|it| it.file_id.clone()).collect();
        let ids: Vec<String> = ids.into_iter().collect();
        let records = self.documents.records(&mut tx, &ids).await?;
        let wanted = found.hits.iter().map(|it| ChunkAddress {
            file_id: it.file_id.clone(),
            page: it.page,
            chunk: it.first_chunk(),
        });
        let texts = self.documents.texts_at(&mut tx, &wanted.collect::<Vec<_>>()).await?;
        tx.commit().await?;
        let mut shown = 0;
        for hit in &found.hits {
            let is_page =
                |it: &&(String, PageRecord)| it.0 == hit.file_id && it.1.page.number == hit.page;
            let text = texts.iter().find(is_page).map_or("", |it| it.1.page.text.as_str());
            let snippet = hit.snippet(text);
            let is_known = records.iter().any(|it| it.id == hit.file_id);
            shown += usize::from(is_known && !snippet.highlights.is_empty());
        }
        if shown < found.hits.len() {
            return Err("a hit has no record or no match".into());
        }
        Ok((found.total, shown))
    }

    /// Figures without a target.
    #[expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]
    pub(crate) async fn print_others(&self, questions: &[Question]) -> Outcome<()> {
        println!("\n| other questions | hits | p50 ms | p99 ms | max ms |\n|---|-:|-:|-:|-:|");
        let few = &questions[..questions.len().min(100)];
        let of = |it: &Question, query: String, in_case: bool| PageQuery {
            query,
            case_id: in_case.then(|| case_id(it.case)),
            limit: 20,
            ..PageQuery::default()
        };
        let all = few.iter().map(|it| of(it, it.words.join(" "), false));
        self.timed(all).await?.print("two words in all 200 cases");
        let phrase = few.iter().map(|it| of(it, format!("\"{}\"", it.words.join(" ")), true));
        self.timed(phrase).await?.print("a phrase, one case");
        let open =
            few.iter().filter_map(|it| Some(of(it, format!("{}*", it.words[0].get(..4)?), true)));
        self.timed(open).await?.print("a prefix of four letters, one case");
        let similar = few.iter().filter(|it| it.words[0].len() >= 5);
        let similar = similar.map(|it| of(it, format!("{}~", it.words[0]), true));
        self.timed(similar).await?.print("a word and what differs in one letter, one case");
        Ok(())
    }
}
