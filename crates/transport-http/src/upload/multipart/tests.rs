//! Valid and invalid forms, in one piece and cut in every other way.

use std::convert::Infallible;
use std::future::poll_fn;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use proptest::prelude::*;

use super::*;

/// A form in pieces of these lengths; the rest is the last piece.
fn source(body: &[u8], pieces: &[usize]) -> Multipart {
    let mut rest = Bytes::copy_from_slice(body);
    let mut all: Vec<Bytes> =
        pieces.iter().map(|length| rest.split_to(rest.len().min(*length))).collect();
    all.push(rest);
    let body = Body::from_stream(stream::iter(all.into_iter().map(Ok::<_, Infallible>)));
    Multipart::new("XX", PacedBody::new(body, 1 << 20), UnreadBody::default())
}

type Parts = Vec<(String, Option<String>, Vec<u8>)>;

async fn parts(mut form: Multipart) -> Result<Parts, String> {
    let message = |fault: Fault| fault.message().to_owned();
    let mut parts = Vec::new();
    while let Some(head) = poll_fn(|context| form.poll_head(context)).await.map_err(message)? {
        let mut bytes = Vec::new();
        while let Some(more) = poll_fn(|context| form.poll_chunk(context)).await.map_err(message)? {
            assert!(!more.is_empty(), "an empty piece would read as nothing at all");
            bytes.extend_from_slice(&more);
        }
        parts.push((head.name, head.file_name, bytes));
    }
    assert!(poll_fn(|context| form.poll_head(context)).await.map_err(message)?.is_none());
    Ok(parts)
}

fn now<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(future)
}

fn part(name: &str, rest: &str, body: &str) -> String {
    format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"{rest}\r\n\r\n{body}\r\n")
}

#[track_caller]
fn check(body: &str, expected: &[(&str, Option<&str>, &str)]) {
    let expected: Parts = expected
        .iter()
        .map(|(name, file, body)| {
            ((*name).to_owned(), file.map(str::to_owned), body.as_bytes().to_vec())
        })
        .collect();
    let bytewise = vec![1; body.len()];
    for pieces in [&[][..], &[7; 40], &bytewise] {
        assert_eq!(now(parts(source(body.as_bytes(), pieces))), Ok(expected.clone()), "{body:?}");
    }
}

#[test]
fn a_form_is_split_into_its_parts() {
    let (field, file) = (part("a", "", "1"), part("file", "; filename=\"x\"", "two\r\nlines"));
    check(
        &format!("{field}{file}--XX--\r\n"),
        &[("a", None, "1"), ("file", Some("x"), "two\r\nlines")],
    );
    check(&format!("{field}--XX--"), &[("a", None, "1")]);
    check("--XX--\r\n", &[]);
    check(&format!("a word before\r\n{field}--XX--and after"), &[("a", None, "1")]);
    check(&format!("{}--XX--", part("a", "", "")), &[("a", None, "")]);
    // Bytes that only begin like a boundary belong to the part.
    for near in ["\r\n--X", "\r\n-", "\r", "\r\n\r\n--", "\r\r\n--XY", "--XX", "\n--XX"] {
        check(&format!("{}--XX--", part("a", "", near)), &[("a", None, near)]);
    }
    let padded = field.replacen("--XX\r\n", "--XX \t\r\n", 1);
    check(&format!("{padded}--XX--"), &[("a", None, "1")]);
}

#[track_caller]
fn check_invalid(body: &str, expected: &str) {
    let bytewise = vec![1; body.len()];
    for pieces in [&[][..], &bytewise] {
        let error = now(parts(source(body.as_bytes(), pieces))).unwrap_err();
        assert!(error.contains(expected), "{:?}: {error}", body.get(..80));
    }
}

#[test]
fn an_invalid_form_is_refused_with_the_number_of_the_part() {
    let field = part("a", "", "1");
    let last = "the body ends without its last boundary";
    check_invalid("", last);
    check_invalid("nothing of the kind", last);
    check_invalid(&"x".repeat(20_000), "it does not begin with its boundary");
    check_invalid(&field, &format!("part 1: {last}"));
    check_invalid(&format!("{field}--XX"), "part 2: the body ends in its head");
    check_invalid(&format!("{field}--XX-"), "part 2: the body ends in its head");
    check_invalid(
        &format!("{field}--XXY\r\n\r\n"),
        "part 2: its boundary goes on with something else",
    );
    check_invalid(
        &format!("{field}--XX\r\nContent-Disposition: form-da"),
        "part 2: the body ends in its head",
    );
    check_invalid(
        &format!("{field}--XX\r\n\r\nx\r\n--XX--"),
        "part 2: it has no content-disposition",
    );
    let flood = "X-Header: y\r\n".repeat(2_000);
    check_invalid(&format!("{field}--XX\r\n{flood}"), "part 2: its head is too long");
    let long = "n".repeat(20_000);
    check_invalid(&part(&long, "", "1"), "part 1: its head is too long");
    check_invalid(
        &part("a\"; name=\"b", "", "1"),
        "part 1: its content-disposition says a thing twice",
    );
}

#[test]
fn a_dropped_form_leaves_its_unread_body() {
    let unread = UnreadBody::default();
    let body = PacedBody::new(Body::from("--XX"), 10);
    drop(Multipart::new("XX", body, unread.clone()));
    assert!(unread.take().is_some() && unread.take().is_none());
}

proptest! {
    #[test]
    fn the_parts_do_not_depend_on_the_pieces(
        bodies in proptest::collection::vec("[\r\n\\-Xa]{0,24}", 0..4),
        pieces in proptest::collection::vec(1_usize..20, 0..60),
    ) {
        let bodies: Vec<String> = bodies.iter().map(|it| it.replace("\r\n--XX", "")).collect();
        let form: String = bodies.iter().map(|body| part("a", "", body)).collect();
        let form = format!("{form}--XX--\r\n");
        let whole = now(parts(source(form.as_bytes(), &[])));
        let received: Vec<Vec<u8>> = whole.clone().unwrap().into_iter().map(|it| it.2).collect();
        let sent: Vec<Vec<u8>> = bodies.into_iter().map(String::into_bytes).collect();
        // Removing a boundary may leave a new one.
        if !sent.iter().any(|body| memmem::find(body, b"\r\n--XX").is_some()) {
            prop_assert_eq!(received, sent);
        }
        prop_assert_eq!(now(parts(source(form.as_bytes(), &pieces))), whole);
    }

    #[test]
    fn any_bytes_parse_the_same_in_pieces(
        body in "(--XX|\r\n|--|[ -~]|Content-Disposition: form-data; name=a|;|\"|\\\\){0,40}",
        pieces in proptest::collection::vec(1_usize..9, 0..40),
    ) {
        let whole = now(parts(source(body.as_bytes(), &[])));
        prop_assert_eq!(now(parts(source(body.as_bytes(), &pieces))), whole);
    }
}
