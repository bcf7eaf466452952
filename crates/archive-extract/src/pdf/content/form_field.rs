//! Form fields and other annotations: where their appearance is drawn, and the text of those that
//! have no appearance.

use std::rc::Rc;

use super::super::file::PdfFile;
use super::super::layout::{Glyph, Layout};
use super::super::object::{Dict, Object};
use super::marked_content::text_string;
use super::{Matrix, multiply};

/// The longest value that is shown of one field.
const VALUE_MAX: usize = 64 << 10;
/// The flag of a password field, whose value is not shown.
const PASSWORD: i64 = 1 << 13;
/// A field inherits entries from at most this many fields above it.
const PARENTS_MAX: usize = 16;

/// The matrix that puts the box of an appearance, turned by its own matrix, into the rectangle of
/// the annotation.
pub(super) fn placement(own: &Matrix, inside: [f64; 4], rect: [f64; 4]) -> Matrix {
    let corner = |x: f64, y: f64| {
        let at = multiply(&[1.0, 0.0, 0.0, 1.0, x, y], own);
        (at[4], at[5])
    };
    let [left, bottom, right, top] = inside;
    let corners =
        [corner(left, bottom), corner(right, bottom), corner(left, top), corner(right, top)];
    let least = |of: fn(&(f64, f64)) -> f64| corners.iter().map(of).fold(f64::INFINITY, f64::min);
    let most =
        |of: fn(&(f64, f64)) -> f64| corners.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = ((least(|it| it.0), least(|it| it.1)), (most(|it| it.0), most(|it| it.1)));
    let scale = |to: f64, from: f64| if from.abs() > 1e-6 && to != 0.0 { to / from } else { 1.0 };
    let across = scale((rect[2] - rect[0]).abs(), high.0 - low.0);
    let up = scale((rect[3] - rect[1]).abs(), high.1 - low.1);
    let (x, y) = (rect[0].min(rect[2]), rect[1].min(rect[3]));
    [across, 0.0, 0.0, up, x - low.0 * across, y - low.1 * up]
}

/// What the file says about all form fields; read once.
#[derive(Clone, Default)]
pub(in crate::pdf) struct FormDefaults {
    /// The resources of appearances that have none of their own.
    pub(super) resources: Option<Rc<Object>>,
    /// Whether the appearances may not show the values (`NeedAppearances`).
    outdated: bool,
}

pub(super) fn defaults<'a>(file: &'a PdfFile<'_>) -> &'a FormDefaults {
    let load = || {
        let root = file.get(&file.trailer, "Root")?;
        let form = file.get(root.dict()?, "AcroForm")?;
        let form = form.dict()?;
        let flag = file.get(form, "NeedAppearances");
        let outdated = flag.is_some_and(|it| *it == Object::Bool(true));
        Some(FormDefaults { resources: file.get(form, "DR"), outdated })
    };
    file.form_defaults.get_or_init(|| load().unwrap_or_default())
}

/// Whether the values of the fields are to be shown instead of their appearances.
pub(super) fn have_outdated_appearances(file: &PdfFile<'_>) -> bool {
    defaults(file).outdated
}

/// Adds the value of a field, or the text of a note on the page. False if it has none. The value of
/// a password field is not shown.
pub(super) fn add_value(
    file: &PdfFile<'_>,
    layout: &mut Layout,
    dict: &Dict,
    rect: [f64; 4],
) -> bool {
    let subtype = file.get(dict, "Subtype");
    let value = match subtype.as_deref().and_then(Object::name) {
        Some("Widget") => {
            let kind = inherited(file, dict, "FT");
            let is_text = matches!(kind.as_deref().and_then(Object::name), Some("Tx" | "Ch"));
            let flags = inherited(file, dict, "Ff").and_then(|it| it.integer()).unwrap_or(0);
            if flags & PASSWORD != 0 {
                return true;
            }
            inherited(file, dict, "V").filter(|_| is_text)
        }
        Some("FreeText") => file.get(dict, "Contents"),
        _ => None,
    };
    let Some(Object::Text(bytes)) = value.as_deref() else { return false };
    let text = text_string(&bytes[..bytes.len().min(VALUE_MAX)]);
    let (x, top) = (rect[0].min(rect[2]), rect[1].max(rect[3]));
    let size = (rect[3] - rect[1]).abs().clamp(6.0, 12.0);
    for (line, row) in text.lines().zip(1_u32..) {
        let y = top - size * f64::from(row);
        let (start, end) = ((x, y), (x + size, y));
        layout.add(&Glyph { start, end, size, text: Some(line.to_owned()) });
    }
    !text.trim().is_empty()
}

/// An entry of a page or a field, or of the nodes above it.
pub(super) fn inherited(file: &PdfFile<'_>, dict: &Dict, key: &str) -> Option<Rc<Object>> {
    if let Some(found) = file.get(dict, key) {
        return Some(found);
    }
    let mut above = file.get(dict, "Parent")?;
    for _ in 0..PARENTS_MAX {
        if let Some(found) = file.get(above.dict()?, key) {
            return Some(found);
        }
        above = file.get(above.dict()?, "Parent")?;
    }
    None
}
