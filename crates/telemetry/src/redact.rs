//! Masks secrets in a formatted log line.
//!
//! It scans the bytes once and examines only positions where a secret can begin: after `=`, `:`, a
//! space or an underscore. In doubt it masks a harmless word. Valid JSON stays valid.

use std::borrow::Cow;

const MASK: &[u8] = b"***";
const TOKEN_PREFIX: &[u8] = b"stoa1_";

/// The value of a key that ends with one of these is a secret: `x-api-key`, `LLM_API_KEY`, …
/// Lower case here; compared without case.
const SECRET_KEYS: [&[u8]; 15] = [
    b"authorization",
    b"token",
    b"password",
    b"passwd",
    b"secret",
    b"api_key",
    b"api-key",
    b"apikey",
    b"cookie",
    b"credential",
    b"credentials",
    b"private_key",
    b"privatekey",
    b"woocommerce_key",
    b"consumer_key",
];

/// Headers whose value has several words.
const LONG_KEYS: [&[u8]; 2] = [b"authorization", b"cookie"];

/// The line with every secret replaced by `***`; borrowed when there was none.
pub fn redact(line: &str) -> Cow<'_, str> {
    match redact_bytes(line.as_bytes()) {
        None => Cow::Borrowed(line),
        // Only ASCII-delimited ranges are replaced, so valid UTF-8 stays valid.
        Some(masked) => Cow::Owned(String::from_utf8_lossy(&masked).into_owned()),
    }
}

/// Whether the value of a field with this name is a secret.
pub(crate) fn is_secret_key(name: &str) -> bool {
    SECRET_KEYS.iter().any(|key| ends_with_ignoring_case(name.as_bytes(), key))
}

/// The masked line; `None` when it has no secret.
pub(crate) fn redact_bytes(line: &[u8]) -> Option<Vec<u8>> {
    let mut masked: Option<Vec<u8>> = None;
    // In a JSON line a quote without a backslash always begins or ends a string of that JSON.
    let json = line.starts_with(b"{\"");
    // Everything before `copied` is already in `masked`.
    let (mut at, mut copied) = (0, 0);
    while at < line.len() {
        let Some(secret) = secret_after(line, at, json) else {
            at += 1;
            continue;
        };
        let out = masked.get_or_insert_with(|| Vec::with_capacity(line.len()));
        out.extend_from_slice(&line[copied..secret.from]);
        out.extend_from_slice(secret.mask);
        copied = secret.to;
        at = secret.to.max(at + 1);
    }
    if let Some(out) = &mut masked {
        out.extend_from_slice(&line[copied..]);
    }
    masked
}

/// A range of the line to replace.
struct SecretRange {
    from: usize,
    to: usize,
    mask: &'static [u8],
}

/// The secret that begins after the byte at `at`, if there is one.
fn secret_after(line: &[u8], at: usize, json: bool) -> Option<SecretRange> {
    let before = &line[..at];
    let found = match line[at] {
        b'_' if line[..=at].ends_with(TOKEN_PREFIX) => token(line, at + 1),
        b' ' if ends_with_ignoring_case(before, b"bearer") => unquoted(line, skip_blanks(line, at)),
        b':' if line[at..].starts_with(b"://") => return user_info(line, at + 3),
        b'=' | b':' => value(line, at, secret_key(before)?, json)?,
        _ => return None,
    };
    (found.to > found.from).then_some(found)
}

/// The secret key that the text ends with, and whether it is in JSON quotes.
fn secret_key(before: &[u8]) -> Option<SecretKey> {
    let written = before.trim_ascii_end();
    let key = trim_end(written, |b| b == b'"' || b == b'\'' || b == b'\\');
    let word = SECRET_KEYS.into_iter().find(|word| ends_with_ignoring_case(key, word))?;
    // `auth::token: minted` is the module of a log line, not a key.
    let head = trim_end(key, |b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let in_json = written.ends_with(b"\"") && !written.ends_with(b"\\\"");
    (!head.ends_with(b"::")).then_some(SecretKey { word, in_json })
}

struct SecretKey {
    word: &'static [u8],
    in_json: bool,
}

/// The value after the separator at `at`.
fn value(line: &[u8], at: usize, key: SecretKey, json: bool) -> Option<SecretRange> {
    let mut from = skip_blanks(line, at + 1);
    if let Some(open) = opening_bracket(line, from) {
        return Some(bracketed(line, from, open, &key, json));
    }
    from += literal_prefix(line, from, json && !key.in_json);
    let slashes = line[from..].iter().take_while(|&&b| b == b'\\').count();
    match line.get(from + slashes) {
        // The JSON string ends here, and the value with it.
        Some(b'"') if json && slashes % 2 == 0 && !key.in_json => Some(unquoted(line, from)),
        Some(&quote @ (b'"' | b'\'')) => {
            let from = from + slashes + 1;
            Some(SecretRange {
                from,
                to: closing_quote(line, from, quote, slashes, json),
                mask: MASK,
            })
        }
        // The second colon of a path such as `token::mint`.
        Some(b':') if line[at] == b':' => None,
        _ if key.in_json => literal(line, from),
        _ if LONG_KEYS.contains(&key.word) => {
            let to = word_end(line, from, |b| b"\r\n\"".contains(&b));
            Some(SecretRange { from, to, mask: MASK })
        }
        _ => Some(unquoted(line, from)),
    }
}

/// The length of the prefix of a literal that `Debug` writes of bytes and references: b"x", r"x", &"x".
fn literal_prefix(line: &[u8], from: usize, in_string: bool) -> usize {
    let [b'b' | b'r' | b'&', rest @ ..] = &line[from..] else { return 0 };
    let slashes = rest.iter().take_while(|&&b| b == b'\\').count();
    let ends_string = in_string && slashes % 2 == 0;
    usize::from(rest.get(slashes) == Some(&b'"') && !ends_string)
}

/// The opening bracket of a value in brackets: a list or an object of JSON, or what `Debug` writes, such
/// as `Some(`, `String(`, `Array [` and `Object {`.
fn opening_bracket(line: &[u8], from: usize) -> Option<usize> {
    let is_word = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_' || **b == b':';
    let open = from + line[from..].iter().take_while(is_word).count();
    match line[open..] {
        // The path of a function, such as `token::mint(`.
        _ if line.get(from) == Some(&b':') => None,
        [b'(' | b'[' | b'{', ..] => Some(open),
        [b' ', b'[' | b'{', ..] if line[from].is_ascii_uppercase() => Some(open + 1),
        _ => None,
    }
}

/// A value in brackets, with everything in it, and what follows it without a break.
fn bracketed(line: &[u8], from: usize, open: usize, key: &SecretKey, json: bool) -> SecretRange {
    let to = closing_bracket(line, open, json, json && !key.in_json);
    let is_over = line.get(to).is_none_or(|b| b.is_ascii_whitespace() || b"\"',)]}\\".contains(b));
    let to = if is_over { to } else { unquoted(line, to).to };
    let mask: &[u8] = if key.in_json { b"\"***\"" } else { MASK };
    SecretRange { from, to, mask }
}

/// Where a value in brackets ends: behind the bracket that closes the one at `open`, or, where
/// `in_string`, at the end of the JSON string around it. Brackets in quotes do not count.
fn closing_bracket(line: &[u8], open: usize, json: bool, in_string: bool) -> usize {
    let (mut at, mut run, mut depth) = (open, 0, 0_usize);
    while let Some(&byte) = line.get(at) {
        match byte {
            b'\\' => {
                run += 1;
                at += 1;
                continue;
            }
            b'"' if in_string && run % 2 == 0 => return at,
            b'"' => {
                let end = closing_quote(line, at + 1, b'"', run, json);
                let slashes = line[end..].iter().take_while(|&&b| b == b'\\').count();
                if in_string && slashes % 2 == 0 {
                    return end;
                }
                at = end + slashes;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth <= 1 => return at + 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        run = 0;
        at += 1;
    }
    // An unclosed bracket masks the rest, but not the line end.
    open + line[open..].trim_ascii_end().len()
}

/// An unquoted JSON value is a number or a word; its mask is a string, so that the JSON stays valid.
fn literal(line: &[u8], from: usize) -> Option<SecretRange> {
    let to = word_end(line, from, |b| b.is_ascii_whitespace() || b",]}".contains(&b));
    let harmless = matches!(&line[from..to], b"null" | b"true" | b"false");
    (!harmless).then_some(SecretRange { from, to, mask: b"\"***\"" })
}

/// An unquoted word, which may contain almost any character.
fn unquoted(line: &[u8], from: usize) -> SecretRange {
    let to = word_end(line, from, |b| b.is_ascii_whitespace() || b"\"',&".contains(&b));
    SecretRange { from, to, mask: MASK }
}

/// A capability token, which ends at the first byte outside its alphabet.
fn token(line: &[u8], from: usize) -> SecretRange {
    let ends = |b: u8| !(b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    SecretRange { from, to: word_end(line, from, ends), mask: MASK }
}

/// `user:password@` after `://`, up to the last `@` before the path.
fn user_info(line: &[u8], from: usize) -> Option<SecretRange> {
    let ends = |b: &u8| b.is_ascii_whitespace() || b"/?#\"'\\<>".contains(b);
    let authority = line[from..].split(ends).next()?;
    let to = from + authority.iter().rposition(|&b| b == b'@')?;
    (to > from).then_some(SecretRange { from, to, mask: MASK })
}

/// Where a quoted value ends. `slashes` precede its opening quote: none in plain text and JSON, one or
/// more when the text is inside a JSON string.
fn closing_quote(line: &[u8], from: usize, quote: u8, slashes: usize, json: bool) -> usize {
    let mut run = 0;
    for (offset, &byte) in line[from..].iter().enumerate() {
        let at = from + offset;
        if byte == b'\\' {
            run += 1;
            continue;
        }
        let closes = if slashes == 0 { run % 2 == 0 } else { run <= slashes };
        if json && byte == b'"' && run % 2 == 0 {
            return at;
        }
        if byte == quote && closes {
            return if slashes == 0 { at } else { at - run };
        }
        run = 0;
    }
    // An unclosed quote masks the rest, but not the line end.
    from + line[from..].trim_ascii_end().len()
}

/// The first byte from `from` on that `ends` a word. A backslash escapes the next byte, unless that is
/// a quote, which ends the enclosing JSON string.
fn word_end(line: &[u8], from: usize, ends: impl Fn(u8) -> bool) -> usize {
    let mut at = from;
    while let Some(&byte) = line.get(at) {
        match (byte, line.get(at + 1)) {
            _ if ends(byte) => break,
            (b'\\', Some(b'"') | None) => break,
            (b'\\', Some(_)) => at += 2,
            _ => at += 1,
        }
    }
    at
}

fn skip_blanks(line: &[u8], from: usize) -> usize {
    from + line[from..].iter().take_while(|&&b| b == b' ').count()
}

fn trim_end(mut text: &[u8], unwanted: impl Fn(u8) -> bool) -> &[u8] {
    while let [rest @ .., last] = text
        && unwanted(*last)
    {
        text = rest;
    }
    text
}

fn ends_with_ignoring_case(text: &[u8], end: &[u8]) -> bool {
    // Comparing the last byte first decides nearly every call.
    let same_last = match (text.last(), end.last()) {
        (Some(last), Some(wanted)) => last.eq_ignore_ascii_case(wanted),
        _ => false,
    };
    same_last && text.len() >= end.len() && text[text.len() - end.len()..].eq_ignore_ascii_case(end)
}

#[cfg(test)]
mod tests;
