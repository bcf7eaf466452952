//! Finds the encoding of text that does not state it: UTF-8, UTF-16, Windows-1252, or the Cyrillic
//! one of Windows-1251, KOI8-R and CP866 whose letters look most like Russian.

use encoding_rs::{
    Encoding, IBM866, KOI8_R, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1251, WINDOWS_1252,
};

/// Bytes that are looked at.
const HEAD: usize = 64 << 10;
/// The first one wins a tie.
const CYRILLIC: [&Encoding; 3] = [WINDOWS_1251, KOI8_R, IBM866];
/// The 60 most frequent pairs of letters in Russian prose, about 45 % of all pairs.
const PAIRS: &str = "ст но то на ен ов ни ра во ко ро ос по пр ре ол го от не та ер ть ор ел те ва \
                     ка ет ом ал од за ли ат ан ес ло ин ле ла ри де до ит ны ть ем ве ся об ие ии \
                     ой ме тв ис да уд ск ся им";

/// The encoding of the text; UTF-8 if nothing speaks against it.
pub(super) fn detect(bytes: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    if let Some(wide) = wide(head) {
        return wide;
    }
    // A cut in the last character is not a sign of another encoding.
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_some() => {
            if is_latin(head) {
                WINDOWS_1252
            } else {
                cyrillic(head)
            }
        }
        _ => UTF_8,
    }
}

/// UTF-16 without a mark: every second byte is the high byte of a Latin or Cyrillic letter, and the
/// text has no control characters.
fn wide(head: &[u8]) -> Option<&'static Encoding> {
    let pairs = head.len() / 2;
    if pairs < 4 || !head.contains(&0) {
        return None;
    }
    let high = |from: usize| {
        head.iter().skip(from).step_by(2).take(pairs).filter(|it| matches!(it, 0 | 4)).count()
    };
    let encoding = match (high(0), high(1)) {
        (even, odd) if odd * 10 >= pairs * 9 && even * 10 <= pairs => UTF_16LE,
        (even, odd) if even * 10 >= pairs * 9 && odd * 10 <= pairs => UTF_16BE,
        _ => return None,
    };
    let (text, _) = encoding.decode_without_bom_handling(&head[..pairs * 2]);
    let is_text = |it: char| !it.is_control() || matches!(it, '\n' | '\r' | '\t' | '\u{c}');
    text.chars().all(is_text).then_some(encoding)
}

/// Letters with accents stand alone among ASCII letters. Cyrillic letters are runs of bytes from
/// 0x80 in every encoding.
fn is_latin(head: &[u8]) -> bool {
    let (mut pairs, mut alone) = (0_usize, 0_usize);
    for (at, byte) in head.iter().enumerate() {
        if is_letter(*byte) {
            let beside = |it: Option<&u8>| it.is_some_and(|it| is_letter(*it));
            if beside(at.checked_sub(1).and_then(|it| head.get(it))) || beside(head.get(at + 1)) {
                pairs += 1;
            } else {
                alone += 1;
            }
        }
    }
    pairs <= alone
}

/// Not the quotes, dashes and spaces that Windows-1252 and Windows-1251 share.
const fn is_letter(byte: u8) -> bool {
    byte >= 0x80
        && !matches!(byte, 0x82 | 0x84 | 0x85 | 0x91..=0x97 | 0xa0 | 0xa7 | 0xab | 0xbb | 0xb9)
}

fn cyrillic(head: &[u8]) -> &'static Encoding {
    let frequent = PairTable::new();
    let mut best = (i64::MIN, WINDOWS_1251);
    for encoding in CYRILLIC {
        let score = russian(&encoding.decode_without_bom_handling(head).0, &frequent);
        if score > best.0 {
            best = (score, encoding);
        }
    }
    best.1
}

/// How much the text looks like Russian: frequent pairs of letters count for it, and capital letters
/// inside words and signs beside letters against it.
fn russian(text: &str, frequent: &PairTable) -> i64 {
    let mut score = 0;
    let mut last = ' ';
    for it in text.chars() {
        if is_russian(last) && is_russian(it) {
            if frequent.has(last, it) {
                score += 4;
            }
            if last.is_lowercase() && it.is_uppercase() {
                score -= 6;
            }
        } else if is_odd(it) && is_russian(last) || is_odd(last) && is_russian(it) {
            score -= 4;
        }
        last = it;
    }
    score
}

/// One row of bits for each first letter.
struct PairTable([u32; 32]);

impl PairTable {
    fn new() -> Self {
        let mut rows = [0; 32];
        for pair in PAIRS.split_whitespace() {
            let mut places = pair.chars().filter_map(place);
            if let (Some(first), Some(second)) = (places.next(), places.next()) {
                rows[first] |= 1 << second;
            }
        }
        Self(rows)
    }

    fn has(&self, first: char, second: char) -> bool {
        let places = place(first).zip(place(second));
        places.is_some_and(|(first, second)| self.0[first] >> second & 1 == 1)
    }
}

/// The place of a letter in the alphabet without `ё`.
fn place(it: char) -> Option<usize> {
    let first = if it.is_uppercase() { 'А' } else { 'а' };
    let place = u32::from(it).checked_sub(u32::from(first))?;
    usize::try_from(place).ok().filter(|it| *it < 32)
}

fn is_russian(it: char) -> bool {
    matches!(it, 'а'..='я' | 'А'..='Я' | 'ё' | 'Ё')
}

/// Frames, foreign letters and signs that stand beside Russian letters only after a wrong decoding.
fn is_odd(it: char) -> bool {
    !it.is_ascii()
        && !is_russian(it)
        && !matches!(it, '«' | '»' | '“' | '”' | '„' | '–' | '—' | '…' | '№' | '§' | '\u{a0}' | '’')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 5] = [
        "Решением суда исковые требования удовлетворены частично.",
        "РЕШЕНИЕ ИМЕНЕМ РОССИЙСКОЙ ФЕДЕРАЦИИ",
        "Суд решил",
        "Истец Ёлкин П.С. просит взыскать с ООО «Ромашка» 10 000 руб. по договору № 5.",
        "See the ruling: суд апелляционной инстанции определил отменить решение (page 4).",
    ];

    #[track_caller]
    fn check(bytes: &[u8], expected: &'static Encoding) {
        assert_eq!(detect(bytes).name(), expected.name(), "{:?}", expected.decode(bytes).0);
    }

    #[test]
    fn cyrillic_encodings_are_told_apart() {
        for text in TEXTS {
            for encoding in CYRILLIC {
                // CP866 and KOI8-R have no « and no №.
                let plain = text.replace(['«', '»', '№'], "\"");
                let text = if encoding.encode(text).2 { &plain } else { text };
                check(&encoding.encode(text).0, encoding);
            }
            check(text.as_bytes(), UTF_8);
        }
    }

    #[test]
    fn wide_text_needs_no_mark() {
        for text in TEXTS {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            check(&little, UTF_16LE);
            check(&big, UTF_16BE);
        }
        check(&[1, 0, 2, 0, 3, 0, 4, 0, 5, 0], UTF_8);
        check(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0], UTF_8);
    }

    #[test]
    fn latin_text_stays_latin() {
        check(b"caf\xe9 \x93quoted\x94 na\xefve \xa7 5", WINDOWS_1252);
        check(b"M\xfcller gegen Gro\xdfe Stra\xdfe GmbH", WINDOWS_1252);
    }
}
