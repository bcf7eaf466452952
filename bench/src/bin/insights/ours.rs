//! Our store with the insights in it.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use archive_insights::{InsightQuery, Insights, MIGRATIONS, NewInsight, SortKey};
use clock::SystemClock;
use store::{Db, StoreConfig, sql};

use bench::outcome::Outcome;
use bench::search_cases::{OWNER, case_id, visibility};
use bench::search_corpus::{CASES, Corpus, Made, Question};
use bench::search_peers::Times;

/// Insights of one transaction while loading.
const BATCH: usize = 1_000;

pub(crate) struct Ours {
    db: Db,
    insights: Insights,
    pub seconds: f64,
    pub bytes: u64,
}

impl Ours {
    pub(crate) async fn sqlite(folder: &Path, count: usize) -> Outcome<Self> {
        let data = folder.join("data");
        let mut ours = Self::open(&StoreConfig::sqlite(&data)).await?;
        let start = Instant::now();
        ours.load(count).await?;
        ours.seconds = start.elapsed().as_secs_f64();
        for entry in std::fs::read_dir(&data)? {
            ours.bytes += entry?.metadata()?.len();
        }
        Ok(ours)
    }

    /// The folder of PostgreSQL's programs. The index is built after the rows, as is usual for bulk
    /// loads.
    pub(crate) async fn postgres(folder: &Path, count: usize) -> Outcome<Option<Self>> {
        if count == 0 {
            return Ok(None);
        }
        let Some(url) = testkit::postgres::database() else { return Ok(None) };
        let config = StoreConfig { data_dir: folder.join("pg"), url: Some(url) };
        let mut ours = Self::open(&config).await?;
        let start = Instant::now();
        ours.db.execute(sql("DROP INDEX insight_text_words")).await?;
        ours.load(count).await?;
        let index = "CREATE INDEX insight_text_words ON insight_text USING gin (words)";
        ours.db.execute(sql(index)).await?;
        ours.db.execute(sql("ANALYZE")).await?;
        ours.seconds = start.elapsed().as_secs_f64();
        Ok(Some(ours))
    }

    async fn open(config: &StoreConfig) -> Outcome<Self> {
        let db = Db::open(config).await?;
        db.migrate(&[MIGRATIONS]).await?;
        let insights = Insights::new(db.clone(), Arc::new(SystemClock));
        Ok(Self { db, insights, seconds: 0.0, bytes: 0 })
    }

    async fn load(&self, count: usize) -> Outcome<()> {
        let mut corpus = Corpus::new();
        let mut left = count;
        while left > 0 {
            let some = left.min(BATCH);
            let new = (0..some).map(|_| new_insight(corpus.insight())).collect();
            let mut tx = self.db.begin().await?;
            self.insights.add(&mut tx, new).await?;
            tx.commit().await?;
            left -= some;
        }
        Ok(())
    }

    /// The queries of the target: by relevance, within one case.
    pub(crate) async fn round(&self, questions: &[Question]) -> Outcome<Times> {
        let ask = |it: &Question| InsightQuery {
            keywords: Some(it.words.join(" ")),
            case_id: Some(case_id(it.case)),
            sort: SortKey::Relevance,
            ..InsightQuery::default()
        };
        self.timed(questions.iter().map(ask)).await
    }

    async fn timed(&self, asks: impl Iterator<Item = InsightQuery>) -> Outcome<Times> {
        let (visibility, mut hits, mut times) = (visibility(), 0, Vec::new());
        for ask in asks {
            let start = Instant::now();
            let found = self.insights.query(&visibility, &ask).await?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
            if found.insights.is_empty() != (found.total == 0) {
                return Err("the page and the total disagree".into());
            }
            hits += found.total;
        }
        Ok(Times::new(hits, times))
    }

    /// Figures without a target.
    #[expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]
    pub(crate) async fn print_others(&self, questions: &[Question]) -> Outcome<()> {
        println!("\n| other questions | hits | p50 ms | p99 ms | max ms |\n|---|-:|-:|-:|-:|");
        let few = &questions[..questions.len().min(200)];
        let words = |it: &Question| Some(it.words.join(" "));
        let case = |it: &Question| Some(case_id(it.case));
        let relevant = || InsightQuery { sort: SortKey::Relevance, ..InsightQuery::default() };
        let all = few.iter().map(|it| InsightQuery { keywords: words(it), ..relevant() });
        self.timed(all).await?.print("two words in all 200 cases");
        let open = few.iter().map(|it| InsightQuery {
            keywords: it.words[0].get(..3).map(|it| format!("{it}*")),
            case_id: case(it),
            ..relevant()
        });
        self.timed(open).await?.print("the beginning of a word, one case");
        let filtered = few.iter().map(|it| InsightQuery {
            keywords: words(it),
            case_id: case(it),
            min_confidence: Some(0.5),
            category: Some("event".to_owned()),
            tags: vec!["tag1".to_owned()],
            sort: SortKey::CreatedAt,
            ..InsightQuery::default()
        });
        self.timed(filtered).await?.print("two words, one case, four filters, newest first");
        let newest =
            few.iter().map(|it| InsightQuery { case_id: case(it), ..InsightQuery::default() });
        self.timed(newest).await?.print("the newest of one case");
        let surest =
            (0..5).map(|_| InsightQuery { sort: SortKey::Confidence, ..InsightQuery::default() });
        self.timed(surest).await?.print("the surest of all");
        let mut corpus = Corpus::new();
        let mut times = Vec::new();
        for _ in 0..200 {
            let new = vec![new_insight(corpus.insight())];
            let start = Instant::now();
            let mut tx = self.db.begin().await?;
            self.insights.add(&mut tx, new).await?;
            tx.commit().await?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        Times::new(200, times).print("an insight stored and committed");
        Ok(())
    }
}

fn new_insight(made: Made) -> NewInsight {
    let size = made.content.len();
    NewInsight {
        owner: OWNER.to_owned(),
        case_id: Some(case_id(made.case)),
        file_id: format!("019300aa-0000-7000-8001-{:012}", size * CASES + made.case),
        title: made.title,
        content: made.content,
        source_llm: "local".to_owned(),
        category: Some(["party", "event", "citation", "money"][size % 4].to_owned()),
        tags: vec![format!("tag{}", size % 10)],
        entities: serde_json::Map::new(),
        citations: Vec::new(),
        confidence: (size % 101) as f64 / 100.0,
        confidence_meaning: None,
        page: Some(1),
        sources: Vec::new(),
        sources_total: 0,
        job_id: Some("job".to_owned()),
        correction: None,
    }
}
