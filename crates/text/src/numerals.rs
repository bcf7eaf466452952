//! Numbers in words, English and Russian: `twenty-one`, `two hundred and fifty thousand`, «пять
//! тысяч». The words are in `data/numerals.txt` and `data/scales.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A number is read from at most this many words.
const WORDS_MAX: usize = 24;

type Table = HashMap<&'static str, u64>;

fn table(file: &'static str) -> Table {
    let mut table = Table::new();
    for line in file.lines().filter(|it| !it.starts_with('#')) {
        let mut line = line.split(' ');
        if let Some(value) = line.next().and_then(|it| it.parse().ok()) {
            table.extend(line.map(|word| (word, value)));
        }
    }
    table
}

static SMALL: LazyLock<Table> = LazyLock::new(|| table(include_str!("../data/numerals.txt")));
static SCALES: LazyLock<Table> = LazyLock::new(|| table(include_str!("../data/scales.txt")));

/// The number that one folded word names, below a thousand: `nine`, `twenty-one`, «двухсот».
#[must_use]
pub fn small(word: &str) -> Option<u64> {
    if let Some(value) = SMALL.get(word) {
        return Some(*value);
    }
    let (tens, ones) = word.split_once('-')?;
    let (tens, ones) = (*SMALL.get(tens)?, *SMALL.get(ones)?);
    follows(tens, ones).then_some(tens + ones)
}

/// The factor that a folded word names, twelve or more: `dozen`, `hundred`, «тыс», «миллионов».
#[must_use]
pub fn scale(word: &str) -> Option<u64> {
    SCALES.get(word).copied()
}

/// Whether a word is a number or begins one: `twenty-first` begins with twenty.
#[must_use]
pub fn begins_number(word: &str) -> bool {
    let first = word.split_once('-').map_or(word, |it| it.0);
    SMALL.contains_key(first) || SCALES.contains_key(first)
}

/// Whether one number may stand before another in one group: `twenty one`, «сто двадцать».
fn follows(before: u64, value: u64) -> bool {
    match before {
        0 => true,
        100.. if before.is_multiple_of(100) => value < 100,
        20..100 if before.is_multiple_of(10) => value < 10,
        _ => false,
    }
}

/// The number that words spell from the first on, and how many words it has. The words are folded.
/// `and` belongs to the number after a hundred or a thousand.
///
/// ```
/// use text::numerals::spelled;
///
/// assert_eq!(spelled("two hundred and five days".split(' ')), Some((205, 4)));
/// assert_eq!(spelled("пять тысяч рублей".split(' ')), Some((5_000, 2)));
/// assert_eq!(spelled("two and three".split(' ')), Some((2, 1)));
/// ```
pub fn spelled<'w>(words: impl Iterator<Item = &'w str>) -> Option<(u64, usize)> {
    let mut number = Spelled::default();
    let (mut length, mut and) = (0, false);
    for (at, word) in words.take(WORDS_MAX).enumerate() {
        if word == "and" && number.after_scale && !and {
            and = true;
            continue;
        }
        if !number.add(word, and) {
            break;
        }
        (length, and) = (at + 1, false);
    }
    (length > 0).then(|| number.value().map(|it| (it, length))).flatten()
}

#[derive(Default)]
struct Spelled {
    /// The thousands and millions that are complete.
    total: u64,
    /// The number below a thousand that the next thousand or million multiplies.
    group: u64,
    /// The number that was added to the group last; it decides which numbers may follow.
    last: u64,
    /// The last factor of at least a thousand; the next must be smaller.
    limit: Option<u64>,
    after_scale: bool,
    begun: bool,
}

impl Spelled {
    /// Takes one more word; false if it does not belong to the number.
    fn add(&mut self, word: &str, and: bool) -> bool {
        if let Some(value) = small(word) {
            if !follows(self.last, value) {
                return false;
            }
            self.group += value;
            (self.last, self.after_scale) = (value, false);
        } else if let Some(by) = scale(word).filter(|_| !and) {
            if !self.multiply(by) {
                return false;
            }
            self.after_scale = true;
        } else {
            return false;
        }
        self.begun = true;
        true
    }

    fn multiply(&mut self, by: u64) -> bool {
        if by < 1_000 {
            // `two hundred` is a hundred twice; nothing but one to ninety-nine stands before it.
            let times = self.group.max(1);
            if self.begun && (self.group == 0 || times >= 100) {
                return false;
            }
            self.group = times * by;
            self.last = if by == 100 { 100 } else { 1 };
            return true;
        }
        if self.limit.is_some_and(|it| by >= it) || (self.begun && self.group == 0) {
            return false;
        }
        let Some(part) = self.group.max(1).checked_mul(by) else { return false };
        let Some(total) = self.total.checked_add(part) else { return false };
        (self.total, self.group, self.last, self.limit) = (total, 0, 0, Some(by));
        true
    }

    fn value(&self) -> Option<u64> {
        self.total.checked_add(self.group)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(u64, usize)>) {
        assert_eq!(spelled(text.split(' ')), expected, "{text}");
    }

    #[test]
    fn numbers_in_words_are_read() {
        check("twenty-one days", Some((21, 1)));
        check("twenty one days", Some((21, 2)));
        check("two hundred fifty thousand dollars", Some((250_000, 4)));
        check("one million two hundred thousand and six", Some((1_200_006, 7)));
        check("a dozen", None);
        check("dozen eggs", Some((12, 1)));
        check("two dozen", Some((24, 2)));
        check("hundred", Some((100, 1)));
        check("сто двадцать пять тысяч шестьсот рублей", Some((125_600, 5)));
        check("двухсот пятидесяти миллионов", Some((250_000_000, 3)));
        check("тысяча", Some((1_000, 1)));
        check("дней", None);
        check("", None);
    }

    #[test]
    fn numbers_that_stand_beside_each_other_are_not_added() {
        check("two and three", Some((2, 1)));
        check("two three", Some((2, 1)));
        check("twenty thirty", Some((20, 1)));
        check("two hundred and", Some((200, 2)));
        check("five thousand six thousand", Some((5_006, 3)));
        check("thousand million", Some((1_000, 1)));
    }

    /// The forms of one file, so that formatting is the reverse of the table.
    fn word(value: u64, russian: bool) -> &'static str {
        let files = [include_str!("../data/numerals.txt"), include_str!("../data/scales.txt")];
        let line = files
            .iter()
            .flat_map(|it| it.lines())
            .find(|it| it.split(' ').next().and_then(|it| it.parse().ok()) == Some(value));
        let fits =
            |it: &&str| it.starts_with(|it: char| it.is_alphabetic()) && it.is_ascii() != russian;
        line.unwrap().split(' ').skip(1).find(fits).unwrap()
    }

    fn format(mut value: u64, russian: bool, out: &mut Vec<String>) {
        for by in [1_000_000_000, 1_000_000, 1_000] {
            if value >= by {
                format(value / by, russian, out);
                out.push(word(by, russian).to_owned());
                value %= by;
            }
        }
        if value >= 100 && russian {
            out.push(word(value / 100 * 100, russian).to_owned());
            value %= 100;
        } else if value >= 100 {
            out.push(word(value / 100, russian).to_owned());
            out.push("hundred".to_owned());
            value %= 100;
        }
        if value >= 20 {
            out.push(word(value / 10 * 10, russian).to_owned());
            value %= 10;
        }
        if value > 0 {
            out.push(word(value, russian).to_owned());
        }
    }

    proptest! {
        #[test]
        fn a_number_is_read_as_it_is_spelled(value in 1_u64..1_000_000_000_000, russian: bool) {
            let mut words = Vec::new();
            format(value, russian, &mut words);
            let read = spelled(words.iter().map(String::as_str));
            prop_assert_eq!(read, Some((value, words.len())), "{:?}", words);
        }

        #[test]
        fn odd_words_never_overflow(picks in prop::collection::vec(0_usize..200, 0..30)) {
            let mut all: Vec<&str> = SMALL.keys().chain(SCALES.keys()).copied().collect();
            all.push("and");
            all.sort_unstable();
            let words: Vec<&str> = picks.iter().filter_map(|it| all.get(*it).copied()).collect();
            if let Some((_, length)) = spelled(words.iter().copied()) {
                prop_assert!(length <= WORDS_MAX && length <= words.len());
            }
        }
    }
}
