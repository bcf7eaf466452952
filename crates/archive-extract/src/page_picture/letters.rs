//! A text as the letters and digits in which the words of two readers are compared: lower case,
//! without accents, ligatures taken apart, no hyphens, no spaces.

use unicode_normalization::UnicodeNormalization as _;

/// The letters of some pieces of text, one after another.
#[derive(Debug, Default)]
pub(super) struct Letters {
    pub(super) text: String,
    /// The byte at which each piece with a letter begins, and the number of the piece.
    starts: Vec<(usize, usize)>,
}

impl Letters {
    pub(super) fn of<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let mut letters = Self::default();
        for (number, piece) in pieces.into_iter().enumerate() {
            let at = letters.text.len();
            push_letters(&mut letters.text, piece.chars());
            if letters.text.len() > at {
                letters.starts.push((at, number));
            }
        }
        letters
    }

    /// The pieces that have a letter in these bytes.
    pub(super) fn pieces(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.starts.partition_point(|it| it.0 <= from).saturating_sub(1);
        let rest = self.starts.get(first..).unwrap_or_default();
        rest.iter().take_while(move |it| it.0 < to).map(|it| it.1)
    }
}

/// The letters of one text.
pub(super) fn letters(text: &str) -> String {
    let mut letters = String::with_capacity(text.len());
    push_letters(&mut letters, text.chars());
    letters
}

fn push_letters(to: &mut String, chars: impl Iterator<Item = char>) {
    for it in chars {
        if it.is_ascii() {
            if it.is_ascii_alphanumeric() {
                to.push(it.to_ascii_lowercase());
            }
        } else {
            let parts = it.nfkd().flat_map(char::to_lowercase);
            to.extend(parts.filter(|part| part.is_alphanumeric()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(letters(text), expected, "{text:?}");
    }

    #[test]
    fn only_letters_and_digits_are_left() {
        check("De-\nfendant’s", "defendants");
        check("eﬃcient ﬁling", "efficientfiling");
        check("con\u{ad}tract § 17 U.S.C.", "contract17usc");
        check("Воробьёв, приём", "воробьевприем");
        check("Café — №5 ²", "cafeno52");
        check("…—•", "");
    }

    #[test]
    fn bytes_lead_back_to_their_pieces() {
        let letters = Letters::of(["the", "—", "ﬁrst", "of", "two"]);
        assert_eq!(letters.text, "thefirstoftwo");
        let at = |from, to| letters.pieces(from, to).collect::<Vec<_>>();
        assert_eq!(at(0, 3), [0]);
        assert_eq!(at(4, 9), [2, 3]);
        assert_eq!(at(0, 13), [0, 2, 3, 4]);
        assert_eq!(Letters::of([]).pieces(0, 0).count(), 0);
    }
}
