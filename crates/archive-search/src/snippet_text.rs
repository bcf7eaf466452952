//! Counts characters of a text and puts parts of it on one line, for snippets.

/// The byte that many characters before a byte.
pub fn chars_before(text: &str, from: usize, chars: usize) -> usize {
    text[..from].char_indices().rev().take(chars).last().map_or(from, |(at, _)| at)
}

/// The byte that many characters after a byte.
pub fn chars_after(text: &str, from: usize, chars: usize) -> usize {
    text[from..].char_indices().nth(chars).map_or(text.len(), |(at, _)| from + at)
}

/// Appends a text with runs of white space and control characters as single spaces.
pub fn push_on_one_line(shown: &mut String, text: &str) {
    for c in text.chars() {
        if !c.is_whitespace() && !c.is_control() {
            shown.push(c);
        } else if !shown.ends_with(' ') {
            shown.push(' ');
        }
    }
}
