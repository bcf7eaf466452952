//! The life of a file that is read, and its text.

use std::time::Duration;

use archive_text::Page;
use fault::Kind;
use proptest::prelude::*;
use testkit::on_every_engine;

use super::Fixture;
use crate::page::CHUNK_BYTES;
use crate::{ExtractionResult, FileRecord, FileStatus, PageRecord, PagesWritten};

fn page(number: u32, text: &str) -> PageRecord {
    let (part, part_page) = if number > 2 { ("a.eml/б.pdf", number - 2) } else { ("", number) };
    let ocr_confidence = (number == 2).then_some(0.875);
    let page = Page { number, text: text.to_owned() };
    PageRecord { page, part: part.to_owned(), part_page, ocr_confidence }
}

fn same(left: &[PageRecord], right: &[PageRecord]) {
    // Not assert_eq: a page may be megabytes.
    assert!(left == right, "{} pages are not the {} expected", left.len(), right.len());
}

async fn state(fixture: &Fixture, id: &str) -> (FileStatus, Option<String>, Option<String>) {
    let FileRecord { status, job_id, error, .. } = fixture.documents.find(id).await.unwrap();
    (status, job_id, error)
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_latest_job_says_how_reading_ended() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let documents = &fixture.documents;
        let id = fixture.upload("user:1", "a.txt", "hello").await.id;
        let mut tx = db.begin().await.unwrap();
        documents.begin_processing(&mut tx, &id, "job-1").await.unwrap();
        documents.begin_processing(&mut tx, &id, "job-2").await.unwrap();
        let late = documents.finish(&mut tx, &id, "job-1", &ExtractionResult::default()).await;
        let late = late.unwrap_err();
        assert_eq!((late.kind(), late.code()), (Kind::Conflict, "superseded"));
        assert!(!documents.fail(&mut tx, &id, "job-1", "no").await.unwrap());
        assert!(!documents.stop_processing(&mut tx, &id, "job-1").await.unwrap());
        tx.commit().await.unwrap();
        let job = Some("job-2".to_owned());
        assert_eq!(state(&fixture, &id).await, (FileStatus::Processing, job.clone(), None));

        let mut tx = db.begin().await.unwrap();
        assert!(documents.stop_processing(&mut tx, &id, "job-2").await.unwrap());
        assert!(documents.fail(&mut tx, &id, "job-2", "locked\0").await.unwrap());
        tx.commit().await.unwrap();
        let error = Some("locked".to_owned());
        assert_eq!(state(&fixture, &id).await, (FileStatus::Failed, job.clone(), error));

        let problems: Vec<String> = (1..=300).map(|it| format!("page {it} is damaged")).collect();
        let reading = ExtractionResult { page_count: 3, word_count: 7, problems };
        let mut tx = db.begin().await.unwrap();
        documents.begin_processing(&mut tx, &id, "job-3").await.unwrap();
        documents.finish(&mut tx, &id, "job-3", &reading).await.unwrap();
        documents.begin_processing(&mut tx, &id, "job-4").await.unwrap();
        assert!(documents.stop_processing(&mut tx, &id, "job-4").await.unwrap());
        documents.set_case(&mut tx, &id, Some("case-9")).await.unwrap();
        tx.commit().await.unwrap();
        let file = documents.find(&id).await.unwrap();
        assert_eq!((file.status, file.error), (FileStatus::Processed, None));
        assert_eq!((file.page_count, file.word_count), (Some(3), Some(7)));
        assert_eq!((file.problems.len(), file.problems[200].as_str()), (201, "and 100 more"));
        assert_eq!(file.case_id.as_deref(), Some("case-9"));
        assert_eq!(file.uploaded_at, super::NOW);

        fixture.delete(&id).await;
        let mut tx = db.begin().await.unwrap();
        let gone = [
            documents.begin_processing(&mut tx, &id, "job-5").await.err(),
            documents.finish(&mut tx, &id, "job-3", &reading).await.err(),
            documents.set_status(&mut tx, &id, FileStatus::Failed).await.err(),
            documents.set_case(&mut tx, &id, None).await.err(),
            documents.replace_pages(&mut tx, &id, [page(1, "late")]).await.err(),
            documents.delete(&mut tx, &id).await.err(),
        ];
        assert!(gone.iter().all(|it| it.as_ref().unwrap().code() == "file_not_found"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_replaced_together_and_read_in_pieces() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let documents = &fixture.documents;
        let id = fixture.upload("user:1", "a.txt", "hello").await.id;
        let other = fixture.upload("user:1", "b.txt", "other").await.id;
        let old: Vec<PageRecord> = (1..=500).map(|it| page(it, "старый текст")).collect();
        // Longer than one answer holds.
        let long = "слово € ".repeat(CHUNK_BYTES);
        let new = [page(1, &long), page(2, ""), page(3, "end\0.")];
        for (id, pages) in [(&other, &old[..1]), (&id, &old[..]), (&id, &new[..])] {
            let mut tx = db.begin().await.unwrap();
            let written = documents.replace_pages(&mut tx, id, pages).await.unwrap();
            tx.commit().await.unwrap();
            let bytes = pages.iter().map(|it| it.page.text.len() as u64).sum();
            assert_eq!(written, PagesWritten { pages: pages.len() as u64, bytes });
        }
        let mut expected = new.to_vec();
        expected[2].page.text = "end\u{fffd}.".to_owned();
        let all = documents.pages(&id, 1..=u32::MAX, usize::MAX).await.unwrap();
        same(&all.pages, &expected);
        assert_eq!(all.next, None);
        let first = documents.pages(&id, 0..=9, 1).await.unwrap();
        same(&first.pages, &expected[..1]);
        assert_eq!(first.next, Some(2));
        same(&documents.pages(&id, 2..=2, 1).await.unwrap().pages, &expected[1..2]);
        assert!(documents.pages(&id, 4..=9, 1).await.unwrap().pages.is_empty());
        assert_eq!(documents.pages(&other, 1..=9, 1).await.unwrap().pages, old[..1]);

        let (mut joined, mut after) = (Vec::new(), None);
        loop {
            let chunks = documents.chunks(&id, after).await.unwrap();
            let Some(last) = chunks.last() else { break };
            after = Some((last.page, last.chunk));
            assert!(chunks.iter().map(|it| it.text.len()).sum::<usize>() <= 4 << 20);
            chunks.into_iter().for_each(|it| crate::page::join(&mut joined, it));
        }
        same(&joined, &expected);

        fixture.delete(&id).await;
        assert!(documents.chunks(&id, None).await.unwrap().is_empty());
        assert_eq!(documents.chunks(&other, None).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn runs_of_pages_make_the_whole() {
    let folder = testkit::TempFolder::new();
    let config = store::StoreConfig::sqlite(folder.path());
    let db = store::Db::open(&config).await.unwrap();
    let fixture = Fixture::new(&db).await;
    let id = fixture.upload("user:1", "a.txt", "hello").await.id;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let texts = prop::collection::vec("[aж ]{0,400}", 150).new_tree(&mut runner).unwrap();
    let texts = proptest::strategy::ValueTree::current(&texts);
    let pages: Vec<PageRecord> = (1..).zip(&texts).map(|(at, text)| page(at, text)).collect();
    let mut tx = db.begin().await.unwrap();
    fixture.documents.replace_pages(&mut tx, &id, pages.clone()).await.unwrap();
    tx.commit().await.unwrap();
    for bytes_max in [0, 1, 1_000, 20_000, usize::MAX] {
        let (mut read, mut next) = (Vec::new(), Some(1));
        while let Some(from) = next {
            let run = fixture.documents.pages(&id, from..=u32::MAX, bytes_max).await.unwrap();
            let before: usize = run.pages.iter().rev().skip(1).map(|it| it.page.text.len()).sum();
            assert!(before <= bytes_max);
            read.extend(run.pages);
            next = run.next;
        }
        same(&read, &pages);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn traces_of_a_file_are_reported_once_and_only_while_it_exists() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let (one, two) = (
            fixture.upload("user:1", "a.txt", "one").await.id,
            fixture.upload("user:1", "b.txt", "two").await.id,
        );
        let mut tx = db.begin().await.unwrap();
        fixture.documents.link_quoting_job(&mut tx, &one, "old").await.unwrap();
        fixture.clock.advance(Duration::from_hours(24 * 46));
        for (file, job) in [(&one, "test"), (&one, "other"), (&two, "test")] {
            fixture.documents.link_quoting_job(&mut tx, file, job).await.unwrap();
        }
        tx.commit().await.unwrap();
        let mut tx = db.begin().await.unwrap();
        let mut told = fixture.documents.take_quoting_jobs(&mut tx, &one).await.unwrap();
        told.sort();
        assert_eq!(told, ["other", "test"]);
        assert!(fixture.documents.take_quoting_jobs(&mut tx, &one).await.unwrap().is_empty());
        assert_eq!(fixture.documents.take_quoting_jobs(&mut tx, &two).await.unwrap(), ["test"]);
        fixture.documents.delete(&mut tx, &two).await.unwrap();
        let refused = fixture.documents.link_quoting_job(&mut tx, &two, "late").await.unwrap_err();
        assert_eq!(refused.code(), "file_not_found");
    })
    .await;
}
