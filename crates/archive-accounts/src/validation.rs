//! Validates usernames, email addresses, passwords and case names. No message repeats a password.

use fault::Fault;

const USERNAME: std::ops::RangeInclusive<usize> = 3..=64;
const PASSWORD: std::ops::RangeInclusive<usize> = 8..=256;
const EMAIL_MAX: usize = 254;
const CASE_NAME_MAX: usize = 200;

/// The lookup key of a username, ignoring case; `None` for a text that cannot be a username.
pub(crate) fn username_key(username: &str) -> Option<String> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._-@".contains(&b);
    let good = USERNAME.contains(&username.len()) && username.bytes().all(allowed);
    good.then(|| username.to_ascii_lowercase())
}

pub(crate) fn new_username(username: &str) -> Result<String, Fault> {
    username_key(username).ok_or_else(|| {
        let shape = "3 to 64 letters, digits or . _ - @, of the Latin alphabet";
        Fault::invalid("invalid_username", format!("a username is {shape}"))
            .problem("username", shape)
    })
}

/// A light check: only a message to the address proves that it exists.
pub(crate) fn email_key(email: &str) -> Result<String, Fault> {
    let shape = || {
        let (local, domain) = email.rsplit_once('@')?;
        let plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '@';
        let labels = domain.split('.').all(|label| !label.is_empty());
        (email.len() <= EMAIL_MAX
            && !local.is_empty()
            && local.chars().all(plain)
            && domain.chars().all(plain)
            && labels)
            .then(|| email.to_lowercase())
    };
    shape().ok_or_else(|| {
        Fault::invalid("invalid_email", "the email is not an address")
            .problem("email", "an address such as name@example.org")
    })
}

/// Whether a text is short enough to be a password; longer ones are never hashed.
pub(crate) fn may_be_password(password: &str) -> bool {
    password.len() <= 4 * PASSWORD.end() && password.chars().count() <= *PASSWORD.end()
}

pub(crate) fn new_password(password: &str) -> Result<(), Fault> {
    let is_seen = |c: char| !c.is_whitespace() && !c.is_control() && !has_no_width(c);
    let is_long = password.chars().count() >= *PASSWORD.start();
    if may_be_password(password) && is_long && password.chars().any(is_seen) {
        return Ok(());
    }
    let (least, most) = (PASSWORD.start(), PASSWORD.end());
    let shape = format!("{least} to {most} characters, not only blanks or control characters");
    Err(Fault::invalid("invalid_password", format!("a password has {shape}"))
        .problem("password", shape))
}

/// Whether a character takes no room on a screen: a soft hyphen, joiners, direction marks and the byte
/// order mark.
fn has_no_width(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

pub(crate) fn case_name(name: &str) -> Result<(), Fault> {
    let good = name.len() <= 4 * CASE_NAME_MAX
        && name.chars().count() <= CASE_NAME_MAX
        && !name.chars().any(char::is_control)
        && name.chars().any(|c| !c.is_whitespace());
    if good {
        return Ok(());
    }
    let shape = format!("1 to {CASE_NAME_MAX} printable characters");
    Err(Fault::invalid("invalid_case", format!("a case's name is {shape}"))
        .problem("caseId", shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T>(given: Result<T, Fault>, field: Option<&str>) {
        let found = given.err().map(|fault| fault.problems()[0].field.clone());
        assert_eq!(found.as_deref(), field);
    }

    #[test]
    fn usernames_are_plain_and_have_one_key() {
        assert_eq!(username_key("Ann.Lee-1@x_y").as_deref(), Some("ann.lee-1@x_y"));
        check(new_username("abc"), None);
        check(new_username(&"a".repeat(64)), None);
        let long = "a".repeat(65);
        for bad in ["", "ab", &long, "a b c", "аня-кириллицей", "abc\0", "abc/d", "abc\n"]
        {
            check(new_username(bad), Some("username"));
        }
    }

    #[test]
    fn emails_are_checked_lightly() {
        for good in ["a@b", "First.Last+tag@mail.example.org", "имя@пример.рф"] {
            check(email_key(good), None);
        }
        assert_eq!(email_key("A@B.org").unwrap(), "a@b.org");
        let long = format!("{}@b.org", "a".repeat(250));
        for bad in ["", "a", "@b", "a@", "a b@c", "a@b..c", "a@.b", "a@@b", "a@b\0", &long] {
            check(email_key(bad), Some("email"));
        }
    }

    #[test]
    fn passwords_are_counted_in_characters() {
        check(new_password("восемь12"), None);
        check(new_password(&"п".repeat(256)), None);
        for bad in ["", "seven77", &"п".repeat(257), &"x".repeat(100_000)] {
            check(new_password(bad), Some("password"));
        }
    }

    #[test]
    fn a_password_of_blanks_or_control_characters_is_refused() {
        let (blanks, zeros) = (" ".repeat(8), "\0".repeat(8));
        let no_width = "\u{200b}".repeat(8);
        for bad in
            [&*blanks, &zeros, &no_width, "\t\n\r \u{a0}\u{3000}\u{7f}\u{85}", &" \0".repeat(100)]
        {
            check(new_password(bad), Some("password"));
        }
        for good in ["       x", "pass word", "\0\0\0\0\0\0\0ж"] {
            check(new_password(good), None);
        }
    }

    #[test]
    fn cases_have_printable_names() {
        for good in ["Smith v. Jones", "дело № А40-1/2024", &"x".repeat(200)] {
            check(case_name(good), None);
        }
        for bad in ["", "  ", "a\nb", "a\0", &"x".repeat(201)] {
            check(case_name(bad), Some("caseId"));
        }
    }
}
