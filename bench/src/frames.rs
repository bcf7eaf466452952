//! The part of RFC 6455 that the benchmarks need: whole frames of a server, never fragmented, and
//! the few frames that a client must send.

pub const TEXT: u8 = 1;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;
pub const PONG: u8 = 10;

/// One frame in a buffer.
pub struct Frame<'a> {
    pub opcode: u8,
    pub payload: &'a [u8],
}

/// The first frame of a server in `bytes` and its length, once it is complete.
#[inline]
pub fn first(bytes: &[u8]) -> Result<Option<(Frame<'_>, usize)>, &'static str> {
    let [head, length, rest @ ..] = bytes else { return Ok(None) };
    if head & 0x70 != 0 || length & 0x80 != 0 {
        return Err("a frame that a server must not send");
    }
    if head & 0x80 == 0 || head & 0x0f == 0 {
        return Err("a message in several frames, which no server of this benchmark sends");
    }
    let (start, length) = match (length, rest) {
        (126, [a, b, ..]) => (4, u64::from(u16::from_be_bytes([*a, *b]))),
        (127, [a, b, c, d, e, f, g, h, ..]) => {
            (10, u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]))
        }
        (126 | 127, _) => return Ok(None),
        (short, _) => (2, u64::from(*short)),
    };
    let end = usize::try_from(length).ok().and_then(|length| length.checked_add(start));
    let end = end.ok_or("a frame without end")?;
    let payload = bytes.get(start..end);
    Ok(payload.map(|payload| (Frame { opcode: head & 0x0f, payload }, end)))
}

/// A client's frame. The mask is zero: masks protect proxies, and there are none here.
pub fn from_client(opcode: u8, payload: &[u8]) -> Vec<u8> {
    framed(opcode, payload, 0x80, &[0; 4])
}

/// A server's frame.
pub fn from_server(opcode: u8, payload: &[u8]) -> Vec<u8> {
    framed(opcode, payload, 0, &[])
}

fn framed(opcode: u8, payload: &[u8], masked: u8, mask: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(payload.len() + 14);
    frame.push(0x80 | opcode);
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(short @ 0..126), _) => frame.push(masked | short),
        (_, Ok(length)) => {
            frame.push(masked | 126);
            frame.extend(length.to_be_bytes());
        }
        _ => {
            frame.push(masked | 127);
            frame.extend((payload.len() as u64).to_be_bytes());
        }
    }
    frame.extend(mask);
    frame.extend(payload);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_once_it_is_whole_whatever_its_length() {
        for length in [0, 1, 125, 126, 65_535, 65_536] {
            let frame = from_server(TEXT, &vec![b'x'; length]);
            assert!(matches!(first(&frame[..frame.len() - 1]), Ok(None)), "{length}");
            let (read, used) = first(&frame).unwrap().unwrap();
            assert_eq!((read.opcode, read.payload.len(), used), (TEXT, length, frame.len()));
        }
    }

    #[test]
    fn what_a_server_must_not_send_is_refused() {
        assert!(first(&from_client(TEXT, b"masked")).is_err());
        assert!(first(&[0x01, 0x00]).is_err(), "not the last of its message");
        assert!(first(&[0xc1, 0x00]).is_err(), "a reserved bit");
    }
}
