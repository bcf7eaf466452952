//! Headings of tables: normalized for comparison, and listed in error messages.

/// The most headings that a message lists.
const LISTED_MAX: usize = 30;
/// The most characters of a heading that a message shows.
const HEADING_CHARS_MAX: usize = 40;

/// A heading in lower case with its letters and digits alone: `<Open Time>` is `opentime`.
pub fn normalize_heading(heading: &str) -> String {
    heading.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The first 30 headings, joined for an error message, and the number of the others.
pub fn list_headings<'a>(headings: impl IntoIterator<Item = &'a str>) -> String {
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
        assert_eq!(normalize_heading("<OPEN> "), "open");
        assert_eq!(normalize_heading("Cost per item"), "costperitem");
        assert_eq!(normalize_heading("Объём, шт."), "объёмшт");
    }

    #[test]
    fn a_long_list_is_cut_and_counted() {
        assert_eq!(list_headings(["a", "b"]), "a, b");
        let many = vec!["column"; 100];
        let text = list_headings(many);
        assert!(text.ends_with("and 70 more") && text.len() < 400, "{text}");
    }
}
