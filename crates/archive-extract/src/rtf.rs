//! Rich text to text, and the compressed form that messages carry. Formatting is ignored; hidden
//! and deleted text is left out.

mod packed;

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::context::{ReadContext, ReadResult};
pub(crate) use packed::unpack;

/// Deeper groups than any program writes; what is below is skipped.
const GROUPS_MAX: usize = 1_000;

pub(crate) fn read(context: &mut ReadContext<'_>, bytes: &[u8]) -> ReadResult {
    let text = text(context, bytes)?;
    context.unpack(text.len())?;
    for page in text.trim_end().split('\u{c}') {
        context.page(page.trim_end().to_owned())?;
    }
    Ok(())
}

pub(crate) fn has_signature(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{\\rtf")
}

/// The text, with a form feed for each page break.
pub(crate) fn text(context: &ReadContext<'_>, bytes: &[u8]) -> ReadResult<String> {
    let mut reader = RtfParser::new(bytes);
    let mut steps = 0_u32;
    while reader.step() {
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(4_096) {
            context.tick()?;
        }
    }
    reader.flush();
    Ok(reader.text)
}

#[derive(Clone, Copy)]
struct Group {
    skipped: bool,
    hidden: bool,
    /// Inside `\htmlrtf`: what HTML readers leave out.
    not_html: bool,
    fonts: bool,
    after_unicode: usize,
    encoding: &'static Encoding,
}

struct RtfParser<'a> {
    bytes: &'a [u8],
    at: usize,
    text: String,
    /// 8-bit characters not decoded yet, for they may be halves of one.
    pending: Vec<u8>,
    groups: Vec<Group>,
    group: Group,
    too_deep: usize,
    to_skip: usize,
    high: Option<u16>,
    fonts: Vec<(i32, &'static Encoding)>,
    font: i32,
    page: &'static Encoding,
}

impl<'a> RtfParser<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let group = Group {
            skipped: false,
            hidden: false,
            not_html: false,
            fonts: false,
            after_unicode: 1,
            encoding: WINDOWS_1252,
        };
        Self {
            bytes,
            at: 0,
            text: String::new(),
            pending: Vec::new(),
            groups: Vec::new(),
            group,
            too_deep: 0,
            to_skip: 0,
            high: None,
            fonts: Vec::new(),
            font: 0,
            page: WINDOWS_1252,
        }
    }

    fn step(&mut self) -> bool {
        let Some(byte) = self.bytes.get(self.at).copied() else { return false };
        self.at += 1;
        match byte {
            b'{' if self.groups.len() >= GROUPS_MAX => self.too_deep += 1,
            b'}' if self.too_deep > 0 => self.too_deep -= 1,
            b'{' => self.groups.push(self.group),
            b'}' => {
                self.flush();
                if let Some(outer) = self.groups.pop() {
                    self.group = outer;
                }
            }
            b'\\' => self.control(),
            b'\r' | b'\n' | 0 => {}
            other => self.byte(other),
        }
        true
    }

    fn shown(&self) -> bool {
        let it = &self.group;
        !(it.skipped || it.hidden || it.not_html || it.fonts || self.too_deep > 0)
    }

    fn byte(&mut self, byte: u8) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
        } else if self.shown() {
            self.pending.push(byte);
        }
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let (text, _) = self.group.encoding.decode_without_bom_handling(&self.pending);
            self.text.push_str(&text);
            self.pending.clear();
        }
    }

    fn push(&mut self, it: char) {
        self.flush();
        if self.shown() {
            self.text.push(it);
        }
    }

    /// Line ends count even where HTML readers leave them out: theirs are in tags we skip.
    fn line(&mut self) {
        self.flush();
        if !self.group.skipped && !self.group.fonts && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn control(&mut self) {
        let Some(byte) = self.bytes.get(self.at).copied() else { return };
        self.at += 1;
        match byte {
            b'\'' => {
                let hex = self.bytes.get(self.at..self.at + 2).unwrap_or_default();
                self.at += 2;
                let hex = std::str::from_utf8(hex).unwrap_or_default();
                if let Ok(byte) = u8::from_str_radix(hex, 16) {
                    self.byte(byte);
                }
            }
            b'*' => self.group.skipped = true,
            b'~' => self.push('\u{a0}'),
            b'_' => self.push('-'),
            b'\\' | b'{' | b'}' => self.byte(byte),
            b'\r' | b'\n' => self.line(),
            it if it.is_ascii_alphabetic() => self.word(),
            _ => {}
        }
    }

    fn word(&mut self) {
        let from = self.at - 1;
        let rest = &self.bytes[from..];
        let letters = rest.iter().take(32).take_while(|it| it.is_ascii_alphabetic()).count();
        let sign = usize::from(rest.get(letters) == Some(&b'-'));
        let digits = rest[letters + sign..].iter().take(10).take_while(|it| it.is_ascii_digit());
        let end = letters + if let n @ 1.. = digits.count() { sign + n } else { 0 };
        let name = std::str::from_utf8(&rest[..letters]).unwrap_or_default();
        let value = std::str::from_utf8(&rest[letters..end]).ok().and_then(|it| it.parse().ok());
        self.at = from + end + usize::from(rest.get(end) == Some(&b' '));
        self.apply(name, value);
    }

    fn apply(&mut self, name: &str, value: Option<i32>) {
        let on = value != Some(0);
        match name {
            "par" | "line" | "row" | "sect" => self.line(),
            "page" => self.push('\u{c}'),
            "tab" | "cell" => self.push('\t'),
            "emdash" => self.push('—'),
            "endash" => self.push('–'),
            "lquote" => self.push('‘'),
            "rquote" => self.push('’'),
            "ldblquote" => self.push('“'),
            "rdblquote" => self.push('”'),
            "bullet" => self.push('•'),
            "v" | "deleted" => self.change(|it| it.hidden = on),
            "plain" => self.change(|it| it.hidden = false),
            "htmlrtf" => self.change(|it| it.not_html = on),
            "uc" => self.group.after_unicode = usize::try_from(value.unwrap_or(1)).unwrap_or(1),
            "u" => self.unicode(value.unwrap_or(0)),
            "ansicpg" => {
                self.page = value.and_then(code_page).unwrap_or(WINDOWS_1252);
                let page = self.page;
                self.change(|it| it.encoding = page);
            }
            "f" => self.font(value.unwrap_or(0)),
            "fcharset" if self.group.fonts => {
                let encoding = charset(value.unwrap_or(0)).unwrap_or(self.page);
                if self.fonts.len() < 10_000 {
                    self.fonts.push((self.font, encoding));
                }
            }
            "fonttbl" => self.group.fonts = true,
            "bin" => {
                let skip = usize::try_from(value.unwrap_or(0)).unwrap_or(0);
                self.at = self.at.saturating_add(skip).min(self.bytes.len());
            }
            "colortbl" | "stylesheet" | "info" | "pict" | "object" | "listtable" | "revtbl"
            | "rsidtbl" | "generator" | "xmlnstbl" | "themedata" | "datastore" | "fldinst"
            | "annotation" => self.group.skipped = true,
            _ => {}
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Group)) {
        self.flush();
        change(&mut self.group);
    }

    fn font(&mut self, number: i32) {
        self.font = number;
        if !self.group.fonts {
            let found = self.fonts.iter().find(|it| it.0 == number).map(|it| it.1);
            let encoding = found.unwrap_or(self.page);
            self.change(|it| it.encoding = encoding);
        }
    }

    fn unicode(&mut self, value: i32) {
        // Written as a signed 16-bit number; pairs of surrogates come one after the other.
        let unit = (value & 0xffff) as u16;
        let units = self.high.take().into_iter().chain([unit]);
        for it in char::decode_utf16(units) {
            match it {
                Ok(it) => self.push(it),
                Err(_) if (0xd800..0xdc00).contains(&unit) => self.high = Some(unit),
                Err(_) => {}
            }
        }
        self.to_skip = self.group.after_unicode;
    }
}

/// The encoding of a Windows code page.
pub(crate) fn code_page(number: i32) -> Option<&'static Encoding> {
    let label = match number {
        65_001 => "utf-8".to_owned(),
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        866 => "ibm866".to_owned(),
        874 => "windows-874".to_owned(),
        10_000 => "macintosh".to_owned(),
        20_866 => "koi8-r".to_owned(),
        21_866 => "koi8-u".to_owned(),
        28_591..=28_606 => format!("iso-8859-{}", number - 28_590),
        other => format!("windows-{other}"),
    };
    Encoding::for_label(label.as_bytes())
}

/// The encoding of a Windows font character set.
fn charset(number: i32) -> Option<&'static Encoding> {
    code_page(match number {
        0 => 1252,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}
