//! Characters at positions to lines of text, in the order they are drawn.
//! Columns are not found: files written by programs draw them one after the other.

mod direction;
mod hyphens;

/// No page has more; a hostile one could.
const TEXT_MAX: usize = 8 << 20;
/// A gap of this part of the font size is a space between words.
const SPACE: f64 = 0.13;

#[derive(Default)]
pub(super) struct Layout {
    text: String,
    line: Line,
    last: Option<LastGlyph>,
    /// The left, bottom, right and top of the page; characters outside are not visible.
    bounds: Option<[f64; 4]>,
    drawn: DrawnGlyphs,
    /// The number of characters whose text is not known.
    pub(super) unknown: usize,
    pub(super) known: usize,
    /// The number of characters outside the page.
    pub(super) outside: usize,
}

/// The line that is being written.
#[derive(Default)]
struct Line {
    text: String,
    /// Where the text of each glyph starts; only lines from right to left need it.
    starts: Vec<usize>,
    /// Steps from a letter of a script from right to left to the next one, in each direction.
    rightward: usize,
    leftward: usize,
}

#[derive(Clone, Copy)]
struct LastGlyph {
    start: (f64, f64),
    /// The end of the last character, where the next one would follow without a gap.
    end: (f64, f64),
    size: f64,
    direction: (f64, f64),
    right_to_left: bool,
}

/// One character: where it starts and ends, and how large it is.
pub(super) struct Glyph {
    pub(super) start: (f64, f64),
    pub(super) end: (f64, f64),
    pub(super) size: f64,
    pub(super) text: Option<String>,
}

impl Layout {
    /// Characters outside this box are left out.
    pub(super) fn set_bounds(&mut self, bounds: [f64; 4]) {
        let [left, bottom, right, top] = bounds;
        let bounds = [left.min(right), bottom.min(top), left.max(right), bottom.max(top)];
        let is_page = bounds[2] - bounds[0] > 1.0 && bounds[3] - bounds[1] > 1.0;
        self.bounds = Some(bounds).filter(|_| is_page);
    }

    pub(super) fn add(&mut self, glyph: &Glyph) {
        if self.text.len() + self.line.text.len() > TEXT_MAX || !glyph.size.is_finite() {
            return;
        }
        if self.is_outside(glyph) {
            self.outside += 1;
            return;
        }
        let Some(text) = glyph.text.as_deref() else {
            self.unknown += 1;
            return;
        };
        let run = (glyph.end.0 - glyph.start.0, glyph.end.1 - glyph.start.1);
        let length = run.0.hypot(run.1);
        let direction = if length > 1e-6 {
            (run.0 / length, run.1 / length)
        } else {
            self.last.map_or((1.0, 0.0), |it| it.direction)
        };
        let visible = !text.trim().is_empty();
        if visible && self.drawn.is_repeated(text, glyph) {
            return;
        }
        let right_to_left = text.chars().any(direction::is_right_to_left);
        self.separate(glyph, direction, right_to_left);
        self.line.push(text);
        self.known += usize::from(visible);
        let (start, end, size) = (glyph.start, glyph.end, glyph.size);
        self.last = Some(LastGlyph { start, end, size, direction, right_to_left });
    }

    /// Whether the whole character is outside the page.
    fn is_outside(&self, glyph: &Glyph) -> bool {
        let Some([left, bottom, right, top]) = self.bounds else { return false };
        let (a, b, margin) = (glyph.start, glyph.end, glyph.size);
        a.0.max(b.0) < left
            || a.0.min(b.0) > right
            || a.1.max(b.1) + margin < bottom
            || a.1.min(b.1) > top
    }

    /// Adds a space or a line end if the distance to the last character is large enough.
    fn separate(&mut self, glyph: &Glyph, direction: (f64, f64), right_to_left: bool) {
        let Some(last) = self.last else { return };
        let size = glyph.size.max(last.size).max(0.1);
        let along_of = |from: (f64, f64), to: (f64, f64)| {
            (to.0 - from.0) * direction.0 + (to.1 - from.1) * direction.1
        };
        let mut along = along_of(last.end, glyph.start);
        let across =
            (glyph.start.1 - last.end.1) * direction.0 - (glyph.start.0 - last.end.0) * direction.1;
        let turned = direction.0 * last.direction.0 + direction.1 * last.direction.1 < 0.9;
        let backward = along_of(last.start, glyph.start) < 0.0;
        if (right_to_left || last.right_to_left) && backward {
            // The text is written from right to left, so the gap is on the other side.
            along = along_of(glyph.end, last.start);
        }
        if right_to_left && last.right_to_left {
            let steps = if backward { &mut self.line.leftward } else { &mut self.line.rightward };
            *steps += 1;
        }
        // Distances are relative to the larger font size, so that a superscript stays on its line.
        if turned || across.abs() > size * 0.7 || along < -size * 1.5 {
            self.end_line();
            if !turned && across.abs() > size * 2.2 && !self.text.ends_with("\n\n") {
                self.text.push('\n');
            }
        } else if along > glyph.size.min(last.size) * SPACE {
            self.line.space();
        }
    }

    fn end_line(&mut self) {
        self.line.finish(&mut self.text);
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.line.finish(&mut self.text);
        self.text.truncate(self.text.trim_end().len());
        hyphens::join(&self.text)
    }
}

impl Line {
    fn push(&mut self, text: &str) {
        self.starts.push(self.text.len());
        self.text.extend(text.chars().map(|it| if it.is_control() { ' ' } else { it }));
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.push(" ");
        }
    }

    /// Appends the line to the text of the page, in the order in which it is read.
    fn finish(&mut self, text: &mut String) {
        let kept = self.text.trim_end_matches([' ', '\u{a0}']).len();
        self.text.truncate(kept);
        // A run drawn from left to right in a script from right to left is reversed.
        if self.rightward > self.leftward {
            text.push_str(&direction::to_logical(&self.text, &self.starts));
        } else {
            for it in self.text.chars() {
                direction::push_letters(it, text);
            }
        }
        self.text.clear();
        self.starts.clear();
        (self.rightward, self.leftward) = (0, 0);
    }
}

/// The last characters that were drawn, by their place. Programs draw a character twice to make it
/// bold or to give it a shadow.
struct DrawnGlyphs(Vec<(char, f64, f64)>);

/// A character within this part of its size of the same character is the same.
const REPEATED: f64 = 0.1;

impl Default for DrawnGlyphs {
    fn default() -> Self {
        Self(vec![('\0', 0.0, 0.0); 2_048])
    }
}

impl DrawnGlyphs {
    /// Whether the same character was just drawn at the same place; it is remembered.
    fn is_repeated(&mut self, text: &str, glyph: &Glyph) -> bool {
        let Some(first) = text.chars().next() else { return false };
        let near = glyph.size * REPEATED;
        let (x, y) = glyph.start;
        // Cells have twice the distance, so that the four around the place have all that is near.
        let cell = |x: f64, y: f64| slot(first, number(x / near / 2.0), number(y / near / 2.0));
        let found = [-near, near].into_iter().any(|dx| {
            [-near, near].into_iter().any(|dy| {
                let (other, at_x, at_y) = self.0[cell(x + dx, y + dy)];
                other == first && (at_x - x).abs() < near && (at_y - y).abs() < near
            })
        });
        self.0[cell(x, y)] = (first, x, y);
        found
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates, and is only compared")]
fn number(place: f64) -> i32 {
    place.floor() as i32
}

/// One of 2,048 slots.
fn slot(it: char, x: i32, y: i32) -> usize {
    let mixed = (u64::from(u32::from(it)) << 32 ^ u64::from(x.cast_unsigned()) << 16)
        .wrapping_add(u64::from(y.cast_unsigned()))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 53) as usize
}
