//! The messages between parent and child: JSON frames with a 4-byte length.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest frame in bytes: a child that was taken over cannot fill the parent's memory.
const FRAME_MAX: u32 = 16 << 20;

/// Sends one message of at most 16 MiB.
pub fn send(to: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let frame = serde_json::to_vec(message)?;
    let length = u32::try_from(frame.len()).ok().filter(|it| *it <= FRAME_MAX);
    let length = length.ok_or_else(|| io::Error::other("frame too long"))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&frame)
}

/// Receives the next message; `None` when the sender has closed the pipe between two messages.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length);
    if length > FRAME_MAX {
        return Err(io::Error::other("frame too long"));
    }
    let mut frame = vec![0; length as usize];
    from.read_exact(&mut frame)?;
    Ok(Some(serde_json::from_slice(&frame)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_a_long_or_cut_one_is_refused() {
        let mut pipe = Vec::new();
        send(&mut pipe, &"one").unwrap();
        send(&mut pipe, &"two").unwrap();
        let mut from = pipe.as_slice();
        for expected in [Some("one"), Some("two"), None] {
            let found: Option<String> = receive(&mut from).unwrap();
            assert_eq!(found.as_deref(), expected);
        }
        assert!(send(&mut Vec::new(), &"x".repeat(17 << 20)).is_err());
        let mut long: &[u8] = &[0xff, 0xff, 0xff, 0xff, 1];
        assert!(receive::<String>(&mut long).is_err());
        let mut cut: &[u8] = &[4, 0, 0, 0, b'"'];
        assert!(receive::<String>(&mut cut).is_err());
    }
}
