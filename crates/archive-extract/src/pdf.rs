//! PDF: the text layer page by page, and OCR for pages that are pictures.
//!
//! The reader is our own, so that every loop keeps the limits and the text is the same on every
//! machine. Pages whose pictures need a decoder are rendered by `pdftoppm` where it is installed.

mod annotation;
mod area;
mod budget;
mod cmap;
mod content;
mod crypt;
mod drawn_items;
mod file;
mod filter;
mod font;
mod glyphs;
mod layout;
mod object;
mod page_ocr;
mod paint;
mod picture_group;
mod scan;
mod search;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::context::{ReadContext, ReadResult};
use crate::ocr::JoinedText;
use crate::{ProblemCode, ReadProblem};
use area::Area;
use file::PdfFile;
use font::Font;
use object::{Dict, Object};
use page_ocr::PageOcr;
use scan::{PageFrame, PictureReader};

pub(crate) fn read(context: &mut ReadContext<'_>, bytes: &[u8]) -> ReadResult {
    // One limit for the bytes of streams in the file and the bytes that they are decoded to.
    let streams_max = 2 * context.limits.unpacked_bytes;
    let mut file = PdfFile::open(bytes, context.stream_max(), streams_max);
    let done = read_pages(context, &mut file);
    if file.budget.is_exhausted() {
        context.problem(ReadProblem::new(
            ProblemCode::TooLarge,
            "parts of the PDF lie over each other, and not all were read; save it anew",
        ));
    }
    done
}

fn read_pages(context: &mut ReadContext<'_>, file: &mut PdfFile<'_>) -> ReadResult {
    if !file.unlock(context.password) {
        let (code, message) = match context.password {
            _ if !file.has_supported_encryption() => (
                ProblemCode::Encrypted,
                "the PDF is encrypted in a way that is not known; remove the password and send it \
                 again",
            ),
            Some(_) => (
                ProblemCode::WrongPassword,
                "the password does not open the PDF; give the right one",
            ),
            None => (
                ProblemCode::PasswordRequired,
                "the PDF is encrypted; give its password, or remove the password and send it again",
            ),
        };
        return Err(ReadProblem::new(code, message));
    }
    let max = context.limits.pages as usize + 1;
    let mut pages = page_tree(context, file, max)?;
    if pages.is_empty() && !file.rebuilt {
        file.rebuild();
        pages = page_tree(context, file, max)?;
    }
    if pages.is_empty() {
        pages = pages_by_type(context, file, max)?;
    }
    if pages.is_empty() {
        return Err(ReadProblem::new(
            ProblemCode::Truncated,
            "no pages were found; the file may be cut short",
        ));
    }
    if file.rebuilt {
        let message = "the PDF's index is damaged; the pages that were found are read";
        context.problem(ReadProblem::new(ProblemCode::Truncated, message));
    }
    if file.crypt.is_none() {
        report_metadata(context, file);
    }
    context.total(u32::try_from(pages.len()).unwrap_or(u32::MAX));
    let mut reader =
        PdfReader { file, fonts: HashMap::new(), pictures: PictureReader::new(file), skipped: 0 };
    for (index, page) in pages.iter().enumerate() {
        reader.page(context, page, index)?;
    }
    context.note_small_pictures(reader.skipped);
    Ok(())
}

/// Fewer letters under dark boxes are not reported, because a drawing may touch some letters.
const HIDDEN_LETTERS_MIN: usize = 3;

/// Whether `%PDF-` stands within the first 1,024 bytes. Readers accept junk before it, so polyglots
/// and mail gateways put it there. A mail that quotes it has it within a line of text.
pub(crate) fn has_signature(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1_024)];
    let Some(at) = head.windows(5).position(|it| it == b"%PDF-") else { return false };
    at == 0 || matches!(head[at - 1], b'\n' | b'\r' | 0..=8 | 0x80..)
}

/// A page, with what it inherits from the tree.
struct PageNode {
    dict: Rc<Object>,
    resources: Option<Object>,
    media_box: Option<Object>,
    rotation: u32,
}

impl PageNode {
    fn new(dict: Rc<Object>, inherited: Inherited) -> Self {
        let Inherited { resources, media_box, rotation } = inherited;
        Self { dict, resources, media_box, rotation }
    }
}

/// What a node of the page tree gives to the nodes below it.
#[derive(Clone, Default)]
struct Inherited {
    resources: Option<Object>,
    media_box: Option<Object>,
    rotation: u32,
}

fn page_tree(
    context: &ReadContext<'_>,
    file: &PdfFile<'_>,
    max: usize,
) -> ReadResult<Vec<PageNode>> {
    let root = file.get(&file.trailer, "Root");
    let pages = root.as_deref().and_then(Object::dict).and_then(|it| it.get("Pages")).cloned();
    let mut leaves = Vec::new();
    let mut seen = BTreeSet::new();
    let mut stack: Vec<(Object, Inherited)> =
        pages.into_iter().map(|it| (it, Inherited::default())).collect();
    let mut steps = 0_usize;
    while let Some((node, above)) = stack.pop() {
        steps += 1;
        if leaves.len() >= max || steps > max.saturating_mul(4) {
            break;
        }
        context.tick()?;
        if let Object::Reference(number) = node
            && !seen.insert(number)
        {
            continue;
        }
        let object = file.resolve(&node);
        let Some(dict) = object.dict() else { continue };
        let inherited = inherit(file, dict, above);
        let kids = file.get(dict, "Kids");
        match kids.as_deref().and_then(Object::array) {
            Some(kids) => {
                for kid in kids.iter().take(max).rev() {
                    stack.push((kid.clone(), inherited.clone()));
                }
            }
            None => leaves.push(PageNode::new(object.clone(), inherited)),
        }
    }
    Ok(leaves)
}

fn inherit(file: &PdfFile<'_>, dict: &Dict, above: Inherited) -> Inherited {
    let degrees = file.get(dict, "Rotate").and_then(|it| it.integer());
    Inherited {
        resources: dict.get("Resources").cloned().or(above.resources),
        media_box: dict.get("MediaBox").cloned().or(above.media_box),
        rotation: degrees
            .and_then(|it| u32::try_from(it.rem_euclid(360)).ok())
            .unwrap_or(above.rotation),
    }
}

/// All objects of the type page, in the order of their numbers, for a file whose page tree is lost.
fn pages_by_type(
    context: &ReadContext<'_>,
    file: &PdfFile<'_>,
    max: usize,
) -> ReadResult<Vec<PageNode>> {
    let mut leaves = Vec::new();
    for number in file.object_numbers() {
        context.tick()?;
        let object = file.object(number);
        let Some(dict) = object.dict() else { continue };
        if file.get(dict, "Type").as_deref().and_then(Object::name) == Some("Page") {
            let inherited = inherit(file, dict, Inherited::default());
            leaves.push(PageNode::new(object.clone(), inherited));
        }
        if leaves.len() >= max {
            break;
        }
    }
    Ok(leaves)
}

/// Reports title, author, subject, date and producer of the file.
fn report_metadata(context: &mut ReadContext<'_>, file: &PdfFile<'_>) {
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
            context.metadata(name, &text);
        }
    }
}

struct PdfReader<'a, 'b> {
    file: &'a PdfFile<'b>,
    fonts: HashMap<u32, Rc<Font>>,
    pictures: PictureReader<'a, 'b>,
    /// How many small pictures of all pages were not read.
    skipped: usize,
}

impl PdfReader<'_, '_> {
    fn page(&mut self, context: &mut ReadContext<'_>, leaf: &PageNode, index: usize) -> ReadResult {
        let dict = leaf.dict.dict().cloned().unwrap_or_default();
        let data = self.contents(context, &dict)?;
        let resources = leaf.resources.as_ref().map(|it| self.file.resolve(it));
        let resources = resources.as_deref().and_then(Object::dict).cloned().unwrap_or_default();
        let mut page = content::PageInterpreter::new(self.file, std::mem::take(&mut self.fonts));
        page.set_page_bounds(&dict);
        page.run(context, &data, &resources, 0)?;
        page.annotations(context, &dict)?;
        let (layout, drawn, fonts) = page.into_parts();
        self.fonts = fonts;
        let mut problems = Vec::new();
        if layout.unknown > 0 && layout.unknown * 20 > layout.known {
            problems.push(ReadProblem::new(
                ProblemCode::NoUnicode,
                format!(
                    "{} characters are in fonts that do not say which letters they are",
                    layout.unknown
                ),
            ));
        }
        if drawn.letters_under_boxes() >= HIDDEN_LETTERS_MIN {
            let message = "text lies under a black box or a redaction mark and can still be read \
                           and found; it is a failed redaction if the text is secret";
            problems.push(ReadProblem::new(ProblemCode::HiddenText, message));
        }
        let mut page = PageOcr {
            frame: self.frame(leaf, index),
            drawn: &drawn,
            unreadable: layout.unknown > layout.known,
            joined: JoinedText::new(layout.finish(), problems),
            skipped: 0,
        };
        page.read_missing_text(context, &mut self.pictures)?;
        self.skipped += page.skipped;
        let JoinedText { text, source, problems, .. } = page.joined;
        context.page_from(text, source, problems)
    }

    fn frame(&self, leaf: &PageNode, index: usize) -> PageFrame {
        let of = |object: &Object| {
            let object = self.file.resolve(object);
            let values: Vec<f64> =
                object.array()?.iter().filter_map(|it| self.file.resolve(it).number()).collect();
            let [left, bottom, right, top] = values[..] else { return None };
            Some(Area::new((left, bottom), (right, top))).filter(|it| it.size() > 1.0)
        };
        let letter = Area::new((0.0, 0.0), (612.0, 792.0));
        PageFrame {
            area: leaf.media_box.as_ref().and_then(of).unwrap_or(letter),
            rotation: leaf.rotation,
            number: u32::try_from(index + 1).unwrap_or(u32::MAX),
        }
    }

    fn contents(&self, context: &mut ReadContext<'_>, page: &Dict) -> ReadResult<Vec<u8>> {
        let contents = self.file.get(page, "Contents");
        let parts = match contents.as_deref() {
            Some(Object::Array(parts)) => parts.clone(),
            Some(one) => vec![one.clone()],
            None => Vec::new(),
        };
        let mut data = Vec::new();
        for part in parts.iter().take(10_000) {
            if let Object::Stream(dict, start) = &*self.file.resolve(part) {
                let decoded = self.file.data(dict, *start, context.stream_max()).data;
                context.unpack(decoded.len())?;
                data.extend(decoded);
                data.push(b'\n');
            }
        }
        Ok(data)
    }
}
