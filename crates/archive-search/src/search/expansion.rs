//! The words that a prefix or a misspelled word stands for.

use std::collections::BTreeMap;

use fault::Fault;
use store::Tx;

use super::{Correction, LoadedSegment, ResolvedTerm, SEGMENTS_AT_ONCE, too_broad};
use crate::dictionary::{self, SimilarWord, TermFilter};
use crate::evaluate::TermVariants;
use crate::query::{LastWord, ParsedQuery, QueryTerm};
use crate::{Search, sql};

/// The most words that one prefix is replaced by.
const PREFIX_WORDS_MAX: usize = 4_096;
/// The most words that one misspelled word is replaced by; those on the most pages come first.
const SIMILAR_WORDS_MAX: usize = 64;

impl Search {
    /// The words of the index that the last word of a term matches, beside itself.
    pub(super) async fn expand(
        &self,
        tx: &mut Tx,
        segments: &[LoadedSegment],
        term: &QueryTerm,
    ) -> Result<TermVariants, Fault> {
        let word = term.words.last().map_or("", String::as_str);
        match &term.last {
            LastWord::Exact => Ok(TermVariants::new()),
            LastWord::Prefix(prefix) => {
                let found = self.look_up(tx, segments, &TermFilter::Prefix(prefix.clone())).await?;
                Ok(found.into_keys().collect())
            }
            LastWord::Similar => self.similar(tx, segments, word).await,
        }
    }

    /// Replaces words that no page has by words that differ in one letter.
    pub(super) async fn correct(
        &self,
        tx: &mut Tx,
        segments: &[LoadedSegment],
        parsed: &ParsedQuery,
        terms: &mut [ResolvedTerm],
    ) -> Result<Vec<Correction>, Fault> {
        let mut which = Vec::new();
        for (at, term) in parsed.terms.iter().enumerate() {
            let is_missing = terms[at].pages == 0 && parsed.is_positive[at];
            if !is_missing || !term.may_be_corrected() {
                continue;
            }
            let similar = self.similar(tx, segments, &term.words[0]).await?;
            if !similar.is_empty() {
                terms[at].words = vec![similar];
                which.push(at);
            }
        }
        if which.is_empty() {
            return Ok(Vec::new());
        }
        self.find_hits(tx, segments, terms, &which).await?;
        let corrections = which.into_iter().filter(|&at| terms[at].pages > 0).map(|at| {
            let searched = terms[at].occurring.iter().cloned().collect();
            Correction { typed: parsed.terms[at].typed.clone(), searched }
        });
        Ok(corrections.collect())
    }

    async fn similar(
        &self,
        tx: &mut Tx,
        segments: &[LoadedSegment],
        word: &str,
    ) -> Result<TermVariants, Fault> {
        let filter = TermFilter::Similar(SimilarWord::new(word));
        let found = self.look_up(tx, segments, &filter).await?;
        let mut found: Vec<(String, u64)> = found.into_iter().collect();
        found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(found.into_iter().take(SIMILAR_WORDS_MAX).map(|it| it.0).collect())
    }

    /// The matching words of all segments, with the number of their pages.
    async fn look_up(
        &self,
        tx: &mut Tx,
        segments: &[LoadedSegment],
        filter: &TermFilter,
    ) -> Result<BTreeMap<String, u64>, Fault> {
        let mut found = BTreeMap::new();
        for some in segments.chunks(SEGMENTS_AT_ONCE) {
            let ids: Vec<i64> = some.iter().map(|it| it.id).collect();
            for row in sql::dictionaries(&self.db, tx, &ids).await? {
                dictionary::find_terms(row.bytes_ref(0)?, filter, &mut found)?;
            }
            if matches!(filter, TermFilter::Prefix(_)) && found.len() > PREFIX_WORDS_MAX {
                let reason = format!("a prefix stands for more than {PREFIX_WORDS_MAX} words");
                return Err(too_broad(&reason));
            }
            tokio::task::yield_now().await;
        }
        Ok(found)
    }
}
