//! Lists: the files a user sees, newest first, page by page.

use clock::Millis;
use proptest::prelude::*;
use store::{Db, StoreConfig};
use testkit::{TempFolder, on_every_engine};

use super::{Fixture, visibility};
use crate::{FileFilter, FileRecord, FileStatus, sql};

fn records() -> impl Strategy<Value = FileRecord> {
    let words = (
        "user:[12]",
        prop::option::of("case-[123]"),
        any::<String>().prop_map(|it| it.replace('\0', "")),
        prop::collection::vec("[^\0]{0,6}", 0..4),
        prop::option::of("[^\0]{0,9}"),
    );
    let state = (
        prop::sample::select(FileStatus::ALL.to_vec()),
        prop::option::of("[a-z]{1,4}"),
        prop::option::of("[^\0]{0,9}"),
        prop::option::of(0_u64..1 << 40),
        prop::collection::vec("[^\0]{0,9}", 0..3),
    );
    let numbers = (0_u64..1 << 40, any::<i64>(), "[0-9a-f]{64}");
    (words, state, numbers).prop_map(|(words, state, numbers)| FileRecord {
        id: String::new(),
        owner: words.0,
        case_id: words.1,
        name: words.2,
        size: numbers.0,
        mime: "text/plain".to_owned(),
        hash: numbers.2,
        tags: words.3,
        description: words.4,
        uploaded_at: Millis(numbers.1),
        status: state.0,
        job_id: state.1,
        error: state.2,
        page_count: state.3,
        word_count: state.3.map(|it| it * 300),
        problems: state.4,
    })
}

async fn insert(db: &Db, files: &mut [FileRecord]) {
    let mut tx = db.begin().await.unwrap();
    for (number, file) in files.iter_mut().enumerate() {
        file.id = format!("{number:08}");
        sql::insert(&mut tx, file).await.unwrap();
    }
    tx.commit().await.unwrap();
}

async fn check(
    fixture: &Fixture,
    files: &[FileRecord],
    cases: &[&str],
    filter: &FileFilter,
    limit: u32,
) {
    let visibility = visibility("user:1", cases);
    let mut expected: Vec<&FileRecord> = files
        .iter()
        .filter(|it| visibility.sees(&it.owner, it.case_id.as_deref()))
        .filter(|it| filter.case_id.is_none() || filter.case_id == it.case_id)
        .filter(|it| filter.status.is_none_or(|status| status == it.status))
        .filter(|it| filter.hash.as_ref().is_none_or(|hash| *hash == it.hash))
        .collect();
    expected.reverse();
    let (mut found, mut offset) = (Vec::new(), 0);
    loop {
        let (page, total) =
            fixture.documents.list(&visibility, filter, limit, offset).await.unwrap();
        assert_eq!(total, expected.len() as u64);
        assert_eq!(page.len(), expected.len().saturating_sub(found.len()).min(limit as usize));
        if page.is_empty() {
            break;
        }
        offset += page.len() as u64;
        found.extend(page);
    }
    assert_eq!(found.iter().collect::<Vec<_>>(), expected);
}

fn filters(files: &[FileRecord]) -> Vec<FileFilter> {
    let mut filters = vec![FileFilter::default()];
    filters
        .extend(FileStatus::ALL.map(|it| FileFilter { status: Some(it), ..FileFilter::default() }));
    for case in ["case-1", "case-2", "nothing"] {
        filters.push(FileFilter { case_id: Some(case.to_owned()), ..FileFilter::default() });
    }
    let hash = files.first().map(|it| it.hash.clone());
    filters.push(FileFilter { hash, ..FileFilter::default() });
    filters
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Records come back as they were written, and the pages of a list are the whole of it.
    #[test]
    fn pages_make_the_whole(
        mut files in prop::collection::vec(records(), 0..20),
        limit in 1_u32..9,
        seen in prop::sample::subsequence(vec!["case-1", "case-2", "case-3"], 0..=3),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = TempFolder::new();
            let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
            let fixture = Fixture::new(&db).await;
            insert(&db, &mut files).await;
            for file in &files {
                assert_eq!(fixture.documents.find(&file.id).await.unwrap(), *file);
            }
            for filter in filters(&files) {
                check(&fixture, &files, &seen, &filter, limit).await;
            }
            db.close().await;
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_engines_list_alike() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let tree = prop::collection::vec(records(), 40).new_tree(&mut runner).unwrap();
    let files = proptest::strategy::ValueTree::current(&tree);
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut files = files.clone();
        insert(db, &mut files).await;
        for filter in filters(&files) {
            check(&fixture, &files, &["case-2", "it's \"quoted\""], &filter, 7).await;
        }
        let (visibility, filter) = (visibility("user:1", &[]), FileFilter::default());
        let far = fixture.documents.list(&visibility, &filter, 5, u64::MAX).await.unwrap();
        assert!(far.0.is_empty() && far.1 > 0);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_an_id_is_unknown() {
    let folder = TempFolder::new();
    let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
    let fixture = Fixture::new(&db).await;
    for id in ["", "a\0b", "ж", &"a".repeat(65), "' OR 1=1 --", "..%2f"] {
        assert_eq!(
            fixture.documents.find(id).await.unwrap_err().code(),
            "file_not_found",
            "{id:?}"
        );
    }
}
