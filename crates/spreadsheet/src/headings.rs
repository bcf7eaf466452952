//! Headings of tables: compared without case, spaces and punctuation, and repeated in messages.

/// Headings and characters of a heading that a message repeats.
const LISTED_MAX: usize = 30;
const HEADING_CHARS_MAX: usize = 40;

/// A heading in lower case with its letters and digits alone: `<Open Time>` is `opentime`.
pub fn simplified(heading: &str) -> String {
    heading.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Headings for a message, at most 30 of them.
pub fn listed<'a>(headings: impl IntoIterator<Item = &'a str>) -> String {
    let mut headings = headings.into_iter();
    let mut text: Vec<String> = Vec::new();
    for heading in headings.by_ref().take(LISTED_MAX) {
        text.push(heading.chars().take(HEADING_CHARS_MAX).collect());
    }
    match headings.count() {
        0 => text.join(", "),
        more => format!("{} and {more} more", text.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_compared_by_letters_and_digits() {
        assert_eq!(simplified("<OPEN> "), "open");
        assert_eq!(simplified("Cost per item"), "costperitem");
        assert_eq!(simplified("Объём, шт."), "объёмшт");
    }

    #[test]
    fn a_message_repeats_a_bounded_part() {
        assert_eq!(listed(["a", "b"]), "a, b");
        let many = vec!["column"; 100];
        let text = listed(many);
        assert!(text.ends_with("and 70 more") && text.len() < 400, "{text}");
    }
}
