//! PDF: the text layer page by page, and OCR for pages that are pictures.
//!
//! The reader is our own, so that every loop keeps the limits and the text is the same on every
//! machine. Pages whose pictures it cannot take apart are rendered by `pdftoppm` where there is one.

mod cmap;
mod content;
mod crypt;
mod file;
mod filter;
mod font;
mod glyphs;
mod layout;
mod object;
mod scan;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::work::{Step, Work};
use crate::{Code, Problem, Source};
use file::File;
use font::Font;
use object::{Dict, Object};

pub(crate) fn read(work: &mut Work<'_>, bytes: &[u8]) -> Step {
    let mut file = File::open(bytes, work.stream_max());
    if !file.unlock() {
        return Err(Problem::new(
            Code::Encrypted,
            "the PDF is encrypted; remove the password and send it again",
        ));
    }
    let max = work.limits.pages as usize + 1;
    let mut pages = page_tree(work, &file, max)?;
    if pages.is_empty() && !file.rebuilt {
        file.rebuild();
        pages = page_tree(work, &file, max)?;
    }
    if pages.is_empty() {
        pages = loose_pages(work, &file, max)?;
    }
    if pages.is_empty() {
        return Err(Problem::new(
            Code::Truncated,
            "no pages were found; the file may be cut short",
        ));
    }
    if file.rebuilt {
        let message = "the PDF's index is damaged; the pages that were found are read";
        work.problem(Problem::new(Code::Truncated, message));
    }
    if file.crypt.is_none() {
        information(work, &file);
    }
    work.total(u32::try_from(pages.len()).unwrap_or(u32::MAX));
    let mut reader =
        Reader { file: &file, fonts: HashMap::new(), scratch: scan::Scratch::default() };
    for (index, page) in pages.iter().enumerate() {
        reader.page(work, page, index)?;
    }
    Ok(())
}

/// A page, with what it inherits from the tree.
struct Leaf {
    dict: Rc<Object>,
    resources: Option<Object>,
    rotated: bool,
}

fn page_tree(work: &Work<'_>, file: &File<'_>, max: usize) -> Step<Vec<Leaf>> {
    let root = file.get(&file.trailer, "Root");
    let pages = root.as_deref().and_then(Object::dict).and_then(|it| it.get("Pages")).cloned();
    let mut leaves = Vec::new();
    let mut seen = BTreeSet::new();
    let mut stack: Vec<(Object, Option<Object>, bool)> =
        pages.into_iter().map(|it| (it, None, false)).collect();
    let mut steps = 0_usize;
    while let Some((node, resources, rotated)) = stack.pop() {
        steps += 1;
        if leaves.len() >= max || steps > max.saturating_mul(4) {
            break;
        }
        work.tick()?;
        if let Object::Reference(number) = node
            && !seen.insert(number)
        {
            continue;
        }
        let object = file.resolve(&node);
        let Some(dict) = object.dict() else { continue };
        let resources = dict.get("Resources").cloned().or(resources);
        let rotated = file.number(dict, "Rotate").map_or(rotated, |it| it != 0.0);
        let kids = file.get(dict, "Kids");
        match kids.as_deref().and_then(Object::array) {
            Some(kids) => {
                for kid in kids.iter().take(max).rev() {
                    stack.push((kid.clone(), resources.clone(), rotated));
                }
            }
            None => leaves.push(Leaf { dict: object.clone(), resources, rotated }),
        }
    }
    Ok(leaves)
}

/// Pages by their type alone, in the order of their numbers, when the tree is lost.
fn loose_pages(work: &Work<'_>, file: &File<'_>, max: usize) -> Step<Vec<Leaf>> {
    let mut leaves = Vec::new();
    for number in file.numbers() {
        work.tick()?;
        let object = file.object(number);
        let Some(dict) = object.dict() else { continue };
        if file.get(dict, "Type").as_deref().and_then(Object::name) == Some("Page") {
            let resources = dict.get("Resources").cloned();
            leaves.push(Leaf { dict: object.clone(), resources, rotated: false });
        }
        if leaves.len() >= max {
            break;
        }
    }
    Ok(leaves)
}

fn information(work: &mut Work<'_>, file: &File<'_>) {
    let Some(info) = file.get(&file.trailer, "Info") else { return };
    let Some(info) = info.dict() else { return };
    for (key, name) in [
        ("Title", "title"),
        ("Author", "author"),
        ("Subject", "subject"),
        ("CreationDate", "created"),
        ("Producer", "producer"),
    ] {
        if let Some(Object::Text(bytes)) = file.get(info, key).as_deref() {
            let text = match bytes.strip_prefix(&[0xfe, 0xff]) {
                Some(wide) => encoding_rs::UTF_16BE.decode_without_bom_handling(wide).0,
                None => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0,
            };
            work.metadata(name, &text);
        }
    }
}

struct Reader<'a, 'b> {
    file: &'a File<'b>,
    fonts: HashMap<u32, Rc<Font>>,
    scratch: scan::Scratch,
}

impl Reader<'_, '_> {
    fn page(&mut self, work: &mut Work<'_>, leaf: &Leaf, index: usize) -> Step {
        let dict = leaf.dict.dict().cloned().unwrap_or_default();
        let mut problem = None;
        let data = self.contents(work, &dict)?;
        let resources = leaf.resources.as_ref().map(|it| self.file.resolve(it));
        let resources = resources.as_deref().and_then(Object::dict).cloned().unwrap_or_default();
        let mut page = content::Page::new(self.file, std::mem::take(&mut self.fonts));
        page.run(work, &data, &resources, 0)?;
        page.annotations(work, &dict)?;
        let (layout, pictures, fonts) = page.into_parts();
        self.fonts = fonts;
        let unreadable = layout.unknown > layout.known;
        if layout.unknown > 0 && layout.unknown * 20 > layout.known {
            problem = Some(Problem::new(
                Code::NoUnicode,
                format!(
                    "{} characters are in fonts that do not say which letters they are",
                    layout.unknown
                ),
            ));
        }
        let text = layout.finish();
        let letters = text.chars().filter(|it| it.is_alphanumeric()).count();
        // Filing systems stamp a line of text on scanned pages.
        let scanned = letters < 250 && covers(&pictures, self.area(&dict));
        if !(unreadable || scanned || letters == 0 && !pictures.is_empty()) {
            return work.page_from(text, Source::TextLayer, problem);
        }
        let page = scan::PageScan {
            pictures: &pictures,
            rotated: leaf.rotated,
            needs_render: unreadable,
            index,
        };
        match scan::read(work, self.file, &mut self.scratch, &page) {
            Ok(found) => {
                let source = Source::Ocr { confidence: found.confidence };
                let both = if unreadable || text.is_empty() {
                    found.text
                } else {
                    format!("{text}\n\n{}", found.text)
                };
                work.page_from(both, source, None)
            }
            Err(failed) if failed.code == Code::TimedOut => Err(failed),
            Err(failed) => work.page_from(text, Source::TextLayer, problem.or(Some(failed))),
        }
    }

    fn area(&self, page: &Dict) -> f64 {
        let of = |object: Option<Rc<Object>>| {
            let values: Vec<f64> =
                object?.array()?.iter().filter_map(|it| self.file.resolve(it).number()).collect();
            let [left, bottom, right, top] = values[..] else { return None };
            Some(((right - left) * (top - bottom)).abs())
        };
        of(self.file.get(page, "MediaBox")).unwrap_or(612.0 * 792.0)
    }

    fn contents(&self, work: &mut Work<'_>, page: &Dict) -> Step<Vec<u8>> {
        let contents = self.file.get(page, "Contents");
        let parts = match contents.as_deref() {
            Some(Object::Array(parts)) => parts.clone(),
            Some(one) => vec![one.clone()],
            None => Vec::new(),
        };
        let mut data = Vec::new();
        for part in parts.iter().take(10_000) {
            if let Object::Stream(dict, start) = &*self.file.resolve(part) {
                let decoded = self.file.data(dict, *start, work.stream_max()).data;
                work.unpack(decoded.len())?;
                data.extend(decoded);
                data.push(b'\n');
            }
        }
        Ok(data)
    }
}

/// Whether pictures fill more than half of the page.
fn covers(pictures: &[content::Picture], area: f64) -> bool {
    pictures.iter().map(|it| it.width * it.height).sum::<f64>() > area * 0.5
}
