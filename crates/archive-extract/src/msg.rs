//! Outlook messages: headers and body are page 1, attachments and nested messages follow.
//!
//! A property is a stream `__substg1.0_PPPPTTTT` (its number and type) or a row of
//! `__properties_version1.0`. Nested messages are storages of the same shape.

use encoding_rs::{Encoding, UTF_16LE, WINDOWS_1252};
use mail_parser::decoders::html::html_to_text;

use crate::compound::{Compound, u32_at};
use crate::context::{ReadContext, ReadResult};
use crate::{Format, plain, rtf};

pub(crate) fn read(context: &mut ReadContext<'_>, bytes: &[u8]) -> ReadResult {
    let mut file = Compound::open(bytes)?;
    Storage::open(context, &mut file, "/".to_owned(), 32)?.message(context)
}

struct Storage<'a, 'b> {
    file: &'a mut Compound<'b>,
    path: String,
    /// Rows of the property stream, after a header whose length depends on what holds it.
    rows: Vec<u8>,
    encoding: &'static Encoding,
}

impl<'a, 'b> Storage<'a, 'b> {
    fn open(
        context: &mut ReadContext<'_>,
        file: &'a mut Compound<'b>,
        path: String,
        header: usize,
    ) -> ReadResult<Self> {
        let rows = file.stream(context, &format!("{path}__properties_version1.0"))?;
        let rows = rows.and_then(|it| it.get(header..).map(<[u8]>::to_vec)).unwrap_or_default();
        let mut storage = Self { file, path, rows, encoding: WINDOWS_1252 };
        // The message's own code page, else that of its body.
        let page = storage.number(0x3ffd).or_else(|| storage.number(0x3fde));
        let page = page.and_then(|it| i32::try_from(it).ok()).and_then(rtf::code_page);
        storage.encoding = page.unwrap_or(WINDOWS_1252);
        Ok(storage)
    }

    fn row(&self, property: u16) -> Option<&[u8]> {
        let mut rows = self.rows.chunks_exact(16);
        let row =
            rows.find(|it| u32_at(it, 0).is_some_and(|tag| tag >> 16 == u32::from(property)))?;
        Some(&row[8..16])
    }

    fn number(&self, property: u16) -> Option<u32> {
        self.row(property).and_then(|it| u32_at(it, 0))
    }

    /// A moment, in seconds since 1970.
    fn moment(&self, property: u16) -> Option<i64> {
        let ticks = u64::from_le_bytes(self.row(property)?.try_into().ok()?);
        i64::try_from(ticks / 10_000_000).ok()?.checked_sub(11_644_473_600).filter(|it| *it > 0)
    }

    fn data(
        &mut self,
        context: &mut ReadContext<'_>,
        property: u16,
        kind: &str,
    ) -> ReadResult<Option<Vec<u8>>> {
        let path = format!("{}__substg1.0_{property:04X}{kind}", self.path);
        self.file.stream(context, &path)
    }

    fn string(
        &mut self,
        context: &mut ReadContext<'_>,
        property: u16,
    ) -> ReadResult<Option<String>> {
        let decoded = if let Some(wide) = self.data(context, property, "001F")? {
            UTF_16LE.decode_without_bom_handling(&wide).0.into_owned()
        } else if let Some(narrow) = self.data(context, property, "001E")? {
            self.encoding.decode_without_bom_handling(&narrow).0.into_owned()
        } else {
            return Ok(None);
        };
        let trimmed = decoded.trim_end_matches('\0').to_owned();
        Ok(Some(trimmed).filter(|it| !it.trim().is_empty()))
    }

    fn message(&mut self, context: &mut ReadContext<'_>) -> ReadResult {
        let mut text = String::new();
        let sender = self.person(context, 0x0c1a, [0x5d01, 0x0c1f])?;
        let [to, cc] = self.recipients(context)?;
        let date = self.moment(0x0039).or_else(|| self.moment(0x0e06)).map(rfc3339);
        let subject = self.string(context, 0x0037)?;
        for (key, label, value) in [
            ("from", "From", sender),
            ("to", "To", to),
            ("cc", "Cc", cc),
            ("date", "Date", date),
            ("subject", "Subject", subject),
        ] {
            if let Some(value) = value {
                context.metadata(key, &value);
                let value = value.replace(['\r', '\n'], " ");
                // `T` between day and time becomes a blank, as people write it and the rules
                // expect.
                let value = if key == "date" { value.replacen('T', " ", 1) } else { value };
                text.push_str(&format!("{label}: {value}\n"));
            }
        }
        if let Some(id) = self.string(context, 0x1035)? {
            context.metadata("message_id", &id);
        }
        text.push('\n');
        text.push_str(&self.body(context)?);
        context.page(plain::tidy(text.trim_end()))?;
        self.attachments(context)
    }

    /// The plain body, else the rich one, else the HTML one.
    fn body(&mut self, context: &mut ReadContext<'_>) -> ReadResult<String> {
        if let Some(text) = self.string(context, 0x1000)? {
            return Ok(text);
        }
        if let Some(packed) = self.data(context, 0x1009, "0102")? {
            let unpacked = rtf::unpack(&packed, context.stream_max());
            if let Some(rich) = unpacked {
                context.unpack(rich.len())?;
                let text = rtf::text(context, &rich)?.replace('\u{c}', "\n");
                if !text.trim().is_empty() {
                    return Ok(text);
                }
            }
        }
        if let Some(html) = self.data(context, 0x1013, "0102")? {
            let page = self.number(0x3fde).and_then(|it| i32::try_from(it).ok());
            let stated = page.and_then(rtf::code_page);
            let html = match stated {
                Some(encoding) => encoding.decode(&html).0.into_owned(),
                None => plain::decode(&html),
            };
            return Ok(html_to_text(&html));
        }
        let html = self.string(context, 0x1013)?.unwrap_or_default();
        Ok(html_to_text(&html))
    }

    fn person(
        &mut self,
        context: &mut ReadContext<'_>,
        name: u16,
        addresses: [u16; 2],
    ) -> ReadResult<Option<String>> {
        let name = self.string(context, name)?;
        let mut address = None;
        for property in addresses {
            // Exchange keeps its own kind of address beside the one people use.
            address = address.or(self.string(context, property)?.filter(|it| it.contains('@')));
        }
        Ok(match (name, address) {
            (Some(name), Some(address)) if name != address => Some(format!("{name} <{address}>")),
            (Some(one), _) | (None, Some(one)) => Some(one),
            (None, None) => None,
        })
    }

    fn children(&self, start: &str, max: usize) -> Vec<String> {
        let children = self.file.children(&self.path, 100_000).into_iter();
        let wanted = children.filter(|it| it.is_storage && it.name.starts_with(start));
        let mut names: Vec<String> = wanted.map(|it| it.name).take(max).collect();
        names.sort();
        names
    }

    /// The recipients and the copied recipients of this message alone.
    fn recipients(&mut self, context: &mut ReadContext<'_>) -> ReadResult<[Option<String>; 2]> {
        let mut lists = [Vec::new(), Vec::new()];
        for name in self.children("__recip_version1.0_", 1_000) {
            let path = format!("{}{name}/", self.path);
            let mut storage = Storage::open(context, self.file, path, 8)?;
            storage.encoding = self.encoding;
            let person = storage.person(context, 0x3001, [0x39fe, 0x3003])?;
            let kind = storage.number(0x0c15).unwrap_or(1) & 0xf;
            if let (Some(person), Some(list)) =
                (person, lists.get_mut((kind as usize).wrapping_sub(1)))
            {
                list.push(person);
            }
        }
        let [to, cc] = lists.map(|it| Some(it.join(", ")).filter(|it| !it.is_empty()));
        // Drafts and some gateways leave only what was shown.
        let to = if to.is_none() { self.string(context, 0x0e04)? } else { to };
        let cc = if cc.is_none() { self.string(context, 0x0e03)? } else { cc };
        Ok([to, cc])
    }

    fn attachments(&mut self, context: &mut ReadContext<'_>) -> ReadResult {
        let max = context.limits.entries as usize + 1;
        for name in self.children("__attach_version1.0_", max) {
            let path = format!("{}{name}/", self.path);
            let mut storage = Storage::open(context, self.file, path, 8)?;
            storage.encoding = self.encoding;
            let mut shown = None;
            for property in [0x3707, 0x3704, 0x3001] {
                shown = shown.or(storage.string(context, property)?);
            }
            let shown = shown.unwrap_or_else(|| "attachment".to_owned());
            if let Some(data) = storage.data(context, 0x3701, "0102")? {
                context.attachment(&shown, &data)?;
                continue;
            }
            let inner = format!("{}__substg1.0_3701000D/", storage.path);
            let file = &mut *storage.file;
            context.within(&shown, 0, |context| {
                context.format(Format::Msg);
                Storage::open(context, file, inner, 24)?.message(context)
            })?;
        }
        Ok(())
    }
}

/// Seconds since 1970 as `2013-06-24T12:00:00Z`.
fn rfc3339(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years start in March here, so that a leap day is the last of its year.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn moments_are_dates() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(1_372_075_200 + 3_661), "2013-06-24T13:01:01Z");
    }
}
