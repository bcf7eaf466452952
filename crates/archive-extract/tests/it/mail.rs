//! Messages in both forms, with what is attached to them.

use archive_extract::{Document, Format, NoOcr, ReadLimits};

use crate::{codes, read, texts};
use archive_extract::testing::msg::{Body, Msg};
use archive_extract::testing::pdf;

const MAIL: &str = "From: Ann <ann@example.com>\r\nTo: Bob <bob@example.com>\r\n\
    Subject: =?utf-8?b?0JjRgdC6?=\r\nDate: Mon, 24 Jun 2013 12:00:00 +0000\r\nMessage-ID: <1@x>\r\n\
    MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
    --b\r\nContent-Type: text/plain\r\n\r\nBody text.\r\n\
    --b\r\nContent-Type: text/plain; name=\"note.txt\"\r\nContent-Disposition: attachment; filename=\"note.txt\"\r\n\
    Content-Transfer-Encoding: base64\r\n\r\nTm90ZQ==\r\n\
    --b\r\nContent-Type: message/rfc822\r\n\r\nFrom: c@example.com\r\nSubject: inner\r\n\r\nInner body.\r\n\
    --b--\r\n";

fn value<'a>(document: &'a Document, key: &str) -> &'a str {
    let found = document.metadata.iter().find(|it| it.0 == key);
    found.map_or("", |it| it.1.as_str())
}

#[test]
fn mail_has_headers_body_and_attachments() {
    let document = read("a.eml", MAIL.as_bytes());
    assert_eq!(codes(&document), []);
    let expected = "From: Ann <ann@example.com>\nTo: Bob <bob@example.com>\nDate: 2013-06-24 12:00:00Z\nSubject: Иск\n\nBody text.";
    assert_eq!(texts(&document), [expected]);
    assert_eq!(value(&document, "subject"), "Иск");
    let [note, inner] = &document.attachments[..] else { panic!("{document:?}") };
    assert_eq!((note.name.as_str(), texts(&note.document)), ("note.txt", vec!["Note"]));
    assert_eq!(inner.document.format, Some(Format::Eml));
    assert_eq!(texts(&inner.document), ["From: c@example.com\nSubject: inner\n\nInner body."]);
}

#[test]
fn mail_in_html_alone_is_text() {
    let mail =
        "From: a@b.c\nMIME-Version: 1.0\nContent-Type: text/html\n\n<p>One</p><p>Two &amp; 3</p>";
    let text = read("a.eml", mail.as_bytes()).pages[0].page.text.clone();
    assert!(text.contains("One") && text.contains("Two & 3") && !text.contains('<'), "{text}");
}

#[test]
fn bodies_in_cyrillic_encodings_are_read() {
    let text = "Решением суда исковые требования удовлетворены.";
    let koi8 = encoding_rs::KOI8_R.encode(text).0.into_owned();
    let quoted: Vec<u8> = koi8.iter().flat_map(|it| format!("={it:02X}").into_bytes()).collect();
    for (headers, body) in [
        ("Content-Type: text/plain; charset=koi8-r", koi8.clone()),
        ("Content-Type: text/plain", koi8.clone()),
        ("Content-Type: text/plain; charset=us-ascii", koi8.clone()),
        ("X-Mailer: old", koi8.clone()),
        ("Content-Transfer-Encoding: quoted-printable", quoted),
        ("Content-Type: text/plain", encoding_rs::WINDOWS_1251.encode(text).0.into_owned()),
        ("Content-Type: text/plain", encoding_rs::IBM866.encode(text).0.into_owned()),
        ("Content-Type: text/plain", text.as_bytes().to_vec()),
    ] {
        let mut mail = format!("From: a@b.c\nMIME-Version: 1.0\n{headers}\n\n").into_bytes();
        mail.extend(body);
        let document = read("a.eml", &mail);
        assert_eq!(texts(&document), [format!("From: a@b.c\n\n{text}")], "{headers}");
    }
}

#[test]
fn messages_that_claim_to_be_messages_are_read() {
    let kind = "Content-Type:message/rfc822\n\n";
    let mail = format!("e:\n{kind}t\n{kind}{kind}{kind}t\n{kind}Content-Type:2\n\n\n");
    assert_eq!(read("a.eml", mail.as_bytes()).pages.len(), 1);
}

fn message() -> Msg<'static> {
    Msg {
        subject: "Motion",
        sender: "Ann",
        recipients: vec![(1, "Bob"), (2, "Carol"), (1, "Dan")],
        body: Body::Wide("Please file.\r\n"),
        sent: (1_372_075_200 + 11_644_473_600) * 10_000_000,
        files: vec![("brief.pdf", pdf::text(&["In the brief"]))],
        messages: vec![Msg {
            subject: "Inner",
            sender: "Eve",
            recipients: vec![(1, "Frank")],
            body: Body::Rich("{\\rtf1\\ansi Rich \\b body\\b0 .\\par Second}"),
            files: vec![("n.txt", b"deep".to_vec())],
            ..Msg::default()
        }],
    }
}

#[test]
fn outlook_messages_nest() {
    let document = read("a.msg", &message().finish());
    assert_eq!(codes(&document), []);
    let expected = "From: Ann\nTo: Bob, Dan\nCc: Carol\nDate: 2013-06-24 12:00:00Z\nSubject: Motion\n\nPlease file.";
    assert_eq!(texts(&document), [expected]);
    let [brief, inner] = &document.attachments[..] else { panic!("{document:?}") };
    assert_eq!((brief.name.as_str(), texts(&brief.document)), ("brief.pdf", vec!["In the brief"]));
    assert_eq!(inner.document.format, Some(Format::Msg));
    let expected = "From: Eve\nTo: Frank\nSubject: Inner\n\nRich body.\nSecond";
    assert_eq!(texts(&inner.document), [expected]);
    assert_eq!(texts(&inner.document.attachments[0].document), ["deep"]);
}

#[test]
fn outlook_bodies_come_in_many_forms() {
    let body = |body| {
        let document = read("a.msg", &Msg { body, ..Msg::default() }.finish());
        document.pages[0].page.text.trim().to_owned()
    };
    assert_eq!(body(Body::Narrow(1251, b"\xd1\xf3\xe4".to_vec())), "Суд");
    assert_eq!(body(Body::Narrow(65_001, "Суд".as_bytes().to_vec())), "Суд");
    assert_eq!(body(Body::Html("<html><body><b>Bold</b> text</body></html>")), "Bold text");
    let rich = "{\\rtf1\\ansi\\fromhtml1 {\\*\\htmltag64 <p>}\\htmlrtf {\\htmlrtf0 Hello{\\*\\htmltag72 </p>}\\htmlrtf\\par}\\htmlrtf0 World}";
    assert_eq!(body(Body::Rich(rich)), "Hello\nWorld");
}

#[test]
fn depth_and_number_of_messages_are_bounded() {
    let mut nested = Msg { subject: "last", ..Msg::default() };
    for _ in 0..8 {
        nested = Msg { messages: vec![nested], ..Msg::default() };
    }
    let document = read("a.msg", &nested.finish());
    assert!(codes(&document).contains(&archive_extract::ProblemCode::TooDeep));
    let many = Msg { files: vec![("a.txt", b"x".to_vec()); 20], ..Msg::default() };
    let limits = ReadLimits { entries: 5, ..ReadLimits::default() };
    let document = archive_extract::read_all("a.msg", &many.finish(), &limits, &NoOcr);
    assert_eq!(document.attachments.len(), 5);
    assert_eq!(codes(&document), [archive_extract::ProblemCode::TooManyEntries]);
}
