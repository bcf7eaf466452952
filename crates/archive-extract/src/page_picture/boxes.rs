//! The words of a page with their boxes, from what the tools print: `pdftotext -bbox` and
//! Tesseract's table.

use serde::{Deserialize, Serialize};

/// A page with more words has its first ones only.
pub(super) const WORDS_MAX: usize = 20_000;
/// A longer word is cut.
const WORD_CHARS_MAX: usize = 200;
pub(super) const WORD_BYTES_MAX: usize = 4 * WORD_CHARS_MAX;

/// A word and its box, in units of the page from its upper left corner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageWord {
    pub text: String,
    pub x: f64,
    pub y: f64,
    pub w: f64,
    pub h: f64,
    /// Whether it stands for a wanted span.
    pub marked: bool,
}

/// The words of a page that was read by OCR, its size in pixels, and their mean confidence.
#[derive(Debug, Default)]
pub(super) struct OcrWords {
    pub(super) words: Vec<PageWord>,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) confidence: f64,
}

fn word(text: &str, [x, y, w, h]: [f64; 4]) -> Option<PageWord> {
    let is_box = [x, y, w, h].iter().all(|it| it.is_finite()) && w > 0.0 && h > 0.0;
    let text: String = text.trim().chars().take(WORD_CHARS_MAX).collect();
    let is_word = is_box && !text.is_empty();
    is_word.then_some(PageWord { text, x, y, w, h, marked: false })
}

/// Reads the lines `<word xMin="…" yMin="…" xMax="…" yMax="…">text</word>`.
pub(super) fn from_pdftotext(printed: &str) -> Vec<PageWord> {
    let words = printed.lines().filter_map(|line| {
        let (head, text) = line.trim().strip_prefix("<word ")?.split_once('>')?;
        let text = text.strip_suffix("</word>")?;
        let side = |name: &str| -> Option<f64> {
            let (_, rest) = head.split_once(&format!("{name}=\""))?;
            rest.split_once('"')?.0.parse().ok()
        };
        let (left, top) = (side("xMin")?, side("yMin")?);
        word(&unescape(text), [left, top, side("xMax")? - left, side("yMax")? - top])
    });
    words.take(WORDS_MAX).collect()
}

fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Reads the first page of Tesseract's table: level, page, block, paragraph, line, word, left, top,
/// width, height, confidence and text. Level 1 is a page, 5 is a word.
pub(super) fn from_tesseract_table(rows: &str) -> OcrWords {
    let mut read = OcrWords::default();
    let mut sum = 0.0;
    for row in rows.lines() {
        let cells: Vec<&str> = row.splitn(12, '\t').collect();
        let [level, _, _, _, _, _, left, top, width, height, confidence, text] = cells[..] else {
            continue;
        };
        let number = |cell: &str| cell.parse::<f64>().unwrap_or(f64::NAN);
        let sides = [left, top, width, height].map(number);
        match level {
            "1" if read.width > 0.0 => break,
            "1" => (read.width, read.height) = (sides[2], sides[3]),
            "5" if read.words.len() < WORDS_MAX => {
                if let Some(word) = word(text, sides) {
                    sum += number(confidence).clamp(0.0, 100.0) / 100.0;
                    read.words.push(word);
                }
            }
            _ => {}
        }
    }
    read.confidence = sum / read.words.len().max(1) as f64;
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_text_layer_have_boxes() {
        let printed = "<page width=\"612\" height=\"792\">\n\
            <word xMin=\"72.0\" yMin=\"63.5\" xMax=\"92.5\" yMax=\"74.5\">A&amp;B</word>\n\
            <word xMin=\"nan\" yMin=\"63.5\" xMax=\"92.5\" yMax=\"74.5\">x</word>\n\
            <word xMin=\"5\" yMin=\"5\" xMax=\"5\" yMax=\"9\">flat</word>\n\
            <word xMin=\"5\" yMin=\"5\"\n<word>y</word>\n</page>";
        let words = from_pdftotext(printed);
        assert_eq!(words.len(), 1);
        let it = &words[0];
        assert_eq!((it.text.as_str(), it.x, it.y, it.w, it.h), ("A&B", 72.0, 63.5, 20.5, 11.0));
    }

    #[test]
    fn words_of_a_table_have_boxes() {
        let rows = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
            1\t1\t0\t0\t0\t0\t0\t0\t1275\t1650\t-1\t\n\
            5\t1\t1\t1\t1\t1\t150\t132\t42\t19\t96\tThe\n\
            5\t1\t1\t1\t1\t2\t201\t132\t57\t24\t90\t \n\
            1\t2\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t\n\
            5\t2\t1\t1\t1\t1\t1\t1\t1\t1\t96\tnext\n";
        let read = from_tesseract_table(rows);
        assert_eq!((read.width, read.height, read.words.len()), (1275.0, 1650.0, 1));
        assert!((read.confidence - 0.96).abs() < 1e-9);
        assert!(from_tesseract_table("").words.is_empty());
    }
}
