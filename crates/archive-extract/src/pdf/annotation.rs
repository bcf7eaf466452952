//! Annotations that hide the text below them, or mark it for redaction.

use super::area::Area;
use super::file::PdfFile;
use super::object::{Dict, Object};
use super::paint;

/// The area that an annotation hides: a dark square, a dark highlight, or a mark of text that should
/// have been removed.
pub(super) fn hidden_area(file: &PdfFile<'_>, annotation: &Dict) -> Option<Area> {
    let subtype = file.get(annotation, "Subtype");
    let colour = match subtype.as_deref().and_then(Object::name)? {
        "Redact" => return area(file, annotation),
        "Square" => "IC",
        "Highlight" => "C",
        _ => return None,
    };
    let is_opaque = file.number(annotation, "CA").is_none_or(paint::is_opaque);
    let numbers = numbers(file, annotation, colour)?;
    (is_opaque && paint::is_dark_colour(&numbers)).then(|| area(file, annotation))?
}

fn area(file: &PdfFile<'_>, annotation: &Dict) -> Option<Area> {
    let [left, bottom, right, top] = numbers(file, annotation, "Rect")?[..] else { return None };
    Some(Area::new((left, bottom), (right, top)))
}

fn numbers(file: &PdfFile<'_>, dict: &Dict, key: &str) -> Option<Vec<f64>> {
    let array = file.get(dict, key)?;
    Some(array.array()?.iter().filter_map(|it| file.resolve(it).number()).collect())
}
