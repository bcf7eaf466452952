//! Prepares text of a document for the sentences of a draft: joins lines, clips, quotes, and finds
//! the sentence around a span. It changes white space, hyphens at line ends, quotation marks and
//! the case of names only, so that a quotation can be found in the source again.

use archive_text::{PageText, TextSpan};

/// The longest quotation in the content of a draft, in bytes.
const QUOTE_BYTES: usize = 600;
/// How far from a mention its sentence is searched, in bytes on either side.
const SENTENCE_BYTES: usize = 260;
/// How far before a number its label is searched, in bytes.
const LABEL_BYTES: usize = 32;
/// A line of fewer bytes ends on purpose, not because the page is too narrow.
const LINE_BYTES: usize = 60;
/// The longest title, in characters.
const TITLE_CHARS: usize = 160;

/// The text in one line, with one space between words; a word that was hyphenated at the end of a
/// line is joined.
pub(crate) fn in_one_line(text: &str) -> String {
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

/// The beginning of a text, cut before a word; no ellipsis is added.
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

/// The text in one line, cut to [`TITLE_CHARS`] with an ellipsis.
pub(crate) fn title(text: &str) -> String {
    let text = in_one_line(text);
    match text.char_indices().nth(TITLE_CHARS) {
        None => text,
        Some((at, _)) => format!("{} …", clipped(&text, at)),
    }
}

/// The text in quotation marks of a kind that the text itself does not contain; if it contains both
/// kinds, its own marks become apostrophes.
pub(crate) fn quoted(text: &str) -> String {
    let text = in_one_line(text);
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

/// The text of a span with the few words before it in its line: `Case No. 24-123456-NO`.
pub(crate) fn with_label_before<'t>(pages: &[PageText<'t>], span: TextSpan) -> Option<&'t str> {
    let text = span.page_in(pages)?.text;
    let floor = ceil_char(text, span.start.saturating_sub(LABEL_BYTES));
    let near = text.get(floor..span.start)?;
    let cuts = ['\n', '\t', '\u{c}', ',', ';', '('];
    let from = match near.rfind(cuts).into_iter().chain(near.rfind("  ")).max() {
        Some(at) => floor + at + 1,
        None if floor == 0 => 0,
        None => floor + near.find(' ').unwrap_or(near.len()),
    };
    text.get(from..span.end).map(str::trim_start)
}

/// The sentence around a span; the text of the span alone if the sentence is too long.
pub(crate) fn sentence<'t>(pages: &[PageText<'t>], span: TextSpan) -> Option<&'t str> {
    let text = span.page_in(pages)?.text;
    let (from, to) = sentence_of(text, span.start, span.end);
    text.get(from..to)
}

/// The bytes of the sentence around `start..end`.
fn sentence_of(text: &str, start: usize, end: usize) -> (usize, usize) {
    let floor = ceil_char(text, start.saturating_sub(SENTENCE_BYTES));
    let ceiling = ceil_char(text, (end + SENTENCE_BYTES).min(text.len()));
    let before = text.get(floor..start).unwrap_or_default();
    let after = text.get(end..ceiling).unwrap_or_default();
    let last = before.char_indices().rev().find(|(at, it)| ends(text, floor + at, *it));
    let from = match last {
        Some((at, it)) => floor + at + it.len_utf8(),
        None if floor == 0 => 0,
        None => start,
    };
    let next = after.char_indices().find(|(at, it)| ends(text, end + at, *it));
    let to = match next {
        // A full stop belongs to the sentence, a line end does not.
        Some((at, it)) => end + at + if it.is_whitespace() { 0 } else { it.len_utf8() },
        None if ceiling == text.len() => ceiling,
        None => end,
    };
    let lead = text.get(from..start).unwrap_or_default();
    // Closing marks at the beginning belong to the previous sentence.
    let lead = lead.trim_start_matches(['"', '”', '»', ')', ']', '\'']).trim_start();
    let tail = text.get(end..to).unwrap_or_default().trim_end();
    (start - lead.len(), end + tail.len())
}

/// Whether a sentence ends with the character `it` at this byte.
fn ends(text: &str, at: usize, it: char) -> bool {
    let after = at + it.len_utf8();
    let far = ceil_char(text, (after + SENTENCE_BYTES).min(text.len()));
    let rest = text.get(after..far).unwrap_or_default();
    match it {
        '\n' | '\u{c}' => {
            // A line end ends the sentence if the line is short or an empty line follows.
            let line = text.get(..at).unwrap_or_default();
            let near = line.get(ceil_char(line, line.len().saturating_sub(LINE_BYTES))..);
            let early = near.is_some_and(|it| it.len() == line.len() || it.contains('\n'));
            early || rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
        }
        '!' | '?' => true,
        '.' => {
            let next = rest.trim_start_matches(['"', '”', '»', ')', ']', '\'']);
            let gap = next.is_empty() || next.starts_with(char::is_whitespace);
            let next = next.trim_start().chars().next();
            // Only the last 60 bytes are read, because a hostile word may be as long as the text.
            let near = ceil_char(text, at.saturating_sub(LINE_BYTES));
            let before = text.get(near..at).unwrap_or_default();
            // A number after a capitalized abbreviation does not begin a sentence: `D. Or. 2008`.
            let opens =
                next.is_none_or(|it| !(it.is_lowercase() || it.is_numeric() && names(before)));
            gap && opens && !is_abbreviation(before)
        }
        _ => false,
    }
}

fn names(before: &str) -> bool {
    let word = before.rsplit(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
    word.chars().next().is_some_and(char::is_uppercase)
}

/// Whether the last word before a point is an abbreviation, an initial or a paragraph number.
fn is_abbreviation(before: &str) -> bool {
    const SHORT: [&str; 58] = [
        "Inc", "Corp", "Ltd", "Co", "Bros", "Mr", "Mrs", "Ms", "Dr", "Hon", "No", "Nos", "Cir",
        "Rev", "Stat", "Supp", "App", "Mich", "Cal", "Ct", "Dist", "Ins", "Mut", "Ass'n", "Dep't",
        "Univ", "Cmty", "Const", "Ann", "Code", "Civ", "Crim", "Evid", "Bankr", "Fed", "Reg", "Jr",
        "Sr", "St", "Esq", "Jan", "Feb", "Mar", "Apr", "Aug", "Sept", "Oct", "Nov", "Dec", "al",
        "vs", "ст", "г", "руб", "коп", "ул", "им", "п",
    ];
    let word = before.rsplit(|it: char| !(it.is_alphanumeric() || it == '\'')).next();
    let word = word.unwrap_or_default();
    // A number at the start of a line is a paragraph number.
    let lead = before.get(..before.len() - word.len()).unwrap_or_default();
    let opens = lead.trim_end_matches([' ', '\t']).chars().next_back().is_none_or(|it| it == '\n');
    let number = word.chars().all(char::is_numeric);
    if number { opens } else { word.chars().count() <= 1 || SHORT.contains(&word) }
}

fn ceil_char(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|it| text.is_char_boundary(*it)).unwrap_or(text.len())
}

/// Converts a name in capitals to ordinary case; any other name is not changed.
pub(crate) fn in_ordinary_case(name: &str) -> String {
    let shouted = name.chars().any(char::is_alphabetic) && !name.chars().any(char::is_lowercase);
    if !shouted {
        return with_ordinary_surname(name);
    }
    // `CDCR` is an abbreviation.
    if name.chars().all(char::is_alphabetic) && name.chars().count() <= 4 {
        return name.to_owned();
    }
    let words =
        name.split(' ').enumerate().map(|(place, word)| word_in_ordinary_case(word, place == 0));
    words.collect::<Vec<_>>().join(" ")
}

/// `William GRONER`, as reporters write the surname of a party, with an ordinary surname.
fn with_ordinary_surname(name: &str) -> String {
    let is_caps = |it: &str| {
        it.chars().count() > 2 && it.chars().all(|it| it.is_uppercase() || "'’-.,".contains(it))
    };
    let words: Vec<&str> = name.split(' ').collect();
    let title = |it: &str| {
        it.chars().next().is_some_and(char::is_uppercase)
            && !is_caps(it)
            && !it.contains(['«', '"'])
    };
    let firm = words.iter().any(|it| {
        let bare = it.trim_matches([',', '.']).to_lowercase();
        matches!(bare.as_str(), "inc" | "llc" | "co" | "corp" | "company" | "ltd" | "llp" | "of")
    });
    let caps = words.iter().filter(|it| is_caps(it)).count();
    let person = words.len() > 1 && words.first().is_some_and(|it| title(it)) && caps == 1 && !firm;
    if !person || !name.is_ascii() {
        return name.to_owned();
    }
    let words = words
        .iter()
        .map(|it| if is_caps(it) { word_in_ordinary_case(it, true) } else { (*it).to_owned() });
    words.collect::<Vec<_>>().join(" ")
}

fn word_in_ordinary_case(word: &str, first: bool) -> String {
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
    if let Some(rest) = word.strip_prefix("MC").filter(|it| it.chars().count() > 3) {
        return format!("Mc{}", word_in_ordinary_case(rest, true));
    }
    let mut out = String::with_capacity(word.len());
    let mut fresh = true;
    for it in word.chars() {
        if fresh {
            out.push(it);
        } else {
            out.extend(it.to_lowercase());
        }
        // `O'DONNELL` keeps a second capital, `FARMER'S` does not.
        fresh = !it.is_alphabetic() && (it != '\'' || out.chars().count() == 2);
    }
    out
}

/// `a`, `a and b`, `a, b and c`
pub(crate) fn and_list(list: &[String]) -> String {
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
    fn names_in_capitals_get_ordinary_case() {
        for (name, want) in [
            ("JANE Q. ROE", "Jane Q. Roe"),
            ("Jane Roe", "Jane Roe"),
            ("Eric K. SHINSEKI", "Eric K. Shinseki"),
            ("Acme USA, Inc.", "Acme USA, Inc."),
            ("CDCR", "CDCR"),
            ("PATRICK O'DONNELL", "Patrick O'Donnell"),
            ("ANN MCALLISTER", "Ann McAllister"),
            ("FARMER'S BANK OF IONIA, LLC", "Farmer's Bank of Ionia, LLC"),
            ("ACME, L.L.C.", "Acme, L.L.C."),
            ("TRI-COUNTY PAVING CORP.", "Tri-County Paving Corp."),
            ("ООО «РОМАШКА»", "ООО «Ромашка»"),
        ] {
            assert_eq!(in_ordinary_case(name), want);
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
    fn a_mention_is_shown_in_its_sentence() {
        let check = |text: &str, word: &str, want: &str| {
            let at = text.find(word).unwrap();
            let (from, to) = sentence_of(text, at, at + word.len());
            assert_eq!(&text[from..to], want);
        };
        check("first\n  second line \nthird", "line", "second line");
        check("only", "only", "only");
        check("One. Acme Co. paid rent. Three.", "paid", "Acme Co. paid rent.");
        check("See 5 U.S. 10. The rent is due. Id.", "rent", "The rent is due.");
        check("He said \"no.\" She paid.", "paid", "She paid.");
        let line = "a line that is as long as a page is wide goes on in the line below it and";
        check(&format!("{line}\nends here. More."), "ends", &format!("{line}\nends here."));
        let long = format!("{} middle {}", "word ".repeat(100), "after ".repeat(100));
        check(&long, "middle", "middle");
        check(
            "Суд решил. Иск от 5 мая 2020 г. удовлетворить. Всё.",
            "Иск",
            "Иск от 5 мая 2020 г. удовлетворить.",
        );
    }
}
