//! Tesseract's table of words to pages: its columns are level, page, block, paragraph, line, word,
//! left, top, width, height, confidence and text. Level 1 starts a page, 5 is a word.

use super::OcrPage;

pub(super) fn pages(rows: &str) -> Vec<OcrPage> {
    let mut pages: Vec<TsvPage> = Vec::new();
    for row in rows.lines() {
        let cells: Vec<&str> = row.splitn(12, '\t').collect();
        let [level, _, block, paragraph, line, _, _, _, _, _, confidence, text] = cells[..] else {
            continue;
        };
        match level {
            "1" => pages.push(TsvPage::default()),
            "5" => {
                if let Some(page) = pages.last_mut() {
                    page.word([block, paragraph, line], confidence, text);
                }
            }
            _ => {}
        }
    }
    pages.into_iter().map(TsvPage::finish).collect()
}

#[derive(Default)]
struct TsvPage {
    text: String,
    place: [String; 3],
    sum: f32,
    words: f32,
}

impl TsvPage {
    fn word(&mut self, place: [&str; 3], confidence: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if !self.text.is_empty() {
            let separator = if self.place[..2] != place[..2] {
                "\n\n"
            } else if self.place[2] != place[2] {
                "\n"
            } else {
                " "
            };
            self.text.push_str(separator);
        }
        self.place = place.map(str::to_owned);
        self.text.push_str(text.trim());
        self.sum += confidence.parse::<f32>().unwrap_or(0.0).clamp(0.0, 100.0);
        self.words += 1.0;
    }

    fn finish(self) -> OcrPage {
        let confidence = if self.words > 0.0 { self.sum / self.words / 100.0 } else { 0.0 };
        OcrPage { text: self.text, confidence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_lines_and_pages() {
        let rows = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
                    1\t1\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t\n\
                    5\t1\t1\t1\t1\t1\t0\t0\t1\t1\t90\tFull\n\
                    5\t1\t1\t1\t1\t2\t0\t0\t1\t1\t80\tCourt\n\
                    5\t1\t1\t1\t2\t1\t0\t0\t1\t1\t70\tof\n\
                    5\t1\t2\t1\t1\t1\t0\t0\t1\t1\t60\tAppeals\n\
                    1\t2\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t\n";
        let pages = pages(rows);
        assert_eq!(pages.len(), 2);
        assert_eq!(pages[0].text, "Full Court\nof\n\nAppeals");
        assert!((pages[0].confidence - 0.75).abs() < 1e-6);
        assert_eq!(pages[1].text, "");
    }
}
