//! Encodes and decodes RFC 6455 frames as a server. A protocol error is returned as the close code;
//! extensions and binary messages are not supported.

const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xA;

const FIN: u8 = 0x80;
const RESERVED: u8 = 0x70;
const MASKED: u8 = 0x80;
/// Two bytes, eight of length, four of mask.
const HEAD_MAX: usize = 14;
const CONTROL_MAX: usize = 125;
/// How many frames one message may come in. Empty fragments cost no room in the message, so its size
/// alone does not bound them.
const FRAGMENTS_MAX: u16 = 1_024;

/// The close codes that the server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseCode {
    Normal = 1000,
    GoingAway = 1001,
    Protocol = 1002,
    Unsupported = 1003,
    NotUtf8 = 1007,
    Policy = 1008,
    TooLarge = 1009,
}

/// A complete message or control frame from a client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Incoming {
    Text(String),
    Ping(Vec<u8>),
    Pong,
    /// With its close code, if it has one.
    Close(Option<u16>),
}

/// Decodes frames from arbitrary pieces of bytes. Holds no memory between messages.
#[derive(Debug)]
pub(crate) struct Decoder {
    message_max: usize,
    head: [u8; HEAD_MAX],
    head_len: usize,
    /// The frame whose payload is incomplete.
    frame: Option<Frame>,
    /// The unmasked payload of the message so far.
    message: Vec<u8>,
    /// The payload of a control frame, which may come between the fragments of a message.
    control: Vec<u8>,
    /// Whether a fragmented message is incomplete.
    fragmented: bool,
    /// The frames of the message so far.
    fragments: u16,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    opcode: u8,
    fin: bool,
    mask: [u8; 4],
    left: usize,
}

impl Frame {
    fn is_control(self) -> bool {
        self.opcode >= CLOSE
    }
}

impl Decoder {
    pub(crate) fn new(message_max: usize) -> Self {
        Self {
            message_max,
            head: [0; HEAD_MAX],
            head_len: 0,
            frame: None,
            message: Vec::new(),
            control: Vec::new(),
            fragmented: false,
            fragments: 0,
        }
    }

    /// Consumes the input up to the end of the next message; `None` when the input ends before.
    /// After an error the decoder must not be used again.
    pub(crate) fn next(&mut self, input: &mut &[u8]) -> Result<Option<Incoming>, CloseCode> {
        loop {
            let mut frame = match self.frame.take() {
                Some(frame) => frame,
                None => match self.begin(input)? {
                    Some(frame) => frame,
                    None => return Ok(None),
                },
            };
            let (now, later) = input.split_at(frame.left.min(input.len()));
            *input = later;
            let into = if frame.is_control() { &mut self.control } else { &mut self.message };
            into.extend(now.iter().enumerate().map(|(at, byte)| byte ^ frame.mask[at & 3]));
            frame.mask.rotate_left(now.len() & 3);
            frame.left -= now.len();
            if frame.left > 0 {
                self.frame = Some(frame);
                return Ok(None);
            }
            if let Some(incoming) = self.end(frame)? {
                return Ok(Some(incoming));
            }
        }
    }

    /// A frame's head, once it is complete; its first two bytes are checked as soon as they come.
    fn begin(&mut self, input: &mut &[u8]) -> Result<Option<Frame>, CloseCode> {
        if !self.gather(2, input) {
            return Ok(None);
        }
        let [first, second, ..] = self.head;
        let (opcode, fin, short) = (first & 0x0F, first & FIN != 0, usize::from(second & !MASKED));
        if first & RESERVED != 0 || second & MASKED == 0 {
            return Err(CloseCode::Protocol);
        }
        match opcode {
            CLOSE..=PONG if !fin || short > CONTROL_MAX => return Err(CloseCode::Protocol),
            TEXT | BINARY if self.fragmented => return Err(CloseCode::Protocol),
            CONTINUATION if !self.fragmented => return Err(CloseCode::Protocol),
            BINARY => return Err(CloseCode::Unsupported),
            CONTINUATION | TEXT | CLOSE..=PONG => {}
            _ => return Err(CloseCode::Protocol),
        }
        let extended = match short {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        if !self.gather(2 + extended + 4, input) {
            return Ok(None);
        }
        let (length, mask) = self.head[2..2 + extended + 4].split_at(extended);
        let declared = length.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
        let least = [0, 126, 1 << 16][extended.min(4) / 2];
        if extended > 0 && (declared < least || declared > i64::MAX as u64) {
            return Err(CloseCode::Protocol);
        }
        let left =
            if extended > 0 { usize::try_from(declared).unwrap_or(usize::MAX) } else { short };
        let frame = Frame { opcode, fin, mask: [mask[0], mask[1], mask[2], mask[3]], left };
        if !frame.is_control() && left > self.message_max.saturating_sub(self.message.len()) {
            return Err(CloseCode::TooLarge);
        }
        self.head_len = 0;
        Ok(Some(frame))
    }

    /// Takes bytes of the head from the input; whether `needed` are there.
    fn gather(&mut self, needed: usize, input: &mut &[u8]) -> bool {
        while self.head_len < needed {
            let Some((byte, rest)) = input.split_first() else { return false };
            self.head[self.head_len] = *byte;
            self.head_len += 1;
            *input = rest;
        }
        true
    }

    fn end(&mut self, frame: Frame) -> Result<Option<Incoming>, CloseCode> {
        if !frame.is_control() {
            self.fragmented = !frame.fin;
            if self.fragmented {
                self.fragments += 1;
                return match self.fragments < FRAGMENTS_MAX {
                    true => Ok(None),
                    false => Err(CloseCode::Policy),
                };
            }
            self.fragments = 0;
            let message = std::mem::take(&mut self.message);
            let text = String::from_utf8(message).map_err(|_| CloseCode::NotUtf8)?;
            return Ok(Some(Incoming::Text(text)));
        }
        let payload = std::mem::take(&mut self.control);
        match frame.opcode {
            PING => Ok(Some(Incoming::Ping(payload))),
            PONG => Ok(Some(Incoming::Pong)),
            _ => close_code(&payload).map(|code| Some(Incoming::Close(code))),
        }
    }
}

/// The code of a close frame, if RFC 6455 allows it on the wire.
fn close_code(payload: &[u8]) -> Result<Option<u16>, CloseCode> {
    let (code, reason) = match payload {
        [] => return Ok(None),
        [_] => return Err(CloseCode::Protocol),
        [high, low, reason @ ..] => (u16::from_be_bytes([*high, *low]), reason),
    };
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(CloseCode::Protocol);
    }
    std::str::from_utf8(reason).map_err(|_| CloseCode::NotUtf8)?;
    Ok(Some(code))
}

/// Appends a text message in one frame; the payload is both parts joined.
pub(crate) fn put_text(out: &mut Vec<u8>, parts: [&str; 2]) {
    put(out, TEXT, parts.map(str::as_bytes));
}

pub(crate) fn put_ping(out: &mut Vec<u8>) {
    put(out, PING, [b"", b""]);
}

pub(crate) fn put_pong(out: &mut Vec<u8>, payload: &[u8]) {
    put(out, PONG, [payload, b""]);
}

pub(crate) fn put_close(out: &mut Vec<u8>, code: u16, reason: &str) {
    put(out, CLOSE, [&code.to_be_bytes(), reason.as_bytes()]);
}

fn put(out: &mut Vec<u8>, opcode: u8, [first, second]: [&[u8]; 2]) {
    let length = first.len() + second.len();
    out.reserve(length + 10);
    out.push(FIN | opcode);
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short @ 0..=125), _) => out.push(short),
        (_, Ok(medium)) => {
            out.push(126);
            out.extend_from_slice(&medium.to_be_bytes());
        }
        _ => {
            out.push(127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(first);
    out.extend_from_slice(second);
}

#[cfg(test)]
mod tests;
