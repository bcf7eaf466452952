//! Places while a document is read, in bytes, and how they become spots in characters.

use std::collections::BTreeMap;

use archive_entities::{Ground, Mention};
use serde_json::{Map, Value};

use crate::draft::{Category, Draft, PLACES_MAX, Page, Spot};

/// A page by its position in the list, and bytes of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) index: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Place {
    /// Of a mention in a part whose first page stands at `first`.
    pub(crate) fn of(first: usize, mention: &Mention<'_>) -> Self {
        let span = mention.span;
        Self { index: first + span.index, start: span.start, end: span.end }
    }
}

/// A draft whose places are not yet counted in characters.
#[derive(Debug)]
pub(crate) struct Sketch {
    pub(crate) category: Category,
    pub(crate) title: String,
    pub(crate) content: String,
    pub(crate) tags: Vec<String>,
    pub(crate) entities: Map<String, Value>,
    pub(crate) citations: Vec<String>,
    pub(crate) ground: Ground,
    pub(crate) places: Vec<Place>,
    pub(crate) places_total: usize,
}

impl Sketch {
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
            places: Vec::new(),
            places_total: 0,
        }
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.entities.insert(key.to_owned(), value.into());
    }

    /// Sets what is there and leaves out what is not.
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

    /// Adds a place and counts it.
    pub(crate) fn add(&mut self, place: Place) {
        self.places_total += 1;
        if self.places.len() < PLACES_MAX {
            self.places.push(place);
        }
    }
}

/// Counts the characters of all places in one walk over each page.
pub(crate) fn settle(pages: &[Page<'_>], sketches: Vec<Sketch>) -> Vec<Draft> {
    let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for it in sketches.iter().flat_map(|it| &it.places) {
        known.insert((it.index, it.start), 0);
        known.insert((it.index, it.end), 0);
    }
    let mut page = usize::MAX;
    let mut positions = cite::CharPositions::new("");
    for ((index, byte), chars) in &mut known {
        if *index != page {
            page = *index;
            positions = cite::CharPositions::new(pages.get(page).map_or("", |it| it.text));
        }
        *chars = positions.at(*byte);
    }
    let spot = |it: &Place| {
        let page = pages.get(it.index)?;
        let quote = page.text.get(it.start..it.end).filter(|it| !it.is_empty())?;
        let chars = |byte| u32::try_from(*known.get(&(it.index, byte))?).ok();
        let (start, end) = (chars(it.start)?, chars(it.end)?);
        Some(Spot { page: page.number, start, end, quote: quote.to_owned() })
    };
    let mut list = Vec::with_capacity(sketches.len());
    for it in sketches {
        let mut places: Vec<Spot> = it.places.iter().filter_map(spot).collect();
        places.dedup();
        if places.is_empty() {
            continue;
        }
        let total = it.places_total.max(places.len());
        list.push(Draft {
            category: it.category,
            title: it.title,
            content: it.content,
            tags: it.tags,
            entities: it.entities,
            citations: it.citations,
            confidence: it.ground.confidence(),
            meaning: it.ground.meaning(),
            places,
            places_total: u32::try_from(total).unwrap_or(u32::MAX),
        });
    }
    list
}
