//! The file as objects by number: cross-reference tables and streams, object streams, and a scan
//! of the whole file when those are damaged. Objects are parsed when they are asked for.

mod encryption;
mod layers;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use super::budget::{EndKeywords, WorkBudget};
use super::content::form_field::FormDefaults;
use super::crypt::Decryptor;
use super::filter;
use super::object::{Dict, Lexer, Object, is_space};
use super::search::{find, header_before};

/// At most this many parsed objects are cached.
const CACHE_MAX: usize = 20_000;
const OBJECTS_MAX: usize = 8_000_000;
/// The most trailers and cross-reference streams that are read of a damaged file; each incremental
/// update adds one.
const TRAILERS_MAX: usize = 1_024;

#[derive(Clone, Copy)]
enum ObjectLocation {
    At(usize),
    /// In an object stream: its number, and the index within.
    In(u32, usize),
}

/// The content of an object stream: numbers with offsets, and data.
type Packed = Rc<(Vec<(u32, usize)>, Vec<u8>)>;

pub(super) struct PdfFile<'a> {
    pub(super) bytes: &'a [u8],
    places: HashMap<u32, ObjectLocation>,
    pub(super) trailer: Dict,
    cache: RefCell<HashMap<u32, Rc<Object>>>,
    packed: RefCell<HashMap<u32, Packed>>,
    /// The depth of references that are being followed, to stop cycles.
    following: Cell<u32>,
    /// The most bytes that one object stream may decompress to.
    pub(super) stream_max: usize,
    pub(super) rebuilt: bool,
    pub(super) crypt: Option<Decryptor>,
    /// Whether the file opens only with a password that is not empty.
    pub(super) is_locked: bool,
    /// The number and generation of the object whose stream starts at a position; its decryption
    /// key depends on them.
    owners: RefCell<HashMap<usize, (u32, u32)>>,
    end_keywords: EndKeywords,
    layers: OnceCell<layers::Layers>,
    pub(super) form_defaults: OnceCell<FormDefaults>,
    pub(super) budget: WorkBudget,
}

impl<'a> PdfFile<'a> {
    /// `stream_max` bounds one stream, `streams_max` all of them together.
    pub(super) fn open(bytes: &'a [u8], stream_max: usize, streams_max: u64) -> Self {
        let mut file = Self {
            bytes,
            places: HashMap::new(),
            trailer: Dict::new(),
            cache: RefCell::default(),
            packed: RefCell::default(),
            following: Cell::new(0),
            stream_max,
            rebuilt: false,
            crypt: None,
            is_locked: false,
            owners: RefCell::default(),
            end_keywords: EndKeywords::default(),
            layers: OnceCell::new(),
            form_defaults: OnceCell::new(),
            budget: WorkBudget::new(bytes.len(), streams_max),
        };
        // With junk before the header, some writers count offsets from the header and some from the
        // start of the file, so both are tried.
        let head = &bytes[..bytes.len().min(1_024)];
        let start = find(head, b"%PDF-").unwrap_or(0);
        for from in [start, 0] {
            file.bytes = &bytes[from..];
            file.clear();
            // The root of an encrypted file can be checked only after it is unlocked.
            if file.read_tables() && (file.trailer.contains_key("Encrypt") || file.has_root()) {
                return file;
            }
        }
        file.rebuild();
        file
    }

    fn clear(&mut self) {
        self.places.clear();
        self.trailer.clear();
        self.cache.borrow_mut().clear();
        self.packed.borrow_mut().clear();
        // `bytes` may begin at another position now.
        self.end_keywords = EndKeywords::default();
    }

    /// Parses one object; `None` if the work budget is used up.
    fn parse(&self, bytes: &[u8], at: usize) -> Option<Object> {
        self.budget.parse(bytes, at, |lexer| lexer.object(0))
    }

    fn has_root(&self) -> bool {
        let root = self.get(&self.trailer, "Root");
        root.is_some_and(|it| it.dict().is_some_and(|it| it.contains_key("Pages")))
    }

    /// Reads the chain of cross-reference tables from the end of the file; false if it is damaged.
    fn read_tables(&mut self) -> bool {
        let from = self.bytes.len().saturating_sub(2_048);
        let Some(at) = self.bytes[from..].windows(9).rposition(|it| it == b"startxref") else {
            return false;
        };
        let mut lexer = Lexer::new(self.bytes, from + at + 9);
        lexer.skip_space();
        let mut next = lexer.number().map(to_offset);
        let mut seen = BTreeSet::new();
        while let Some(offset) = next {
            if !seen.insert(offset) || seen.len() > 4_096 {
                break;
            }
            let Some(dict) = self.read_table(offset) else { return false };
            next = dict.get("Prev").and_then(Object::count);
            if let Some(hybrid) = dict.get("XRefStm").and_then(Object::count)
                && seen.insert(hybrid)
            {
                self.read_table(hybrid);
            }
            for (key, value) in dict {
                self.trailer.entry(key).or_insert(value);
            }
        }
        !self.places.is_empty()
    }

    /// Reads one cross-reference table, in text or as a stream, and returns its trailer.
    fn read_table(&mut self, offset: usize) -> Option<Dict> {
        let mut rows = Vec::new();
        let found = self.budget.parse(self.bytes, offset, |lexer| {
            lexer.skip_space();
            match lexer.take(b"xref") {
                true => Some(Ok(table_rows(lexer, &mut rows)?)),
                false => Some(Err(lexer.at)),
            }
        });
        for (number, at) in rows {
            self.add_location(number, ObjectLocation::At(at));
        }
        match found? {
            Ok(trailer) => Some(trailer),
            Err(at) => self.read_table_stream(at),
        }
    }

    fn add_location(&mut self, number: usize, place: ObjectLocation) {
        if self.places.len() < OBJECTS_MAX
            && let Ok(number) = u32::try_from(number)
        {
            self.places.entry(number).or_insert(place);
        }
    }

    fn read_table_stream(&mut self, at: usize) -> Option<Dict> {
        let (_, object) = self.indirect(at)?;
        let Object::Stream(dict, start) = object else { return None };
        if dict.get("Type").and_then(Object::name) != Some("XRef") {
            return None;
        }
        let data = self.data(&dict, start, self.stream_max).data;
        let widths: Vec<usize> =
            dict.get("W")?.array()?.iter().take(3).filter_map(Object::count).collect();
        let [kind, second, third] = widths[..] else { return None };
        let row = kind.checked_add(second)?.checked_add(third)?;
        if row == 0 || row > 32 {
            return None;
        }
        let size = dict.get("Size").and_then(Object::count).unwrap_or(0);
        let index: Vec<usize> = match dict.get("Index").and_then(Object::array) {
            Some(index) => index.iter().filter_map(Object::count).collect(),
            None => vec![0, size],
        };
        let mut rows = data.chunks_exact(row);
        for section in index.chunks_exact(2) {
            for (step, row) in rows.by_ref().take(section[1]).enumerate() {
                let number = section[0].saturating_add(step);
                let field = |from: usize, width: usize| {
                    row[from..from + width]
                        .iter()
                        .fold(0_usize, |sum, it| sum.wrapping_shl(8) | usize::from(*it))
                };
                let kind_value = if kind == 0 { 1 } else { field(0, kind) };
                let value = field(kind, second);
                match kind_value {
                    1 => self.add_location(number, ObjectLocation::At(value)),
                    2 => {
                        let stream = u32::try_from(value).ok()?;
                        self.add_location(
                            number,
                            ObjectLocation::In(stream, field(kind + second, third)),
                        );
                    }
                    _ => {}
                }
            }
        }
        Some(dict)
    }

    /// Scans the whole file for `12 0 obj`; the last object of a number counts.
    pub(super) fn rebuild(&mut self) {
        self.rebuilt = true;
        self.clear();
        let mut streams = Vec::new();
        let mut tables = 0;
        let mut at = 0;
        while let Some(step) = find(&self.bytes[at..], b"obj") {
            let word = at + step;
            at = word + 3;
            if self.bytes[..word].ends_with(b"end") {
                continue;
            }
            let Some((number, start)) = header_before(self.bytes, word) else { continue };
            if self.places.len() < OBJECTS_MAX {
                self.places.insert(number, ObjectLocation::At(start));
            }
            let head = &self.bytes[at..self.bytes.len().min(at + 300)];
            if find(head, b"/ObjStm").is_some() {
                streams.push(number);
            }
            if find(head, b"/Catalog").is_some() {
                self.trailer.insert("Root".to_owned(), Object::Reference(number));
            }
            if tables < TRAILERS_MAX
                && find(head, b"/XRef").is_some()
                && let Some((_, Object::Stream(dict, _))) = self.indirect(start)
            {
                tables += 1;
                let wanted = ["Root", "Encrypt", "ID", "Info"];
                let kept = dict.into_iter().filter(|it| wanted.contains(&it.0.as_str()));
                self.trailer.extend(kept);
            }
        }
        for stream in streams {
            let Some(packed) = self.packed_objects(stream) else { continue };
            for (index, (number, _)) in packed.0.iter().enumerate() {
                self.add_location(*number as usize, ObjectLocation::In(stream, index));
            }
        }
        self.read_trailers();
        if !self.has_root() {
            let numbers: Vec<u32> = self.places.keys().copied().collect();
            let catalog = numbers.into_iter().find(|it| {
                let object = self.object(*it);
                object
                    .dict()
                    .is_some_and(|it| it.get("Type").and_then(Object::name) == Some("Catalog"))
            });
            if let Some(catalog) = catalog {
                self.trailer.insert("Root".to_owned(), Object::Reference(catalog));
            }
        }
    }

    /// Reads the last trailers of a damaged file; later entries override earlier ones.
    fn read_trailers(&mut self) {
        let mut places = VecDeque::new();
        let mut at = 0;
        while let Some(step) = find(&self.bytes[at..], b"trailer") {
            at += step + 7;
            if places.len() == TRAILERS_MAX {
                places.pop_front();
            }
            places.push_back(at);
        }
        for at in places {
            if let Some(Object::Dict(dict)) = self.parse(self.bytes, at) {
                self.trailer.extend(dict);
            }
        }
    }

    /// The numbers of all objects, ascending, for a file whose page tree is lost.
    pub(super) fn object_numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.places.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }

    /// The indirect object at a position, with its number.
    fn indirect(&self, at: usize) -> Option<(u32, Object)> {
        let found = self.budget.parse(self.bytes, at, |lexer| {
            lexer.skip_space();
            let number = u32::try_from(to_offset(lexer.number()?)).ok()?;
            lexer.skip_space();
            let generation = u32::try_from(to_offset(lexer.number()?)).ok()?;
            lexer.skip_space();
            if !lexer.take(b"obj") {
                return None;
            }
            let object = lexer.object(0)?;
            Some((number, generation, stream_or_object(object, lexer)))
        });
        let (number, generation, object) = found?;
        if let Object::Stream(_, start) = &object
            && self.crypt.is_some()
        {
            self.owners.borrow_mut().insert(*start, (number, generation));
        }
        Some((number, object))
    }

    /// The object with a number; null if the file has none.
    pub(super) fn object(&self, number: u32) -> Rc<Object> {
        if let Some(found) = self.cache.borrow().get(&number) {
            return found.clone();
        }
        let object = Rc::new(self.load(number).unwrap_or(Object::Null));
        let mut cache = self.cache.borrow_mut();
        if cache.len() >= CACHE_MAX {
            cache.clear();
        }
        cache.insert(number, object.clone());
        object
    }

    fn load(&self, number: u32) -> Option<Object> {
        match *self.places.get(&number)? {
            ObjectLocation::At(at) => {
                let (found, object) = self.indirect(at)?;
                (found == number).then_some(object)
            }
            ObjectLocation::In(stream, index) => {
                let packed = self.packed_objects(stream)?;
                let by_index = packed.0.get(index).filter(|it| it.0 == number);
                let entry = match by_index {
                    Some(entry) => entry,
                    // The whole list is searched.
                    None if self.budget.spend_parsed(packed.0.len()) => {
                        packed.0.iter().find(|it| it.0 == number)?
                    }
                    None => return None,
                };
                self.parse(&packed.1, entry.1)
            }
        }
    }

    fn packed_objects(&self, stream: u32) -> Option<Packed> {
        if let Some(found) = self.packed.borrow().get(&stream) {
            return Some(found.clone());
        }
        // An object stream is never inside another.
        let ObjectLocation::At(at) = *self.places.get(&stream)? else { return None };
        let (_, Object::Stream(dict, start)) = self.indirect(at)? else { return None };
        let data = self.data(&dict, start, self.stream_max.min(64 << 20)).data;
        let first = self.get(&dict, "First")?.count()?;
        let count = self.get(&dict, "N")?.count()?.min(1 << 20);
        let mut lexer = Lexer::new(&data, 0);
        let mut entries = Vec::new();
        for _ in 0..count {
            lexer.skip_space();
            let Some(number) = lexer.number() else { break };
            lexer.skip_space();
            let Some(offset) = lexer.number() else { break };
            let Ok(number) = u32::try_from(to_offset(number)) else { break };
            entries.push((number, first.saturating_add(to_offset(offset))));
        }
        let packed = Rc::new((entries, data));
        let mut kept = self.packed.borrow_mut();
        if kept.len() >= 64 {
            kept.clear();
        }
        kept.insert(stream, packed.clone());
        Some(packed)
    }

    /// The object itself, or what it refers to.
    pub(super) fn resolve(&self, object: &Object) -> Rc<Object> {
        let Object::Reference(number) = object else { return Rc::new(object.clone()) };
        let depth = self.following.get();
        if depth > 16 {
            return Rc::new(Object::Null);
        }
        self.following.set(depth + 1);
        let found = self.object(*number);
        let found =
            if matches!(*found, Object::Reference(_)) { self.resolve(&found) } else { found };
        self.following.set(depth);
        found
    }

    /// An entry of a dictionary, resolved; `None` if it is missing or null.
    pub(super) fn get(&self, dict: &Dict, key: &str) -> Option<Rc<Object>> {
        dict.get(key).map(|it| self.resolve(it)).filter(|it| **it != Object::Null)
    }

    /// An entry of a dictionary within a dictionary, such as a font of the resources.
    pub(super) fn nested_entry(&self, dict: &Dict, key: &str, name: &str) -> Option<Object> {
        match dict.get(key)? {
            // Large dictionaries are not copied.
            Object::Dict(inner) => inner.get(name).cloned(),
            other => self.resolve(other).dict()?.get(name).cloned(),
        }
    }

    pub(super) fn number(&self, dict: &Dict, key: &str) -> Option<f64> {
        self.get(dict, key).and_then(|it| it.number())
    }

    /// The data of a stream that starts at `start`, decoded.
    pub(super) fn data(&self, dict: &Dict, start: usize, max: usize) -> filter::Decoded {
        let raw = self.raw(dict, start);
        let owner = self.owners.borrow().get(&start).copied();
        let mut decoded = match (&self.crypt, owner) {
            (Some(crypt), Some((number, generation))) => {
                filter::decode(self, dict, &crypt.decrypt(raw, number, generation), max)
            }
            _ => filter::decode(self, dict, raw, max),
        };
        if !self.budget.spend_decoded(decoded.data.len()) {
            decoded.data.clear();
        }
        decoded
    }

    /// The undecoded data of a stream; empty if the work budget is used up.
    pub(super) fn raw(&self, dict: &Dict, start: usize) -> &'a [u8] {
        let raw = self.stream_bytes(dict, start);
        if self.budget.spend_stream(start, raw.len()) { raw } else { &[] }
    }

    fn stream_bytes(&self, dict: &Dict, start: usize) -> &'a [u8] {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let stated = self.get(dict, "Length").and_then(|it| it.count());
        if let Some(length) = stated.filter(|it| *it <= rest.len()) {
            let after = &rest[length..rest.len().min(length + 32)];
            let after = after.iter().skip_while(|it| is_space(**it));
            if after.take(9).eq(b"endstream") {
                return &rest[..length];
            }
        }
        let end = self.end_keywords.next_after(self.bytes, start).map(|it| it - start);
        &rest[..end.unwrap_or(rest.len())]
    }
}

/// The object; a dictionary that the word `stream` follows becomes a stream.
fn stream_or_object(object: Object, lexer: &mut Lexer<'_>) -> Object {
    let Object::Dict(dict) = object else { return object };
    lexer.skip_space();
    if !lexer.take(b"stream") {
        return Object::Dict(dict);
    }
    if !lexer.take(b"\r\n") && !lexer.take(b"\n") {
        lexer.take(b"\r");
    }
    Object::Stream(dict, lexer.at)
}

/// Collects the used rows of a cross-reference table as numbers and offsets; returns its trailer.
fn table_rows(lexer: &mut Lexer<'_>, rows: &mut Vec<(usize, usize)>) -> Option<Dict> {
    loop {
        lexer.skip_space();
        if lexer.take(b"trailer") {
            return lexer.object(0)?.dict().cloned();
        }
        let first = to_offset(lexer.number()?);
        lexer.skip_space();
        let count = to_offset(lexer.number()?);
        for step in 0..count {
            lexer.skip_space();
            let at = to_offset(lexer.number()?);
            lexer.skip_space();
            lexer.number()?;
            lexer.skip_space();
            let used = lexer.take(b"n");
            if !used && !lexer.take(b"f") {
                return None;
            }
            if used && at > 0 && rows.len() < OBJECTS_MAX {
                rows.push((first + step, at));
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates, and offsets are checked")]
#[expect(clippy::cast_sign_loss, reason = "saturates at zero")]
fn to_offset(number: f64) -> usize {
    number as usize
}
