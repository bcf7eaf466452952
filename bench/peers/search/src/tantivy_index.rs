//! tantivy with its English stemmer, positions kept, nothing stored.

use std::path::Path;

use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, Searcher, Term, doc};

use crate::{Outcome, Question, insight};

pub struct Tantivy {
    index: Index,
    searcher: Searcher,
    text: Field,
    case: Field,
}

impl Tantivy {
    pub fn make(
        folder: &Path,
        lines: impl Iterator<Item = std::io::Result<String>>,
    ) -> Outcome<Tantivy> {
        std::fs::create_dir_all(folder)?;
        let mut schema = Schema::builder();
        let words = TextFieldIndexing::default()
            .set_tokenizer("en_stem")
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(words));
        let case = schema.add_text_field("case", STRING);
        let index = Index::create_in_dir(folder, schema.build())?;
        let mut writer = index.writer_with_num_threads(2, 200_000_000)?;
        for line in lines {
            let line = line?;
            let Some(it) = insight(&line) else { continue };
            writer.add_document(doc!(text => format!("{} {}", it.title, it.content), case => it.case))?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        let searcher = index.reader()?.searcher();
        Ok(Tantivy { index, searcher, text, case })
    }

    fn word(&self, word: &str) -> Outcome<Box<dyn Query>> {
        let mut cut = self.index.tokenizers().get("en_stem").ok_or("no stemmer")?;
        let mut tokens = cut.token_stream(word);
        let stem = tokens.next().map_or(word, |token| &token.text);
        let term = Term::from_field_text(self.text, stem);
        Ok(Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
    }

    pub fn ask(&self, question: &Question) -> Outcome<u64> {
        let [one, other] = &question.words;
        let case = Term::from_field_text(self.case, &question.case);
        let case = Box::new(TermQuery::new(case, IndexRecordOption::Basic));
        let all = BooleanQuery::intersection(vec![self.word(one)?, self.word(other)?, case]);
        let top = TopDocs::with_limit(20).order_by_score();
        let (page, total) = self.searcher.search(&all, &(top, Count))?;
        if page.is_empty() != (total == 0) {
            return Err("the page and the total disagree".into());
        }
        Ok(total as u64)
    }
}
