//! Reads JSON text without building it: counts its values and its depth, and finds a string by its
//! path. It does not validate; the parser that runs afterwards does.

use memchr::memchr2;

/// How deep JSON may be nested.
pub(crate) const DEPTH_MAX: usize = 64;

/// Why JSON is not built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonTooLarge {
    /// It is nested deeper than [`DEPTH_MAX`].
    Depth,
    /// It has more values than the limit.
    Values,
}

enum JsonToken<'a> {
    Open,
    Close,
    /// A string with its quotes.
    Text(&'a [u8]),
    /// A number, `true`, `false` or `null`.
    Scalar,
    Colon,
    Comma,
}

struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// The string that begins at `from`; the rest of the text if it does not end.
    fn string(&mut self, from: usize) -> &'a [u8] {
        let mut at = from + 1;
        while let Some(found) = self.text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
            at += found + 1;
            if self.text[at - 1] == b'"' {
                self.at = at;
                return &self.text[from..at];
            }
            at += 1;
        }
        self.at = self.text.len();
        &self.text[from..]
    }
}

fn is_structure(byte: u8) -> bool {
    matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"') || byte.is_ascii_whitespace()
}

impl<'a> Iterator for Tokens<'a> {
    type Item = JsonToken<'a>;

    fn next(&mut self) -> Option<JsonToken<'a>> {
        loop {
            let from = self.at;
            let byte = *self.text.get(from)?;
            self.at += 1;
            return Some(match byte {
                b'{' | b'[' => JsonToken::Open,
                b'}' | b']' => JsonToken::Close,
                b',' => JsonToken::Comma,
                b':' => JsonToken::Colon,
                b'"' => JsonToken::Text(self.string(from)),
                _ if byte.is_ascii_whitespace() => continue,
                _ => {
                    while self.text.get(self.at).is_some_and(|byte| !is_structure(*byte)) {
                        self.at += 1;
                    }
                    JsonToken::Scalar
                }
            });
        }
    }
}

/// How many values the text has; the keys of objects count too.
pub(crate) fn count_values(text: &[u8], values_max: usize) -> Result<usize, JsonTooLarge> {
    let (mut values, mut depth) = (0_usize, 0_usize);
    for token in Tokens::new(text) {
        match token {
            JsonToken::Open => {
                depth += 1;
                values += 1;
                if depth > DEPTH_MAX {
                    return Err(JsonTooLarge::Depth);
                }
            }
            JsonToken::Close => depth = depth.saturating_sub(1),
            JsonToken::Text(_) | JsonToken::Scalar => values += 1,
            JsonToken::Colon | JsonToken::Comma => continue,
        }
        if values > values_max {
            return Err(JsonTooLarge::Values);
        }
    }
    Ok(values)
}

/// The first string at one of these paths of object keys. The text may end anywhere; a string that
/// is cut off is not found.
pub fn find_string(text: &[u8], paths: &[&[&str]]) -> Option<String> {
    // One entry for each open container: its key in the object around it, `None` in an array.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut key: Option<String> = None;
    let mut last_text: Option<&[u8]> = None;
    for token in Tokens::new(text) {
        match token {
            JsonToken::Open => {
                if open.len() >= DEPTH_MAX {
                    return None;
                }
                open.push(key.take());
            }
            JsonToken::Close => {
                open.pop();
                (key, last_text) = (None, None);
            }
            JsonToken::Colon => key = last_text.take().and_then(decoded),
            JsonToken::Comma => (key, last_text) = (None, None),
            JsonToken::Scalar => key = None,
            JsonToken::Text(raw) if key.is_some() => {
                if paths.iter().any(|path| is_at(path, &open, key.as_deref())) {
                    return decoded(raw);
                }
                key = None;
            }
            JsonToken::Text(raw) => last_text = Some(raw),
        }
    }
    None
}

/// Whether the value of `key` in the innermost of these containers has this path.
fn is_at(path: &[&str], open: &[Option<String>], key: Option<&str>) -> bool {
    let around = open.iter().skip(1).map(Option::as_deref);
    around.chain([key]).eq(path.iter().map(|key| Some(*key)))
}

fn decoded(raw: &[u8]) -> Option<String> {
    serde_json::from_slice(raw).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check_count(text: &str, values: usize) {
        assert_eq!(count_values(text.as_bytes(), usize::MAX), Ok(values), "{text}");
        assert_eq!(count_values(text.as_bytes(), values), Ok(values), "{text}");
        if values > 0 {
            let less = count_values(text.as_bytes(), values - 1);
            assert_eq!(less, Err(JsonTooLarge::Values), "{text}");
        }
    }

    #[test]
    fn values_and_keys_are_counted() {
        for (text, values) in [
            ("", 0),
            ("0", 1),
            ("[]", 1),
            ("[0,0,0]", 4),
            (" [ 1 , -2.5e3, true ,null] ", 5),
            (r#"{"a":1}"#, 3),
            (r#"{"a":{"b":[]},"c":"d"}"#, 7),
            (r#""a\"b[{,""#, 1),
            (r#"["\\",1]"#, 3),
            (r#"["unfinished, [[["#, 2),
        ] {
            check_count(text, values);
        }
    }

    #[test]
    fn depth_is_limited() {
        let nested = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
        assert_eq!(count_values(&nested(DEPTH_MAX), 1_000), Ok(DEPTH_MAX));
        assert_eq!(count_values(&nested(DEPTH_MAX + 1), 1_000), Err(JsonTooLarge::Depth));
        assert_eq!(count_values(&b"]".repeat(99), 1_000), Ok(0));
    }

    const TOKEN: &[&str] = &["params", "arguments", "capability_token"];
    const META: &[&str] = &["params", "_meta", "auth", "token"];

    #[track_caller]
    fn check_found(text: &str, expected: Option<&str>) {
        assert_eq!(find_string(text.as_bytes(), &[TOKEN, META]).as_deref(), expected, "{text}");
    }

    #[test]
    fn a_string_is_found_at_its_path_alone() {
        let call = |arguments: Value| json!({ "id": 1, "params": { "arguments": arguments } });
        check_found(&call(json!({ "capability_token": "t" })).to_string(), Some("t"));
        check_found(
            &call(json!({ "rows": [{ "a": [1] }], "capability_token": "t" })).to_string(),
            Some("t"),
        );
        check_found(&call(json!({ "rows": [{ "capability_token": "no" }] })).to_string(), None);
        check_found(&call(json!([{ "capability_token": "no" }])).to_string(), None);
        check_found(&call(json!({ "capability_token": 7 })).to_string(), None);
        check_found(
            &call(json!({ "capability_token": { "capability_token": "no" } })).to_string(),
            None,
        );
        check_found(&json!({ "capability_token": "no" }).to_string(), None);
        check_found(
            &json!({ "params": { "_meta": { "auth": { "token": "m" } } } }).to_string(),
            Some("m"),
        );
        check_found(r#"{"params":{"x":"arguments","arguments":{"capability_token":"a\"bя"#, None);
        check_found(
            r#"{"params":{"arguments":{"capability\u005ftoken":"a\"\u044f","#,
            Some("a\"я"),
        );
        check_found(
            r#"{"a":"params","b":{"params":{"arguments":{"capability_token":"no"}}}}"#,
            None,
        );
        check_found(r#"[{"params":{"arguments":{"capability_token":"no"}}}]"#, None);
        check_found(r#"{"params":[{"arguments":{"capability_token":"no"}}]}"#, None);
        check_found(&format!("{}{}", "[".repeat(100), r#""x""#), None);
    }

    fn values_of(value: &Value) -> usize {
        match value {
            Value::Array(all) => 1 + all.iter().map(values_of).sum::<usize>(),
            Value::Object(all) => 1 + all.values().map(|it| 1 + values_of(it)).sum::<usize>(),
            _ => 1,
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 64, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::hash_map(".{0,4}", inner, 0..6)
                    .prop_map(|map| Value::from(serde_json::Map::from_iter(map))),
            ]
        })
    }

    proptest! {
        #[test]
        fn counting_agrees_with_parsing(value in any_json()) {
            let compact = value.to_string();
            prop_assert_eq!(count_values(compact.as_bytes(), usize::MAX), Ok(values_of(&value)));
            let pretty = serde_json::to_vec_pretty(&value).unwrap();
            prop_assert_eq!(count_values(&pretty, usize::MAX), Ok(values_of(&value)));
        }

        #[test]
        fn any_bytes_are_scanned(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(values) = count_values(&bytes, 50) {
                prop_assert!(values <= 50);
            }
            drop(find_string(&bytes, &[TOKEN, META]));
        }
    }
}
