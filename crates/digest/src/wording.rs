//! Words of the document made fit for a sentence: evened, clipped, quoted. It changes no word,
//! so that what is quoted can be found in the source again.

use crate::draft::Page;
use crate::place::Place;

/// The most that one quotation in a content holds, in bytes.
const QUOTE_BYTES: usize = 600;
/// How far a line is shown on either side of a mention, in bytes.
const LINE_BYTES: usize = 160;
/// The longest title, in characters.
const TITLE_CHARS: usize = 160;

/// One space between words; a word that a line's end cut in two is whole again.
pub(crate) fn evened(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut joins = false;
    for line in text.split(['\n', '\r', '\u{c}']) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if !(out.is_empty() || joins) {
            out.push(' ');
        }
        joins = ends_in_hyphen(line);
        let line = if joins { line.trim_end_matches(['-', '\u{ad}']) } else { line };
        for (place, word) in line.split_whitespace().enumerate() {
            if place > 0 {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    out
}

fn ends_in_hyphen(line: &str) -> bool {
    let body = line.trim_end_matches(['-', '\u{ad}']);
    line.len() - body.len() <= 2 && body.len() < line.len() && body.ends_with(char::is_alphabetic)
}

/// The first part of a text, cut at a blank, with no sign where it was cut.
pub(crate) fn clipped(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or_default();
    head.rfind(char::is_whitespace).and_then(|at| head.get(..at)).unwrap_or(head).trim_end()
}

/// A title, short enough to be one.
pub(crate) fn title(text: &str) -> String {
    let text = evened(text);
    match text.char_indices().nth(TITLE_CHARS) {
        None => text,
        Some((at, _)) => format!("{} …", clipped(&text, at)),
    }
}

/// The words in quotation marks that do not end within them.
pub(crate) fn quoted(text: &str) -> String {
    let text = evened(text);
    let text = clipped(&text, QUOTE_BYTES);
    let has = |marks: &[char]| text.contains(marks);
    if !has(&['"', '“', '”', '„']) {
        format!("\"{text}\"")
    } else if !has(&['«', '»']) {
        format!("«{text}»")
    } else {
        format!("\"{}\"", text.replace(['"', '“', '”', '„'], "'"))
    }
}

/// The line in which a place stands, cut about it.
pub(crate) fn line<'t>(pages: &[Page<'t>], place: Place) -> Option<&'t str> {
    let text = pages.get(place.index)?.text;
    let (from, to) = line_of(text, place.start, place.end);
    text.get(from..to)
}

/// The same in bytes.
fn line_of(text: &str, start: usize, end: usize) -> (usize, usize) {
    let after = text.get(end..).unwrap_or_default();
    let floor = ceil_char(text, start.saturating_sub(LINE_BYTES));
    let near = text.get(floor..start).unwrap_or_default();
    let from = match near.rfind(['\n', '\r', '\u{c}']) {
        Some(at) => floor + at + 1,
        // In the middle of a long line: after the next blank.
        None if floor > 0 => near.find(char::is_whitespace).map_or(start, |at| floor + at),
        None => 0,
    };
    let tail = clipped(after, LINE_BYTES);
    let to = end + tail.find(['\n', '\r', '\u{c}']).unwrap_or(tail.len());
    trimmed(text, from.min(start), to.max(end), (start, end))
}

/// Without blanks at both ends and without halves of words that a line's end cut, but never less
/// than what it is about.
fn trimmed(text: &str, from: usize, to: usize, about: (usize, usize)) -> (usize, usize) {
    let (mut from, mut to) = (from, to);
    let above = text.get(..from).unwrap_or_default().trim_end();
    if ends_in_hyphen(above.lines().next_back().unwrap_or_default()) {
        let line = text.get(from..about.0).unwrap_or_default();
        let skip = line.trim_start().find(char::is_whitespace).map(|at| {
            let lead = line.len() - line.trim_start().len();
            lead + at
        });
        from += skip.unwrap_or(line.len());
    }
    let line = text.get(about.1..to).unwrap_or_default().trim_end();
    if ends_in_hyphen(line) {
        to = about.1 + line.rfind(char::is_whitespace).unwrap_or(0);
    }
    let lead = text.get(from..about.0).unwrap_or_default();
    let tail = text.get(about.1..to).unwrap_or_default();
    (about.0 - lead.trim_start().len().min(about.0 - from), about.1 + tail.trim_end().len())
}

fn ceil_char(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|it| text.is_char_boundary(*it)).unwrap_or(text.len())
}

/// A name that is all capitals, as one writes it in a sentence.
pub(crate) fn named(name: &str) -> String {
    let shouted = name.chars().any(char::is_alphabetic) && !name.chars().any(char::is_lowercase);
    if !shouted {
        return name.to_owned();
    }
    let words = name.split(' ').enumerate().map(|(place, word)| spoken(word, place == 0));
    words.collect::<Vec<_>>().join(" ")
}

fn spoken(word: &str, first: bool) -> String {
    let bare: String = word.chars().filter(|it| it.is_alphanumeric()).collect();
    let small = ["OF", "AND", "THE", "FOR", "IN", "TO", "И", "В", "ПО"];
    let form = [
        "LLC", "LLP", "PLLC", "PC", "PLC", "LP", "NA", "USA", "US", "II", "III", "IV", "ООО", "АО",
        "ПАО", "ОАО", "ЗАО", "НАО", "ИП", "РФ",
    ];
    let dotted = word.trim_end_matches(['.', ',']).contains('.');
    if form.contains(&bare.as_str()) || dotted || bare.chars().any(char::is_numeric) {
        return word.to_owned();
    }
    if !first && small.contains(&bare.as_str()) {
        return word.to_lowercase();
    }
    let mut out = String::with_capacity(word.len());
    let mut fresh = true;
    for it in word.chars() {
        if fresh {
            out.push(it);
        } else {
            out.extend(it.to_lowercase());
        }
        // `O'DONNELL` has a second capital, `FARMER'S` has not.
        fresh = !it.is_alphabetic() && (it != '\'' || out.chars().count() == 2);
    }
    out
}

/// `a`, `a and b`, `a, b and c`
pub(crate) fn joined(list: &[String]) -> String {
    match list {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shouted_names_are_spoken() {
        for (name, want) in [
            ("JANE Q. ROE", "Jane Q. Roe"),
            ("Jane Roe", "Jane Roe"),
            ("PATRICK O'DONNELL", "Patrick O'Donnell"),
            ("FARMER'S BANK OF IONIA, LLC", "Farmer's Bank of Ionia, LLC"),
            ("ACME, L.L.C.", "Acme, L.L.C."),
            ("TRI-COUNTY PAVING CORP.", "Tri-County Paving Corp."),
            ("ООО «РОМАШКА»", "ООО «Ромашка»"),
        ] {
            assert_eq!(named(name), want);
        }
    }

    #[test]
    fn quotation_marks_do_not_end_within() {
        for (text, want) in [
            ("plain\n words", "\"plain words\""),
            ("agree-\nment was", "\"agreement was\""),
            ("he said \"no\"", "«he said \"no\"»"),
            ("ООО «Ромашка»", "\"ООО «Ромашка»\""),
            ("\"ООО «Ромашка»\"", "\"'ООО «Ромашка»'\""),
        ] {
            assert_eq!(quoted(text), want);
        }
    }

    #[test]
    fn a_line_is_cut_at_blanks() {
        let check = |text: &str, word: &str, want: &str| {
            let at = text.find(word).unwrap();
            let (from, to) = line_of(text, at, at + word.len());
            assert_eq!(&text[from..to], want);
        };
        check("first\n  second line \nthird", "line", "second line");
        check("only", "only", "only");
        check("an agree-\nment for rent, a pay-\nment", "rent", "for rent, a");
        let long = format!("{} middle {}", "word ".repeat(100), "after ".repeat(100));
        let at = long.find("middle").unwrap();
        let (from, to) = line_of(&long, at, at + 6);
        assert!(long[from..to].starts_with("word ") && long[from..to].ends_with("after"));
        assert!(to - from <= 2 * LINE_BYTES + 6);
    }
}
