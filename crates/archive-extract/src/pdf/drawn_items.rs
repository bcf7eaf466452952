//! The letters, boxes and pictures that a page draws, with their places, in the order of drawing.

use std::rc::Rc;

use super::area::{Area, apply};
use super::content::Matrix;
use super::object::Object;
use super::paint::{Paint, PaintedBox, Path};

/// At most this many letters of a page are kept; the densest pages have about 20,000.
const LETTERS_MAX: usize = 100_000;
/// At most this many boxes of a page are kept; a page with more is a drawing.
const BOXES_MAX: usize = 2_000;
/// At most this many pictures of a page are kept; a scan in strips of one line of pixels has 3,500.
const PICTURES_MAX: usize = 4_000;
/// A smaller box is a rule, a bullet or a dash.
const BOX_WIDTH_MIN: f64 = 5.0;
const BOX_HEIGHT_MIN: f64 = 4.0;

/// A letter or a digit.
struct Letter {
    /// About the middle of the letter.
    at: (f64, f64),
    order: u32,
    is_dark: bool,
    is_invisible: bool,
}

struct DrawnBox {
    area: Area,
    is_dark: bool,
    order: u32,
}

/// A picture on the page.
pub(super) struct Picture {
    /// Not a stream if the picture is inside the content.
    pub(super) object: Rc<Object>,
    pub(super) area: Area,
    pub(super) upright: bool,
    order: u32,
}

/// Letters inside an area.
#[derive(Debug, Default, PartialEq)]
pub(super) struct LetterCount {
    pub(super) visible: usize,
    /// Invisible, or drawn before and so under what covers the area.
    pub(super) hidden: usize,
}

/// What a page draws.
#[derive(Default)]
pub(super) struct DrawnItems {
    letters: Vec<Letter>,
    boxes: Vec<DrawnBox>,
    has_dark_boxes: bool,
    pub(super) pictures: Vec<Picture>,
    path: Path,
    /// Whether a path or a shading was painted.
    pub(super) has_drawings: bool,
    order: u32,
}

impl DrawnItems {
    fn next_order(&mut self) -> u32 {
        self.order = self.order.saturating_add(1);
        self.order
    }

    /// Adds a drawn character that is `width` wide in text space; only letters and digits count.
    pub(super) fn add_letter(
        &mut self,
        text: &str,
        matrix: &Matrix,
        width: f64,
        size: f64,
        paint: &Paint,
    ) {
        let order = self.next_order();
        if self.letters.len() < LETTERS_MAX && text.chars().any(char::is_alphanumeric) {
            self.letters.push(Letter {
                at: apply(matrix, (width / 2.0, size * 0.3)),
                order,
                is_dark: paint.is_text_dark(),
                is_invisible: paint.is_text_invisible(),
            });
        }
    }

    pub(super) fn add_picture(&mut self, object: Rc<Object>, matrix: &Matrix) {
        let order = self.next_order();
        let area = Area::of_unit_square(matrix);
        if area.is_finite() && self.pictures.len() < PICTURES_MAX {
            let it = matrix;
            let upright = it[0] > 0.0 && it[3] > 0.0 && it[1].abs() + it[2].abs() < 1.0;
            self.pictures.push(Picture { object, area, upright, order });
        }
    }

    /// Applies the operators of colours and paths.
    pub(super) fn operate(
        &mut self,
        word: &str,
        operands: &[Object],
        matrix: &Matrix,
        paint: &mut Paint,
    ) {
        if word == "sh" {
            self.has_drawings = true;
        } else if !paint.operate(word, operands)
            && let Some(boxes) = self.path.operate(word, operands, matrix, paint)
        {
            self.has_drawings |= word != "n";
            for it in boxes {
                self.add_box(it);
            }
        }
    }

    /// Adds a box that hides what was drawn below it; a small one is a line and left out.
    pub(super) fn add_box(&mut self, PaintedBox { area, is_dark }: PaintedBox) {
        let order = self.next_order();
        let is_box = area.width() >= BOX_WIDTH_MIN && area.height() >= BOX_HEIGHT_MIN;
        if is_box && area.is_finite() && self.boxes.len() < BOXES_MAX {
            self.boxes.push(DrawnBox { area, is_dark, order });
            self.has_dark_boxes |= is_dark;
        }
    }

    /// Letters that a dark box hides: a box drawn later, or the last one drawn before if the
    /// letter is dark too.
    pub(super) fn letters_under_boxes(&self) -> usize {
        let is_under = |letter: &&Letter| {
            let mut later = self.boxes.iter().rev().take_while(|it| it.order > letter.order);
            later.any(|it| it.is_dark && it.area.contains(letter.at))
                || letter.is_dark && self.background_is_dark(letter)
        };
        if !self.has_dark_boxes {
            return 0;
        }
        self.letters.iter().filter(|it| !it.is_invisible).filter(is_under).count()
    }

    fn background_is_dark(&self, letter: &Letter) -> bool {
        let mut below = self.boxes.iter().rev().filter(|it| it.order < letter.order);
        below.find(|it| it.area.contains(letter.at)).is_some_and(|it| it.is_dark)
    }

    /// The letters inside an area whose first picture is `first`.
    pub(super) fn letters_in(&self, area: &Area, first: &Picture) -> LetterCount {
        let mut count = LetterCount::default();
        for letter in self.letters.iter().filter(|it| area.contains(it.at)) {
            if letter.is_invisible || letter.order < first.order {
                count.hidden += 1;
            } else {
                count.visible += 1;
            }
        }
        count
    }
}
