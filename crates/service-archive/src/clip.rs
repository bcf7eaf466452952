//! Cuts a text to a number of characters.

/// The first `chars_max` characters of the text, followed by `…` when something was cut.
pub(crate) fn clip(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_ends_between_characters_and_with_an_ellipsis() {
        assert_eq!(clip("стоа", 4), "стоа");
        assert_eq!(clip("стоа и", 5), "стоа…");
        assert_eq!(clip("", 0), "");
    }
}
