//! Messages in RFC 5322 form: headers and body are page 1, attachments follow, messages within
//! messages included.

use mail_parser::decoders::html::html_to_text;
use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders, PartType};

use crate::work::{Step, Work};
use crate::{Code, Kind, Problem, plain};

/// Nested encoded messages are opened by us, so that the depth is counted in one place.
pub(crate) fn read(work: &mut Work<'_>, bytes: &[u8]) -> Step {
    if nests_deeper_than(bytes, 500) {
        return Err(Problem::new(Code::TooDeep, "the message nests parts without end"));
    }
    let message = MessageParser::default()
        .parse(bytes)
        .ok_or_else(|| Problem::malformed("the message has no headers"))?;
    message_pages(work, &message)
}

/// Every multipart declares a boundary; a bound on declarations bounds what the parser stacks.
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

fn message_pages(work: &mut Work<'_>, message: &Message<'_>) -> Step {
    let mut text = String::new();
    let mut header = |work: &mut Work<'_>, key: &str, label: &str, value: Option<String>| {
        if let Some(value) = value.filter(|it| !it.is_empty()) {
            work.metadata(key, &value);
            text.push_str(label);
            text.push_str(": ");
            let value = value.replace(['\r', '\n'], " ");
            // People, and rules over words, read a day and a time apart.
            let value = if key == "date" { value.replacen('T', " ", 1) } else { value };
            text.push_str(&value);
            text.push('\n');
        }
    };
    header(work, "from", "From", message.from().map(people));
    header(work, "to", "To", message.to().map(people));
    header(work, "cc", "Cc", message.cc().map(people));
    header(work, "date", "Date", message.date().map(mail_parser::DateTime::to_rfc3339));
    header(work, "subject", "Subject", message.subject().map(str::to_owned));
    if let Some(id) = message.message_id() {
        work.metadata("message_id", id);
    }
    text.push('\n');
    for part in message.text_bodies() {
        match &part.body {
            PartType::Text(body) => text.push_str(body),
            PartType::Html(body) => text.push_str(&html_to_text(body)),
            _ => {}
        }
        text.push('\n');
    }
    work.unpack(text.len())?;
    work.page(plain::tidy(text.trim_end()))?;
    for part in message.attachments() {
        attachment(work, part)?;
    }
    Ok(())
}

fn attachment(work: &mut Work<'_>, part: &MessagePart<'_>) -> Step {
    let name = part.attachment_name().unwrap_or_default();
    match &part.body {
        PartType::Message(inner) => {
            let name = if name.is_empty() { inner.subject().unwrap_or("message") } else { name };
            let bytes = u64::from(part.offset_end.saturating_sub(part.offset_body));
            work.within(name, bytes, |work| {
                work.kind(Kind::Eml);
                message_pages(work, inner)
            })
        }
        PartType::Binary(data) | PartType::InlineBinary(data) => {
            work.unpack(data.len())?;
            work.attachment(if name.is_empty() { "attachment" } else { name }, data)
        }
        PartType::Text(text) => {
            work.attachment(if name.is_empty() { "attachment.txt" } else { name }, text.as_bytes())
        }
        PartType::Html(text) => {
            let text = html_to_text(text);
            work.attachment(if name.is_empty() { "attachment.html" } else { name }, text.as_bytes())
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
