//! The colours, the clip and the paths of a content stream, as far as they tell which text is under
//! a dark box. Nothing is painted, and curves are ignored.

use super::area::{Area, apply};
use super::content::Matrix;
use super::object::Object;

/// Corners and lines of one path; a drawing with more is no box.
const PATH_MAX: usize = 512;
/// Brightness from 0 to 1 below which a colour hides black text.
const DARK: f64 = 0.3;
const OPAQUE: f64 = 0.9;

/// What numbers in `sc` and `scn` mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ColourSpace {
    /// One number is grey, three are red, green and blue, four are inks.
    ByCount,
    /// One number, the share of black ink.
    BlackInk,
    /// Patterns, palettes and other inks, whose darkness is not known.
    Unknown,
}

#[derive(Debug, Clone, Copy)]
struct Ink {
    space: ColourSpace,
    is_dark: bool,
    opacity: f64,
}

const BLACK: Ink = Ink { space: ColourSpace::ByCount, is_dark: true, opacity: 1.0 };

impl Ink {
    fn set(&mut self, space: ColourSpace, operands: &[Object]) {
        let numbers: Vec<f64> = operands.iter().filter_map(Object::number).collect();
        self.space = space;
        self.is_dark = numbers.len() == operands.len() && is_dark(space, &numbers);
    }

    fn is_opaque(&self) -> bool {
        is_opaque(self.opacity)
    }
}

/// Whether numbers of a colour, without a colour space, are dark.
pub(super) fn is_dark_colour(numbers: &[f64]) -> bool {
    is_dark(ColourSpace::ByCount, numbers)
}

pub(super) fn is_opaque(opacity: f64) -> bool {
    opacity >= OPAQUE
}

fn is_dark(space: ColourSpace, numbers: &[f64]) -> bool {
    match (space, numbers) {
        (ColourSpace::BlackInk, [ink]) => 1.0 - ink < DARK,
        (ColourSpace::ByCount, [grey]) => *grey < DARK,
        (ColourSpace::ByCount, [red, green, blue]) => 0.3 * red + 0.59 * green + 0.11 * blue < DARK,
        (ColourSpace::ByCount, [cyan, magenta, yellow, black]) => {
            let light = |ink: &f64| (1.0 - ink).max(0.0) * (1.0 - black).max(0.0);
            0.3 * light(cyan) + 0.59 * light(magenta) + 0.11 * light(yellow) < DARK
        }
        _ => false,
    }
}

/// The part of the graphics state that `q` saves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    fill: Ink,
    stroke: Ink,
    line_width: f64,
    clip: Option<Area>,
    /// False if the clip is no rectangle; nothing is known about boxes then.
    is_clip_known: bool,
    text_mode: i64,
}

impl Default for Paint {
    fn default() -> Self {
        Self {
            fill: BLACK,
            stroke: BLACK,
            line_width: 1.0,
            clip: None,
            is_clip_known: true,
            text_mode: 0,
        }
    }
}

impl Paint {
    /// Whether text is drawn without ink, as programs write the text of a scan.
    pub(super) fn is_text_invisible(&self) -> bool {
        matches!(self.text_mode, 3 | 7)
    }

    pub(super) fn is_text_dark(&self) -> bool {
        self.fill.is_dark
    }

    pub(super) fn set_opacity(&mut self, fill: Option<f64>, stroke: Option<f64>) {
        self.fill.opacity = fill.unwrap_or(self.fill.opacity);
        self.stroke.opacity = stroke.unwrap_or(self.stroke.opacity);
    }

    /// A new colour space begins with black, or with full ink.
    pub(super) fn set_space(&mut self, word: &str, space: ColourSpace) {
        let ink = if word == "cs" { &mut self.fill } else { &mut self.stroke };
        ink.space = space;
        ink.is_dark = space != ColourSpace::Unknown;
    }

    /// Sets colour, line width and text mode; false for other operators.
    pub(super) fn operate(&mut self, word: &str, operands: &[Object]) -> bool {
        let (fill, stroke) = (self.fill.space, self.stroke.space);
        match word {
            "g" | "rg" | "k" => self.fill.set(ColourSpace::ByCount, operands),
            "G" | "RG" | "K" => self.stroke.set(ColourSpace::ByCount, operands),
            "sc" | "scn" => self.fill.set(fill, operands),
            "SC" | "SCN" => self.stroke.set(stroke, operands),
            "w" => self.line_width = operands.first().and_then(Object::number).unwrap_or(1.0),
            "Tr" => self.text_mode = operands.first().and_then(Object::integer).unwrap_or(0),
            _ => return false,
        }
        true
    }
}

/// A rectangle that hides what was drawn before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PaintedBox {
    pub(super) area: Area,
    pub(super) is_dark: bool,
}

/// The path that is being built.
#[derive(Default)]
pub(super) struct Path {
    areas: Vec<Area>,
    lines: Vec<[(f64, f64); 2]>,
    /// The corners of the part that is being drawn.
    corners: Vec<(f64, f64)>,
    /// Whether some part is no rectangle.
    has_other_parts: bool,
    clips: bool,
}

impl Path {
    /// Adds to the path. After an operator that ends the path, returns the boxes that it paints;
    /// `None` while the path goes on.
    pub(super) fn operate(
        &mut self,
        word: &str,
        operands: &[Object],
        matrix: &Matrix,
        paint: &mut Paint,
    ) -> Option<Vec<PaintedBox>> {
        let number = |at: usize| operands.get(at).and_then(Object::number).unwrap_or(0.0);
        let point = |at: usize| apply(matrix, (number(at), number(at + 1)));
        match word {
            "m" => {
                self.end_part();
                self.corners.push(point(0));
            }
            "l" if self.corners.len() < 8 => self.corners.push(point(0)),
            "l" | "c" | "v" | "y" => self.has_other_parts = true,
            "h" => self.end_part(),
            "re" => {
                self.end_part();
                let (x, y, width, height) = (number(0), number(1), number(2), number(3));
                let corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)];
                self.corners.extend(corners.map(|it| apply(matrix, it)));
                self.end_part();
            }
            "W" | "W*" => self.clips = true,
            "n" | "f" | "F" | "f*" | "B" | "B*" | "b" | "b*" | "S" | "s" => {
                return Some(self.finish(word, matrix, paint));
            }
            _ => {}
        }
        None
    }

    fn end_part(&mut self) {
        let corners = std::mem::take(&mut self.corners);
        if self.areas.len() + self.lines.len() >= PATH_MAX {
            self.has_other_parts = true;
            return;
        }
        match corners[..] {
            [] | [_] => {}
            [from, to] => self.lines.push([from, to]),
            _ => match rectangle(&corners) {
                Some(area) => self.areas.push(area),
                None => self.has_other_parts = true,
            },
        }
    }

    fn finish(&mut self, word: &str, matrix: &Matrix, paint: &mut Paint) -> Vec<PaintedBox> {
        self.end_part();
        let path = std::mem::take(self);
        let mut boxes = Vec::new();
        if paint.is_clip_known {
            if !matches!(word, "n" | "S" | "s") && paint.fill.is_opaque() {
                let is_dark = paint.fill.is_dark;
                boxes.extend(path.filled().map(|area| PaintedBox { area, is_dark }));
            }
            if !matches!(word, "n" | "f" | "F" | "f*") && paint.stroke.is_opaque() {
                let width =
                    paint.line_width * (matrix[0] * matrix[3] - matrix[1] * matrix[2]).abs().sqrt();
                let is_dark = paint.stroke.is_dark;
                let areas = path.lines.iter().filter_map(|it| thick_line(*it, width));
                boxes.extend(areas.map(|area| PaintedBox { area, is_dark }));
            }
        }
        if let Some(clip) = paint.clip {
            let inside =
                |it: &PaintedBox| Some(PaintedBox { area: it.area.intersection(&clip)?, ..*it });
            boxes = boxes.iter().filter_map(inside).collect();
        }
        if path.clips {
            path.clip(paint);
        }
        boxes
    }

    /// The filled rectangles. Where parts of one path overlap, the inner one may be a hole, so a
    /// path that is not of rectangles alone has none.
    fn filled(&self) -> impl Iterator<Item = Area> {
        let alone = |at: usize| {
            let others = self.areas.iter().enumerate().filter(move |(other, _)| *other != at);
            others.map(|it| it.1).all(|it| it.intersection(&self.areas[at]).is_none())
        };
        let count = if self.has_other_parts { 0 } else { self.areas.len() };
        (0..count).filter(move |at| alone(*at)).map(|at| self.areas[at])
    }

    fn clip(&self, paint: &mut Paint) {
        let [area] = self.areas[..] else {
            paint.is_clip_known = false;
            return;
        };
        let nothing = Area::new((0.0, 0.0), (0.0, 0.0));
        let clip = paint.clip.map(|it| it.intersection(&area).unwrap_or(nothing));
        paint.clip = Some(clip.unwrap_or(area));
        paint.is_clip_known &= !self.has_other_parts;
    }
}

/// The rectangle of four corners whose sides are level and upright; a fifth repeats the first.
fn rectangle(corners: &[(f64, f64)]) -> Option<Area> {
    let near = |a: f64, b: f64| (a - b).abs() < 0.5;
    let is_same = |a: (f64, f64), b: (f64, f64)| near(a.0, b.0) && near(a.1, b.1);
    let (first, rest) = corners.split_at_checked(4)?;
    let [a, b, c, d] = first.try_into().ok()?;
    let closes = rest.iter().all(|it| is_same(*it, a));
    let level: bool = near(a.1, b.1) && near(b.0, c.0) && near(c.1, d.1) && near(d.0, a.0);
    let upright: bool = near(a.0, b.0) && near(b.1, c.1) && near(c.0, d.0) && near(d.1, a.1);
    (closes && (level || upright)).then(|| Area::new(a, c))
}

/// The area of a level or upright line with this width.
fn thick_line([from, to]: [(f64, f64); 2], width: f64) -> Option<Area> {
    let line = Area::new(from, to);
    let half = width / 2.0;
    if line.height() < 0.5 {
        Some(Area { bottom: line.bottom - half, top: line.top + half, ..line })
    } else if line.width() < 0.5 {
        Some(Area { left: line.left - half, right: line.right + half, ..line })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::object::{ContentToken, Lexer};

    const UPRIGHT: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

    /// The dark boxes of a content stream.
    fn boxes(content: &str) -> Vec<PaintedBox> {
        let (mut paint, mut path, mut boxes) = (Paint::default(), Path::default(), Vec::new());
        let (mut lexer, mut operands) = (Lexer::new(content.as_bytes(), 0), Vec::new());
        while let Some(token) = lexer.token() {
            match token {
                ContentToken::Operand(it) => operands.push(it),
                ContentToken::Operator(word) => {
                    if !paint.operate(&word, &operands) {
                        let painted = path.operate(&word, &operands, &UPRIGHT, &mut paint);
                        let dark = painted.unwrap_or_default().into_iter().filter(|it| it.is_dark);
                        boxes.extend(dark);
                    }
                    operands.clear();
                }
            }
        }
        boxes
    }

    #[track_caller]
    fn check(content: &str, count: usize) {
        assert_eq!(boxes(content).len(), count, "{content}");
    }

    #[test]
    fn dark_rectangles_are_boxes() {
        check("10 10 50 12 re f", 1);
        check("0 g 10 10 50 12 re f 10 40 50 12 re B", 2);
        check("0.1 0.1 0.1 rg 10 10 m 60 10 l 60 22 l 10 22 l h f", 1);
        check("0 0 0 1 k 10 22 50 -12 re f*", 1);
        check("1 G 10 10 50 12 re 100 10 50 12 re f", 2);
        check("12 w 10 20 m 90 20 l S", 1);
    }

    #[test]
    fn other_drawings_are_not() {
        check("1 g 10 10 50 12 re f", 0);
        check("1 1 0 rg 10 10 50 12 re f", 0);
        check("/P1 scn 10 10 50 12 re f", 0);
        check("10 10 50 12 re S 10 10 50 12 re n", 0);
        check("10 10 m 60 10 l 60 60 l h f", 0);
        // A frame: the inner rectangle is a hole.
        check("10 10 90 90 re 20 20 70 70 re f*", 0);
        check("10 10 90 90 re 11 11 m 99 11 l 98 12 l 99 99 l 12 98 l 11 99 l f", 0);
        check("12 w 10 20 m 90 70 l S", 0);
        check("0 0 5 5 re W n 10 10 50 12 re f", 0);
        check("0 0 m 9 9 9 9 50 50 c W n 10 10 50 12 re f", 0);
    }

    #[test]
    fn a_clip_cuts_the_box() {
        assert_eq!(boxes("0 0 20 99 re W n 10 10 50 12 re f")[0].area.width(), 10.0);
    }
}
