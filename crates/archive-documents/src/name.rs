//! Cleans the name of an uploaded file for display. The name is never part of a path.

use fault::Fault;

/// Characters of a name.
const CHARS_MAX: usize = 255;
/// Characters of an extension that is preserved when a long name is cut.
const EXTENSION_MAX: usize = 16;

/// The last path component, without invisible characters and marks that change the direction of
/// text. A long name is cut before its extension.
pub fn clean_file_name(name: &str) -> Result<String, Fault> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let seen: String = last.chars().filter(|it| !is_unseen(*it)).collect();
    let seen = seen.trim();
    if seen.is_empty() || seen.chars().all(|it| it == '.') {
        return Err(Fault::invalid("invalid_file_name", "a file needs a name; send it with one")
            .problem("file", "a part with a filename"));
    }
    Ok(shorten(seen))
}

/// `LIKE` patterns for a part of a name, as it is written, in lower case, in capitals, and with a
/// capital first letter. The letters A to Z are in lower case, as the statement compares them.
pub(crate) fn spellings(part: &str) -> Vec<String> {
    let lower = part.to_lowercase();
    let mut letters = lower.chars();
    let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let all = [part.to_owned(), part.to_uppercase(), capital + letters.as_str(), lower];
    let mut patterns: Vec<String> = all
        .iter()
        .map(|it| it.to_ascii_lowercase().replace('!', "!!").replace('%', "!%").replace('_', "!_"))
        .map(|it| format!("%{it}%"))
        .collect();
    patterns.sort();
    patterns.dedup();
    patterns
}

/// Controls, direction marks, and line and paragraph separators.
fn is_unseen(it: char) -> bool {
    it.is_control()
        || matches!(it, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(it, '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

fn shorten(name: &str) -> String {
    let chars = name.chars().count();
    if chars <= CHARS_MAX {
        return name.to_owned();
    }
    let extension = match name.rsplit_once('.') {
        Some((_, end)) if end.chars().count() <= EXTENSION_MAX => format!(".{end}"),
        _ => String::new(),
    };
    let room = CHARS_MAX - extension.chars().count();
    name.chars().take(room).chain(extension.chars()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(sent: &str, kept: &str) {
        assert_eq!(clean_file_name(sent).unwrap(), kept, "{sent:?}");
    }

    #[test]
    fn a_name_is_its_last_visible_component() {
        check("brief.pdf", "brief.pdf");
        check("../../etc/passwd", "passwd");
        check("C:\\Users\\me\\brief.docx", "brief.docx");
        check("C:\\a/b\\c.txt", "c.txt");
        check(" Smith v. Jones ", "Smith v. Jones");
        check("жалоба №1.pdf", "жалоба №1.pdf");
        check("a\r\nb\0c.txt", "abc.txt");
        check("invoice\u{202e}fdp.exe", "invoicefdp.exe");
        check("\u{feff}\u{2067}x\u{2069}.md", "x.md");
        check(".hidden", ".hidden");
        let long = "ж".repeat(300);
        check(&format!("{long}.pdf"), &format!("{}.pdf", "ж".repeat(251)));
        check(&long, &"ж".repeat(255));
        check(&format!("a.{long}"), &format!("a.{}", "ж".repeat(253)));
    }

    #[test]
    fn a_part_of_a_name_has_few_spellings() {
        assert_eq!(spellings("Brief 50%_!"), ["%brief 50!%!_!!%"]);
        assert_eq!(spellings("жаЛоба"), ["%ЖАЛОБА%", "%Жалоба%", "%жаЛоба%", "%жалоба%"]);
        assert_eq!(spellings(""), ["%%"]);
    }

    #[test]
    fn an_empty_name_is_refused() {
        for sent in ["", "/", "a/", "..", ".", " \t", "\u{202e}", "x\\.."] {
            assert_eq!(clean_file_name(sent).unwrap_err().code(), "invalid_file_name", "{sent:?}");
        }
    }

    proptest! {
        #[test]
        fn cleaning_twice_changes_nothing(sent in any::<String>()) {
            if let Ok(kept) = clean_file_name(&sent) {
                prop_assert!((1..=CHARS_MAX).contains(&kept.chars().count()));
                prop_assert!(!kept.contains(['/', '\\']) && !kept.chars().any(is_unseen));
                prop_assert_eq!(clean_file_name(&kept).unwrap(), kept);
            }
        }
    }
}
