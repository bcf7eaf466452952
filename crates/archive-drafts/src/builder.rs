//! A draft under construction: it has byte spans, which [`finish_all`] converts into passages.

use archive_entities::Ground;
use archive_text::{PageText, Passage, TextSpan};
use serde_json::{Map, Value};

use crate::confidence;
use crate::draft::{Category, Draft, PASSAGES_MAX};

/// A draft whose spans are not yet passages.
#[derive(Debug)]
pub(crate) struct DraftBuilder {
    pub(crate) category: Category,
    pub(crate) title: String,
    pub(crate) content: String,
    pub(crate) tags: Vec<String>,
    pub(crate) entities: Map<String, Value>,
    pub(crate) citations: Vec<String>,
    pub(crate) ground: Ground,
    /// At most [`PASSAGES_MAX`].
    pub(crate) spans: Vec<TextSpan>,
    pub(crate) spans_total: usize,
}

impl DraftBuilder {
    pub(crate) fn new(category: Category, ground: Ground) -> Self {
        let mut entities = Map::new();
        entities.insert("kind".to_owned(), Value::from(category.word()));
        Self {
            category,
            title: String::new(),
            content: String::new(),
            tags: Vec::new(),
            entities,
            citations: Vec::new(),
            ground,
            spans: Vec::new(),
            spans_total: 0,
        }
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.entities.insert(key.to_owned(), value.into());
    }

    /// Sets a key, unless the value is `None`.
    pub(crate) fn set_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    pub(crate) fn tag(&mut self, tag: &str) {
        if !self.tags.iter().any(|it| it == tag) {
            self.tags.push(tag.to_owned());
        }
    }

    /// Counts a span, and stores it if fewer than [`PASSAGES_MAX`] are stored.
    pub(crate) fn add(&mut self, span: TextSpan) {
        self.spans_total += 1;
        if self.spans.len() < PASSAGES_MAX {
            self.spans.push(span);
        }
    }
}

/// Converts the spans of all drafts into passages. A draft without a passage is dropped.
pub(crate) fn finish_all(pages: &[PageText<'_>], builders: Vec<DraftBuilder>) -> Vec<Draft> {
    let spans: Vec<TextSpan> = builders.iter().flat_map(|it| it.spans.iter().copied()).collect();
    let mut found = archive_text::passages(pages, &spans).into_iter();
    let mut list = Vec::with_capacity(builders.len());
    for it in builders {
        let mut passages: Vec<Passage> = found.by_ref().take(it.spans.len()).flatten().collect();
        passages.dedup();
        if passages.is_empty() {
            continue;
        }
        let total = it.spans_total.max(passages.len());
        list.push(Draft {
            category: it.category,
            title: it.title,
            content: it.content,
            tags: it.tags,
            entities: it.entities,
            citations: it.citations,
            confidence: confidence::confidence(it.category, it.ground),
            meaning: confidence::meaning(it.ground, confidence::confidence(it.category, it.ground))
                .into(),
            passages,
            passages_total: u32::try_from(total).unwrap_or(u32::MAX),
        });
    }
    list
}
