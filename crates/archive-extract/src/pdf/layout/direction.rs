//! Scripts from right to left: lines that are drawn in visual order are put into reading order, and
//! the forms of Arabic letters become the letters.

use unicode_normalization::UnicodeNormalization;

use super::super::glyphs;

/// Letters of Hebrew, Arabic and the scripts between them, their presentation forms included.
pub(super) fn is_right_to_left(it: char) -> bool {
    matches!(it, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}')
        && !is_arabic_digit(it)
}

fn is_arabic_digit(it: char) -> bool {
    matches!(it, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}')
}

/// Adds a character as the letters that people search for.
pub(super) fn push_letters(it: char, to: &mut String) {
    match glyphs::ligature_letters(it) {
        Some(letters) => to.push_str(letters),
        None if matches!(it, '\u{fb1d}'..='\u{fdfd}' | '\u{fe70}'..='\u{fefc}') => {
            to.extend(it.nfkc());
        }
        None => to.push(it),
    }
}

/// What a piece of a line is for its order.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
    /// Spaces and marks, which follow their neighbours.
    Neutral,
}

fn side(piece: &str) -> Side {
    let strong = |it: char| {
        if is_right_to_left(it) {
            Some(Side::Right)
        } else {
            it.is_alphanumeric().then_some(Side::Left)
        }
    };
    piece.chars().find_map(strong).unwrap_or(Side::Neutral)
}

/// A line that was drawn from left to right, in reading order. `starts` has where the text of each
/// glyph starts.
pub(super) fn to_logical(line: &str, starts: &[usize]) -> String {
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    let pieces: Vec<&str> =
        starts.iter().zip(ends).filter_map(|(start, end)| line.get(*start..end)).collect();
    let count = |wanted: Side| pieces.iter().filter(|it| side(it) == wanted).count();
    let mut order: Vec<usize> = Vec::with_capacity(pieces.len());
    if count(Side::Right) >= count(Side::Left) {
        order.extend((0..pieces.len()).rev());
        reverse_runs(&mut order, &pieces, Side::Left);
    } else {
        order.extend(0..pieces.len());
        reverse_runs(&mut order, &pieces, Side::Right);
    }
    let mut text = String::with_capacity(line.len());
    for piece in order.into_iter().filter_map(|it| pieces.get(it)) {
        for it in piece.chars() {
            push_letters(it, &mut text);
        }
    }
    text
}

/// Reverses each run of pieces of one side, the neutral pieces within it included.
fn reverse_runs(order: &mut [usize], pieces: &[&str], wanted: Side) {
    let mut at = 0;
    while at < order.len() {
        let side_at = |it: usize| pieces.get(order[it]).map_or(Side::Neutral, |it| side(it));
        if side_at(at) != wanted {
            at += 1;
            continue;
        }
        let mut end = at + 1;
        let mut next = end;
        while next < order.len()
            && matches!(side_at(next), it if it == wanted || it == Side::Neutral)
        {
            if side_at(next) == wanted {
                end = next + 1;
            }
            next += 1;
        }
        order[at..end].reverse();
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(visual: &str, logical: &str) {
        let starts: Vec<usize> = visual.char_indices().map(|it| it.0).collect();
        assert_eq!(to_logical(visual, &starts), logical);
    }

    #[test]
    fn visual_lines_become_logical() {
        check("םולש", "שלום");
        check("2024 תנשב ןיד קספ", "פסק דין בשנת 2024");
        check("please see םולש הלוע now", "please see עולה שלום now");
        check("\u{fe94}\u{fed3}", "\u{641}\u{629}");
    }
}
