//! The names of the months, English and Russian in all cases, from `data/months.txt`.

use std::cmp::Ordering;
use std::sync::LazyLock;

static FILE: &str = include_str!("../data/months.txt");

struct Months {
    /// The English name and the Russian form after a day.
    names: Vec<(&'static str, &'static str)>,
    /// All forms with their months, sorted.
    forms: Vec<(&'static str, u8)>,
}

static MONTHS: LazyLock<Months> = LazyLock::new(|| {
    let mut months = Months { names: Vec::new(), forms: Vec::new() };
    for line in FILE.lines().filter(|it| !it.starts_with('#')) {
        let mut line = line.split(' ');
        let number = line.next().and_then(|it| it.parse().ok());
        let (Some(number), Some(english), Some(russian)) = (number, line.next(), line.next())
        else {
            continue;
        };
        months.names.push((english, russian));
        months.forms.extend([english, russian].into_iter().chain(line).map(|it| (it, number)));
    }
    months.forms.sort_by(|one, other| compare(one.0, other.0));
    months
});

/// Compares without regard to case and to the dots of `ё`.
fn compare(one: &str, other: &str) -> Ordering {
    fn plain(word: &str) -> impl Iterator<Item = char> + '_ {
        word.chars().flat_map(char::to_lowercase).map(|it| if it == 'ё' { 'е' } else { it })
    }
    plain(one).cmp(plain(other))
}

/// The month that a word names in full, shortened or inflected, from 1.
///
/// English names need a check by the caller: `may` and `march` are words too.
///
/// ```
/// use text::months::month;
///
/// assert_eq!(month("Sept"), Some(9));
/// assert_eq!(month("мартом"), Some(3));
/// assert_eq!(month("маршем"), None);
/// ```
#[must_use]
pub fn month(word: &str) -> Option<u8> {
    let at = MONTHS.forms.binary_search_by(|it| compare(it.0, word)).ok()?;
    MONTHS.forms.get(at).map(|it| it.1)
}

fn names(month: u8) -> Option<(&'static str, &'static str)> {
    MONTHS.names.get(usize::from(month).checked_sub(1)?).copied()
}

/// All names and forms.
pub fn forms() -> impl Iterator<Item = &'static str> {
    MONTHS.forms.iter().map(|it| it.0)
}

/// `January` for 1.
#[must_use]
pub fn english(month: u8) -> Option<&'static str> {
    names(month).map(|it| it.0)
}

/// `января` for 1, as after a day.
#[must_use]
pub fn russian(month: u8) -> Option<&'static str> {
    names(month).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_as_its_month() {
        for number in 1..=12 {
            for name in [english(number).unwrap(), russian(number).unwrap()] {
                assert_eq!(month(name), Some(number), "{name}");
                assert_eq!(month(&name.to_uppercase()), Some(number), "{name}");
            }
        }
        assert_eq!((english(0), english(13), russian(13)), (None, None, None));
    }

    #[test]
    fn forms_are_months_and_other_words_are_not() {
        let check = |word: &str, expected| assert_eq!(month(word), expected, "{word}");
        check("jan", Some(1));
        check("sep", Some(9));
        check("январём", Some(1));
        check("май", Some(5));
        check("мае", Some(5));
        check("майор", None);
        check("marc", None);
        check("", None);
    }

    #[test]
    fn no_form_names_two_months() {
        let forms = &MONTHS.forms;
        assert!(forms.windows(2).all(|it| compare(it[0].0, it[1].0).is_lt()));
        assert_eq!(MONTHS.names.len(), 12);
    }
}
