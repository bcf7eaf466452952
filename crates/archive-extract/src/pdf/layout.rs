//! Characters at positions to lines of text, in the order they are drawn.
//! Columns are not found: files written by programs draw them one after the other.

/// No page has more; a hostile one could.
const TEXT_MAX: usize = 8 << 20;

#[derive(Default)]
pub(super) struct Layout {
    text: String,
    last: Option<LastGlyph>,
    /// The number of characters whose text is not known.
    pub(super) unknown: usize,
    pub(super) known: usize,
}

#[derive(Clone, Copy)]
struct LastGlyph {
    /// The end of the last character, where the next one would follow without a gap.
    x: f64,
    y: f64,
    size: f64,
    direction: (f64, f64),
}

/// One character: where it starts and ends, and how large it is.
pub(super) struct Glyph {
    pub(super) start: (f64, f64),
    pub(super) end: (f64, f64),
    pub(super) size: f64,
    pub(super) text: Option<String>,
}

impl Layout {
    pub(super) fn add(&mut self, glyph: &Glyph) {
        if self.text.len() > TEXT_MAX || !glyph.size.is_finite() {
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
        self.separate(glyph, direction);
        for it in text.chars() {
            match super::glyphs::expand(it) {
                Some(letters) => self.text.push_str(letters),
                None if it.is_control() => self.text.push(' '),
                None => self.text.push(it),
            }
        }
        self.known += usize::from(!text.trim().is_empty());
        let (x, y) = glyph.end;
        self.last = Some(LastGlyph { x, y, size: glyph.size, direction });
    }

    /// Adds a space or a line end if the distance to the last character is large enough.
    fn separate(&mut self, glyph: &Glyph, direction: (f64, f64)) {
        let Some(last) = self.last else { return };
        let size = glyph.size.max(last.size).max(0.1);
        let step = (glyph.start.0 - last.x, glyph.start.1 - last.y);
        let along = step.0 * direction.0 + step.1 * direction.1;
        let across = step.1 * direction.0 - step.0 * direction.1;
        let turned = direction.0 * last.direction.0 + direction.1 * last.direction.1 < 0.9;
        // Distances are relative to the larger font size, so that a superscript stays on its line.
        if turned || across.abs() > size * 0.7 || along < -size * 1.5 {
            self.end_line();
            if !turned && across.abs() > size * 2.2 && !self.text.ends_with("\n\n") {
                self.text.push('\n');
            }
        } else if along > glyph.size.min(last.size) * 0.17 && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    fn end_line(&mut self) {
        self.text.truncate(self.text.trim_end_matches([' ', '\u{a0}']).len());
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    pub(super) fn finish(self) -> String {
        self.text.trim_end().to_owned()
    }
}
