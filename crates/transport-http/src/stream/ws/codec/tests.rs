//! Valid and invalid frames, and the property that any message is decoded as it was sent, however it
//! is cut.

use proptest::prelude::*;

use super::*;

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// A client's frame: masked, and with the shortest length that holds.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    put(&mut plain, first & 0x0F, [payload, b""]);
    let head = plain.len() - payload.len();
    let mut frame = plain[..head].to_vec();
    frame[0] = first;
    frame[1] |= MASKED;
    frame.extend(MASK);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

fn decode(bytes: &[u8]) -> (Vec<Incoming>, Option<CloseCode>) {
    decode_pieces(bytes, bytes.len().max(1))
}

fn decode_pieces(bytes: &[u8], size: usize) -> (Vec<Incoming>, Option<CloseCode>) {
    let mut decoder = Decoder::new(100_000);
    let mut received = Vec::new();
    for mut piece in bytes.chunks(size) {
        loop {
            match decoder.next(&mut piece) {
                Ok(Some(incoming)) => received.push(incoming),
                Ok(None) => break,
                Err(code) => return (received, Some(code)),
            }
        }
        assert!(piece.is_empty());
    }
    (received, None)
}

#[track_caller]
fn check(frames: &[Vec<u8>], expected: &[Incoming]) {
    let bytes = frames.concat();
    for size in [1, 2, 3, 7, bytes.len()] {
        let (received, failed) = decode_pieces(&bytes, size);
        assert_eq!((&received[..], failed), (expected, None), "in pieces of {size}");
    }
}

#[track_caller]
fn check_bad(frames: &[Vec<u8>], code: CloseCode) {
    let bytes = frames.concat();
    for size in [1, bytes.len()] {
        assert_eq!(decode_pieces(&bytes, size).1, Some(code), "in pieces of {size}");
    }
}

fn text(text: &str) -> Incoming {
    Incoming::Text(text.to_owned())
}

#[test]
fn messages_whole_and_in_fragments() {
    check(&[frame(0x81, b"hello")], &[text("hello")]);
    check(&[frame(0x81, b"")], &[text("")]);
    check(&[frame(0x01, b"he"), frame(0x00, b""), frame(0x80, b"llo")], &[text("hello")]);
    // A letter may be cut in two by fragments.
    check(&[frame(0x01, &[0xc3]), frame(0x80, &[0xa9])], &[text("é")]);
    // Control frames may come between the fragments of a message.
    check(
        &[frame(0x01, b"a"), frame(0x89, b"x"), frame(0x8A, b"y"), frame(0x80, b"b")],
        &[Incoming::Ping(b"x".to_vec()), Incoming::Pong, text("ab")],
    );
    check(&[frame(0x81, b"a"), frame(0x81, b"b")], &[text("a"), text("b")]);
}

#[test]
fn a_message_has_a_limited_number_of_fragments() {
    let message = |fragments: usize| {
        let empty = vec![frame(0x00, b""); fragments - 2];
        [vec![frame(0x01, b"a")], empty, vec![frame(0x80, b"b")]].concat()
    };
    check(&message(1_024), &[text("ab")]);
    check(&[message(1_024), message(1_024)].concat(), &[text("ab"), text("ab")]);
    check_bad(&message(1_025), CloseCode::Policy);
}

#[test]
fn lengths_of_every_form() {
    for length in [125, 126, 127, 65_535, 65_536, 100_000] {
        let long = "x".repeat(length);
        assert_eq!(decode(&frame(0x81, long.as_bytes())), (vec![text(&long)], None));
    }
    check_bad(&[frame(0x81, &[b'x'; 100_001])[..14].to_vec()], CloseCode::TooLarge);
    check_bad(&[frame(0x01, &[b'x'; 99_999]), frame(0x80, b"xx")], CloseCode::TooLarge);
    // Longer forms than needed, and a length that is negative.
    check_bad(&[[&[0x81, 0xFE, 0, 125], &MASK[..]].concat()], CloseCode::Protocol);
    check_bad(
        &[[&[0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], &MASK[..]].concat()],
        CloseCode::Protocol,
    );
    check_bad(
        &[[&[0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], &MASK[..]].concat()],
        CloseCode::Protocol,
    );
    check_bad(&[[&[0x81, 0xFF], &[0x7F; 8][..], &MASK[..]].concat()], CloseCode::TooLarge);
}

#[test]
fn closes_with_and_without_a_code() {
    check(&[frame(0x88, b"")], &[Incoming::Close(None)]);
    for code in [1000_u16, 1001, 1003, 1007, 1011, 1014, 3000, 4999] {
        let payload = [&code.to_be_bytes()[..], "tschüß".as_bytes()].concat();
        check(&[frame(0x88, &payload)], &[Incoming::Close(Some(code))]);
    }
    check_bad(&[frame(0x88, &[3])], CloseCode::Protocol);
    for code in [0_u16, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535] {
        check_bad(&[frame(0x88, &code.to_be_bytes())], CloseCode::Protocol);
    }
    check_bad(&[frame(0x88, &[0x03, 0xE8, 0xFF])], CloseCode::NotUtf8);
}

#[test]
fn every_invalid_frame_has_its_close_code() {
    for reserved in [0xC1, 0xA1, 0x91, 0xF1] {
        check_bad(&[frame(reserved, b"x")], CloseCode::Protocol);
    }
    for opcode in [3, 4, 5, 6, 7, 0xB, 0xC, 0xD, 0xE, 0xF] {
        check_bad(&[frame(0x80 | opcode, b"")], CloseCode::Protocol);
    }
    // Not masked.
    check_bad(&[vec![0x81, 1, b'x']], CloseCode::Protocol);
    check_bad(&[frame(0x82, b"x")], CloseCode::Unsupported);
    check_bad(&[frame(0x02, b"x")], CloseCode::Unsupported);
    // A fragment without a message, and a message inside a fragmented one.
    check_bad(&[frame(0x80, b"x")], CloseCode::Protocol);
    check_bad(&[frame(0x00, b"x")], CloseCode::Protocol);
    check_bad(&[frame(0x01, b"x"), frame(0x81, b"y")], CloseCode::Protocol);
    check_bad(&[frame(0x01, b"x"), frame(0x82, b"y")], CloseCode::Protocol);
    check_bad(&[frame(0x81, b"x"), frame(0x80, b"y")], CloseCode::Protocol);
    // Control frames in fragments, or too long.
    for opcode in [0x08, 0x09, 0x0A] {
        check_bad(&[frame(opcode, b"")], CloseCode::Protocol);
        check_bad(&[frame(0x80 | opcode, &[0; 126])], CloseCode::Protocol);
    }
    check_bad(&[frame(0x81, &[0xFF])], CloseCode::NotUtf8);
    check_bad(&[frame(0x81, &[0xED, 0xA0, 0x80])], CloseCode::NotUtf8);
    check_bad(&[frame(0x01, &[0xC3]), frame(0x80, b"x")], CloseCode::NotUtf8);
}

#[test]
fn frames_of_the_server_are_not_masked() {
    let mut out = Vec::new();
    put_text(&mut out, ["{\"id\":1,", "}"]);
    put_ping(&mut out);
    put_pong(&mut out, b"p");
    put_close(&mut out, 1001, "bye");
    let expected =
        [&b"\x81\x09{\"id\":1,}"[..], b"\x89\x00", b"\x8A\x01p", b"\x88\x05\x03\xE9bye"].concat();
    assert_eq!(out, expected);
}

/// A message as a client might send it: in fragments, with pings between.
fn encoded(message: &str, cuts: &[usize], pings: bool) -> (Vec<u8>, usize) {
    let bytes = message.as_bytes();
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    at.sort_unstable();
    at.push(bytes.len());
    let (mut out, mut from, mut pings_sent) = (Vec::new(), 0, 0);
    for (nth, to) in at.iter().enumerate() {
        let opcode = if nth == 0 { TEXT } else { CONTINUATION };
        let fin = if nth + 1 == at.len() { FIN } else { 0 };
        out.extend(frame(fin | opcode, &bytes[from..*to]));
        from = *to;
        if pings {
            out.extend(frame(0x89, b"?"));
            pings_sent += 1;
        }
    }
    (out, pings_sent)
}

proptest! {
    #[test]
    fn decoded_messages_equal_the_sent_ones(
        messages in prop::collection::vec(("\\PC{0,300}", prop::collection::vec(0_usize..400, 0..4), any::<bool>()), 1..5),
        size in 1_usize..700,
    ) {
        let mut bytes = Vec::new();
        let (mut texts, mut pings) = (Vec::new(), 0);
        for (message, cuts, pinged) in &messages {
            let (frames, pings_sent) = encoded(message, cuts, *pinged);
            bytes.extend(frames);
            texts.push(message.clone());
            pings += pings_sent;
        }
        let (received, failed) = decode_pieces(&bytes, size);
        prop_assert_eq!(failed, None);
        let pings_sent = received.iter().filter(|it| matches!(it, Incoming::Ping(_))).count();
        prop_assert_eq!(pings_sent, pings);
        let texts_received: Vec<String> = received
            .into_iter()
            .filter_map(|it| match it { Incoming::Text(text) => Some(text), _ => None })
            .collect();
        prop_assert_eq!(texts_received, texts);
    }

    #[test]
    fn any_bytes_decode_the_same_in_pieces(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1_usize..50) {
        let whole = decode(&bytes);
        prop_assert_eq!(decode_pieces(&bytes, size), whole);
    }
}
