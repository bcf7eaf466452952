//! Messages in RFC 5322 form: headers and body are page 1, attachments follow, messages within
//! messages included.

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::html::html_to_text;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Address, Encoding, Message, MessageParser, MessagePart, MimeHeaders, PartType};

use crate::context::{ReadContext, ReadResult};
use crate::{Format, ProblemCode, ReadProblem, plain};

/// Nested encoded messages are opened by us, so that the depth is counted in one place.
pub(crate) fn read(context: &mut ReadContext<'_>, bytes: &[u8]) -> ReadResult {
    if nests_deeper_than(bytes, 500) {
        return Err(ReadProblem::new(ProblemCode::TooDeep, "the message nests parts without end"));
    }
    let message = MessageParser::default()
        .parse(bytes)
        .ok_or_else(|| ReadProblem::malformed("the message has no headers"))?;
    message_pages(context, &message)
}

/// Whether the text opens with the headers of a message.
pub(crate) fn has_headers(text: &str, promised: bool) -> bool {
    const KNOWN: [&str; 14] = [
        "from",
        "to",
        "cc",
        "subject",
        "date",
        "message-id",
        "received",
        "mime-version",
        "return-path",
        "delivered-to",
        "content-type",
        "reply-to",
        "sender",
        "x-mailer",
    ];
    let mut known = 0;
    let mut strong = false;
    for line in text.lines().take(60) {
        if line.is_empty() {
            break;
        }
        if line.starts_with([' ', '\t']) || line.starts_with("From ") {
            continue;
        }
        let Some((name, _)) = line.split_once(':') else { return false };
        if name.is_empty() || !name.bytes().all(|it| it.is_ascii_graphic()) {
            return false;
        }
        let name = name.to_ascii_lowercase();
        known += usize::from(KNOWN.contains(&name.as_str()));
        // A memo has From, To, Date and Subject too; only mail software writes these headers.
        strong |=
            ["message-id", "received", "mime-version", "return-path"].contains(&name.as_str());
    }
    known >= 2 && (strong || promised) || promised && known >= 1
}

/// Whether a message declares more boundaries than `max`. Every nested multipart declares one, so
/// this bounds the depth of the parser's stack.
fn nests_deeper_than(bytes: &[u8], max: usize) -> bool {
    let mut found = 0;
    for window in bytes.windows(9) {
        if window.eq_ignore_ascii_case(b"boundary=") {
            found += 1;
            if found > max {
                return true;
            }
        }
    }
    false
}

fn message_pages(context: &mut ReadContext<'_>, message: &Message<'_>) -> ReadResult {
    let mut text = String::new();
    let mut header =
        |context: &mut ReadContext<'_>, key: &str, label: &str, value: Option<String>| {
            if let Some(value) = value.filter(|it| !it.is_empty()) {
                context.metadata(key, &value);
                text.push_str(label);
                text.push_str(": ");
                let value = value.replace(['\r', '\n'], " ");
                // `T` between day and time becomes a blank, as people write it and the rules
                // expect.
                let value = if key == "date" { value.replacen('T', " ", 1) } else { value };
                text.push_str(&value);
                text.push('\n');
            }
        };
    header(context, "from", "From", message.from().map(people));
    header(context, "to", "To", message.to().map(people));
    header(context, "cc", "Cc", message.cc().map(people));
    header(context, "date", "Date", message.date().map(mail_parser::DateTime::to_rfc3339));
    header(context, "subject", "Subject", message.subject().map(str::to_owned));
    if let Some(id) = message.message_id() {
        context.metadata("message_id", id);
    }
    text.push('\n');
    for part in message.text_bodies() {
        let unstated = unstated_text(message, part);
        match &part.body {
            PartType::Text(body) => text.push_str(unstated.as_deref().unwrap_or(body)),
            PartType::Html(body) => {
                text.push_str(&html_to_text(unstated.as_deref().unwrap_or(body)));
            }
            _ => {}
        }
        text.push('\n');
    }
    context.unpack(text.len())?;
    context.page(plain::tidy(text.trim_end()))?;
    for part in message.attachments() {
        attachment(context, part)?;
    }
    Ok(())
}

/// The text of a part that has letters beyond ASCII and does not say in which encoding, by the
/// statistics of its letters; `None` if it states one. The parser reads it as UTF-8 or Windows-1252.
fn unstated_text(message: &Message<'_>, part: &MessagePart<'_>) -> Option<String> {
    let stated = part.content_type().and_then(|it| it.attribute("charset"));
    let is_stated = stated.is_some_and(|it| {
        !["us-ascii", "ascii", "unknown-8bit", "x-unknown", ""]
            .iter()
            .any(|none| it.trim().eq_ignore_ascii_case(none))
    });
    if is_stated {
        return None;
    }
    let (from, to) = (part.raw_body_offset() as usize, part.raw_end_offset() as usize);
    let raw = message.raw_message().get(from..to)?;
    let bytes = match part.encoding {
        Encoding::None => raw.to_vec(),
        Encoding::QuotedPrintable => quoted_printable_decode(raw)?,
        Encoding::Base64 => base64_decode(raw)?,
    };
    let text = (!bytes.is_ascii()).then(|| plain::decode(&bytes))?;
    (!text.contains('\u{fffd}')).then_some(text)
}

fn attachment(context: &mut ReadContext<'_>, part: &MessagePart<'_>) -> ReadResult {
    let name = part.attachment_name().unwrap_or_default();
    match &part.body {
        PartType::Message(inner) => {
            let name = if name.is_empty() { inner.subject().unwrap_or("message") } else { name };
            let bytes = u64::from(part.offset_end.saturating_sub(part.offset_body));
            context.within(name, bytes, |context| {
                context.format(Format::Eml);
                message_pages(context, inner)
            })
        }
        PartType::Binary(data) | PartType::InlineBinary(data) => {
            context.unpack(data.len())?;
            context.attachment(if name.is_empty() { "attachment" } else { name }, data)
        }
        PartType::Text(text) => context
            .attachment(if name.is_empty() { "attachment.txt" } else { name }, text.as_bytes()),
        PartType::Html(text) => {
            let text = html_to_text(text);
            context
                .attachment(if name.is_empty() { "attachment.html" } else { name }, text.as_bytes())
        }
        PartType::Multipart(_) => Ok(()),
    }
}

fn people(address: &Address<'_>) -> String {
    let mut people = String::new();
    for it in address.iter().take(1_000) {
        if !people.is_empty() {
            people.push_str(", ");
        }
        match (it.name(), it.address()) {
            (Some(name), Some(address)) => {
                people.push_str(name);
                people.push_str(" <");
                people.push_str(address);
                people.push('>');
            }
            (Some(one), None) | (None, Some(one)) => people.push_str(one),
            (None, None) => {}
        }
    }
    people
}
